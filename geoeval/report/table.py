"""Tables for the terminal: every number with n and interval, then coverage and signature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from geoeval.types import Coverage, Metric, Summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SAMPLE_NOTE = "SAMPLE numbers: the bundled sample is made by a script and says nothing about the published benchmark."


def plain_console() -> Console:
    """A console that prints names as they are, and does not fold a table that goes into a file."""
    from rich.console import Console

    console = Console(markup=False, highlight=False)
    return console if console.is_terminal else Console(markup=False, highlight=False, width=160)


def print_summary(
    console: Console, task: str, summary: Summary, *, sample: bool, items_in_task: int | None = None
) -> None:
    """Print one task: headline numbers, breakdown, coverage, signature.

    Args:
        console: Where to print; must not interpret markup, since labels and names are data.
        task: The task's name.
        summary: Its numbers.
        sample: Whether they come from the bundled sample; printed if so.
        items_in_task: How many items the whole task has, when the run may have had fewer.
    """
    from rich.table import Table

    title = f"{task}  (version {summary.version}{', SAMPLE' if sample else ''})"
    table = Table("metric", "value", "n", "95 % interval", title=title, title_justify="left", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for metric in summary.metrics:
        table.add_row(metric.name, *_cells(metric))
    console.print(table)
    for name, parts in summary.strata.items():
        console.print(_strata_table(name, parts))
    console.print(coverage_line(summary.coverage, items_in_task), soft_wrap=True)
    console.print(f"signature: {summary.signature}", soft_wrap=True)
    console.print()


def _strata_table(name: str, parts: Mapping[str, Sequence[Metric]]) -> Table:
    from rich.table import Table

    names = list(dict.fromkeys(metric.name for metrics in parts.values() for metric in metrics))
    table = Table(f"by {name}", *names, box=None, pad_edge=False)
    for value, metrics in parts.items():
        cells = {metric.name: _cell(metric) for metric in metrics}
        table.add_row(value, *(cells.get(name, "") for name in names))
    return table


def _cells(metric: Metric) -> tuple[str, str, str]:
    interval = "n/a" if math.isnan(metric.low) else f"{metric.low:.4f} to {metric.high:.4f}"
    return number(metric.value), str(metric.n), interval


def _cell(metric: Metric) -> str:
    interval = "" if math.isnan(metric.low) else f" {metric.low:.2f}-{metric.high:.2f}"
    return f"{number(metric.value)}{interval} n={metric.n}"


def number(value: float) -> str:
    """Four decimals, "n/a" for nan."""
    return "n/a" if math.isnan(value) else f"{value:.4f}"


def coverage_line(coverage: Coverage, items_in_task: int | None = None) -> str:
    """What became of the replies, in one line; what needs attention is never left out."""
    scored = coverage.items - coverage.failed - coverage.unscored
    part = "" if items_in_task in (None, coverage.items) else f" (the task has {items_in_task})"
    return (
        f"coverage: {scored} of {coverage.items} items scored{part}; "
        f"{coverage.read} read, {coverage.unread} unreadable, {coverage.empty} empty (both count as wrong); "
        f"{coverage.failed} failed requests, {coverage.unscored} unscored (neither counts)"
    )
