"""Error bars: intervals of rates, clustered standard errors, cluster bootstraps and paired tests.

Items that share a picture or base question are not independent, so everything here but `wilson` and `mcnemar` takes
clusters. All resampling is seeded and gives the same numbers on every run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import fsum, nan, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CELLS_AT_ONCE = 4_000_000  # bounds the memory of the resampling weights to 32 MB


class Interval(NamedTuple):
    """Both ends of a confidence interval; nan when none can be given."""

    low: float
    high: float


class ClusteredMean(NamedTuple):
    """A mean with its clustered standard error.

    Attributes:
        mean: nan without values.
        stderr: nan with fewer than two values or clusters.
        low, high: Normal confidence interval; nan where ``stderr`` is.
        n: Number of values.
        n_clusters: Number of different clusters.
    """

    mean: float
    stderr: float
    low: float
    high: float
    n: int
    n_clusters: int


class PairedDifference(NamedTuple):
    """A mean difference of two systems on the same items.

    Attributes:
        difference: Mean of ``a - b``; nan without values.
        low, high: Percentile interval of the bootstrap; nan with fewer than two clusters.
        p_value: Two-sided; never below ``2 / (resamples + 1)``. nan with fewer than two clusters.
        n: Number of pairs.
        n_clusters: Number of different clusters.
    """

    difference: float
    low: float
    high: float
    p_value: float
    n: int
    n_clusters: int


def wilson(successes: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson score interval of a rate (Wilson, 1927), without continuity correction.

    Args:
        successes: 0 to ``n``.
        n: Number of independent trials, or an effective number.
        confidence: Between 0 and 1.

    Returns:
        The interval, within 0-1; nan when ``n`` is 0.

    Raises:
        ValueError: ``successes`` is not within 0 to ``n``.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return Interval(nan, nan)
    z = _z(confidence)
    rate = successes / n
    centre = rate + z * z / (2 * n)
    margin = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # The ends at 0 and n are exact in theory; rounding would leave 1e-17 and break low <= rate <= high.
    low = 0.0 if successes == 0 else (centre - margin) / scale
    high = 1.0 if successes == n else (centre + margin) / scale
    return Interval(low, high)


def clustered_mean(
    values: Sequence[float], clusters: Sequence[Hashable] | None = None, confidence: float = 0.95
) -> ClusteredMean:
    """Mean with the clustered standard error of Miller (2024), arXiv 2411.00640, equation 4.

    ``SE^2 = Var(s)/n + 1/n^2 * sum_c sum_i sum_{j != i} (s_ic - m)(s_jc - m)`` with ``Var`` over ``n - 1``. When every
    item is a cluster of its own this is the usual standard error.

    Args:
        values: One value for each item.
        clusters: One name for each item; None when all items are independent.
        confidence: Of the interval, between 0 and 1.

    Returns:
        See `ClusteredMean`. A single cluster has no standard error (nan): its deviations add up to zero, so the formula
        would return nearly 0, certainty out of nothing.

    Raises:
        ValueError: The lengths differ.
    """
    n = len(values)
    mean = fsum(values) / n if n else nan
    groups = _groups(values, clusters)
    n_clusters = n if groups is None else len(groups)
    if n_clusters < 2:
        return ClusteredMean(mean, nan, nan, nan, n, n_clusters)
    # sum_{j != i} d_i d_j of a cluster is (sum d)^2 - sum d^2, which leaves this form:
    squares = cluster_squares = fsum((value - mean) ** 2 for value in values)
    if groups is not None:
        cluster_squares = fsum(fsum(value - mean for value in group) ** 2 for group in groups)
    stderr = sqrt(squares / (n - 1) + cluster_squares) / n
    margin = _z(confidence) * stderr
    return ClusteredMean(mean, stderr, mean - margin, mean + margin, n, n_clusters)


def _groups(values: Sequence[float], clusters: Sequence[Hashable] | None) -> Collection[list[float]] | None:
    """The values of each cluster; None when every item is one of its own."""
    if clusters is None:
        return None
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for cluster, value in zip(clusters, values, strict=True):
        groups[cluster].append(value)
    return None if len(groups) == len(values) else groups.values()


def clustered_rate(
    values: Sequence[float], clusters: Sequence[Hashable] | NDArray[Any] | None = None, confidence: float = 0.95
) -> Interval:
    """Wilson interval of a rate at the effective sample size.

    Items of one cluster carry less information than as many independent ones: n is divided by the design effect, the
    ratio of the clustered to the independent variance (Kish, 1965), but never raised. Where all values are equal there
    is no variance to compare, and the number of clusters is taken. Without shared clusters this is plain `wilson`.

    Args:
        values: 0 or 1 for each item.
        clusters: One name for each item, or an array of their numbers; None when all items are independent.
        confidence: Between 0 and 1.

    Raises:
        ValueError: The lengths differ.
    """
    effective = effective_size(values, clusters)
    if not len(values):
        return Interval(nan, nan)
    return wilson(min(fsum(values) / len(values) * effective, effective), effective, confidence)


def effective_size(values: Sequence[float], clusters: Sequence[Hashable] | NDArray[Any] | None = None) -> float:
    """As how many independent items those of a rate count, see `clustered_rate`; 0 without values.

    Args:
        values: 0 or 1 for each item, or -1, 0 or 1 for the difference of two rates.
        clusters: One name for each item, or an array of their numbers; None when all items are independent.

    Raises:
        ValueError: The lengths differ.
    """
    import numpy as np

    n = len(values)
    if clusters is None:
        return n
    each, rows = np.asarray(values, dtype=float), _cluster_rows(clusters, n)
    sizes, totals = np.bincount(rows), np.bincount(rows, weights=each)  # whole numbers: exact in any order
    n_clusters = int(np.count_nonzero(sizes))
    if n_clusters in (0, 1, n) or each.min() == each.max():
        return n_clusters
    # Both variances as in `clustered_mean`, where every item is a cluster of its own and where it is not.
    mean = totals.sum() / n
    squares = float((each**2).sum() - mean * totals.sum())
    cluster_squares = fsum(((totals - sizes * mean) ** 2).tolist())
    return n / max(1.0, (squares / (n - 1) + cluster_squares) / (squares / (n - 1) + squares))


def _cluster_rows(clusters: Sequence[Hashable] | NDArray[Any], n: int) -> NDArray[Any]:
    """The number of each item's cluster, in order of first appearance."""
    import numpy as np

    if len(clusters) != n:
        raise ValueError(f"{n} items but {len(clusters)} clusters")
    if isinstance(clusters, np.ndarray):
        return clusters
    index: dict[Hashable, int] = {}
    return np.fromiter((index.setdefault(cluster, len(index)) for cluster in clusters), dtype=np.int64, count=n)


