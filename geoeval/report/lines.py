"""What a report's tables say: one line a number, the same for the page and for every export."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from geoeval.benchmarks import Benchmark, benchmark_names, get_benchmark
from geoeval.benchmarks.published import published_results
from geoeval.data.errors import DataError
from geoeval.report.table import marks_of
from geoeval.report.text import clipped, counted
from geoeval.runs.conditions import conditions
from geoeval.runs.model import Result
from geoeval.types import Coverage, Metric

Kind = Literal["model", "baseline", "published"]

SMALL = 20
"""Parts with fewer items are marked."""
_DATA_NOTES = {
    "local": "of local data, not known to be the published items",
    "": "does not say of which data",
}
_TELLING = ("policy", "judge", "model_args", "harness", "date", "source_sha256")


@dataclass(frozen=True)
class Entry:
    """One result of the report.

    Attributes:
        result: The result.
        key: Number of its label, the same in every table and plot; from 1.
        label: The model, and what tells it from another result of the same model and task. Untrusted text.
    """

    result: Result
    key: int
    label: str

    @property
    def headline(self) -> str:
        """Name of the headline metric."""
        return self.result.summary.metrics[0].name


@dataclass(frozen=True)
class Line:
    """One number.

    Attributes:
        kind: Whose it is: a model's of this report, a baseline's on the same items, or a published one.
        task: The task.
        name: The model or baseline. Untrusted text.
        key: See `Entry`; 0 where there is none.
        metric: The number.
        coverage: What became of the replies; None where that is not known.
        items_in_task: How many items the task has; None where that is not known.
        sample: Whether the data is the bundled sample.
        setting: Of a published number.
        note: What must be known beside `Metric.note`.
        unlike: Why it does not compare with others of its table.
        conflict: Whether sources disagree on it.
        source: Where a published number was read; the signature of a model's.
    """

    kind: Kind
    task: str
    name: str
    key: int
    metric: Metric
    coverage: Coverage | None = None
    items_in_task: int | None = None
    sample: bool = False
    setting: str = ""
    note: str = ""
    unlike: str = ""
    conflict: bool = False
    source: str = ""

    @property
    def title(self) -> str:
        """Whose number it is, in one phrase. Untrusted text."""
        return {
            "model": self.name,
            "baseline": f"baseline: {self.name}",
            "published": f"published: {self.name} ({self.setting}{', sources disagree' if self.conflict else ''})",
        }[self.kind]


def entries(results: Sequence[Result]) -> list[Entry]:
    """The results in the order of the tasks, labelled and numbered.

    Raises:
        DataError: There is none, or one of a task that is not ours or that has no numbers.
    """
    if not results:
        raise DataError("no results to report")
    order = {task: place for place, task in enumerate(benchmark_names())}
    for result in results:
        if result.task not in order or not result.summary.metrics:
            raise DataError(f"{result.task!r}: no task of this version of geoeval, or no numbers; see 'geoeval tasks'")
    labels = _labels(results)
    keys = {label: key for key, label in enumerate(dict.fromkeys(labels), 1)}
    found = [Entry(result, keys[label], label) for result, label in zip(results, labels, strict=True)]
    return sorted(found, key=lambda entry: (order[entry.result.task], entry.key))


def by_task(found: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Task -> its entries."""
    tasks: dict[str, list[Entry]] = {}
    for entry in found:
        tasks.setdefault(entry.result.task, []).append(entry)
    return tasks


def headline_lines(task: Sequence[Entry]) -> list[Line]:
    """The headline number of every model of one task, of its baselines, and the published ones, each part best first.

    Published numbers are left out where a result is of the bundled sample: they are of other items.
    """
    metric = task[0].headline
    unlike = _unlike(task, metric)
    models = [_line(entry, next(m for m in entry.result.summary.metrics if m.name == metric), unlike) for entry in task]
    others = [line for line in baseline_lines(task) if line.metric.name == metric]
    sign = 1 if metric in get_benchmark(task[0].result.task).lower_is_better else -1

    def best_first(line: Line) -> tuple[bool, float]:
        value = line.metric.value
        return math.isnan(value), 0 if math.isnan(value) else sign * value

    return [line for part in (models, others, published_lines(task, metric)) for line in sorted(part, key=best_first)]


def all_lines(found: Sequence[Entry]) -> Iterator[Line]:
    """Every number of every task: models, then baselines, then published ones."""
    for task in by_task(found).values():
        names = dict.fromkeys(metric.name for entry in task for metric in entry.result.summary.metrics)
        unlike = {name: _unlike(task, name) for name in names}
        for entry in task:
            yield from (_line(entry, metric, unlike[metric.name]) for metric in entry.result.summary.metrics)
        yield from baseline_lines(task)
        for name in names:
            yield from published_lines(task, name)


