"""The console script ``lmms_eval``: upstream's command line with our tasks everywhere and an honest exit status.

lmms-eval ends with status 0 when an evaluation failed (0.7.3). This script ends with 1 when one failed, when a result
file was asked for and is missing, or when no item of one of our tasks could be scored; with 2 when no task was named.
After a run with ``--log_samples`` it prints our tables and writes ``<stamp>_geoeval.json`` beside the harness's file.
``--config NAME`` also finds the configurations that come with geoeval.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geoeval.harness.lmms_eval import plugin


@dataclass
class Run:
    """One evaluation of upstream's loop: whether it returned, and the result file it wrote."""

    arguments: Any
    finished: bool = False
    results: Path | None = None


def main() -> None:
    """Run upstream's command line; see the module for the exit status."""
    try:
        from lmms_eval.cli.dispatch import main as upstream
    except ImportError as error:
        sys.exit(f'lmms-eval cannot be imported ({error}). Run: pip install "geoeval[lmms-eval]", then: geoeval doctor')
    # Before a long run, so that nothing that is missing or broken is found only after it.
    import geoeval.harness.lmms_eval.results  # noqa: F401

    first = sys.argv[1] if len(sys.argv) > 1 else "--help"
    evaluates = first == "eval" or (first.startswith("-") and first not in ("-h", "--help"))
    runs: list[Run] = []
    if evaluates or first in ("tasks", "power"):
        plugin.register_tasks()
    if evaluates:
        sys.argv = _with_shipped_config(sys.argv)
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
    elif not all(run.finished for run in runs):
        sys.exit(1)


def _with_shipped_config(arguments: list[str]) -> list[str]:
    """Replace ``--config demo`` or ``--config demo.yaml`` by the file that comes with geoeval, unless one is here."""
    shipped = {path.stem: str(path) for path in plugin.shipped("yaml_configs").glob("*.yaml")}
    replaced = list(arguments)
    for index, (option, value) in enumerate(itertools.pairwise(arguments), 1):
        if option == "--config" and not Path(value).exists():
            replaced[index] = shipped.get(value.removesuffix(".yaml"), value)
    return replaced


def _record_runs(runs: list[Run]) -> None:
    """Note each evaluation of upstream's loop, which hides a failed one, and the result file it wrote."""
    import lmms_eval.__main__ as upstream
    from lmms_eval.loggers import EvaluationTracker

    evaluate: Callable[[Any], Any] = upstream.cli_evaluate_single
    save: Callable[..., None] = EvaluationTracker.save_results_aggregated

    @functools.wraps(evaluate)
    def recorded(arguments: Any) -> Any:
        run = Run(arguments)
        runs.append(run)
        result = evaluate(arguments)
        run.finished = True
        return result

    @functools.wraps(save)
    def noted(self: Any, *arguments: Any, **keywords: Any) -> None:
        save(self, *arguments, **keywords)
        if self.output_path and hasattr(self, "date_id"):
            folder = Path(self.output_path) / self.general_config_tracker.model_name_sanitized
            runs[-1].results = folder / f"{self.date_id}_results.json"

    upstream.cli_evaluate_single = recorded
    EvaluationTracker.save_results_aggregated = noted


def _finish(run: Run) -> list[str]:
    """Print and save our numbers of one evaluation; returns what went wrong."""
    from geoeval.data import DataError
    from geoeval.harness.lmms_eval.results import unscored_tasks

    arguments = run.arguments
    if not run.finished:
        return [f"the evaluation of {arguments.tasks} failed; the error is printed above"]
    if not arguments.output_path:
        return []
    if run.results is None or not run.results.is_file():
        return [f"no result file was written below {arguments.output_path}"]
    try:
        problems = unscored_tasks(run.results)
        if arguments.log_samples and not arguments.predict_only:
            report(run.results)
        elif not arguments.predict_only:
            print("geoeval: add --log_samples for tables with intervals, strata and signature")
    except DataError as error:
        return [str(error)]
    return problems


def report(results: Path) -> int:
    """Write the record of one result file beside it, then print our tables.

    Returns:
        How many of our tasks the run had.

    Raises:
        DataError: See `geoeval.harness.lmms_eval.results.task_runs`.
    """
    from geoeval.data.files import write_json
    from geoeval.harness.lmms_eval.results import task_runs
    from geoeval.report.table import SAMPLE_NOTE, plain_console, print_summary

    runs = list(task_runs(results))
    if not runs:
        return 0
    record = results.with_name(results.name.replace("_results.json", "_geoeval.json"))
    write_json(record, [run.record() for run in runs])
    console = plain_console()
    for run in runs:
        print_summary(console, run.task, run.summary, sample=run.is_sample, items_in_task=run.run["items_in_task"])
    print("files:", *(results, *(run.samples for run in runs), record), sep="\n  ")
    if any(run.is_sample for run in runs):
        console.print(SAMPLE_NOTE, style="bold")
    return len(runs)
