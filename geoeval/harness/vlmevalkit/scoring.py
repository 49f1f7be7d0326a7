"""A prediction file of VLMEvalKit -> our record beside it and the harness's dictionary of numbers."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks import get_benchmark
from geoeval.data import DataError
from geoeval.runs.model import SavedRun
from geoeval.runs.saved import items_file, record_file, write_result
from geoeval.runs.vlmevalkit import SCORE_SUFFIX, read

if TYPE_CHECKING:
    from geoeval.judge.settings import JudgeSettings

NO_JUDGE = (None, "", "exact_matching")
"""What the harness calls a judge that is none."""


def stem_of(predictions: Path) -> Path:
    """The stem of the record of a prediction file and of its items, beside it."""
    return predictions.with_name(f"{predictions.stem}{SCORE_SUFFIX}")


def read_record(predictions: Path) -> dict[str, Any] | None:
    """The record of a prediction file; None when there is none."""
    try:
        record: dict[str, Any] = json.loads(record_file(stem_of(predictions)).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record


def evaluate(
    predictions: Path, task: str, ids: Sequence[str], facts: Mapping[str, Any], judge_kwargs: Mapping[str, Any]
) -> dict[str, float | int]:
    """Mark a prediction file; see `GeoEvalDataset.evaluate`.

    Args:
        predictions: The file.
        task: The task it must be of.
        ids: Those that were asked, all or the first few.
        facts: Version and data of the dataset that was built, and what is known of the run.
        judge_kwargs: See `judge_settings`.
    """
    from geoeval.runs.score import score_run

    stem = stem_of(predictions)
    for old in (record_file(stem), items_file(stem)):  # so that a failure leaves none
        old.unlink(missing_ok=True)
    (run,) = read(predictions)
    _check(run, task, ids, facts)
    run = replace(
        run,
        data=facts["data"],
        data_sha256=facts["data_sha256"],
        facts={**run.facts, **_without_data(facts), "model": run.facts["model"], "items_asked": len(ids)},
    )
    judge = judge_settings(judge_kwargs) if is_judged(task) else None
    result = score_run(run, judge=judge, items_to=items_file(stem))
    write_result(result, stem)
    summary = result.summary
    coverage = summary.coverage
    if coverage.items == coverage.failed:
        raise DataError(f"{predictions}: {task}: no item could be scored, all {coverage.items} requests failed")
    counts = {name: getattr(coverage, name) for name in ("items", "unread", "empty", "failed", "unscored")}
    numbers = {metric.name: metric.value for metric in summary.metrics if math.isfinite(metric.value)}
    return {**numbers, **{f"n_{name}": count for name, count in counts.items()}}


def is_judged(task: str) -> bool:
    """Whether a judge can mark the task's answers."""
    from geoeval.benchmarks.lithobench import LithoBenchOpen

    return isinstance(get_benchmark(task), LithoBenchOpen)


def judge_settings(judge_kwargs: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> JudgeSettings | None:
    """The judge that was asked for: by the harness's ``--judge`` options, else by GEOEVAL_JUDGE_*; None for none.

    There is no judge unless one is named, and no fall-back when it fails: what it could not mark is unscored.

    Args:
        judge_kwargs: "model", "api_base" (with /chat/completions) and "key", as the harness gives them. The key is put
            into the environment, where the judge looks for it.
        environ: The environment.

    Raises:
        geoeval.judge.errors.JudgeError: The settings cannot be used.
    """
    from geoeval.judge.settings import PREFIX, JudgeSettings

    own = dict(os.environ if environ is None else environ)
    model = judge_kwargs.get("model")
    if model not in NO_JUDGE:
        own[f"{PREFIX}MODEL"] = str(model)
        if judge_kwargs.get("api_base"):
            own[f"{PREFIX}BASE_URL"] = str(judge_kwargs["api_base"]).removesuffix("/chat/completions")
    settings = JudgeSettings.from_env(own)
    if settings is not None and judge_kwargs.get("key"):
        os.environ[settings.api_key_env] = str(judge_kwargs["key"])
    return settings


def _check(run: SavedRun, task: str, ids: Sequence[str], facts: Mapping[str, Any]) -> None:
    """Whether a file is of this task, version and data, and has the ids that were asked, each once."""
    if run.task != task:
        raise DataError(f"{run.source}: the name says {run.task}, but {task} was to be evaluated")
    if problem := other_data(run, facts):
        raise DataError(problem)
    found = [reply.id for reply in run.read()]
    missing, strange = sorted(set(ids) - set(found)), sorted(set(found) - set(ids))
    if missing or strange or len(found) != len(ids):
        raise DataError(
            f"{run.source}: the ids are not those that were asked: {len(missing)} missing {missing[:5]}, "
            f"{len(strange)} unknown {strange[:5]}, {len(found) - len(set(found))} doubled. Run again without --reuse."
        )


def other_data(run: SavedRun, facts: Mapping[str, Any]) -> str:
    """Why predictions cannot be used beside what is asked now: another version or other data; "" when they can."""
    then = (run.facts.get("version"), run.data, run.data_sha256[:12])
    now = (facts["version"], facts["data"], facts["data_sha256"][:12])
    if run.data_sha256 and then != now:
        return (
            f"{run.source}: these predictions were made with version, data {then}, and {now} is asked for now. "
            f"Run again without --reuse, or set GEOEVAL_DATA to the data they were made with."
        )
    return ""


def _without_data(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in ("data", "data_sha256", "models")}
