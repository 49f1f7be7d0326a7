"""Rows of a JSON file, whatever its form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError

_BETWEEN = re.compile(r"[\s,]*")
_ROWS = "a list of objects, lists of objects by name, or objects by id"


def json_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows of a JSON file: a list of objects, lists of objects by name, objects by id, or JSON lines.

    Of a list no more than a few rows are in memory; the other forms are read whole.

    Raises:
        DataError: It is none of these, or is cut off.
        ValueError: It is no JSON, or no UTF-8.
    """
    with open(path, encoding="utf-8-sig") as file:
        first = next((line for line in file if line.strip()), "")
        if first.lstrip().startswith("["):
            file.seek(0)
            yield from _elements(file, path)
            return
        more = any(line.strip() for line in file)
    if more and _is_object(first):
        yield from json_lines(path)
        return
    with open(path, encoding="utf-8-sig") as file:
        whole = json.load(file)
    if not isinstance(whole, dict):
        raise DataError(f"{path}: holds no rows; wanted {_ROWS}")
    lists = [value for value in whole.values() if isinstance(value, list) and all(isinstance(v, dict) for v in value)]
    if any(lists):
        yield from (row for rows in lists for row in rows)
    elif whole and all(isinstance(value, dict) for value in whole.values()):
        yield from ({"id": name, **row} for name, row in whole.items())
    elif first and not more:
        yield whole
    else:
        raise DataError(f"{path}: holds no rows; wanted {_ROWS}")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _elements(file: Any, path: Path) -> Iterator[Any]:
    """The elements of a JSON list, decoded one by one from a buffer that holds little more than one."""
    decoder, buffer, at = json.JSONDecoder(), file.read(1 << 20).lstrip("\ufeff \t\r\n")[1:], 0
    while True:
        at = _end_of_gap(buffer, at)
        if buffer[at : at + 1] == "]":
            return
        try:
            value, at = decoder.raw_decode(buffer, at)
        except ValueError as error:
            more = file.read(max(1 << 20, len(buffer) - at))
            if not more:
                raise DataError(f"{path}: the list is broken or cut off ({error})") from error
            buffer, at = buffer[at:] + more, 0
            continue
        yield value


def _end_of_gap(text: str, at: int) -> int:
    """Where spaces and commas end."""
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def json_lines(path: Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows of a file with one JSON object a line.

    Raises:
        DataError: A line is no JSON; names it.
    """
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise DataError(f"{path}: line {number} is no JSON ({error})") from error
