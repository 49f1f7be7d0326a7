"""How far a judge's marks of a run can be trusted: against people or another judge, and against itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.runs.items import TaskItems
from geoeval.runs.judging import Budget, answers, items_for, tested_model
from geoeval.runs.model import SavedRun

if TYPE_CHECKING:
    from geoeval.judge.agreement import Comparison
    from geoeval.judge.engine import Asked
    from geoeval.judge.settings import JudgeSettings
    from geoeval.types import Judgement


def other_side(other: str, settings: JudgeSettings) -> Budget | dict[str, Judgement]:
    """What a judge is compared with: the marks of a file, or another judge.

    Args:
        other: A file of marks (``.csv``, ``.jsonl``), or the settings of another judge (``.yaml``, or a shipped name).
        settings: Of the judge; its store is the other's too, unless that has one of its own.

    Raises:
        geoeval.judge.errors.JudgeError: The file cannot be used.
    """
    from geoeval.judge.marks import read_marks_file
    from geoeval.judge.settings import JudgeSettings

    if Path(other).suffix in (".csv", ".jsonl", ".json"):
        return read_marks_file(other)
    theirs = JudgeSettings.from_yaml(other)
    return Budget(replace(theirs, store=theirs.store or settings.store))


def agreed(run: SavedRun, judge: Budget, other: Budget | dict[str, Judgement], **scoring: Any) -> Comparison:
    """Agreement of a judge with another, or with people.

    Args:
        run: Of open answers.
        judge: The judge.
        other: See `other_side`.
        scoring: Arguments of `geoeval.runs.score.score_run`.

    Raises:
        DataError: The run cannot be scored.
        geoeval.judge.errors.JudgeError: A judge cannot be used.
    """
    from geoeval.judge.agreement import agreement

    pictures = judge.settings.picture or (isinstance(other, Budget) and other.settings.picture)
    asked = answers(run, pictures, **scoring)
    ours = _marks(asked, judge, run)
    theirs = _marks(asked, other, run) if isinstance(other, Budget) else other
    return agreement(ours, theirs, *_groups(items_for(run, scoring)))


def noisy(run: SavedRun, judge: Budget, repeats: int, **scoring: Any) -> Comparison:
    """The noise of a judge that marks the same answers several times.

    Args:
        run: Of open answers.
        judge: The judge; the ``repeat`` of its settings is the first of the times.
        repeats: How often, at least 2.
        scoring: Arguments of `geoeval.runs.score.score_run`.

    Raises:
        DataError: The run cannot be scored.
        geoeval.judge.errors.JudgeError: The judge cannot be used.
    """
    from geoeval.judge.agreement import noise

    asked = answers(run, judge.settings.picture, **scoring)
    marks = [_marks(asked, judge, run, time) for time in range(repeats)]
    return noise(marks, *_groups(items_for(run, scoring)))


def print_comparison(title: str, comparison: Comparison) -> None:
    """Print all numbers: of the overall mark, by level, by dimension."""
    from geoeval.report.table import plain_console

    console = plain_console()
    console.print(title, soft_wrap=True)
    console.print(_table("", {"all": comparison.metrics}))
    if comparison.levels:
        console.print(_table("by level", comparison.levels))
    if comparison.dimensions:
        console.print(_table("by dimension", comparison.dimensions))
    if comparison.left_out:
        console.print(f"without a mark on all sides, left out: {len(comparison.left_out)}")
    console.print()


def _table(title: str, rows: Any) -> Any:
    from rich.table import Table

    from geoeval.report.table import cell

    names = [metric.name for metrics in rows.values() for metric in metrics]
    table = Table(title, *dict.fromkeys(names), box=None, pad_edge=False)
    for name, metrics in rows.items():
        cells = {metric.name: cell(metric) for metric in metrics}
        table.add_row(name, *(cells.get(column, "") for column in dict.fromkeys(names)))
    return table


def _marks(asked: list[Asked], judge: Budget, run: SavedRun, time: int = 0) -> dict[str, Judgement]:
    from geoeval.judge.engine import judge_run

    settings = replace(judge.settings, repeat=judge.settings.repeat + time)
    done = judge_run(asked, settings, tested=tested_model(run))
    judge.take(done.facts)
    return {one.id: judgement for one, judgement in zip(asked, done.judgements, strict=True)}


def _groups(items: TaskItems) -> tuple[dict[str, str], dict[str, str]]:
    """Level and cluster of each item."""
    by_id = items.by_id
    return {id_: item.strata["level"] for id_, item in by_id.items()}, {id_: i.cluster for id_, i in by_id.items()}
