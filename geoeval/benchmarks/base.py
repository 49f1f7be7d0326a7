"""What all benchmarks share: whose fault an unusable reply is, and how scores become a summary."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from geoeval import __version__
from geoeval.metrics.classification import class_table, confusion_cells, confusion_table
from geoeval.metrics.intervals import cluster_bootstrap, clustered_mean, clustered_rate
from geoeval.types import ClassScores, Coverage, Extraction, Item, Metric, Outcome, PromptView, Score, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Benchmark(ABC):
    """One task: its prompt, its marking rule, its summary.

    Args:
        name: The task's name, the same in every harness.
        subset: Column -> value of the rows that belong to the task; empty for all rows of the dataset.

    Attributes:
        dataset: Name of the file of rows that the task is taken from.
        version: ``N-X``; N: results no longer comparable, X: interface changed.
        strata: The breakdowns an item carries.
        max_new_tokens: Generation limit; the temperature is 0 everywhere.
        labels: The label space of the confusion matrix; empty for open questions.
        rates: Per-item metrics that are 0 or 1, reported as rates. The first of rates and means is the headline.
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
    rates: ClassVar[tuple[str, ...]] = ()
    means: ClassVar[tuple[str, ...]] = ()
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {}
    composites: ClassVar[tuple[str, ...]] = ()
    lower_is_better: ClassVar[frozenset[str]] = frozenset()
    stratum_metrics: ClassVar[tuple[str, ...]]

    def __init__(self, name: str, subset: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.subset = dict(subset or {})

    def includes(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of the dataset belongs to the task."""
        return all(row[column] == value for column, value in self.subset.items())

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

    def prompt(self, item: Item) -> list[dict[str, Any]]:
        """The item as chat messages.

        Returns:
            ``[{"role", "content": [{"type": "image", "image"} ..., {"type": "text", "text"}]}]``, pictures as the item
            holds them.
        """
        view = item.prompt_view()
        pictures = [{"type": "image", "image": image} for image in view.images]
        return [{"role": "user", "content": [*pictures, {"type": "text", "text": self.prompt_text(view)}]}]

    def score(self, item: Item, reply: str | None, failure: str = "request_failed") -> Score:
        """Mark one reply.

        Args:
            item: What was asked.
            reply: What the model wrote, as it wrote it; None for a request that failed.
            failure: Why it failed, kept as the reason.
        """
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
        doubled = [id_ for id_, count in Counter(score.id for score in ordered).items() if count > 1]
        if doubled:
            raise ValueError(f"{self.name}: {len(doubled)} ids occur more than once, e.g. {doubled[:5]}")
        scored = [score for score in ordered if score.outcome.scored]
        metrics = self._metrics(scored, (*self.rates, *self.means))
        confusion: dict[str, dict[str, int]] = {}
        classes: dict[str, ClassScores] = {}
        if self.labels:
            cells = confusion_cells([s.gold for s in scored], [s.extracted for s in scored], self.labels)
            metrics = (*metrics, *self._composites(cells, [s.cluster for s in scored]))
            counts = cells.sum(axis=0)
            confusion, classes = confusion_table(counts, self.labels), class_table(counts, self.labels)
        return Summary(
            benchmark=self.name,
            version=self.version,
            metrics=metrics,
            strata={name: self._stratum(name, scored) for name in self.strata},
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

    def from_counts(self, counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        """The metrics of confusion matrices of shape ``(..., labels, labels + 1)``, unread replies last."""
        return {}

    def _metrics(self, scored: Sequence[Score], names: Iterable[str]) -> tuple[Metric, ...]:
        return tuple(self._metric(name, [s for s in scored if name in s.values]) for name in names)

    def _metric(self, name: str, scored: Sequence[Score]) -> Metric:
        values, clusters = [s.values[name] for s in scored], [s.cluster for s in scored]
        mean = clustered_mean(values, clusters)
        if name in self.rates:
            return Metric(name, mean.mean, mean.n, *clustered_rate(values, clusters))
        least, most = self.bounds.get(name, (-math.inf, math.inf))
        low, high = (end if math.isnan(end) else min(max(end, least), most) for end in (mean.low, mean.high))
        return Metric(name, mean.mean, mean.n, low, high)

    def _composites(self, cells: NDArray[Any], clusters: Sequence[str]) -> Iterator[Metric]:
        values = self.from_counts(cells.sum(axis=0))
        intervals = cluster_bootstrap(cells, clusters, self.from_counts)
        for name in self.composites:
            low, high = intervals[name]
            if (
                low == high
            ):  # All resamples alike, e.g. all replies right: that is no certainty, but no interval either.
                low = high = math.nan
            yield Metric(name, float(values[name]), len(cells), low, high)

    def _stratum(self, name: str, scored: Sequence[Score]) -> dict[str, tuple[Metric, ...]]:
        parts: dict[str, list[Score]] = {}
        for score in scored:
            parts.setdefault(score.strata[name], []).append(score)
        return {value: self._metrics(parts[value], self.stratum_metrics) for value in sorted(parts)}


def _coverage(scores: Sequence[Score]) -> Coverage:
    counts = Counter(score.outcome.value for score in scores)
    return Coverage(items=len(scores), **{outcome.value: counts[outcome.value] for outcome in Outcome})
