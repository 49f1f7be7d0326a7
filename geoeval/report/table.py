"""Tables for the terminal: every number with n and interval, then coverage and signature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from geoeval.types import Coverage, Metric, Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from geoeval.runs.model import ChanceTest, Result

SMALL = 10
"""A part with fewer items is marked."""
SAMPLE_NOTE = "SAMPLE numbers: the bundled sample is made by a script and says nothing about the published benchmark."


def plain_console() -> Console:
    """A console that prints names as they are, and does not fold a table that goes into a file."""
    from rich.console import Console

    console = Console(markup=False, highlight=False)
    return console if console.is_terminal else Console(markup=False, highlight=False, width=160)


def print_result(console: Console, result: Result) -> None:
    """Print one result with everything that must be said of it; see `print_summary`."""
    partial = result.run.get("partial") or {}
    print_summary(
        console,
        f"{result.task}  {result.model}",
        result.summary,
        sample=result.is_sample,
        items_in_task=result.run.get("items_in_task"),
        baselines=result.baselines,
        failed=result.failed,
        tests=result.tests,
        marks=marks_of(result),
        line_mark=_part(partial) if partial.get("stated_by") == "allow_partial" else "",
    )


def marks_of(result: Result) -> list[str]:
    """What must be said of all numbers of a result."""
    run = result.run
    marks = ["SAMPLE"] if result.is_sample else []
    marks += [f"policy {run['policy']}"] if run.get("policy", "declared") != "declared" else []
    marks += ["asked on OTHER DATA"] if run.get("data_check") == "different" else []
    return [*marks, *([_part(run["partial"])] if run.get("partial") else [])]


def _part(partial: Mapping[str, Any]) -> str:
    return f"PARTIAL {partial['items']}/{partial['of']}"


def print_summary(  # noqa: PLR0913 - each is a part of what is printed
    console: Console,
    task: str,
    summary: Summary,
    *,
    sample: bool,
    items_in_task: int | None = None,
    baselines: Mapping[str, Sequence[Metric]] = MappingProxyType({}),
    failed: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    tests: Sequence[ChanceTest] = (),
    marks: Sequence[str] = (),
    line_mark: str = "",
) -> None:
    """Print one task: headline numbers beside what needs no model, breakdown, coverage, signature.

    Args:
        console: Where to print; must not interpret markup, since labels and names are data.
        task: The task's name.
        summary: Its numbers.
        sample: Whether they come from the bundled sample; printed if so.
        items_in_task: How many items the whole task has, when the run may have had fewer.
        baselines: See `geoeval.runs.model.Result`.
        failed: The same.
        tests: The same.
        marks: What the title says of the run, e.g. "PARTIAL 5/48".
        line_mark: What every line says.
    """
    marks = marks or (["SAMPLE"] if sample else [])
    title = f"{task}  ({', '.join([f'version {summary.version}', *marks])})"
    console.print(printable(title), soft_wrap=True)
    console.print(_headline_table(summary, baselines, line_mark))
    tested = {(test.breakdown, test.part): test for test in tests}
    for name, parts in summary.strata.items():
        console.print(_strata_table(name, parts, failed.get(name, {}), tested, line_mark))
    cells = [metric for parts in summary.strata.values() for metrics in parts.values() for metric in metrics]
    if any(map(_is_small, cells)):
        console.print(f"! fewer than {SMALL} items: says little")
    for metric in dict.fromkeys(test.metric for test in tests):
        console.print(f"p: {metric} of the part against the random baseline, Holm-corrected within the breakdown")
    console.print(coverage_line(summary.coverage, items_in_task), soft_wrap=True)
    console.print(f"signature: {summary.signature}", soft_wrap=True)
    console.print()


def print_metrics(console: Console, title: str, metrics: Sequence[Metric]) -> None:
    """Print numbers that stand side by side, with their notes."""
    from rich.table import Table

    table = Table("metric", "value", "n", "95 % interval", "note", box=None, pad_edge=False)
    for metric in metrics:
        table.add_row(metric.name, *_cells(metric), metric.note)
    console.print(printable(title), soft_wrap=True)
    console.print(table)


def _headline_table(summary: Summary, baselines: Mapping[str, Sequence[Metric]], line_mark: str) -> Table:
    from rich.table import Table

    columns = ["metric", "value", "n", "95 % interval", *(name.replace("_", " ") for name in baselines)]
    notes = [", ".join(filter(None, (line_mark, metric.note))) for metric in summary.metrics]
    columns += ["note"] if any(notes) else []
    table = Table(*columns, box=None, pad_edge=False)
    for column in table.columns[1 : 4 + len(baselines)]:
        column.justify = "right"
    known = [{metric.name: number(metric.value) for metric in metrics} for metrics in baselines.values()]
    for metric, note in zip(summary.metrics, notes, strict=True):
        table.add_row(metric.name, *_cells(metric), *(values.get(metric.name, "") for values in known), note)
    return table


def _strata_table(
    name: str,
    parts: Mapping[str, Sequence[Metric]],
    failed: Mapping[str, int],
    tests: Mapping[tuple[str, str], ChanceTest],
    line_mark: str,
) -> Table:
    from rich.table import Table

    names = list(dict.fromkeys(metric.name for metrics in parts.values() for metric in metrics))
    tested = any((name, part) in tests for part in parts)
    ends = [*(["p"] if tested else []), *(["failed"] if failed else []), *([""] if line_mark else [])]
    table = Table(f"by {name}", *names, *ends, box=None, pad_edge=False)
    for value in sorted({*parts, *failed}):
        cells = {metric.name: cell(metric) for metric in parts.get(value, ())}
        row = [cells.get(metric, "") for metric in names]
        row += [_p(tests.get((name, value)))] if tested else []
        row += [str(failed.get(value, 0))] if failed else []
        table.add_row(printable(value), *row, *([line_mark] if line_mark else []))
    return table


def _p(test: ChanceTest | None) -> str:
    if test is None or math.isnan(test.p_holm):
        return ""
    return "<0.001" if test.p_holm < 0.001 else f"{test.p_holm:.3f}"


def _cells(metric: Metric) -> tuple[str, str, str]:
    interval = "n/a" if math.isnan(metric.low) else f"{metric.low:.4f} to {metric.high:.4f}"
    return number(metric.value), str(metric.n), interval


def cell(metric: Metric) -> str:
    """A number with interval and n, for a table of several."""
    interval = "" if math.isnan(metric.low) else f" {metric.low:.2f}-{metric.high:.2f}"
    note = f" ({metric.note})" if metric.note else ""
    return f"{number(metric.value)}{interval} n={metric.n}{'!' if _is_small(metric) else ''}{note}"


def _is_small(metric: Metric) -> bool:
    return 0 < metric.n < SMALL


def printable(text: str) -> str:
    """A name of somebody else's without what a terminal would obey."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def number(value: float) -> str:
    """Four decimals, "n/a" for nan."""
    return "n/a" if math.isnan(value) else f"{value:.4f}"


def coverage_line(coverage: Coverage, items_in_task: int | None = None) -> str:
    """What became of the replies, in one line; what needs attention is never left out."""
    scored = coverage.items - coverage.failed
    part = "" if items_in_task in (None, coverage.items) else f" (the task has {items_in_task})"
    return (
        f"coverage: {scored} of {coverage.items} items scored{part}; "
        f"{coverage.read} read, {coverage.unread} unreadable, {coverage.empty} empty (both count as wrong); "
        f"{coverage.failed} failed requests (not counted); {coverage.unscored} unscored by a judge (not in its numbers)"
    )
