"""How far a judge's marks of a run can be trusted: against people or another judge, and against itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.runs.items import TaskItems
from geoeval.runs.judging import answers, items_for, tested_model
from geoeval.runs.model import SavedRun

if TYPE_CHECKING:
    from geoeval.judge.agreement import Comparison
    from geoeval.judge.engine import Asked
    from geoeval.judge.settings import JudgeSettings
    from geoeval.types import Judgement


def agreed(run: SavedRun, settings: JudgeSettings, other: str, **scoring: Any) -> Comparison:
    """Agreement of a judge with another, or with people.

    Args:
        run: Of open answers.
        settings: Of the judge.
        other: A file of marks (``.csv``, ``.jsonl``), or the settings of another judge (``.yaml``, or a shipped name).
        scoring: Arguments of `geoeval.runs.score.score_run`.

    Raises:
        DataError: The run cannot be scored.
        geoeval.judge.errors.JudgeError: A judge, or the file, cannot be used.
    """
    from geoeval.judge.agreement import agreement
    from geoeval.judge.marks import read_marks_file
    from geoeval.judge.settings import JudgeSettings

    asked = answers(run, settings.picture, **scoring)
    if Path(other).suffix in (".csv", ".jsonl", ".json"):
        theirs = read_marks_file(other)
    else:
        theirs = _marks(asked, replace(JudgeSettings.from_yaml(other), store=settings.store), run)
    return agreement(_marks(asked, settings, run), theirs, *_groups(items_for(run, scoring)))


def noisy(run: SavedRun, settings: JudgeSettings, repeats: int, **scoring: Any) -> Comparison:
    """The noise of a judge that marks the same answers several times.

    Args:
        run: Of open answers.
        settings: Of the judge; its ``repeat`` is the first of the times.
        repeats: How often, at least 2.
        scoring: Arguments of `geoeval.runs.score.score_run`.

    Raises:
        DataError: The run cannot be scored.
        geoeval.judge.errors.JudgeError: The judge cannot be used.
    """
    from geoeval.judge.agreement import noise

    asked = answers(run, settings.picture, **scoring)
    times = range(settings.repeat, settings.repeat + repeats)
    marks = [_marks(asked, replace(settings, repeat=time), run) for time in times]
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


def _marks(asked: list[Asked], settings: JudgeSettings, run: SavedRun) -> dict[str, Judgement]:
    from geoeval.judge.engine import judge_all

    return {
        one.id: judgement
        for one, judgement in zip(asked, judge_all(asked, settings, tested=tested_model(run)), strict=True)
    }


def _groups(items: TaskItems) -> tuple[dict[str, str], dict[str, str]]:
    """Level and cluster of each item."""
    by_id = items.by_id
    return {id_: item.strata["level"] for id_, item in by_id.items()}, {id_: i.cluster for id_, i in by_id.items()}
