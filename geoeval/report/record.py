"""The result record: one JSON object with everything a `Summary` says and what it was computed from."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from geoeval import __version__
from geoeval.types import Summary


def to_record(task: str, summary: Summary, run: Mapping[str, Any]) -> dict[str, Any]:
    """The record of one task run; nan becomes null, as JSON has no nan.

    Args:
        task: The task's name.
        summary: Its numbers.
        run: Facts of the run, e.g. harness, model, data (plain JSON values).
    """
    record = {"geoeval": __version__, "task": task, "run": dict(run), **dataclasses.asdict(summary)}
    cleaned: dict[str, Any] = _without_nan(record)
    return cleaned


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(part) for part in value]
    return value
