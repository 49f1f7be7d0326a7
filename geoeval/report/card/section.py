"""The section of a model card, in Markdown, between two markers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence

from geoeval import __version__
from geoeval.report.card.entries import Entry, without_secrets
from geoeval.report.table import SAMPLE_NOTE, coverage_line, number
from geoeval.types import Metric

START, END = "<!-- geoeval:start -->", "<!-- geoeval:end -->"


def section(entries: Sequence[Entry]) -> str:
    """All results of a model, markers included; lines end with a line feed, the last one too."""
    lines = [START, f"## Evaluation (geoeval {__version__})", ""]
    if any(entry.result.is_sample for entry in entries):
        lines += [f"> **{SAMPLE_NOTE}**", ""]
    lines += [f"Model: {cell(entries[0].model)}. Intervals are 95 %. Rates and overlaps are 0 to 1.", ""]
    if len(entries) > 1:
        lines += _table(
            ("task", "version", "metric", "value", "95 % interval", "n"),
            ((entry.title, entry.result.summary.version, *_numbers(entry, entry.headline)) for entry in entries),
        )
    for entry in entries:
        lines += _task(entry)
    return "\n".join([*lines, END, ""])


def cell(text: str) -> str:
    """Text from elsewhere as Markdown that shows it and does nothing."""
    plain = re.sub(r"\s+", " ", text).strip()
    return re.sub(
        r"([\\`*\[\]|~$#]|(?<![^\W_])_|_(?![^\W_]))",
        r"\\\1",
        plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    )


def code(text: str) -> str:
    """Text from elsewhere as a code span."""
    plain = re.sub(r"\s+", " ", text).strip()
    ticks = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    return f"{ticks} {plain} {ticks}" if plain.startswith("`") or plain.endswith("`") else f"{ticks}{plain}{ticks}"


def fenced(lines: Sequence[str]) -> list[str]:
    """Lines as a code block that nothing in them ends; one that is a marker of ours is indented."""
    plain = [re.sub(r"[\r\n]+", " ", line) for line in lines]
    fence = "`" * max(3, 1 + max((len(run) for line in plain for run in re.findall("`+", line)), default=0))
    return [f"{fence}bash", *(f" {line}" if line.strip() in (START, END) else line for line in plain), fence]


def _task(entry: Entry) -> Iterator[str]:
    result = entry.result
    names = list(result.baselines)
    floor = {name: {metric.name: metric.value for metric in result.baselines[name]} for name in names}
    rows = (
        (*_numbers(entry, metric), *(number(floor[name].get(metric.name, math.nan)) for name in names))
        for metric in result.summary.metrics
    )
    yield f"### {cell(entry.title)}, version {cell(result.summary.version)}"
    yield ""
    columns = ("metric", "value", "95 % interval", "n", *(f"baseline: {name.replace('_', ' ')}" for name in names))
    yield from _table(columns, rows)
    for metric in result.summary.metrics:
        if metric.note:
            yield f"- {cell(metric.name)}: {cell(metric.note)}"
    yield from (f"- {line}" for line in _facts(entry))
    yield ""
    if entry.commands:
        yield from fenced(entry.commands)
        yield ""


def _facts(entry: Entry) -> Iterator[str]:
    result, run = entry.result, entry.result.run
    yield cell(coverage_line(result.summary.coverage, run.get("items_in_task")))
    dataset = f", {entry.dataset.id} {entry.dataset.revision or ''}".rstrip() if entry.dataset else ""
    yield cell(f"date: {run.get('date') or 'not recorded'}; data: {entry.data}{dataset}")
    harness = f"{run.get('harness') or 'harness not recorded'} {run.get('harness_version') or ''}".rstrip()
    yield cell(f"versions: geoeval {__version__}, {harness}, task {result.summary.version}")
    for name, fact in (("generation", run.get("generation_kwargs")), ("judge", dict(result.judge))):
        if fact:
            yield f"{name}: {code(without_secrets(json.dumps(fact, ensure_ascii=False, default=str)))}"
    yield f"signature: {code(result.summary.signature)}"


def _numbers(entry: Entry, metric: Metric) -> tuple[str, str, str, str]:
    name = f"{metric.name} (less is better)" if entry.lower_is_better(metric) else metric.name
    low, high = entry.bounds(metric)
    scale = f" ({low:g} to {high:g})" if (low, high) != (0, 1) else ""
    interval = "n/a" if math.isnan(metric.low) else f"{metric.low:.4f} to {metric.high:.4f}"
    return f"{name}{scale}", number(metric.value), interval, str(metric.n)


def _table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join('---:' if column in ('value', 'n') else '---' for column in columns)} |"
    yield from (f"| {' | '.join(cell(text) for text in row)} |" for row in rows)
    yield ""
