"""Judging inside lmms-eval: once, all answers of a task together, after generation, when it aggregates the metrics.

lmms-eval's own way is a call for each document in ``process_results``: one after the other in four threads, without a
store, and with the whole run lost at the first exception. Here a sample carries its id and reply only, and what
aggregates first has the judge mark them all; `geoeval.judge` stores every call, so that the tables that follow, or a
later ``geoeval judge``, ask nothing again.

A judge that cannot be used must not lose the run: its metrics are nan, and the problem ends the command with status 1.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.benchmarks.lithobench import LithoBenchOpen
from geoeval.data import DataError, locate, task_items
from geoeval.harness.lmms_eval import plugin
from geoeval.runs.lmms_eval import reply_or_failure

if TYPE_CHECKING:
    from geoeval.judge.settings import JudgeSettings

SCORE, COVERAGE = "judge_score", "judge_coverage"
_Pairs = Sequence[tuple[str, "str | None"]]
_last: dict[str, tuple[_Pairs, JudgeSettings | None, Mapping[str, float]]] = {}
_checked: dict[JudgeSettings, str] = {}


def judge_of(benchmark: Benchmark) -> JudgeSettings | None:
    """The judge that GEOEVAL_JUDGE_* sets, for a task of open answers; None for others and where none is set.

    Raises:
        geoeval.judge.errors.JudgeError: A setting is wrong.
    """
    from geoeval.judge.settings import JudgeSettings

    return JudgeSettings.from_env() if isinstance(benchmark, LithoBenchOpen) else None


def metric_names(benchmark: Benchmark) -> tuple[str, ...]:
    """What a judge adds to the harness's own table: the combination, its marks, and the share of answers it marked."""
    if not isinstance(benchmark, LithoBenchOpen):
        return ()
    settings = ((name, value) for name, value in os.environ.items() if name.startswith("GEOEVAL_JUDGE_"))
    return _metric_names(benchmark.name, tuple(sorted(pair for pair in settings if not pair[0].endswith("KEY"))))


@lru_cache(maxsize=32)
def _metric_names(task: str, environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Asked for every sample, while settings and rubric are files to be read; they change with the environment only."""
    from geoeval.runs.judging import judged_benchmark

    benchmark = get_benchmark(task)
    settings = judge_of(benchmark)
    return (judged_benchmark(benchmark, settings).combined, SCORE, COVERAGE) if settings else ()


def aggregations(benchmark: Benchmark) -> dict[str, Callable[..., float]]:
    """Metric -> aggregation."""
    return {name: partial(_judged, benchmark.name, name) for name in metric_names(benchmark)}


def sample_values(benchmark: Benchmark, id_: str, reply: str | None) -> dict[str, list[str | None]]:
    """What a sample carries for the judge's metrics."""
    return {name: [id_, reply] for name in metric_names(benchmark)}


def check(benchmark: Benchmark) -> None:
    """One call before a long run, in one process only: a wrong key, model or address shows now.

    Raises:
        geoeval.judge.errors.JudgeError: The judge does not answer.
    """
    import tempfile

    from geoeval.judge.engine import Asked, JudgeError, judge_all

    settings = judge_of(benchmark)
    if settings is None or settings.replay != "off" or int(os.environ.get("RANK", "0")):
        return
    if settings not in _checked:  # lmms-eval tries a task that raises again
        asked = Asked("check", "Which rock is this?", ("It is granite.",), "The rock is granite.")
        with tempfile.TemporaryDirectory() as folder:  # a store of its own, or the answer of an earlier check would do
            try:
                (judgement,) = judge_all([asked], replace(settings, store=f"{folder}/calls.sqlite"), progress=False)
                _checked[settings] = "" if judgement.score is not None else f"it gives no mark: {judgement.reason}"
            except JudgeError as error:
                _checked[settings] = str(error)
    if _checked[settings]:
        raise JudgeError(
            f"{_checked[settings]}. Nothing was asked of the model. Mend the judge {settings.model}, or run without "
            "GEOEVAL_JUDGE_* and judge later: geoeval judge RESULTS"
        )


def _judged(task: str, name: str, pairs: _Pairs, args: Any = None) -> float:
    settings = judge_of(get_benchmark(task))
    if task not in _last or _last[task][:2] != (pairs, settings):
        _last[task] = (pairs, settings, _values(task, pairs, settings, args))
    return _last[task][2].get(name, math.nan)


def _values(task: str, pairs: _Pairs, settings: JudgeSettings | None, args: Any) -> Mapping[str, float]:
    from geoeval.judge.errors import JudgeError
    from geoeval.runs.judging import asked_of, judge_answers

    benchmark = get_benchmark(task)
    if settings is None:
        return {}
    try:
        source = locate(benchmark.dataset)
        items = {item.id: item for item in task_items(task, source, pictures=False)}
        scores = [benchmark.score(items[id_], *reply_or_failure(reply)) for id_, reply in pairs]
        asked = list(asked_of(task, source, ((items[score.id], score) for score in scores), settings.picture))
        judging, judgements, _ = judge_answers(benchmark, asked, settings, tested_model(args))
    except (JudgeError, DataError) as error:
        plugin.report(f"{task}: not judged: {error}")
        return {}
    summary = judging.summarise(
        judging.judged(score, judgements[score.id]) if score.id in judgements else score for score in scores
    )
    marked = len(asked) - summary.coverage.unscored
    coverage = marked / len(asked) if asked else math.nan
    return {**{metric.name: metric.value for metric in summary.metrics}, COVERAGE: coverage}


def tested_model(args: Any) -> str | None:
    """The model under test, from the arguments of the command line; None in Python, where there are none."""
    from lmms_eval.loggers.evaluation_tracker import GeneralConfigTracker

    given = getattr(args, "model_args", None)
    return (GeneralConfigTracker._get_model_name(given) or None) if isinstance(given, str) else None
