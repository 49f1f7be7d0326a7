"""Two systems on the same items: differences, their intervals, and the smallest difference that could be shown.

The sign is always ``b - a``. The statistic of a metric is the same function that gives its value for one system (see
`geoeval.metrics.intervals.cluster_bootstrap`), and both systems are resampled by the same draws::

    measured = Measured(cells_a, cells_b, from_counts)
    difference = paired_differences([measured], clusters)["macro_f1"]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import nan, prod, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from geoeval.metrics.intervals import Interval, cluster_draws, cluster_sums, percentile_interval, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 10_000
FEWEST = 6
"""With fewer clusters no swapping of systems has a p-value below 0.05 (2 / 2^5), so nothing can be shown."""
_Z_ALPHA, _Z_POWER = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.8)
_CELLS_AT_ONCE = 4_000_000  # bounds memory
_DIGITS = 12  # what is smaller in a difference is rounding, and must not count as being on one side of zero


class Measured(NamedTuple):
    """What two systems add, item by item, to sums of which metrics are a function.

    Attributes:
        a, b: Shape ``(n, ...)``, the same for both.
        statistic: From sums of shape ``(..., ...)`` to named values of the leading shape.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    statistic: Callable[[NDArray[Any]], Mapping[str, NDArray[Any]]]


class PairedSums(NamedTuple):
    """How two systems differ in one metric.

    Attributes:
        a, b: The values.
        low, high: 95 % percentile interval of ``b - a`` over resampled clusters; nan where there are fewer than six or
            all resamples are alike.
        p_value: Two-sided, of the randomization test.
        stderr: Standard deviation over the resamples; nan where there is no interval.
        n_clusters: How many clusters add something.
    """

    a: float
    b: float
    low: float
    high: float
    p_value: float
    stderr: float
    n_clusters: int


