"""A saved run -> its result, by the rules of today. No model is asked, and no network unless a judge is."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks import Benchmark
from geoeval.benchmarks.columns import Columns
from geoeval.data import DataError
from geoeval.metrics.multiple import holm, rate_test
from geoeval.runs.baselines import Baselines, kind_of
from geoeval.runs.facts import check_data, check_items, run_facts
from geoeval.runs.items import TaskItems, items_of, source_of
from geoeval.runs.marking import Marked, mark, without_conflicts
from geoeval.runs.model import ChanceTest, Result, SavedRun
from geoeval.runs.policy import benchmark_for
from geoeval.runs.saved import ItemsFile
from geoeval.types import Outcome, Score, Summary

if TYPE_CHECKING:
    from geoeval.judge.settings import JudgeSettings


def score_run(  # noqa: PLR0913 - each is a setting of its own
    run: SavedRun,
    *,
    data: str | None = None,
    policy: str = "declared",
    rules: str | None = None,
    judge: JudgeSettings | None = None,
    allow_partial: bool = False,
    other_data: bool = False,
    items_to: Path | None = None,
) -> Result:
    """Score the replies of a run.

    Args:
        run: From a reader, see `geoeval.runs.recognise`.
        data: "sample" or a folder; by default the bundled sample where the run is of it, else what GEOEVAL_DATA says.
        policy: How letters are read, see `geoeval.runs.policy`.
        rules: Version of the benchmark to mark by; the installed one by default.
        judge: Marks open answers as well.
        allow_partial: Give numbers although replies are missing, doubled or of no item. It is said in the result.
        other_data: Give numbers although other data were asked. It is said in the result.
        items_to: Where the items are written, in order of id; without it they are in a temporary file.

    Raises:
        DataError: The file cannot be read; there are no such rules; the data are not at hand or are others than those
            asked; replies are missing, doubled or of no item; the judge cannot mark the task.
        geoeval.judge.errors.JudgeError: The judge cannot be used.
    """
    if not run.task:
        raise DataError(f"{run.source}: does not say which task it is of; give --task")
    benchmark = benchmark_for(run.task, policy, rules)
    source = source_of(run, benchmark.dataset, data)
    check = check_data(run, source, other_data)
    items = items_of(run.task, source)
    marked = mark(run, benchmark, items)
    partial = check_items(run, items, marked, allow_partial)
    if marked.doubled:
        marked = without_conflicts(run, marked)
        partial = check_items(run, items, marked, allow_partial)
    summarising = benchmark
    about_judge: dict[str, Any] = {}
    if judge is not None:
        summarising, marked, about_judge = judged_by(run, benchmark, items, marked, judge)
    summary = summarising.summarise(marked.scores, data=_data_signature(run, items, check))
    if partial is not None:
        summary = replace(summary, signature=f"{summary.signature}|items:{partial['items']}/{partial['of']}")
    baselines = Baselines(benchmark)
    scored = [score for score in marked.scores if score.outcome.scored]
    kinds = [kind_of(benchmark, items.by_id[score.id]) for score in scored]
    return Result(
        task=run.task,
        summary=summary,
        run=run_facts(run, benchmark, items, check=check, policy=policy, partial=partial),
        items=_kept(marked, items_to),
        baselines=baselines.metrics(Counter(kinds)),
        judge=about_judge,
        failed=_failed(benchmark, marked.scores),
        tests=_tests(benchmark, summary, scored, [baselines.chance(kind) for kind in kinds]),
    )


def judged_by(
    run: SavedRun, benchmark: Benchmark, items: TaskItems, marked: Marked, settings: JudgeSettings
) -> tuple[Benchmark, Marked, dict[str, Any]]:
    """See `geoeval.runs.judging.judged`, which is imported when a judge is asked only."""
    from geoeval.runs.judging import judged

    return judged(run, benchmark, items, marked, settings)


def _data_signature(run: SavedRun, items: TaskItems, check: str) -> str:
    asked = f"(asked on {run.data or 'other'}@{run.data_sha256[:12]})" if check == "different" else ""
    return f"{items.source.signature}{asked}"


def _failed(benchmark: Benchmark, scores: Sequence[Score]) -> dict[str, dict[str, int]]:
    failed: dict[str, dict[str, int]] = {}
    for score in scores:
        if score.outcome is Outcome.FAILED:
            for name in benchmark.strata:
                part = failed.setdefault(name, {})
                part[score.strata[name]] = part.get(score.strata[name], 0) + 1
    return failed


def _tests(
    benchmark: Benchmark, summary: Summary, scored: Sequence[Score], chances: Sequence[float]
) -> tuple[ChanceTest, ...]:
    """Each part of each breakdown of several parts against guessing, corrected within the breakdown."""
    metric = "accuracy"
    if metric not in benchmark.rates:
        return ()
    columns = Columns(scored)
    tests: list[ChanceTest] = []
    for name, parts in summary.strata.items():
        if len(parts) < 2:
            continue
        rows = columns.parts(name)
        tested = [(part, *_tested(columns, metric, rows[part].tolist(), chances)) for part in parts]
        corrected = holm([p_value for _, _, _, p_value in tested])
        for (part, n, difference, p_value), p_holm in zip(tested, corrected, strict=True):
            tests.append(ChanceTest(name, part, metric, n, difference, p_value, p_holm))
    return tuple(tests)


def _tested(columns: Columns, metric: str, rows: list[int], chances: Sequence[float]) -> tuple[int, float, float]:
    values, clusters = columns.values(metric, rows)
    return len(rows), *rate_test(values.tolist(), [chances[row] for row in rows], clusters)


def _kept(marked: Marked, path: Path | None) -> Callable[[], Iterator[tuple[Score, str | None]]]:
    """The items in a file of their own, which is removed with the result where it is a temporary one."""
    if path is not None:
        marked.write(path)
        return ItemsFile(path)
    folder = Path(tempfile.mkdtemp(prefix="geoeval-"))
    kept = ItemsFile(folder / "items.jsonl")
    weakref.finalize(kept, shutil.rmtree, folder, ignore_errors=True)
    marked.write(kept.path)
    return kept
