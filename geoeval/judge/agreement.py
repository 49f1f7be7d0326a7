"""How far marks can be trusted: agreement of two judges, or of a judge with people, and a judge's own noise.

Two sets of marks are compared on the items that both marked:

* ``exact``, ``within_1``: share of items whose marks are equal, or differ by at most 1.
* ``spearman``: Pearson correlation of the mid-ranks.
* ``weighted_kappa``: Cohen's kappa with quadratic weights, which is
  ``1 - mean over i (a_i - b_i)^2 / mean over i, j (a_i - b_j)^2``. It needs no categories, so that marks such as 7.5
  count as what they are, and is 1 only for equal marks.
* ``mean_difference``: mean of ``a - b``, in marks.

Rates have clustered Wilson intervals, the others percentile intervals of the cluster bootstrap. nan without items;
where all of one side's marks are alike there is no rank correlation, and where all marks are, no kappa either.
Empty answers, which get 0 without a judge, are left out: on them any two judges agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, nan
from typing import TYPE_CHECKING, Any

from geoeval.judge.rubric import OVERALL
from geoeval.metrics.classification import ratio
from geoeval.metrics.intervals import Interval, cluster_bootstrap, clustered_rate
from geoeval.types import Judgement, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLOSE = 1.0
"""Marks that differ by no more are close, and one that moves by more has moved."""

_Rows = Sequence[tuple[float, ...]]  # for each item one mark of each set
_Statistic = Callable[["NDArray[Any]"], Mapping[str, "NDArray[Any]"]]
_ROUNDING = 1e-9
_MOST_PAIRS = 2000


@dataclass(frozen=True)
class Comparison:
    """Numbers about two or more sets of marks.

    Attributes:
        metrics: Of the overall mark.
        levels: Level -> the same numbers of its items.
        dimensions: Dimension -> the same numbers of its marks.
        left_out: Ids without a judge's mark on all sides, sorted.
    """

    metrics: tuple[Metric, ...]
    levels: Mapping[str, tuple[Metric, ...]] = field(default_factory=dict)
    dimensions: Mapping[str, tuple[Metric, ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def agreement(
    a: Mapping[str, Judgement],
    b: Mapping[str, Judgement],
    levels: Mapping[str, str] | None = None,
    clusters: Mapping[str, Hashable] | None = None,
) -> Comparison:
    """How far two judges agree.

    Args:
        a: Id -> marks of the one.
        b: Id -> marks of the other, or of people; also where these give no dimensions.
        levels: Id -> level, for the breakdown.
        clusters: Id -> cluster; None when all items are independent.

    Returns:
        Metrics ``exact``, ``within_1``, ``spearman``, ``weighted_kappa`` and ``mean_difference`` (a - b).

    Raises:
        KeyError: An item that both marked has no level, or no cluster.
    """
    return _comparison([a, b], _pair_metrics, levels, clusters)


def noise(
    repeats: Sequence[Mapping[str, Judgement]],
    levels: Mapping[str, str] | None = None,
    clusters: Mapping[str, Hashable] | None = None,
) -> Comparison:
    """How far a judge agrees with itself.

    Args:
        repeats: For each time it judged: id -> marks. Items that lack a mark in one of them are left out.
        levels: Id -> level, for the breakdown.
        clusters: Id -> cluster; None when all items are independent.

    Returns:
        Metrics ``mean_within_item_sd`` (in marks, over ``repeats - 1``), ``moved_more_than_1`` (share of items whose
        highest and lowest mark differ by more than 1) and ``icc`` (ICC(1,1) of Shrout and Fleiss, 1979: the share of
        the variance of single marks that is between items, 1 for a judge without noise; nan when all marks are alike).

    Raises:
        ValueError: There are fewer than two repeats.
        KeyError: An item that was always marked has no level, or no cluster.
    """
    if len(repeats) < 2:
        raise ValueError(f"{len(repeats)} sets of marks: noise shows only where the same answers were judged twice")

    return _comparison(repeats, _noise_metrics, levels, clusters)


def _comparison(
    sets: Sequence[Mapping[str, Judgement]],
    compare: Callable[[_Rows, Sequence[Hashable] | None], tuple[Metric, ...]],
    levels: Mapping[str, str] | None,
    clusters: Mapping[str, Hashable] | None,
) -> Comparison:
    def numbers(rows: Mapping[str, tuple[float, ...]], level: str | None = None) -> tuple[Metric, ...]:
        ids = [id_ for id_ in rows if level is None or (levels is not None and levels[id_] == level)]
        return compare([rows[id_] for id_ in ids], None if clusters is None else [clusters[id_] for id_ in ids])

    rows = _common(sets, OVERALL)
    every = dict.fromkeys(name for marks in sets for judgement in marks.values() for name in judgement.dimensions)
    by_dimension = {name: _common(sets, name) for name in every}
    return Comparison(
        metrics=numbers(rows),
        levels={level: numbers(rows, level) for level in sorted({levels[id_] for id_ in rows} if levels else ())},
        dimensions={name: numbers(common) for name, common in by_dimension.items() if common},
        left_out=tuple(sorted(set().union(*sets) - rows.keys())),
    )


def _common(sets: Sequence[Mapping[str, Judgement]], name: str) -> dict[str, tuple[float, ...]]:
    """Id -> one mark of each set, in order of id, of the items that have one in every set."""
    marks = [{id_: mark for id_, j in judged.items() if (mark := _mark(j, name)) is not None} for judged in sets]
    return {id_: tuple(m[id_] for m in marks) for id_ in sorted(marks[0]) if all(id_ in m for m in marks)}


def _mark(judgement: Judgement, name: str) -> float | None:
    if judgement.reason == "empty_answer":
        return None
    return judgement.score if name == OVERALL else judgement.dimensions.get(name)


def _pair_metrics(pairs: _Rows, clusters: Sequence[Hashable] | None) -> tuple[Metric, ...]:
    import numpy as np

    exact = [float(abs(x - y) < _ROUNDING) for x, y in pairs]
    within = [float(abs(x - y) <= CLOSE + _ROUNDING) for x, y in pairs]
    a, b = np.array(pairs, dtype=float).reshape(-1, 2).T - 5  # about the middle mark, which keeps rounding small
    moments = np.column_stack([np.ones(len(pairs)), a, b, a * b, a**2 + b**2])
    kappa, difference = _statistics(moments, clusters, _kappa_and_difference)
    return (
        _rate("exact", exact, clusters),
        _rate("within_1", within, clusters),
        _spearman(pairs, clusters),
        kappa,
        difference,
    )


def _kappa_and_difference(sums: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """From sums of ``1, a, b, a b, a^2 + b^2``, shape ``(..., 5)``."""
    import numpy as np

    n, a, b, product, squares = np.moveaxis(sums, -1, 0)
    apart = ratio(squares, n) - 2 * ratio(a, n) * ratio(b, n)  # the mean of (a_i - b_j)^2 over all i and j
    apart = np.where(np.abs(apart) < _ROUNDING, 0, apart)
    return {
        "weighted_kappa": 1 - ratio(ratio(squares - 2 * product, n), apart),
        "mean_difference": ratio(a - b, n),
    }


def _spearman(pairs: _Rows, clusters: Sequence[Hashable] | None) -> Metric:
    import numpy as np

    distinct = sorted(set(pairs))
    a, b = np.array(distinct, dtype=float).reshape(-1, 2).T

    def statistic(counts: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {"spearman": _pearson(counts, _mid_ranks(counts, a), _mid_ranks(counts, b))}

    if len(distinct) > _MOST_PAIRS:
        often = Counter(pairs)
        value = statistic(np.array([often[pair] for pair in distinct], dtype=float))["spearman"]
        note = f"no interval: {len(distinct)} different pairs of marks, at most {_MOST_PAIRS} are resampled"
        return Metric("spearman", float(value), len(pairs), note=note)
    place = {pair: k for k, pair in enumerate(distinct)}
    cells = np.zeros((len(pairs), len(distinct)))
    cells[np.arange(len(pairs)), [place[pair] for pair in pairs]] = 1
    return _statistics(cells, clusters, statistic)[0]


def _mid_ranks(counts: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Each pair's mid-rank by its value, shape ``(..., P)`` as ``counts``: how often each of P pairs occurs."""
    import numpy as np

    distinct, index = np.unique(values, return_inverse=True)
    ties = counts @ (index[:, None] == np.arange(len(distinct)))  # how often each value occurs
    return np.asarray((ties.cumsum(axis=-1) - (ties - 1) / 2)[..., index])