class PairedCounts(NamedTuple):
    """A rate of two systems on the same items: the fourfold table."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def n(self) -> int:
        """Number of items."""
        return sum(self)


def paired_differences(
    measured: Sequence[Measured], clusters: Sequence[Hashable], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, PairedSums]:
    """Differences of any number of metrics, all from the same draws of whole clusters for both systems.

    The intervals are those of the paired cluster bootstrap. The p-values are not: with few clusters the bootstrap's are
    far too small. They are those of the randomization test (Noreen, 1989; for F1 and the like Yeh, 2000): how often
    the difference is as large when the two systems are swapped at random in each cluster. For a rate of independent
    items that is McNemar's exact test. All swaps are tried where they are no more than ``resamples``.

    Args:
        measured: What the systems add; the names of all statistics must differ.
        clusters: The cluster of each of the n items.
        resamples: How many draws, and how many swaps.
        seed: Of both.

    Returns:
        One for each name; nan where a value is undefined.

    Raises:
        ValueError: The lengths differ.
    """
    import numpy as np

    n = len(clusters)
    flat = [
        np.stack([np.asarray(m.a, float), np.asarray(m.b, float)], 1).reshape(n, 2, prod(m.a.shape[1:]))
        for m in measured
    ]
    items = np.concatenate(flat, axis=2) if flat else np.zeros((n, 2, 0))
    ends = accumulate(part.shape[2] for part in flat)
    columns = [slice(end - part.shape[2], end) for end, part in zip(ends, flat, strict=True)]

    def values(sums: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Of sums of shape ``(..., 2, columns)``, each ``(..., 2)``: of a and of b."""
        found: dict[str, NDArray[Any]] = {}
        for m, own in zip(measured, columns, strict=True):
            found.update(m.statistic(sums[..., own].reshape(*sums.shape[:-1], *m.a.shape[1:])))
        return found

    def differences(sums: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {name: np.round(both[..., 1] - both[..., 0], _DIGITS) for name, both in values(sums).items()}

    sums = cluster_sums(items, clusters)
    total = sums.sum(axis=0)
    draws = cluster_draws(items, clusters, differences, resamples=resamples, seed=seed)
    p_values = _randomization(sums, differences, differences(total), resamples, seed)
    found = {}
    for m, own in zip(measured, columns, strict=True):
        size = int(np.count_nonzero(sums[..., own].any(axis=(1, 2))))
        for name, (a, b) in m.statistic(total[:, own].reshape(2, *m.a.shape[1:])).items():
            spread = _spread(draws[name]) if size >= FEWEST else (nan, nan, nan)
            found[name] = PairedSums(float(a), float(b), spread[0], spread[1], p_values[name], spread[2], size)
    return found


def _spread(draws: NDArray[Any]) -> tuple[float, float, float]:
    """Both ends of the interval, and the standard deviation."""
    import numpy as np

    low, high = percentile_interval(draws)
    defined = draws[~np.isnan(draws)]
    return (nan, nan, nan) if low == high or len(defined) < 2 else (low, high, float(defined.std(ddof=1)))


def _randomization(
    sums: NDArray[Any],
    differences: Callable[[NDArray[Any]], Mapping[str, NDArray[Any]]],
    observed: Mapping[str, NDArray[Any]],
    resamples: int,
    seed: int,
) -> dict[str, float]:
    """The share of swaps that make a difference as large as the one observed, from sums of clusters."""
    import numpy as np

    total = sums.sum(axis=0)
    change = (sums[:, 1] - sums[:, 0])[np.any(sums[:, 1] != sums[:, 0], axis=1)]  # what its swap brings to a
    every = 2 ** len(change) <= resamples
    as_large, tried = (dict.fromkeys(observed, int(not every)) for _ in range(2))  # of draws, the observed one counts
    for swaps in _all_swaps(len(change)) if every else _some_swaps(len(change), resamples, seed):
        moved = swaps @ change
        for name, values in differences(np.stack([total[0] + moved, total[1] - moved], axis=1)).items():
            as_large[name] += int(np.count_nonzero(np.abs(values) >= abs(observed[name]) - 2 * 10.0**-_DIGITS))
            tried[name] += int(np.count_nonzero(~np.isnan(values)))
    return {name: nan if np.isnan(observed[name]) else as_large[name] / tried[name] for name in observed}


def _all_swaps(clusters: int) -> Iterator[NDArray[Any]]:
    import numpy as np

    yield ((np.arange(2**clusters)[:, None] >> np.arange(clusters)) & 1).astype(float)


def _some_swaps(clusters: int, swaps: int, seed: int) -> Iterator[NDArray[Any]]:
    import numpy as np

    stream = np.random.RandomState(seed)
    rows = max(1, _CELLS_AT_ONCE // clusters)
    for start in range(0, swaps, rows):
        yield stream.randint(2, size=(min(rows, swaps - start), clusters)).astype(float)


def paired_rate_interval(counts: PairedCounts, effective_n: float | None = None) -> Interval:
    """95 % interval of a difference of two rates on the same items, ``b - a``.

    Newcombe (1998, Statistics in Medicine 17, 2635-2650), method 10: the Wilson intervals of both rates, combined with
    their correlation, which is corrected for continuity. It stays within -1 to 1 and has a width where no item differs.

    Args:
        counts: The fourfold table.
        effective_n: How many independent items it is worth; by default all of them.

    Returns:
        nan without items.
    """
    n = counts.n
    if not n:
        return Interval(nan, nan)
    size = n if effective_n is None else effective_n
    both, only_a, only_b, neither = (count / n * size for count in counts)
    (rate_a, low_a, high_a), (rate_b, low_b, high_b) = (
        (right / size, *wilson(min(right, size), size)) for right in (both + only_a, both + only_b)
    )
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    excess = both * neither - only_a * only_b
    if excess > 0:
        excess = max(excess - size / 2, 0.0)
    correlation = excess / sqrt(margins) if margins > 0 else 0.0

    def reach(one: float, other: float) -> float:
        return sqrt(max(one * one - 2 * correlation * one * other + other * other, 0.0))

    difference = rate_b - rate_a
    return Interval(
        difference - reach(rate_b - low_b, high_a - rate_a), difference + reach(high_b - rate_b, rate_a - low_a)
    )


def detectable_difference(stderr: float) -> float:
    """Smallest mean difference found with 80 % power at a two-sided level of 5 %: ``(z_0.975 + z_0.8) * stderr``.

    Miller (2024, arXiv 2411.00640, section 5), with the standard error of the paired differences as observed.

    Args:
        stderr: Standard error of the difference; 0 shows nothing about the spread.

    Returns:
        In the unit of the metric; nan where there is no standard error.
    """
    return (_Z_ALPHA + _Z_POWER) * stderr if stderr > 0 else nan


def detectable_rate_difference(discordance: float, n: float) -> float:
    """Smallest difference of two paired rates that McNemar's test finds with 80 % power at a two-sided level of 5 %.

    Connor (1987, Biometrics 43, 207-211): ``n d^2 = (z_0.975 sqrt(p) + z_0.8 sqrt(p - d^2))^2``, p the share of items
    on which the systems differ, solved for d. A difference cannot exceed that share: where the solution would, the
    share is what it takes when all of it goes one way, p = d.

    The exact test needs six items at least on which they do (2 / 2^6 = 0.03).

    Args:
        discordance: The share observed, 0-1.
        n: Number of independent items.

    Returns:
        0-1; nan with fewer than six items.
    """
    if n < FEWEST:
        return nan
    alpha, power = _Z_ALPHA, _Z_POWER
    room = n + power**2 - alpha**2
    difference = sqrt(discordance) * (alpha * sqrt(n) + power * sqrt(room)) / (n + power**2)
    if not 0 < difference <= discordance:
        root = (sqrt(n * room) - alpha * power) / (n + power**2)  # of 1 - d
        difference = 1 - root**2
    return max(difference, FEWEST / n)
