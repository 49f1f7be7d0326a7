"""The result record: JSON of everything a `Result` says, and JSONL of its items. nan becomes null."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from geoeval import __version__
from geoeval.runs.model import Result
from geoeval.types import ClassScores, Coverage, Judgement, Metric, Outcome, Score, Summary

SCHEMA = "geoeval-result-1"
RECORD_SUFFIX, ITEMS_SUFFIX = ".geoeval.json", ".items.jsonl"


def to_record(result: Result) -> dict[str, Any]:
    """The record of a result, without its items."""
    record = {
        "schema": SCHEMA,
        "geoeval": __version__,
        "task": result.task,
        "run": dict(result.run),
        **dataclasses.asdict(result.summary),
        "baselines": {name: [dataclasses.asdict(m) for m in metrics] for name, metrics in result.baselines.items()},
        "judge": dict(result.judge),
    }
    cleaned: dict[str, Any] = _without_nan(record)
    return cleaned


def summary_from_record(record: Mapping[str, Any]) -> Summary:
    """The summary that `to_record` wrote.

    Raises:
        KeyError, TypeError: The record is not of this schema.
    """
    return Summary(
        benchmark=record["benchmark"],
        version=record["version"],
        metrics=metrics_from_record(record["metrics"]),
        strata={
            name: {value: metrics_from_record(metrics) for value, metrics in parts.items()}
            for name, parts in record["strata"].items()
        },
        coverage=Coverage(**record["coverage"]),
        confusion=record["confusion"],
        classes={name: ClassScores(**_with_nan(scores)) for name, scores in record["classes"].items()},
        signature=record["signature"],
    )


def metrics_from_record(metrics: list[Mapping[str, Any]]) -> tuple[Metric, ...]:
    """Metrics as `to_record` wrote them."""
    return tuple(Metric(**_with_nan(metric)) for metric in metrics)


def to_line(score: Score, reply: str | None) -> dict[str, Any]:
    """One item of the JSONL."""
    line: dict[str, Any] = _without_nan({**dataclasses.asdict(score), "outcome": score.outcome.value, "reply": reply})
    return line


def from_line(line: Mapping[str, Any]) -> tuple[Score, str | None]:
    """The score and the reply that `to_line` wrote.

    Raises:
        KeyError, TypeError, ValueError: The line is not of this schema.
    """
    judgement = line.get("judgement")
    if judgement is not None:
        judgement = Judgement(**{**judgement, "calls": tuple(judgement["calls"])})
    score = Score(
        id=line["id"],
        outcome=Outcome(line["outcome"]),
        values=line["values"],
        extracted=line["extracted"],
        gold=tuple(line["gold"]),
        method=line["method"],
        reason=line["reason"],
        cluster=line["cluster"],
        strata=line["strata"],
        judgement=judgement,
    )
    return score, line["reply"]


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(part) for part in value]
    return value


def _with_nan(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in values.items()}
