"""``geoeval/<task>`` as a scorer: one reply -> the score of `Benchmark.score`; also for ``inspect score``.

Where the role ``grader`` names a judge, open answers are marked by it as well.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from inspect_ai.model import ContentImage
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer, Target, scorer
from inspect_ai.solver import TaskState

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.harness.inspect_ai.grader import grader_of
from geoeval.harness.inspect_ai.metrics import groups, intervals, numbers
from geoeval.harness.inspect_ai.replies import reply_of
from geoeval.harness.inspect_ai.samples import inspect_score, item_of


def _scorer(name: str) -> Callable[[], Scorer]:
    benchmark = get_benchmark(name)

    def make() -> Scorer:
        async def score(state: TaskState, target: Target) -> InspectScore:
            item = item_of(benchmark, state)
            reply, failure = reply_of(state)
            ours = benchmark.score(item, reply, failure)
            grader = grader_of(benchmark, str(state.model))
            if grader is None or not ours.outcome.scored:
                return inspect_score(benchmark, ours)
            judged = grader.benchmark(benchmark)
            ours = judged.judged(ours, await grader.judge(item, ours, _picture(state)))
            return inspect_score(judged, ours, grader.summary_arguments)

        return score

    make.__name__ = make.__qualname__ = name
    registered: Callable[[], Scorer] = scorer(metrics=[numbers(name), intervals(name), groups(name)], name=name)(make)
    return registered


def _picture(state: TaskState) -> bytes | None:
    """The question's own picture, the last one shown; None in a log without pictures."""
    parts = state.messages[0].content if state.messages else ""
    pictures = [part.image for part in parts if isinstance(part, ContentImage)] if isinstance(parts, list) else []
    if not pictures or not pictures[-1].startswith("data:"):
        return None
    return base64.b64decode(pictures[-1].partition(",")[2])


SCORERS = {name: _scorer(name) for name in benchmark_names()}
