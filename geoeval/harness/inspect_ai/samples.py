"""Items as samples and back, scores as inspect-ai's scores and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.scorer import SampleScore
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.solver import TaskState

from geoeval.benchmarks import Benchmark
from geoeval.types import Item, Judgement, Outcome, Score

_REASONS = {Outcome.UNREAD: "invalid_response_format", Outcome.EMPTY: "no_response"}
_TITLES = {
    Outcome.READ: "Read by the rule",
    Outcome.UNREAD: "No answer was read:",
    Outcome.EMPTY: "The model wrote nothing:",
    Outcome.FAILED: "Not scored, the request failed:",
}


def sample_of(item: Item) -> Sample:
    """A question and everything that marking its reply needs, so that a log can be scored again without the data."""
    return Sample(
        id=item.id,
        input=item.question,  # the prompt takes its place when it is asked
        target=list(item.gold),
        metadata={
            "choices": list(item.choices),
            "options": list(item.options),
            "modality": item.modality,
            "cluster": item.cluster,
            **item.strata,
        },
    )


def item_of(benchmark: Benchmark, state: TaskState) -> Item:
    """The item of a sample, without pictures."""
    metadata = state.metadata
    return Item(
        id=str(state.sample_id),
        question=state.input_text,
        gold=tuple(state.target),
        cluster=metadata["cluster"],
        choices=tuple(metadata["choices"]),
        options=tuple(metadata["options"]),
        modality=metadata["modality"],
        strata={name: metadata[name] for name in benchmark.strata},
    )


def inspect_score(benchmark: Benchmark, score: Score, judge: Mapping[str, Any] | None = None) -> InspectScore:
    """A score as inspect-ai keeps and shows it.

    Its value has every per-item metric of the benchmark; nan where the item takes no part. A failed request is
    unscored as a whole.

    Args:
        benchmark: With the judge's metrics, where one was asked.
        score: What `Benchmark.score` says.
        judge: Arguments of `JudgedLithoBenchOpen` for the summary, where one was asked.
    """
    metadata: dict[str, Any] = {
        "outcome": score.outcome.value,
        "method": score.method,
        "reason": score.reason,
        "gold": list(score.gold),
        "cluster": score.cluster,
        "strata": dict(score.strata),
    }
    if score.judgement is not None:
        metadata |= {"judgement": asdict(score.judgement), "judge": dict(judge or {})}
    explanation = _explanation(score)
    if not score.outcome.scored:
        return InspectScore.unscored(reason="request_failed", explanation=explanation, metadata=metadata)
    names = (*benchmark.rates, *benchmark.means)
    return InspectScore(
        value={name: score.values.get(name, math.nan) for name in names},
        answer=score.extracted,
        explanation=explanation,
        reason="grader_failed" if _unmarked(score) else _REASONS.get(score.outcome),
        metadata=metadata,
    )


def score_of(sample: SampleScore, id_: str) -> Score:
    """The score that `inspect_score` made an inspect-ai score of.

    Args:
        sample: One of a scored sample.
        id_: What the score is called; a sample that was asked several times has several scores.
    """
    metadata = sample.score.metadata or {}
    judgement = metadata.get("judgement")
    value = sample.score.value
    return Score(
        id=id_,
        outcome=Outcome(metadata["outcome"]),
        values={k: float(v) for k, v in value.items() if not math.isnan(v)} if isinstance(value, Mapping) else {},
        extracted=sample.score.answer,
        gold=tuple(metadata["gold"]),
        method=metadata["method"],
        reason=metadata["reason"],
        cluster=metadata["cluster"],
        strata=metadata["strata"],
        judgement=Judgement(**{**judgement, "calls": tuple(judgement["calls"])}) if judgement else None,
    )


def _unmarked(score: Score) -> bool:
    return score.judgement is not None and score.judgement.score is None


def _explanation(score: Score) -> str:
    """How the reply was read, and what the judge says."""
    what = score.method if score.outcome is Outcome.READ else score.reason
    lines = [f"{_TITLES[score.outcome]} `{what}`"]
    if score.judgement is not None:
        judgement = score.judgement
        marks = ", ".join(f"{name} {mark:g}" for name, mark in judgement.dimensions.items())
        overall = f"Judge: {judgement.score:g} of 10" if judgement.score is not None else "Judge: no usable mark"
        lines += [overall + (f" ({marks})" if marks else "")]
        lines += [f"`{judgement.reason}`"] if judgement.reason else []
        lines += [judgement.comment] if judgement.comment else []
    return "\n\n".join(lines)
