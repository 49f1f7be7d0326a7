"""The result record: one JSON object with everything a `Summary` says and what it was computed from."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
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


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file as a whole: to a temporary file in the same folder, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=2, allow_nan=False)
            file.write("\n")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
