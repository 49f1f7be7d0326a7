"""Comparisons for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from geoeval.report.table import SAMPLE_NOTE, number, printable
from geoeval.runs.compare import Comparison, Pair
from geoeval.runs.differences import Difference

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_FEW = 30


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print one task: who was compared under which conditions, then the differences.

    Args:
        console: Where to print; must not interpret markup, since labels and names are data.
        comparison: What to print.
    """
    console.print(f"{comparison.task}{'  (SAMPLE)' if comparison.sample else ''}")
    for letter, model in comparison.models.items():
        headline = comparison.values[letter]
        value = f"{headline.name} {number(headline.value)}, n {headline.n}"
        part = comparison.partial.get(letter)
        mark = f" (PARTIAL {part[0]}/{part[1]})" if part else ""
        console.print(f"{letter} = {printable(model)}: {value}{mark}", soft_wrap=True)
    conditions = comparison.conditions
    for heading, lines in (
        ("WARNING: conditions differ, so that this is no fair comparison", conditions.differing),
        ("not known to be the same", conditions.unstated),
        ("also different", conditions.aside),
    ):
        for line in lines:
            console.print(f"{heading}: {line}", soft_wrap=True)
    if comparison.left_out:
        console.print(f"not in all results: {', '.join(comparison.left_out)}", soft_wrap=True)
    if len(comparison.pairs) == 1:
        _print_pair(console, comparison.pairs[0])
    else:
        _print_matrix(console, comparison)
    for pair in comparison.pairs:
        if pair.similarity:
            console.print(_similarity_table(pair))
    if comparison.sample:
        console.print(SAMPLE_NOTE, soft_wrap=True)
    console.print()


def _print_pair(console: Console, pair: Pair) -> None:
    console.print(_shared_line(pair), soft_wrap=True)
    console.print(_difference_table("metric", pair, {row.metric: row for row in pair.metrics}))
    for name, parts in pair.strata.items():
        metric = next((row.metric for row in parts.values()), "")
        console.print(_difference_table(f"{metric} by {name}", pair, parts, holm=True))
    for row in pair.metrics:
        if row.note:
            console.print(f"{row.metric}: {row.note}", soft_wrap=True)
    console.print(
        "p: exact McNemar test, or randomization test of whole clusters (r) where items share one or the metric is no "
        "rate of the same items; not adjusted for the number of metrics, p (Holm) for the parts of its breakdown. "
        f"shows from: the smallest difference that n items find with 80 % power. *: fewer than {_FEW} clusters, whose "
        "bootstrap intervals are too narrow.",
        soft_wrap=True,
    )


def _shared_line(pair: Pair) -> str:
    items = pair.items
    return (
        f"{items.compared} items scored in both; left out: {items.only_a} only in {pair.a}, {items.only_b} only in "
        f"{pair.b}, {items.failed_a} failed in {pair.a}, {items.failed_b} failed in {pair.b}"
    )


def _difference_table(heading: str, pair: Pair, rows: Mapping[str, Difference], holm: bool = False) -> Table:
    a, b = pair.a, pair.b
    more = ("p (Holm)",) if holm else ()
    numbers = (a, b, f"{b} - {a}", "95 % interval", "n", f"{a} better", f"{b} better", "ties", "p", *more, "shows from")
    table = _table(heading, numbers)
    for name, row in rows.items():
        n = str(row.n_a) if row.n_a == row.n_b else f"{row.n_a}/{row.n_b}"
        few = "*" if row.n_clusters < _FEW else ""
        table.add_row(
            name,
            number(row.a),
            number(row.b),
            _signed(row.difference),
            "n/a" if math.isnan(row.low) else f"{row.low:+.4f} to {row.high:+.4f}",
            n + few,
            *("" if count is None else str(count) for count in (row.a_better, row.b_better, row.ties)),
            _p(row.p_value) + ("" if math.isnan(row.p_value) or row.test == "mcnemar" else " r"),
            *((_p(row.p_holm),) if holm else ()),
            number(row.detectable),
        )
    return table


def _print_matrix(console: Console, comparison: Comparison) -> None:
    """Row minus column."""
    letters = list(comparison.models)
    cells = {}
    for pair in comparison.pairs:
        row = pair.metrics[0]
        n = str(row.n_a) if row.n_a == row.n_b else f"{row.n_a}/{row.n_b}"
        cells[pair.b, pair.a] = f"{_signed(row.difference)} p {_p(row.p_holm)} n {n}"
        cells[pair.a, pair.b] = f"{_signed(-row.difference)} p {_p(row.p_holm)} n {n}"
    table = _table(f"{comparison.pairs[0].metrics[0].metric}, row - column", letters)
    for one in letters:
        table.add_row(one, *("" if one == other else cells[one, other] for other in letters))
    console.print(table)
    for pair in comparison.pairs:
        row = pair.metrics[0]
        interval = "n/a" if math.isnan(row.low) else f"{row.low:+.4f} to {row.high:+.4f}"
        console.print(
            f"{pair.b} - {pair.a}: 95 % interval {interval}, shows from {number(row.detectable)}; {_shared_line(pair)}",
            soft_wrap=True,
        )
    console.print(f"p: adjusted for all {len(comparison.pairs)} pairs (Holm); the intervals are not.", soft_wrap=True)


def _similarity_table(pair: Pair) -> Table:
    table = _table(f"likeness of {pair.a} and {pair.b}", ("value", "n", "95 % interval", "note"))
    for metric in pair.similarity:
        interval = "n/a" if math.isnan(metric.low) else f"{metric.low:.4f} to {metric.high:.4f}"
        table.add_row(metric.name, number(metric.value), str(metric.n), interval, metric.note)
    return table


def _table(heading: str, numbers: Iterable[str]) -> Table:
    from rich.table import Table

    table = Table(heading, *numbers, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _signed(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value + 0.0:+.4f}"  # no -0.0000


def _p(value: float) -> str:
    return "n/a" if math.isnan(value) else "<0.0001" if value < 0.0001 else f"{value:.4f}"
