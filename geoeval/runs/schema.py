"""Records and items against the JSON Schemas beside this file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from geoeval.data import DataError

_HERE = Path(__file__).parent


def record_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a result record."""
    return _schema("record")


def items_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of one line of the items."""
    return _schema("items")


def check_record(record: Mapping[str, Any], name: str) -> None:
    """Check a record.

    Args:
        record: As `geoeval.runs.record.to_record` makes it.
        name: What to call it in the message.

    Raises:
        DataError: It is not of the schema; says where.
    """
    _check("record", record, name)


def check_items(path: Path) -> int:
    """Check every line of a file of items.

    Returns:
        How many there are.

    Raises:
        DataError: The file cannot be read, or a line is not of the schema; names the line.
    """
    number = 0
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                _check("items", json.loads(line), f"{path}:{number}")
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read after line {number} ({error})") from error
    return number


def _check(kind: str, content: Any, name: str) -> None:
    from jsonschema.exceptions import best_match

    error = best_match(_validator(kind).iter_errors(content))
    if error is not None:
        raise DataError(f"{name}: not of the schema {kind}.schema.json at {error.json_path}: {error.message[:300]}")


@lru_cache(maxsize=2)
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    schema = _schema(kind)
    return Draft202012Validator(_inlined(schema, schema.get("$defs", {})))


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema with its definitions in place of the references to them, which take jsonschema most of the time."""
    if isinstance(part, list):
        return [_inlined(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    inlined = {key: _inlined(value, definitions) for key, value in part.items() if key not in ("$ref", "$defs")}
    if "$ref" in part:
        return {**_inlined(definitions[part["$ref"].removeprefix("#/$defs/")], definitions), **inlined}
    return inlined


@lru_cache(maxsize=2)
def _schema(kind: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((_HERE / f"{kind}.schema.json").read_text(encoding="utf-8"))
    return schema