def cluster_bootstrap(  # noqa: PLR0913 - each is a setting of the method
    items: ArrayLike,
    clusters: Sequence[Hashable] | None,
    statistic: Callable[[NDArray[Any]], Mapping[str, NDArray[Any]]],
    *,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
) -> dict[str, Interval]:
    """Percentile intervals of any statistic of sums over items, resampling whole clusters with replacement.

    Each item brings what the statistic adds up, e.g. its cell of a confusion matrix or ``[value, 1]`` for a mean. These
    are summed within clusters once; a resample is then a row of weights, and all resamples are one matrix product. Two
    systems are compared by stacking what each adds to an item and taking the difference in ``statistic``.

    Args:
        items: Shape ``(n, ...)``: what each item adds.
        clusters: One name for each item; None when all items are independent.
        statistic: From sums of shape ``(resamples, ...)`` to named values of shape ``(resamples,)``. The same function
            gives the point values from ``items.sum(axis=0)``.
        resamples: How many.
        seed: Of the resampling.
        confidence: Of the intervals, between 0 and 1.

    Returns:
        The interval of each of the statistic's values. Resamples where a value is undefined (nan) are left out; nan
        when it is defined in none or there are fewer than two clusters.

    Raises:
        ValueError: The lengths differ.
    """
    draws = cluster_draws(items, clusters, statistic, resamples=resamples, seed=seed)
    return {name: percentile_interval(values, confidence) for name, values in draws.items()}


def cluster_draws(
    items: ArrayLike,
    clusters: Sequence[Hashable] | None,
    statistic: Callable[[NDArray[Any]], Mapping[str, NDArray[Any]]],
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, NDArray[Any]]:
    """The values of a statistic in each resample, see `cluster_bootstrap`.

    Returns:
        Each of shape ``(resamples,)``, nan where undefined; of shape ``(0,)`` when there are fewer than two clusters.

    Raises:
        ValueError: The lengths differ.
    """
    import numpy as np

    sums = cluster_sums(items, clusters)
    if len(sums) < 2:
        return {name: np.empty(0) for name in statistic(np.ones((1, *sums.shape[1:])))}
    draws: dict[str, list[NDArray[Any]]] = defaultdict(list)
    for weights in _weights(len(sums), resamples, seed):
        batch = (weights @ sums.reshape(len(sums), -1)).reshape(len(weights), *sums.shape[1:])
        for name, values in statistic(batch).items():
            draws[name].append(np.asarray(values, dtype=float))
    return {name: np.concatenate(parts) for name, parts in draws.items()}


