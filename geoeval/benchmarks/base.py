"""What all benchmarks share: whose fault an unusable reply is, and how scores become a summary."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from geoeval import __version__
from geoeval.benchmarks.columns import Columns
from geoeval.extraction.text import well_formed
from geoeval.metrics.classification import class_table, confusion_cells, confusion_table
from geoeval.metrics.intervals import Interval, cluster_bootstrap, clustered_mean, clustered_rate
from geoeval.metrics.parts import mean_of_parts, part_sums
from geoeval.types import ClassScores, Coverage, Extraction, Item, Metric, Outcome, PromptView, Score, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUESTION_FOLLOWS = "Now the question. Its own picture comes last."
"""Stands between what a setting shows and the question; true as well where all pictures come before all text."""


class PartMean(NamedTuple):
    """A rate averaged over parts that count alike, whatever their sizes.

    Attributes:
        rate: One of the benchmark's rates.
        stratum: The breakdown that names an item's part.
        parts: All parts. The mean is nan when one of them has no scored item.
    """

    rate: str
    stratum: str
    parts: tuple[str, ...]


class Benchmark(ABC):
    """One task: its prompt, its marking rule, its summary.

    Args:
        name: The task's name, the same in every harness.
        subset: Column -> value of the rows that belong to the task; empty for all rows of the dataset.
        setting: The column of what is shown before the question (`Item.context`), e.g. "icd"; empty for zero-shot.

    Attributes:
        dataset: Name of the file of rows that the task is taken from.
        version: ``N-X``; N: results no longer comparable, X: interface changed.
        strata: The breakdowns an item carries.
        max_new_tokens: Generation limit; the temperature is 0 everywhere.
        labels: The label space of the confusion matrix; empty for open questions.
        part_means: Unweighted means of a rate over the parts of a breakdown.
        rates: Per-item metrics that are 0 or 1, reported as rates.
        means: Per-item metrics reported as means.
        bounds: Least and most value of a mean, where its normal interval is cut.
        composites: Metrics of the confusion matrix (F1 ...).
        lower_is_better: Those of the above where less is better.
        stratum_metrics: The rates and means shown for each stratum.
    """

    dataset: ClassVar[str]
    version: ClassVar[str]
    strata: ClassVar[tuple[str, ...]]
    max_new_tokens: ClassVar[int]
    labels: ClassVar[tuple[str, ...]] = ()
    part_means: ClassVar[Mapping[str, PartMean]] = {}
    rates: ClassVar[tuple[str, ...]] = ()
    means: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = {}
    composites: ClassVar[tuple[str, ...]] = ()
    lower_is_better: ClassVar[frozenset[str]] = frozenset()
    stratum_metrics: tuple[str, ...]

    def __init__(self, name: str, subset: Mapping[str, str] | None = None, setting: str = "") -> None:
        self.name = name
        self.subset = dict(subset or {})
        self.setting = setting

    def includes(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of the dataset belongs to the task."""
        return all(row[column] == value for column, value in self.subset.items())

    @property
    def metric_names(self) -> tuple[str, ...]:
        """All metrics in printing order; the first is the headline."""
        return (*self.part_means, *self.rates, *self.means, *self.composites)

    def unmarkable(self, row: Mapping[str, Any]) -> str:
        """Why no reply to a row could be marked, so that a run stops before its first request; "" if nothing is wrong.

        Args:
            row: With the columns of the canonical layout.
        """
        offered = {*row["gold"], *row["choices"]}
        if self.labels and not offered <= {*self.labels}:
            return f"{sorted(offered - {*self.labels})} not among the labels {list(self.labels)}"
        for mean in self.part_means.values():
            if row[mean.stratum] not in mean.parts:
                return f"{mean.stratum} {row[mean.stratum]!r} not among {list(mean.parts)}"
        return ""

    def answers(self, item: Item) -> Sequence[str]:
        """What a reply may answer; empty for open questions."""
        return item.choices or self.labels

    @abstractmethod
    def prompt_text(self, view: PromptView) -> str:
        """The exact user text of an item."""

    @abstractmethod
    def read(self, item: Item, reply: str) -> Extraction:
        """What a reply that is not empty says."""

    @abstractmethod
    def mark(self, item: Item, reply: str, extraction: Extraction) -> Mapping[str, float]:
        """The per-item metrics of a reply, read or not; see `Score.values`."""

    @abstractmethod
    def method_signature(self, scores: Sequence[Score]) -> str:
        """How replies are read and marked, for the signature line."""

    def format_reply(self, item: Item, answer: str) -> str:
        """A reply that gives an answer just as the prompt asks."""
        return answer

    def picture(self, picture: Any) -> Any:
        """A picture as it is shown; see `geoeval.types.AsJpeg`."""
        return picture

    def prompt(self, item: Item) -> list[dict[str, Any]]:
        """The item as chat messages.

        Returns:
            ``[{"role", "content": [{"type": "image", "image"} ..., {"type": "text", "text"}]}]``, pictures as the item
            holds them. What the setting shows stands before the question's own pictures, in reading order.
        """
        view = item.prompt_view()
        pictures = [{"type": "image", "image": self.picture(image)} for image in view.images]
        question = {"type": "text", "text": self.prompt_text(view)}
        return [{"role": "user", "content": [*self._before(view), *pictures, question]}]

    def flat_prompt(self, item: Item) -> str:
        """The text of `prompt` in one piece, for models that take pictures and text apart.

        The pictures of the context are named at their places by their number; the question's own come after them.
        """
        view = item.prompt_view()
        numbers = count(1)
        before = [part["text"] if "text" in part else f"[picture {next(numbers)}]" for part in self._before(view)]
        return "\n".join([*before, self.prompt_text(view)])

    def _before(self, view: PromptView) -> list[Mapping[str, Any]]:
        """The context, and that the question comes next."""
        return [*view.context, {"type": "text", "text": QUESTION_FOLLOWS}] if view.context else []

    def score(self, item: Item, reply: str | None, failure: str = "request_failed") -> Score:
        """Mark one reply.

        Args:
            item: What was asked.
            reply: What the model wrote, as it wrote it; None for a request that failed.
            failure: Why it failed, kept as the reason.
        """
        reply = reply and well_formed(reply)  # so that a score is the same before and after it was saved
        if reply is None:
            outcome, extraction = Outcome.FAILED, Extraction(None, "none", failure)
        elif not reply.strip():
            outcome, extraction = Outcome.EMPTY, Extraction(None, "none", "empty")
        else:
            extraction = self.read(item, reply)
            outcome = Outcome.UNREAD if extraction.value is None else Outcome.READ
        return Score(
            id=item.id,
            outcome=outcome,
            values={} if reply is None else self.mark(item, reply, extraction),
            extracted=extraction.value,
            gold=item.gold,
            method=extraction.method,
            reason=extraction.reason,
            cluster=item.cluster,
            strata=item.strata,
        )

    def summarise(self, scores: Iterable[Score], data: str = "unknown") -> Summary:
        """All numbers of a run; the same to the last bit in whatever order the scores come.

        Args:
            scores: One for each item.
            data: Which data, for the signature line, e.g. ``SAMPLE@0123456789ab``.

        Raises:
            ValueError: An id occurs twice.
        """
        ordered = sorted(scores, key=lambda score: score.id)
        doubled = sorted({one.id for one, two in pairwise(ordered) if one.id == two.id})
        if doubled:
            raise ValueError(f"{self.name}: {len(doubled)} ids occur more than once, e.g. {doubled[:5]}")
        scored = [score for score in ordered if score.outcome.scored]
        columns = Columns(scored)
        metrics = (*self._part_means(scored), *self._metrics(columns, (*self.rates, *self.means)))
        confusion: dict[str, dict[str, int]] = {}
        classes: dict[str, ClassScores] = {}
        if self.labels:
            sums = columns.confusion_sums(self.labels)
            metrics = (*metrics, *self._composites(sums, len(scored)))
            counts = sums.sum(axis=0)
            confusion, classes = confusion_table(counts, self.labels), class_table(counts, self.labels)
        return Summary(
            benchmark=self.name,
            version=self.version,
            metrics=metrics,
            strata={name: self._stratum(name, columns) for name in self.strata},
            coverage=_coverage(ordered),
            confusion=confusion,
            classes=classes,
            signature=f"{self.name}:{self.version}|data:{data}|{self.method_signature(ordered)}|geoeval:{__version__}",
        )

    def composite(self, name: str, gold: Sequence[Sequence[str]], read: Sequence[str | None]) -> float:
        """One metric of the confusion matrix; nan when it is undefined.

        Args:
            name: One of `composites`.
            gold: For each scored item its accepted labels.
            read: For each the label read, or None.
        """
        return float(self.from_counts(confusion_cells(gold, read, self.labels).sum(axis=0))[name])

    def part_mean(self, name: str, parts: Sequence[str], values: Sequence[float]) -> float:
        """One of `part_means`; nan when it is undefined.

        Args:
            name: Its name.
            parts: For each scored item its part.
            values: For each the value of the rate.
        """
        return float(mean_of_parts(part_sums(values, parts, self.part_means[name].parts).sum(axis=0)))

    def from_counts(self, counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        """The metrics of confusion matrices of shape ``(..., labels, labels + 1)``, unread replies last."""
        return {}

    def _part_means(self, scored: Sequence[Score]) -> Iterator[Metric]:
        for name, (rate, stratum, parts) in self.part_means.items():
            sums = part_sums([s.values[rate] for s in scored], [s.strata[stratum] for s in scored], parts)
            clusters = [s.cluster for s in scored]
            interval = cluster_bootstrap(sums, clusters, lambda total: {"mean": mean_of_parts(total)})["mean"]
            yield Metric(name, float(mean_of_parts(sums.sum(axis=0))), len(sums), *_if_wide(interval))

    def _metrics(self, columns: Columns, names: Iterable[str], rows: NDArray[Any] | None = None) -> tuple[Metric, ...]:
        return tuple(self._metric(name, *columns.values(name, rows)) for name in names)

    def _metric(self, name: str, values: NDArray[Any], clusters: NDArray[Any]) -> Metric:
        if name in self.rates:
            value = float(values.sum()) / len(values) if len(values) else math.nan  # whole numbers: exact
            return Metric(name, value, len(values), *clustered_rate(values.tolist(), clusters))
        mean = clustered_mean(values.tolist(), clusters.tolist())
        least, most = self.bounds.get(name, (-math.inf, math.inf))
        low, high = (end if math.isnan(end) else min(max(end, least), most) for end in (mean.low, mean.high))
        return Metric(name, mean.mean, mean.n, low, high)

    def _composites(self, sums: NDArray[Any], n: int) -> Iterator[Metric]:
        values = self.from_counts(sums.sum(axis=0))
        intervals = cluster_bootstrap(sums, None, self.from_counts)
        for name in self.composites:
            yield Metric(name, float(values[name]), n, *_if_wide(intervals[name]))

    def _stratum(self, name: str, columns: Columns) -> dict[str, tuple[Metric, ...]]:
        parts = columns.parts(name)
        return {value: self._metrics(columns, self.stratum_metrics, parts[value]) for value in sorted(parts)}


def _coverage(scores: Sequence[Score]) -> Coverage:
    counts = Counter(score.outcome.value for score in scores)
    unscored = sum(score.judgement is not None and score.judgement.score is None for score in scores)
    return Coverage(len(scores), **{outcome.value: counts[outcome.value] for outcome in Outcome}, unscored=unscored)


def _if_wide(interval: Interval) -> Interval:
    """No interval where all resamples are alike, e.g. where all replies are right: that is no certainty."""
    return Interval(math.nan, math.nan) if interval.low == interval.high else interval
