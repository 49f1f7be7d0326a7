"""The same replies give the same numbers in every harness, each run as its users run it.

A harness is a function that runs it against the endpoint of `parity` and returns what it saved: the score of every item
and every number of every task. They are compared with what the rules say, computed without a harness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import parity
import pytest
from runs import evaluate

from geoeval.benchmarks import get_benchmark
from geoeval.harness.lmms_eval.adapter import score_from_sample
from geoeval.types import Score

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")


@dataclass(frozen=True)
class Saved:
    """What a harness saved.

    Attributes:
        scores: (task, item) -> score.
        numbers: Task -> metric -> value, as the harness itself reports it.
    """

    scores: Mapping[tuple[str, str], Score]
    numbers: Mapping[str, Mapping[str, float]]


def lmms_eval(folder: Path, data: Path, url: str) -> Saved:
    done = evaluate(
        folder,
        f"model=stand-in,base_url={url},num_concurrent=8,max_retries=1",
        model="openai",
        tasks=parity.TASKS,
        GEOEVAL_DATA=str(data),
    )
    assert done.status == 0, done.output[-3000:]
    scores = {(task, score.id): score for task in parity.TASKS for score in map(score_from_sample, done.samples(task))}
    numbers = {
        task: {name.removesuffix(",none"): value for name, value in found.items() if name.endswith(",none")}
        for task, found in done.results.items()
    }
    return Saved(scores, numbers)


HARNESSES: dict[str, Callable[[Path, Path, str], Saved]] = {"lmms_eval": lmms_eval}


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    return folder, parity.prepare(folder)


@pytest.fixture(scope="module", params=HARNESSES)
def ran(request, cases, tmp_path_factory):
    """(what a harness saved, what it sent) - each harness runs once."""
    folder, all_cases = cases
    with parity.serving(all_cases) as endpoint:
        saved = HARNESSES[request.param](tmp_path_factory.mktemp(request.param), folder, endpoint.url)
        return saved, endpoint.seen


def test_there_are_enough_replies_of_every_kind(cases):
    _, all_cases = cases
    assert len(all_cases) >= 300
    assert {case.expected.outcome.value for case in all_cases} == {"read", "unread", "empty", "failed"}
    assert max(len(case.reply) for case in all_cases) > 40_000


def test_every_item_is_scored_the_same(ran, cases):
    saved, _ = ran
    assert len(saved.scores) == len(cases[1])
    for case in cases[1]:
        score = saved.scores[case.task, case.item.id]
        assert (score.outcome, dict(score.values)) == (case.expected.outcome, dict(case.expected.values)), case.number
        if case.expected.extracted is not None:
            assert score.extracted == case.expected.extracted


@pytest.mark.parametrize("task", parity.TASKS)
def test_every_number_is_the_same(ran, cases, task):
    saved, _ = ran
    summary = get_benchmark(task).summarise(case.expected for case in cases[1] if case.task == task)
    for metric in summary.metrics:
        value = saved.numbers[task].get(metric.name, math.nan)  # a harness leaves out what has no item
        assert value == pytest.approx(metric.value, abs=1e-9, nan_ok=True), metric.name


def test_every_prompt_is_the_same(ran, cases):
    _, seen = ran
    for case in cases[1]:
        (message,) = get_benchmark(case.task).prompt(case.item)
        texts = [part["text"] for part in message["content"] if part["type"] == "text"]
        assert seen[case.number].texts == texts, case.number
        assert len(seen[case.number].pictures) == len(message["content"]) - len(texts)