def baseline_lines(task: Sequence[Entry]) -> Iterator[Line]:
    """What needs no model, on the same items; once where several results agree on it."""
    seen = set()
    for entry in task:
        for name, metrics in entry.result.baselines.items():
            for metric in metrics:
                mark = (name, metric.name, metric.n, f"{metric.value:.12g}")
                if mark not in seen:
                    seen.add(mark)
                    sample = entry.result.is_sample
                    yield Line("baseline", entry.result.task, name.replace("_", " "), 0, metric, sample=sample)


def published_lines(task: Sequence[Entry], metric: str) -> list[Line]:
    """What is published of the same task and metric; nothing beside numbers of the bundled sample."""
    if any(entry.result.is_sample for entry in task):
        return []
    name = task[0].result.task
    return [
        Line(
            kind="published",
            task=name,
            name=row.model,
            key=0,
            metric=Metric(metric, row.value, 0),
            setting=row.setting,
            note=row.note.removeprefix("conflict:").strip(),
            conflict=row.conflict,
            source=row.source,
        )
        for row in published_results(name)
        if row.metric == metric
    ]


def item_metric(benchmark: Benchmark, headline: str) -> str:
    """The metric of single items that the headline number is made of."""
    part = benchmark.part_means.get(headline)
    return part.rate if part else headline


def top(metric: str) -> int:
    """The largest value of a metric: 10 for scores, 1 for all others."""
    return 10 if "score" in metric or metric.startswith(("open_with_judge", "judge_")) else 1


def coverage_notes(line: Line) -> list[str]:
    """What a reader must know of the replies behind a number."""
    coverage, notes = line.coverage, [line.note, line.metric.note, line.unlike]
    if coverage and line.items_in_task is not None and coverage.items < line.items_in_task:
        notes.append(f"only {coverage.items:,} of the {line.items_in_task:,} items of the task")
    if coverage and coverage.failed:
        notes.append(f"{counted(coverage.failed, 'request')} failed, not counted in n")
    if coverage and coverage.unscored:
        notes.append(f"{counted(coverage.unscored, 'answer')} without a mark of the judge")
    return [note for note in notes if note]


def table_notes(table: Sequence[Line]) -> list[str]:
    """What must be said of the lines of a table; what holds for many is said once."""
    said: dict[str, list[str]] = {}
    for line in table:
        for note in coverage_notes(line):
            said.setdefault(note, []).append(line.title)
    notes = [f"{', '.join(names) if len(names) < 4 else f'{len(names)} rows'}: {note}" for note, names in said.items()]
    sources = dict.fromkeys(line.source for line in table if line.kind == "published")
    return [*notes, *(f"published: {source}" for source in sources)]


def _unlike(task: Sequence[Entry], metric: str) -> str:
    """Why the numbers of a task do not compare; that judges differ is nothing to those without a judge."""
    facts = conditions({entry.label: entry.result for entry in task}).differing
    said = "; ".join(fact for fact in facts if "judge" in metric or not fact.startswith("judge "))
    return f"no fair comparison, since these differ: {said}" if said else ""


def _line(entry: Entry, metric: Metric, unlike: str) -> Line:
    result = entry.result
    marks = [mark for mark in marks_of(result) if mark.startswith(("policy", "asked"))]
    return Line(
        kind="model",
        task=result.task,
        name=entry.label,
        key=entry.key,
        metric=metric,
        coverage=result.summary.coverage,
        items_in_task=result.run.get("items_in_task"),
        sample=result.is_sample,
        note="; ".join(filter(None, (_DATA_NOTES.get(str(result.run.get("data") or ""), ""), *marks))),
        unlike=unlike,
        source=result.summary.signature,
    )


def _labels(results: Sequence[Result]) -> list[str]:
    """The models' names; what is several times in a task also says what differs, or is counted."""
    tasks = [result.task for result in results]
    labels = [result.model for result in results]
    for name in _TELLING:
        for same in _alike(tasks, labels):
            facts = {place: _fact(results[place], name) for place in same}
            if len({*facts.values()}) > 1:
                for place, fact in facts.items():
                    labels[place] += f" ({fact})" if fact else ""
    for same in _alike(tasks, labels):
        for number, place in enumerate(same, 1):
            labels[place] += f" #{number}"
    return labels


def _alike(tasks: Sequence[str], labels: Sequence[str]) -> list[list[int]]:
    """Places of results that share task and label."""
    places: dict[tuple[str, str], list[int]] = {}
    for place, mark in enumerate(zip(tasks, labels, strict=True)):
        places.setdefault(mark, []).append(place)
    return [same for same in places.values() if len(same) > 1]


def _fact(result: Result, name: str) -> str:
    if name == "judge":
        return f"judge {result.judge['model']}" if result.judge.get("model") else ""
    value = str(result.run.get(name) or "")
    return value[:8] if name == "source_sha256" else clipped(value, 60)
