"""The console script ``lmms_eval``: upstream's command line with our tasks everywhere and an honest exit status.

lmms-eval ends with status 0 when an evaluation failed (0.7.3). This script ends with 1 when one failed, when a result
file was asked for and is missing, or when no item of one of our tasks could be scored; with 2 when no task was named.
After a run it prints our tables and writes ``<stamp>_geoeval.json`` beside the harness's own result file.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geoeval.harness.lmms_eval import plugin


@dataclass
class Run:
    """One evaluation of upstream's loop; times in seconds since the epoch, ``ended`` is None when it failed."""

    arguments: Any
    began: float
    ended: float | None = None


def main() -> None:
    """Run upstream's command line; see the module for the exit status."""
    try:
        from lmms_eval.cli.dispatch import main as upstream
    except ImportError as error:
        sys.exit(f'lmms-eval cannot be imported ({error}). Run: pip install "geoeval[lmms-eval]", then: geoeval doctor')
    first = sys.argv[1] if len(sys.argv) > 1 else "--help"
    evaluates = first == "eval" or (first.startswith("-") and first not in ("-h", "--help"))
    runs: list[Run] = []
    if evaluates or first in ("tasks", "power"):
        plugin.register_tasks()
    if evaluates:
        _record_runs(runs)
    try:
        upstream()
    except SystemExit as end:
        if end.code or not any(run.arguments.tasks is None for run in runs):
            raise
        sys.exit(2)
    if int(os.environ.get("RANK", "0")) == 0:
        failures = [failure for run in runs for failure in _finish(run)] + plugin.problems
        if failures:
            sys.exit("\n".join(f"geoeval: {failure}" for failure in failures))
    elif any(run.ended is None for run in runs):
        sys.exit(1)


def _record_runs(runs: list[Run]) -> None:
    """Note each evaluation of upstream's loop, which hides a failed one."""
    import lmms_eval.__main__ as upstream

    original: Callable[[Any], Any] = upstream.cli_evaluate_single

    @functools.wraps(original)
    def recorded(arguments: Any) -> Any:
        run = Run(arguments, time.time())
        runs.append(run)
        result = original(arguments)
        run.ended = time.time()
        return result

    upstream.cli_evaluate_single = recorded


def _finish(run: Run) -> list[str]:
    """Print and save our numbers of one evaluation; returns what went wrong."""
    arguments = run.arguments
    if run.ended is None:
        return [f"the evaluation of {arguments.tasks} failed; the error is printed above"]
    if not arguments.output_path:
        return []
    from geoeval.data import DataError
    from geoeval.harness.lmms_eval.results import result_files

    files = result_files(Path(arguments.output_path))
    written = [path for path in files if run.began <= path.stat().st_mtime <= run.ended]
    if not written:
        return [f"no result file was written below {arguments.output_path}"]
    if not arguments.log_samples:
        return []
    try:
        return report(written[-1])
    except DataError as error:
        return [str(error)]


def report(results: Path) -> list[str]:
    """Print our tables of one result file and write the record beside it.

    Returns:
        What is wrong: tasks of which no item could be scored.

    Raises:
        DataError: See `geoeval.harness.lmms_eval.results.task_runs`.
    """
    from rich.console import Console

    from geoeval.harness.lmms_eval.results import task_runs
    from geoeval.report.record import write_json
    from geoeval.report.table import SAMPLE_NOTE, print_summary

    console = Console(width=None if sys.stdout.isatty() else 160)
    runs = list(task_runs(results))
    for run in runs:
        print_summary(console, run.task, run.summary, sample=run.is_sample)
    if not runs:
        return []
    record = results.with_name(results.name.replace("_results.json", "_geoeval.json"))
    write_json(record, [run.record() for run in runs])
    console.print("files:", *(str(path) for path in (results, *(run.samples for run in runs), record)), sep="\n  ")
    if any(run.is_sample for run in runs):
        console.print(SAMPLE_NOTE, style="bold")
    return [
        f"{run.task}: no item could be scored ({run.summary.coverage.failed} failed requests)"
        for run in runs
        if run.summary.coverage.failed + run.summary.coverage.unscored == run.summary.coverage.items
    ]
