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


def print_summary(console: Console, task: str, summary: Summary, *, sample: bool, strata: bool = True) -> None:
    """Print one task: headline numbers, breakdown, coverage, signature.

    Args:
        console: Where to print.
        task: The task's name.
        summary: Its numbers.
        sample: Whether they come from the bundled sample; printed if so.
        strata: Whether to print the breakdown.
    """
    from rich.table import Table

    title = f"{task}  (version {summary.version}{', SAMPLE' if sample else ''})"
    table = Table("metric", "value", "n", "95 % interval", title=title, title_justify="left", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for metric in summary.metrics:
        table.add_row(metric.name, *_cells(metric))
    console.print(table, markup=False)
    if strata:
        for name, parts in summary.strata.items():
            console.print(_strata_table(name, parts))
    console.print(coverage_line(summary.coverage), markup=False, highlight=False)
    console.print(f"signature: {summary.signature}", markup=False, highlight=False, soft_wrap=True)
    console.print()


def _strata_table(name: str, parts: Mapping[str, Sequence[Metric]]) -> Table:
    from rich.table import Table

    names = list(dict.fromkeys(metric.name for metrics in parts.values() for metric in metrics))
    table = Table(f"by {name}", *names, box=None, pad_edge=False)
    for value, metrics in parts.items():
        cells = {metric.name: f"{number(metric.value)} (n={metric.n})" for metric in metrics}
        table.add_row(value, *(cells.get(name, "") for name in names))
    return table


def _cells(metric: Metric) -> tuple[str, str, str]:
    interval = "n/a" if math.isnan(metric.low) else f"{metric.low:.4f} to {metric.high:.4f}"
    return number(metric.value), str(metric.n), interval


def number(value: float) -> str:
    """Four decimals, "n/a" for nan."""
    return "n/a" if math.isnan(value) else f"{value:.4f}"


def coverage_line(coverage: Coverage) -> str:
    """What became of the replies, in one line; what needs attention is never left out."""
    scored = coverage.items - coverage.failed - coverage.unscored
    return (
        f"coverage: {scored} of {coverage.items} items scored; {coverage.read} read, {coverage.unread} unreadable, "
        f"{coverage.empty} empty (both count as wrong); {coverage.failed} failed requests, "
        f"{coverage.unscored} unscored (neither counts)"
    )
