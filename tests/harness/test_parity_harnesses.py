"""The same replies give the same numbers in every harness, each run as its users run it.

A harness is run against the endpoint of `parity`. What it saved, the score of every item and every number of every
task, is compared with what the rules say, computed without a harness; what it sent, with the prompts as built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import inspect_runs
import lm_eval_runs
import parity
import pytest
import runs
import vlmevalkit_runs

from geoeval.benchmarks import get_benchmark
from geoeval.harness.lmms_eval.adapter import score_from_sample
from geoeval.runs.vlmevalkit import dataset_name
from geoeval.types import Score


@dataclass(frozen=True)
class Saved:
    """What a harness saved.

    Attributes:
        scores: Task -> item -> score.
        numbers: Task -> metric -> value, as the harness itself reports it.
    """

    scores: Mapping[str, Mapping[str, Score]]
    numbers: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Harness:
    """How a harness is run.

    Attributes:
        run: From a folder, the data and the endpoint to what it saved.
        tasks: Those it offers.
        failures: Whether it goes on after a request that fails for good.
        flat: Whether it puts all pictures before one piece of text.
    """

    run: Callable[[Path, Path, str], Saved]
    tasks: tuple[str, ...] = parity.TASKS
    failures: bool = True
    flat: bool = False


def lmms_eval(folder: Path, data: Path, url: str) -> Saved:
    pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")
    model = f"model=stand-in,base_url={url},num_concurrent=8,max_retries=1"
    done = runs.evaluate(folder, model, model="openai", tasks=parity.TASKS, GEOEVAL_DATA=str(data))
    assert done.status == 0, done.output[-3000:]
    scores = {task: {score.id: score for score in map(score_from_sample, done.samples(task))} for task in parity.TASKS}
    numbers = {
        task: {name.removesuffix(",none"): value for name, value in found.items() if name.endswith(",none")}
        for task, found in done.results.items()
    }
    return Saved(scores, numbers)


def inspect_ai(folder: Path, data: Path, url: str) -> Saved:
    done = inspect_runs.evaluate(folder, url, *parity.TASKS, GEOEVAL_DATA=str(data))
    assert done.status == 0, done.output[-3000:]
    scores = {task: done.scores(task) for task in parity.TASKS}
    return Saved(scores, {task: done.numbers(task) for task in parity.TASKS})


def vlmevalkit(folder: Path, data: Path, url: str) -> Saved:
    names = {task: dataset_name(task) for task in parity.TASKS}
    done = vlmevalkit_runs.evaluate(folder, url, [*names.values()], GEOEVAL_DATA=str(data))
    assert done.status == 0, done.output[-3000:]
    scores = {task: done.scores(names[task]) for task in parity.TASKS}
    return Saved(scores, {task: done.state["datasets"][names[task]]["metrics"] for task in parity.TASKS})


def lm_eval(folder: Path, data: Path, url: str) -> Saved:
    tasks = HARNESSES["lm_eval"].tasks
    done = lm_eval_runs.evaluate(folder, url, *tasks, GEOEVAL_DATA=str(data))
    assert done.status == 0, done.output[-3000:]
    return Saved({task: done.scores(task) for task in tasks}, {task: done.numbers(task) for task in tasks})


HARNESSES: dict[str, Harness] = {
    "lmms_eval": Harness(lmms_eval),
    "inspect_ai": Harness(inspect_ai),
    "vlmevalkit": Harness(vlmevalkit),
    "lm_eval": Harness(lm_eval, tuple(t for t in parity.TASKS if not t.endswith("_icd")), failures=False, flat=True),
}


@dataclass(frozen=True)
class Ran:
    """One harness after its run."""

    harness: Harness
    cases: list[parity.Case]
    saved: Saved
    seen: Mapping[int, parity.Seen]


@pytest.fixture(scope="module", params=HARNESSES)
def ran(request, tmp_path_factory):
    harness = HARNESSES[request.param]
    data = tmp_path_factory.mktemp("data")
    cases = parity.prepare(data, harness.tasks, failures=harness.failures)
    with parity.serving(cases) as endpoint:
        saved = harness.run(tmp_path_factory.mktemp(request.param), data, endpoint.url)
        return Ran(harness, cases, saved, endpoint.seen)


def test_there_are_enough_replies_of_every_kind(ran):
    assert len(ran.cases) >= 300
    kinds = {"read", "unread", "empty"} | ({"failed"} if ran.harness.failures else set())
    assert {case.expected.outcome.value for case in ran.cases} == kinds
    assert max(len(case.reply) for case in ran.cases) > 40_000


def test_every_item_is_scored_the_same(ran):
    assert sum(map(len, ran.saved.scores.values())) == len(ran.cases)
    for case in ran.cases:
        score = ran.saved.scores[case.task][case.item.id]
        found = score.outcome, dict(score.values)
        assert found == (case.expected.outcome, dict(case.expected.values)), (case.number, case.reply[:200])


def test_every_number_is_the_same(ran):
    for task in ran.harness.tasks:
        summary = get_benchmark(task).summarise(case.expected for case in ran.cases if case.task == task)
        for metric in summary.metrics:
            value = ran.saved.numbers[task].get(metric.name, math.nan)  # a harness leaves out what has no item
            value = math.nan if value is None else value
            assert value == pytest.approx(metric.value, abs=1e-9, nan_ok=True), (task, metric.name)


def test_every_prompt_is_the_same(ran):
    for case in ran.cases:
        benchmark = get_benchmark(case.task)
        (message,) = benchmark.prompt(case.item)
        texts = [part["text"] for part in message["content"] if part["type"] == "text"]
        pictures = len(message["content"]) - len(texts)
        seen = ran.seen[case.number]
        assert seen.texts == ([benchmark.flat_prompt(case.item)] if ran.harness.flat else texts), case.number
        assert len(seen.pictures) == pictures
