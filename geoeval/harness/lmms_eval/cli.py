"""The console script ``lmms_eval``: upstream's command line with our tasks everywhere and an honest exit status.

lmms-eval ends with status 0 when an evaluation failed (0.7.3). This script ends with 1 when one failed, when a result
file was asked for and is missing, or when no item of one of our tasks could be scored; with 2 when no task was named.
After a run with ``--log_samples`` it scores what was saved, prints our tables and writes records beside the harness's
files, just as ``geoeval score`` does.
``--config NAME`` also finds the configurations that come with geoeval.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
    import geoeval.report.table
    import geoeval.runs.score  # noqa: F401

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
        failures = list(dict.fromkeys([failure for run in runs for failure in _finish(run)] + plugin.problems))
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
    from geoeval.runs.lmms_eval import unscored_tasks

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
            problems += report(run.results)
        elif not arguments.predict_only:
            print("geoeval: add --log_samples for tables with intervals, strata and signature")
    except DataError as error:
        return [str(error)]
    return problems


def report(results: Path) -> list[str]:
    """Score what a run saved, print our tables and write the records beside its files.

    Returns:
        What went wrong.
    """
    from geoeval.benchmarks import get_benchmark
    from geoeval.data import DataError
    from geoeval.harness.lmms_eval.judging import judge_of
    from geoeval.judge.errors import JudgeError
    from geoeval.report.table import SAMPLE_NOTE
    from geoeval.runs import lmms_eval, saved
    from geoeval.runs.cli import write_and_print
    from geoeval.runs.score import score_run

    stems, problems, sample = saved.Stems(), [], False
    for run in lmms_eval.read(results):
        stem = stems.of(run)
        score = partial(score_run, run, items_to=saved.items_file(stem))
        try:
            try:
                result = score(judge=judge_of(get_benchmark(run.task)))
            except JudgeError as error:
                problems.append(f"{run.task}: not judged: {error}")
                result = score()
            write_and_print(result, run.source, stem)
            sample = sample or result.is_sample
        except DataError as error:
            problems.append(str(error))
    if sample:
        print(SAMPLE_NOTE)
    return problems
