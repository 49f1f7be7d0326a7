"""The result record: JSON of everything a `Result` says, and JSONL of its items. nan becomes null."""

from __future__ import annotations

import dataclasses
import json
import json.encoder
import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from geoeval import __version__
from geoeval.runs.model import ChanceTest, Result
from geoeval.types import ClassScores, Coverage, Judgement, Metric, Outcome, Score, Summary

SCHEMA = "geoeval-result-1"
RECORD_SUFFIX, ITEMS_SUFFIX = ".geoeval.json", ".items.jsonl"
_string = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


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
        "failed": {name: dict(parts) for name, parts in result.failed.items()},
        "tests": [dataclasses.asdict(test) for test in result.tests],
    }
    cleaned: dict[str, Any] = without_nan(record)
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


def result_from_record(record: Mapping[str, Any], items: Callable[[], Iterator[tuple[Score, str | None]]]) -> Result:
    """The result that `to_record` wrote.

    Raises:
        KeyError, TypeError: The record is not of this schema.
    """
    return Result(
        task=record["task"],
        summary=summary_from_record(record),
        run=record["run"],
        items=items,
        baselines={name: metrics_from_record(metrics) for name, metrics in record["baselines"].items()},
        judge=record["judge"],
        failed=record["failed"],
        tests=tuple(ChanceTest(**_with_nan(test)) for test in record["tests"]),
    )


def metrics_from_record(metrics: list[Mapping[str, Any]]) -> tuple[Metric, ...]:
    """Metrics as `to_record` wrote them."""
    return tuple(Metric(**_with_nan(metric)) for metric in metrics)


def to_line(score: Score, reply: str | None) -> dict[str, Any]:
    """One item of the JSONL."""
    line: dict[str, Any] = json.loads(encode_line(score, reply))
    return line


def encode_line(score: Score, reply: str | None) -> bytes:
    """One item as a line of UTF-8.

    It is put together from its parts, since those that many items share need to be encoded once only.
    """
    judgement = "null" if score.judgement is None else _encode(without_nan(dataclasses.asdict(score.judgement)))
    line = (
        f'{{"id":{_string(score.id)},"outcome":"{score.outcome.value}","values":{_pairs(tuple(score.values.items()))},'
        f'"extracted":{_text(score.extracted)},"gold":{_list(score.gold)},"method":{_string(score.method)},'
        f'"reason":{_text(score.reason)},"cluster":{_string(score.cluster)},'
        f'"strata":{_pairs(tuple(score.strata.items()))},"judgement":{judgement},"reply":{_text(reply)}}}\n'
    )
    try:
        return line.encode()
    except UnicodeEncodeError:  # half an emoji, which only an escape can hold
        return f"{json.dumps(json.loads(line))}\n".encode()


@lru_cache(maxsize=4096)
def _pairs(pairs: tuple[tuple[str, Any], ...]) -> str:
    return _encode(without_nan(dict(pairs)))


@lru_cache(maxsize=4096)
def _list(values: tuple[str, ...]) -> str:
    return _encode(values)


def _text(text: str | None) -> str:
    return "null" if text is None else _string(text)


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


def without_nan(value: Any) -> Any:
    """Plain JSON values, with null for nan and infinite numbers."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: without_nan(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(part) for part in value]
    return value


def _with_nan(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in values.items()}
