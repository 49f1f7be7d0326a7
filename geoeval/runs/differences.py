"""The differences of two models on the same items, metric by metric.

A metric is compared by what it is:

* A rate over the same items in both: Newcombe's interval and McNemar's exact test. Where items share clusters, n is
  divided by the design effect, and clusters are swapped instead of items, since McNemar's takes these as independent.
* A rate whose denominator depends on the reply (``accuracy_valid``, ``detection_precision``): each model over its own
  items.
* A mean: over the items that have it in both (a judge may have left some unmarked).
* F1 and the like, means of parts: functions of sums over items.

The last three have the interval of the paired cluster bootstrap and the p-value of the randomization test, see
`geoeval.metrics.paired.paired_differences`. Differences are ``b - a``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks import Benchmark
from geoeval.data.progress import track
from geoeval.metrics.classification import confusion_cells, ratio
from geoeval.metrics.intervals import effective_size, mcnemar
from geoeval.metrics.multiple import holm
from geoeval.metrics.paired import (
    Measured,
    PairedCounts,
    PairedSums,
    detectable_difference,
    detectable_rate_difference,
    paired_differences,
    paired_rate_interval,
)
from geoeval.metrics.parts import mean_of_parts, part_sums
from geoeval.types import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Difference:
    """One metric of two models.

    Attributes:
        metric: Its name.
        a, b: The values on the items compared.
        difference: ``b - a``.
        low, high: Its 95 % interval; nan where none can be given.
        p_value: Two-sided, not adjusted.
        test: "mcnemar" or "randomization".
        n_a, n_b: Denominators; they differ where a metric counts only some replies.
        n_clusters: How many clusters these items are.
        a_better, b_better, ties: Items on which a model is better; of a rate the discordant ones. None for metrics that
            an item does not have.
        mcnemar: P-value of McNemar's test where there is one.
        detectable: The smallest difference this n could show, see `geoeval.metrics.paired`.
        p_holm: P-value adjusted for the other parts of the breakdown, or the other pairs of the matrix.
        note: What must be said beside it.
    """

    metric: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    test: str
    n_a: int
    n_b: int
    n_clusters: int
    a_better: int | None = None
    b_better: int | None = None
    ties: int | None = None
    mcnemar: float = nan
    detectable: float = nan
    p_holm: float = nan
    note: str = ""


def differences(
    benchmark: Benchmark,
    names: Sequence[str],
    withheld: Mapping[str, str],
    a: Sequence[Score],
    b: Sequence[Score],
) -> tuple[Difference, ...]:
    """The metrics of two models on the same items in the same order."""
    clusters = [score.cluster for score in a]
    found = paired_differences(list(_measured(benchmark, names, a, b)), clusters)
    rows = []
    for name in names:
        if name in withheld:
            rows.append(Difference(name, nan, nan, nan, nan, nan, nan, "", 0, 0, 0, note=withheld[name]))
        elif name in benchmark.part_means or name in benchmark.composites:
            rows.append(_of_sums(name, found[name], len(a)))
        else:
            values = [(x.values.get(name), y.values.get(name)) for x, y in zip(a, b, strict=True)]
            rows.append(_of_items(benchmark, name, values, clusters, found[name]))
    return tuple(rows)


def stratum_differences(
    benchmark: Benchmark, withheld: Mapping[str, str], a: Sequence[Score], b: Sequence[Score]
) -> dict[str, dict[str, Difference]]:
    """The first metric of a stratum in every part of every breakdown; within one, adjusted for the number of parts."""
    metric = benchmark.stratum_metrics[0]
    found: dict[str, dict[str, Difference]] = {}
    for name in track(benchmark.strata, f"comparing {benchmark.name}", len(benchmark.strata)):
        parts: dict[str, list[int]] = {}
        for i, score in enumerate(a):
            parts.setdefault(score.strata[name], []).append(i)
        rows = {
            part: differences(benchmark, [metric], withheld, [a[i] for i in indices], [b[i] for i in indices])[0]
            for part, indices in sorted(parts.items())
        }
        adjusted = holm([row.p_value for row in rows.values()])
        found[name] = {part: replace(row, p_holm=p) for (part, row), p in zip(rows.items(), adjusted, strict=True)}
    return found


def _measured(benchmark: Benchmark, names: Sequence[str], a: Sequence[Score], b: Sequence[Score]) -> Iterator[Measured]:
    """What both models add to the sums of each metric."""
    for name in names:
        if name in benchmark.part_means:
            rate, stratum, parts = benchmark.part_means[name]
            sums = [part_sums([s.values[rate] for s in of], [s.strata[stratum] for s in of], parts) for of in (a, b)]
            yield Measured(sums[0], sums[1], lambda total, name=name: {name: mean_of_parts(total)})  # type: ignore[misc]
        elif name not in benchmark.composites:
            yield _measured_values(name, a, b, apart=name in benchmark.rates)
    composites = [name for name in names if name in benchmark.composites]
    if composites:
        gold = [score.gold for score in a]
        cells = [confusion_cells(gold, [score.extracted for score in of], benchmark.labels) for of in (a, b)]

        def statistic(counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
            values = benchmark.from_counts(counts)
            return {name: values[name] for name in composites}

        yield Measured(cells[0], cells[1], statistic)


def _measured_values(name: str, a: Sequence[Score], b: Sequence[Score], apart: bool) -> Measured:
    """Value and 1 of each item that has one; unless taken apart, only where both models have one."""
    import numpy as np

    values = [[score.values.get(name) for score in of] for of in (a, b)]
    has = np.array([[value is not None for value in of] for of in values], dtype=float).reshape(2, -1)
    if not apart:
        has[:] = has.min(axis=0)
    sums = np.stack([np.array([[value or 0.0 for value in of] for of in values]).reshape(2, -1) * has, has], axis=-1)
    return Measured(sums[0], sums[1], lambda total: {name: ratio(total[..., 0], total[..., 1])})


def _of_sums(name: str, found: PairedSums, n: int) -> Difference:
    return Difference(
        metric=name,
        a=found.a,
        b=found.b,
        difference=found.b - found.a,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        test="randomization",
        n_a=n,
        n_b=n,
        n_clusters=found.n_clusters,
        detectable=detectable_difference(found.stderr),
    )


def _of_items(
    benchmark: Benchmark,
    name: str,
    values: Sequence[tuple[float | None, float | None]],
    clusters: Sequence[str],
    found: PairedSums,
) -> Difference:
    """A metric that items have: how many each model wins; a rate of the same items has its own interval and test."""
    kept = [(x, y, c) for (x, y), c in zip(values, clusters, strict=True) if x is not None and y is not None]
    more_a, more_b = sum(x - y > _ROUNDING for x, y, _ in kept), sum(y - x > _ROUNDING for x, y, _ in kept)
    better = (more_b, more_a) if name in benchmark.lower_is_better else (more_a, more_b)
    row = replace(
        _of_sums(name, found, len(kept)), a_better=better[0], b_better=better[1], ties=len(kept) - more_a - more_b
    )
    if name not in benchmark.rates or not kept:
        return row
    n_a, n_b = (sum(pair[k] is not None for pair in values) for k in (0, 1))
    if not n_a == n_b == len(kept):
        return replace(row, n_a=n_a, n_b=n_b)
    both = sum(x > 0 and y > 0 for x, y, _ in kept)
    counts = PairedCounts(both, more_a, more_b, len(kept) - both - more_a - more_b)
    shared = [cluster for *_, cluster in kept]
    size, exact = effective_size([y - x for x, y, _ in kept], shared), mcnemar(more_a, more_b)
    low, high = paired_rate_interval(counts, size)
    independent = len(set(shared)) == len(shared)
    return replace(
        row,
        low=low,
        high=high,
        p_value=exact if independent else row.p_value,
        test="mcnemar" if independent else row.test,
        mcnemar=exact,
        detectable=detectable_rate_difference((more_a + more_b) / len(kept), size),
    )