def paired_bootstrap(  # noqa: PLR0913 - each is a setting of the method
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> PairedDifference:
    """Whether system ``a`` differs from system ``b`` on the same items, resampling whole clusters with replacement.

    The p-value is the bootstrap's own: twice the smaller share of resamples on either side of zero, with one added to
    both counts (Davison and Hinkley, 1997) so that it is never 0. With few clusters it is far too small.

    Args:
        a: Values of the one system, item by item.
        b: Values of the other, in the same order.
        clusters: One name for each item; None when all items are independent.
        resamples: How many.
        seed: Of the resampling.
        confidence: Of the interval, between 0 and 1.

    Returns:
        See `PairedDifference`.

    Raises:
        ValueError: The lengths differ.
    """
    import numpy as np

    differences = [x - y for x, y in zip(a, b, strict=True)]
    n = len(differences)
    items = np.column_stack([np.asarray(differences, dtype=float), np.ones(n)])
    means = cluster_draws(
        items, clusters, lambda sums: {"mean": sums[:, 0] / sums[:, 1]}, resamples=resamples, seed=seed
    )["mean"]
    n_clusters = n if clusters is None else len(set(clusters))
    difference = fsum(differences) / n if n else nan
    if not len(means):
        return PairedDifference(difference, nan, nan, nan, n, n_clusters)
    below, above = int(np.count_nonzero(means <= 0)), int(np.count_nonzero(means >= 0))
    p_value = min(1.0, 2 * (min(below, above) + 1) / (resamples + 1))
    return PairedDifference(difference, *percentile_interval(means, confidence), p_value, n, n_clusters)


def mcnemar(b: int, c: int) -> float:
    """Exact two-sided McNemar test: whether two systems are equally often right on the same items.

    Args:
        b: Items only the one system has right.
        c: Items only the other has right.

    Returns:
        The p-value, ``min(1, 2 * P(X <= min(b, c)))`` with X binomial of ``b + c`` fair trials; 1.0 when the systems
        never differ. Items are taken as independent.

    Raises:
        ValueError: A count is negative.
    """
    if b < 0 or c < 0:
        raise ValueError(f"negative count: {b}, {c}")
    n = b + c
    ways = total = 1  # ways to choose k of n, and their sum up to k: whole numbers, so nothing is rounded
    for k in range(1, min(b, c) + 1):
        ways = ways * (n - k + 1) // k
        total += ways
    return min(1.0, 2 * total / (1 << n))


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def cluster_sums(items: ArrayLike, clusters: Sequence[Hashable] | None) -> NDArray[Any]:
    """Sums of items ``(n, ...)`` within clusters, shape ``(n_clusters, ...)``, in order of first appearance."""
    import numpy as np

    each = np.asarray(items, dtype=float)
    if clusters is None:
        return each
    rows = _cluster_rows(clusters, len(each))
    sums = np.zeros((int(rows.max(initial=-1)) + 1, *each.shape[1:]))
    np.add.at(sums, rows, each)
    return sums


def _weights(n_clusters: int, resamples: int, seed: int) -> Iterator[NDArray[Any]]:
    """How often each cluster is drawn, shape ``(some resamples, n_clusters)``, until there are enough rows.

    Results of one task after the other have as many clusters, so what fits into one batch is kept.
    """
    if resamples * n_clusters <= _CELLS_AT_ONCE:
        return iter([_one_batch(n_clusters, resamples, seed)])
    return _batches(n_clusters, resamples, seed)


@lru_cache(maxsize=1)
def _one_batch(n_clusters: int, resamples: int, seed: int) -> NDArray[Any]:
    (weights,) = _batches(n_clusters, resamples, seed)
    weights.setflags(write=False)
    return weights


def _batches(n_clusters: int, resamples: int, seed: int) -> Iterator[NDArray[Any]]:
    """See `_weights`.

    ``RandomState`` because numpy promises never to change its stream, which it does not for ``default_rng``.
    """
    import numpy as np

    stream = np.random.RandomState(seed)
    rows = max(1, _CELLS_AT_ONCE // n_clusters)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = (
            stream.randint(n_clusters, size=(size, n_clusters), dtype=np.int64) + n_clusters * np.arange(size)[:, None]
        )
        counts = np.bincount(drawn.ravel(), minlength=size * n_clusters)
        yield counts.reshape(size, n_clusters).astype(float)


def percentile_interval(values: NDArray[Any], confidence: float = 0.95) -> Interval:
    """Both ends of what resamples give; those that are nan left out, nan when no other is there."""
    import numpy as np

    defined = values[~np.isnan(values)]
    if not len(defined):
        return Interval(nan, nan)
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
