"""What the template needs of each task."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from geoeval.benchmarks import get_benchmark
from geoeval.data.progress import track
from geoeval.report.figures import Plot
from geoeval.report.lines import Entry, headline_lines, table_notes
from geoeval.report.shell import safe


def section(task: Sequence[Entry], plots: Sequence[Plot]) -> Mapping[str, Any]:
    """Tables, notes, plots and facts of one task.

    Args:
        task: Its results.
        plots: Its plots.
    """
    name, table = task[0].result.task, headline_lines(task)
    lower_is_better = get_benchmark(name).lower_is_better
    return {
        "task": name,
        "metric": task[0].headline,
        "sample": any(entry.result.is_sample for entry in task),
        "lower": task[0].headline in lower_is_better,
        "lower_names": lower_is_better,
        "entries": task,
        "lines": table,
        "cells": {line.key: line for line in table if line.kind == "model"},
        "notes": table_notes(table),
        "metrics": list(_metrics(task)),
        "strata": list(_strata(task)),
        "plots": [(plot, safe(plot.inline())) for plot in track(plots, f"{name}: plots", len(plots))],
        "facts": [(entry, list(_facts(entry))) for entry in task],
    }


def _metrics(task: Sequence[Entry]) -> Iterator[tuple[str, list[Any]]]:
    """Each metric's name, and its number in every result that has it."""
    tables = [{metric.name: metric for metric in entry.result.summary.metrics} for entry in task]
    for name in dict.fromkeys(name for table in tables for name in table):
        yield name, [table.get(name) for table in tables]


def _strata(task: Sequence[Entry]) -> Iterator[tuple[str, list[str], bool, list[Any]]]:
    """Each breakdown: its name, its metrics, whether it was tested against the random baseline, and its rows.

    A row is the value, the result, its numbers, how many requests failed, and the corrected p-value.
    """
    for stratum in dict.fromkeys(name for entry in task for name in entry.result.summary.strata):
        parts = [entry.result.summary.strata.get(stratum, {}) for entry in task]
        values = list(dict.fromkeys(value for part in parts for value in part))
        names = list(dict.fromkeys(m.name for part in parts for metrics in part.values() for m in metrics))
        tests = [{t.part: t for t in entry.result.tests if t.breakdown == stratum} for entry in task]
        rows = []
        for value in values:
            for entry, part, tested in zip(task, parts, tests, strict=True):
                if value in part:
                    cells = {metric.name: metric for metric in part[value]}
                    failed = entry.result.failed.get(stratum, {}).get(value, 0)
                    p_value = tested[value].p_holm if value in tested else math.nan
                    rows.append((value, entry, [cells.get(name) for name in names], failed, p_value))
        yield stratum, names, any(tests), rows


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Facts of the run and of the judge, as text."""
    for name, value in [*entry.result.run.items(), *((f"judge {k}", v) for k, v in entry.result.judge.items())]:
        if value not in (None, "", {}, []):
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