def _pearson(counts: NDArray[Any], x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    n = counts.sum(axis=-1)
    middle = (n[..., None] + 1) / 2  # the mean of mid-ranks
    over = (counts * (x - middle) * (y - middle)).sum(axis=-1)
    spread = (counts * (x - middle) ** 2).sum(axis=-1) * (counts * (y - middle) ** 2).sum(axis=-1)
    return ratio(over, np.sqrt(spread))


def _noise_metrics(rows: _Rows, clusters: Sequence[Hashable] | None) -> tuple[Metric, ...]:
    import numpy as np

    k = len(rows[0]) if rows else 2
    marks = np.array(rows, dtype=float).reshape(len(rows), k) - 5
    within, means = marks.var(axis=1, ddof=1), marks.mean(axis=1)
    moved = [float(max(row) - min(row) > CLOSE + _ROUNDING) for row in rows]
    items = np.column_stack([np.ones(len(rows)), np.sqrt(within), within, means, means**2])

    def statistic(sums: NDArray[Any]) -> dict[str, NDArray[Any]]:
        n, sd, variance, mean, square = np.moveaxis(sums, -1, 0)
        within = ratio(variance, n)  # the mean square within items
        between = k * ratio(square - ratio(mean**2, n), n - 1)
        total = between + (k - 1) * within
        total = np.where(np.abs(total) < _ROUNDING, 0, total)
        return {"mean_within_item_sd": ratio(sd, n), "icc": ratio(between - within, total)}

    sd, icc = _statistics(items, clusters, statistic)
    return (sd, _rate("moved_more_than_1", moved, clusters), icc)


def _rate(name: str, values: Sequence[float], clusters: Sequence[Hashable] | None) -> Metric:
    value = fsum(values) / len(values) if values else nan
    return Metric(name, value, len(values), *clustered_rate(values, clusters))


def _statistics(items: NDArray[Any], clusters: Sequence[Hashable] | None, statistic: _Statistic) -> list[Metric]:
    values = statistic(items.sum(axis=0))
    intervals = cluster_bootstrap(items, clusters, statistic)
    return [Metric(name, float(value), len(items), *_if_wide(intervals[name])) for name, value in values.items()]


def _if_wide(interval: Interval) -> Interval:
    """No interval where all resamples are alike: that is no certainty."""
    return interval if interval.high - interval.low > _ROUNDING else Interval(nan, nan)
