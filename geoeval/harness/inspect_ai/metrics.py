"""All scores of a run -> numbers: those of `Benchmark.summarise`, none of our own making here.

inspect-ai hands over the scores of samples that were scored; how many were not is its ``unscored_samples``. With
several epochs each reply counts, and the replies to one item share its cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from inspect_ai.scorer import Metric as InspectMetric
from inspect_ai.scorer import SampleScore, Value, metric

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.benchmarks.lithobench import JudgedLithoBenchOpen
from geoeval.harness.inspect_ai.samples import score_of
from geoeval.metrics.intervals import clustered_mean
from geoeval.types import Score

_Numbers = Iterator[tuple[str, float]]


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def numbers(task: str) -> InspectMetric:
    """Every metric of the task, and what became of the replies; failed requests are inspect-ai's unscored samples."""
    return _metric(task, _values)


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def intervals(task: str) -> InspectMetric:
    """Of every metric n and the 95 % interval; of rates and means the clustered standard error."""
    return _metric(task, _intervals)


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def groups(task: str) -> InspectMetric:
    """The first rate or mean of each part of each breakdown, with its n."""
    return _metric(task, _groups)


def _metric(task: str, compute: Callable[[Benchmark, Sequence[Score]], _Numbers]) -> InspectMetric:
    def metric_of(scores: list[SampleScore]) -> Value:
        ours = [score_of(sample, id_) for sample, id_ in zip(scores, _ids(scores), strict=True)]
        return dict(compute(_benchmark(task, scores), ours))

    return metric_of


def _benchmark(task: str, scores: Sequence[SampleScore]) -> Benchmark:
    """The task, with the judge's metrics where one was asked."""
    benchmark = get_benchmark(task)
    judges = (sample.score.metadata["judge"] for sample in scores if "judge" in (sample.score.metadata or {}))
    judge = next(judges, None)
    return JudgedLithoBenchOpen(benchmark, **judge) if judge else benchmark


def _ids(scores: Sequence[SampleScore]) -> Iterator[str]:
    """Ids that differ for each reply: the second one of an item is ``<id>#2``."""
    seen: Counter[str] = Counter()
    for sample in scores:
        id_ = str(sample.sample_id)
        seen[id_] += 1
        yield id_ if seen[id_] == 1 else f"{id_}#{seen[id_]}"


def _values(benchmark: Benchmark, scores: Sequence[Score]) -> _Numbers:
    summary = benchmark.summarise(scores)
    yield from ((m.name, m.value) for m in summary.metrics)
    coverage = summary.coverage
    yield from (("replies_read", coverage.read), ("replies_unread", coverage.unread), ("replies_empty", coverage.empty))
    if any(score.judgement for score in scores):
        yield "replies_without_mark", coverage.unscored


def _intervals(benchmark: Benchmark, scores: Sequence[Score]) -> _Numbers:
    ordered = sorted(scores, key=lambda score: score.id)
    for m in benchmark.summarise(scores).metrics:
        yield f"{m.name}_n", m.n
        yield f"{m.name}_low", m.low
        yield f"{m.name}_high", m.high
        if m.name in (*benchmark.rates, *benchmark.means):
            taking_part = [score for score in ordered if m.name in score.values]
            values, clusters = [s.values[m.name] for s in taking_part], [s.cluster for s in taking_part]
            yield f"{m.name}_stderr", clustered_mean(values, clusters).stderr


def _groups(benchmark: Benchmark, scores: Sequence[Score]) -> _Numbers:
    for breakdown, parts in benchmark.summarise(scores).strata.items():
        for part, metrics in parts.items():
            yield f"{breakdown}={part} {metrics[0].name}", metrics[0].value
            yield f"{breakdown}={part} {metrics[0].name}_n", metrics[0].n
