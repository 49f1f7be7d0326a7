"""Our own records: written, read back as results, and read as runs to be scored again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from geoeval.benchmarks import benchmark_names
from geoeval.data import DataError
from geoeval.data.files import replacing, write_json
from geoeval.runs.model import Reply, Result, SavedRun
from geoeval.runs.record import (
    ITEMS_SUFFIX,
    RECORD_SUFFIX,
    SCHEMA,
    encode_line,
    from_line,
    result_from_record,
    to_record,
)
from geoeval.runs.schema import check_items, check_record
from geoeval.types import Outcome, Score

_NO_NAME = re.compile(r"[^\w.-]+")


def write_result(result: Result, stem: Path) -> tuple[Path, Path]:
    """Write ``<stem>.geoeval.json`` and, unless it is there from scoring, ``<stem>.items.jsonl``.

    Returns:
        Both files.

    Raises:
        DataError: The record is not of its schema (a mistake of ours), or a file cannot be written.
    """
    record, items = to_record(result), items_file(stem)
    check_record(record, stem.name)
    if not (isinstance(result.items, ItemsFile) and result.items.path == items):
        with replacing(items) as part, open(part, "wb") as file:
            file.writelines(encode_line(score, reply) for score, reply in result.items())
    path = record_file(stem)
    write_json(path, record)
    return path, items


def keep_judged(stem: Path) -> None:
    """Refuse to write a record without a judge over one with its marks.

    Raises:
        DataError: There is one with a judge's marks.
    """
    path = record_file(stem)
    try:
        judge = json.loads(path.read_text(encoding="utf-8"))["judge"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # none, or one that says nothing
    if judge:
        raise DataError(
            f"{path}: holds the marks of the judge {judge.get('model')}, which scoring would remove; give -o DIR for a "
            "record without them, or run geoeval judge again: stored calls are not made twice"
        )


def record_file(stem: Path) -> Path:
    """The record of a stem."""
    return stem.with_name(f"{stem.name}{RECORD_SUFFIX}")


def items_file(stem: Path) -> Path:
    """The items of a stem."""
    return stem.with_name(f"{stem.name}{ITEMS_SUFFIX}")


class Stems:
    """Names for the files of results: no two runs of one command get the same.

    Args:
        folder: Where they go; beside the file of replies when None.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._taken: set[Path] = set()

    def of(self, run: SavedRun, policy: str = "declared") -> Path:
        """The stem of a run's files: its file, its task and, where a file holds several models, the model."""
        name = run.source.name
        if name.endswith(ITEMS_SUFFIX):
            parts = [name.removesuffix(ITEMS_SUFFIX)]
        else:
            first = run.source.stem.removesuffix(f"_samples_{run.task}")
            parts = [first] if run.task in first else [first, run.task]
            parts += [str(run.facts.get("model") or "")] if run.facts.get("harness") == "plain" else []
        parts += [policy] if policy != "declared" else []
        stem = "_".join(filter(None, (_NO_NAME.sub("-", part)[:100] for part in parts)))
        folder = self._folder or run.source.parent
        names = (folder / f"{stem}{end}" for end in chain([""], (f"_{k}" for k in count(2))))
        path = next(path for path in names if path not in self._taken)
        self._taken.add(path)
        return path


class ItemsFile:
    """The items of a result, read from their file anew at each call.

    Args:
        path: JSONL, see `geoeval.runs.record.to_line`.
        n: How many its record says there are.
    """

    def __init__(self, path: Path, n: int | None = None) -> None:
        self.path = path
        self.n = n

    def __call__(self) -> Iterator[tuple[Score, str | None]]:
        """Every score with its reply, in order of id.

        Raises:
            DataError: The file is not there, is damaged (names the line), or is not that of its record.
        """
        number = 0
        try:
            with open(self.path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    try:
                        yield from_line(json.loads(line))
                    except (ValueError, KeyError, TypeError, AttributeError) as error:
                        raise DataError(f"{self.path}:{number}: not an item of a result ({error!r})") from error
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror}); it belongs to a record") from error
        if self.n not in (None, number):
            raise DataError(f"{self.path}: {number} items, but its record has {self.n}; score the replies again")


def recognises(path: Path) -> bool:
    """Whether a file is a record of ours."""
    return path.name.endswith(RECORD_SUFFIX) and path.is_file()


def load(path: Path) -> Result:
    """The result of a record.

    Raises:
        DataError: It is not of the schema, of no task of ours, or without numbers.
    """
    record = _record(path)
    try:
        result = result_from_record(record, ItemsFile(_items_of(path), record["coverage"]["items"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not a record of this geoeval ({error!r}); score the replies again") from error
    if result.task not in benchmark_names() or not result.summary.metrics:
        raise DataError(f"{path}: {result.task!r} is no task of this geoeval, or has no numbers; see 'geoeval tasks'")
    return result


def read(path: Path) -> Iterator[SavedRun]:
    """The run of a record, to be scored again from the replies in its items.

    Raises:
        DataError: It is no record.
    """
    record = _record(path)
    run: dict[str, Any] = record["run"]
    other = run.get("data_check") == "different"
    scored = {*_SCORED}
    yield SavedRun(
        task=record["task"],
        source=_items_of(path),
        read=partial(_replies, ItemsFile(_items_of(path))),
        data=str((run.get("data_asked") if other else run.get("data")) or ""),
        data_sha256=str((run.get("data_sha256_asked") if other else run.get("data_sha256")) or ""),
        facts={name: value for name, value in run.items() if name not in scored},
    )


def check(path: Path) -> int:
    """Check a record and its items against their schemas.

    Returns:
        The number of items.

    Raises:
        DataError: Something does not fit; says what and where.
    """
    record = _record(path)
    check_record(record, str(path))
    n = check_items(_items_of(path))
    if n != record["coverage"]["items"]:
        raise DataError(f"{_items_of(path)}: {n} items, but the record has {record['coverage']['items']}")
    return n


_SCORED = (
    *("data", "data_sha256", "data_check", "data_asked", "data_sha256_asked", "items_in_task", "policy", "rules"),
    *("source", "source_sha256", "prompt_sha256", "python", "libraries", "partial"),
)


def _items_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(RECORD_SUFFIX) + ITEMS_SUFFIX)


def _record(path: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found = record.get("schema")
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: not a record of geoeval ({error!r})") from error
    if found != SCHEMA or not isinstance(record.get("run"), dict):
        raise DataError(f"{path}: schema {found!r}, and this geoeval reads {SCHEMA}; score the replies again")
    return record


def _replies(items: Callable[[], Iterator[tuple[Score, str | None]]]) -> Iterator[Reply]:
    for score, text in items():
        failed = score.outcome is Outcome.FAILED
        yield Reply(score.id, None if failed else text, score.reason or "request_failed")
