"""Files of marks, of people or of another judge: JSONL or CSV, one item a line.

| line | what |
| --- | --- |
| ``{"id": "q1", "score": 7, "dimensions": {"correctness": 8}}`` | JSONL; ``dimensions`` may be missing |
| ``{"id": "q1", "judgement": {"score": 7, ...}, ...}`` | JSONL of items that geoeval wrote |
| ``id,score,correctness`` | header of a CSV; columns after the first two are dimensions |

A mark that was not given is null in JSON and an empty cell in CSV.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from geoeval.judge.errors import JudgeError
from geoeval.judge.rubric import LEAST, MOST
from geoeval.types import Judgement


def read_marks_file(path: str | Path) -> dict[str, Judgement]:
    """Read a file of marks.

    Args:
        path: ``.csv``, ``.jsonl`` or ``.json`` with one object a line.

    Returns:
        Id -> marks, in the order of the file. Items of geoeval that were not judged are passed over.

    Raises:
        JudgeError: There is no such file, a line is not as described, an id occurs twice or a mark is not from 0 to 10.
    """
    path = Path(path)
    if path.suffix not in (".csv", ".jsonl", ".json"):
        raise JudgeError(f"{path}: marks are read from .csv and .jsonl files")
    marks: dict[str, Judgement] = {}
    try:
        for number, line in _csv(path) if path.suffix == ".csv" else _jsonl(path):
            where = f"{path}, line {number}"
            id_, judgement = _judgement(line, where)
            if id_ in marks:
                raise JudgeError(f"{where}: the id {id_!r} occurs twice")
            if judgement is not None:
                marks[id_] = judgement
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise JudgeError(f"{path}: cannot be read ({error})") from error
    return marks


def _csv(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, strict=True)
        names = [name.strip() for name in rows.fieldnames or ()]
        if names[:2] != ["id", "score"] or len(set(names)) < len(names) or not all(names):
            raise JudgeError(f"{path}: the header is {names}; write id,score and then the dimensions, each once")
        rows.fieldnames = names
        for row in rows:
            if None in row or None in row.values():
                raise JudgeError(f"{path}, line {rows.line_num}: not {len(names)} cells as in the header")
            cells = {name: cell.strip() or None for name, cell in row.items()}
            yield rows.line_num, {"id": cells.pop("id"), "score": cells.pop("score"), "dimensions": cells}


def _jsonl(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise JudgeError(f"{path}, line {number}: not JSON ({error})") from error
            if not isinstance(value, dict):
                raise JudgeError(f"{path}, line {number}: not an object with id and score")
            yield number, value


def _judgement(line: Mapping[str, Any], where: str) -> tuple[str, Judgement | None]:
    id_ = line.get("id")
    if not isinstance(id_, str) or not id_:
        raise JudgeError(f"{where}: id is {id_!r}; write the item's id, a text")
    given = line.get("judgement", line)
    if given is None:
        return id_, None
    if not isinstance(given, Mapping) or "score" not in given:
        raise JudgeError(f"{where}: no score; write the mark as a whole, from {LEAST} to {MOST}")
    dimensions = given.get("dimensions") or {}
    if not isinstance(dimensions, Mapping):
        raise JudgeError(f"{where}: dimensions is {dimensions!r}, not a map from names to marks")
    marks = {str(name): _number(mark, f"{where}: {name}") for name, mark in dimensions.items()}
    score = _number(given["score"], f"{where}: score")
    return id_, Judgement(score, {name: mark for name, mark in marks.items() if mark is not None})


def _number(raw: Any, where: str) -> float | None:
    if raw is None:
        return None
    try:
        mark = math.nan if isinstance(raw, bool) else float(raw)
    except (TypeError, ValueError, OverflowError):
        mark = math.nan
    if not LEAST <= mark <= MOST:
        raise JudgeError(f"{where} is {raw!r}, not a number from {LEAST} to {MOST}")
    return mark
