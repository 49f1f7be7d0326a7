"""The tables of a report as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

from geoeval.report.lines import Entry, Line, all_lines, by_task, coverage_notes, headline_lines, table_notes
from geoeval.report.table import SAMPLE_NOTE, number
from geoeval.report.text import csv_cell, latex, markdown

CSV_COLUMNS = (
    *("kind", "task", "model", "setting", "metric", "value", "low", "high", "n"),
    *("items", "items_in_task", "read", "unread", "empty", "failed", "unscored"),
    *("sample", "conflict", "note", "source"),
)
_HEADS = ("", "value", "95 % interval", "n", "read", "unread", "empty", "failed", "unscored")
_COVERAGE = ("read", "unread", "empty", "failed", "unscored")


def to_markdown(found: Sequence[Entry]) -> str:
    """One table a task: headline number, interval, n and coverage of every model, baselines, published numbers."""
    lines = [f"**{SAMPLE_NOTE}**", ""] if any(entry.result.is_sample for entry in found) else []
    for task, members in by_task(found).items():
        table = headline_lines(members)
        head = [f"{members[0].headline}, {markdown(task)}{' (SAMPLE)' if table[0].sample else ''}", *_HEADS[1:]]
        lines += [_row(head), _row(["---", *["---:"] * (len(head) - 1)])]
        lines += [_row([markdown(line.title), *_cells(line)]) for line in table]
        notes = [f"- {markdown(note)}" for note in table_notes(table)]
        lines += ["", *notes, *([""] if notes else [])]
    return "\n".join(lines).rstrip("\n") + "\n"


def to_csv(found: Sequence[Entry]) -> str:
    """Every number in a line of its own, values in full; empty where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for line in all_lines(found):
        coverage = line.coverage
        replies = [getattr(coverage, name) if coverage else "" for name in ("items", *_COVERAGE)]
        writer.writerow(
            [
                *(line.kind, csv_cell(line.task), csv_cell(line.name), csv_cell(line.setting), line.metric.name),
                *(_full(value) for value in (line.metric.value, line.metric.low, line.metric.high)),
                *(_n(line), replies[0], "" if line.items_in_task is None else line.items_in_task, *replies[1:]),
                *("SAMPLE" if line.sample else "", "yes" if line.conflict else ""),
                *(csv_cell("; ".join(coverage_notes(line))), csv_cell(line.source)),
            ]
        )
    return out.getvalue()


def to_latex(found: Sequence[Entry]) -> str:
    """One table for booktabs, with the same rows as `to_markdown`."""
    lines = ["% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}", "\\begin{tabular}{lrlrrrrrr}", "\\toprule"]
    lines.append(_tex_row(["", *(latex(head) for head in _HEADS[1:])]))
    notes: list[str] = []
    for task, members in by_task(found).items():
        table = headline_lines(members)
        sample = " \\textbf{SAMPLE}" if table[0].sample else ""
        title = f"{latex(task)}, {latex(members[0].headline)}{sample}"
        lines += ["\\midrule", f"\\multicolumn{{9}}{{l}}{{\\emph{{{title}}}}} \\\\"]
        for line in table:
            value, interval, *counts = _cells(line)
            ends = "--".join(interval.split(" to ")) if interval else ""
            lines.append(_tex_row([latex(line.title), value, ends, *counts]))
        notes += [note for note in table_notes(table) if note not in notes]
    lines += ["\\bottomrule", "\\end{tabular}"]
    if any(entry.result.is_sample for entry in found):
        notes.insert(0, SAMPLE_NOTE)
    return "\n".join([*lines, *(f"\n{latex(note)}" for note in notes)]) + "\n"


def _cells(line: Line) -> list[str]:
    metric, coverage = line.metric, line.coverage
    interval = "" if math.isnan(metric.low) else f"{number(metric.low)} to {number(metric.high)}"
    counts = [str(getattr(coverage, name)) if coverage else "" for name in _COVERAGE]
    return [number(metric.value), interval, str(_n(line)), *counts]


def _n(line: Line) -> Any:
    return line.metric.n if line.kind != "published" else ""


def _full(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _tex_row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
