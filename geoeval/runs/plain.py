"""Plain files of replies -> runs: JSON lines, CSV or TSV with the columns ``id`` and ``reply``.

Further columns that are read: ``task`` and ``model``, where a file holds several runs, and ``failure``, which marks a
request that failed; so does a JSON null as the reply. Everything else is left alone.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from geoeval.data import DataError
from geoeval.runs.model import Reply, SavedRun

COLUMNS = ("id", "reply", "task", "model", "failure")
_JSON, _CSV = (".jsonl", ".ndjson"), (".csv", ".tsv", ".txt")
_DELIMITERS = (",", ";", "\t")
_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_BUFFER = 16 << 20
_FACTS = {"harness": "plain"}


class Row(NamedTuple):
    """One line of a file."""

    task: str
    model: str
    reply: Reply


def recognises(path: Path, columns: Mapping[str, str] | None = None, encoding: str | None = None) -> bool:
    """Whether a file has the columns of a plain one.

    Args:
        path: The file.
        columns: Our name -> the name in the file, where they differ.
        encoding: Of the file; found out by default.
    """
    try:
        names = _names(path, encoding)
    except (OSError, ValueError, csv.Error):
        return False
    return {_name("id", columns), _name("reply", columns)} <= {*names}


def read(path: Path, columns: Mapping[str, str] | None = None, encoding: str | None = None) -> Iterator[SavedRun]:
    """The runs in a file; one that names tasks or models is parted into temporary files first, one for each.

    Args:
        path: The file.
        columns: Our name -> the name in the file, where they differ.
        encoding: Of the file; found out by default.

    Raises:
        DataError: A line has no id or reply, or the file is in another encoding; names the line.
    """
    names = _names(path, encoding)
    wanted = {name: _name(name, columns) for name in COLUMNS}
    if not {wanted["task"], wanted["model"]} & {*names}:
        yield SavedRun("", path, lambda: (row.reply for row, _ in _rows(path, wanted, encoding)), facts=dict(_FACTS))
        return
    parts = _Parts(wanted)
    for row, line in _rows(path, wanted, encoding):
        parts.add(row, line)
    for task, model in parts.runs():
        facts = {**_FACTS, **({"model": model} if model else {})}
        yield SavedRun(task, path, partial(parts.replies, task, model), facts=facts)


class _Parts:
    """Lines of several runs, parted into a temporary file for each run; little is in memory.

    Args:
        wanted: Our name of a column -> its name in the lines.
    """

    def __init__(self, wanted: Mapping[str, str]) -> None:
        self._wanted = wanted
        self._folder = tempfile.TemporaryDirectory(prefix="geoeval-")
        self._numbers: dict[tuple[str, str], int] = {}
        self._waiting: dict[int, list[str]] = {}
        self._size = 0

    def add(self, row: Row, line: str) -> None:
        """One more line, as JSON."""
        number = self._numbers.setdefault((row.task, row.model), len(self._numbers))
        self._waiting.setdefault(number, []).append(line)
        self._size += len(line)
        if self._size > _BUFFER:
            self._flush()

    def runs(self) -> list[tuple[str, str]]:
        """Task and model of every run, in the order they were met."""
        self._flush()
        return list(self._numbers)

    def replies(self, task: str, model: str) -> Iterator[Reply]:
        """The replies of one run."""
        with open(self._path(self._numbers[task, model]), encoding="utf-8") as file:
            for line in file:
                yield _row(json.loads(line), self._wanted).reply

    def _flush(self) -> None:
        for number, lines in self._waiting.items():
            with open(self._path(number), "a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
        self._waiting, self._size = {}, 0

    def _path(self, number: int) -> Path:
        return Path(self._folder.name) / f"{number}.jsonl"


def _name(name: str, columns: Mapping[str, str] | None) -> str:
    return (columns or {}).get(name, name)


def _rows(path: Path, wanted: Mapping[str, str], encoding: str | None) -> Iterator[tuple[Row, str]]:
    """The rows, each with its line as JSON."""
    lines = _json_lines if path.suffix in _JSON else _csv_lines
    groups = [wanted["task"], wanted["model"]]
    first: list[bool] | None = None
    number = 0
    try:
        for number, content, line in lines(path, encoding):
            named = [column in content for column in groups]
            if named != (first := first or named):
                raise DataError(f"{path}:{number}: names a task or model and line 1 does not, or the reverse")
            yield _row(content, wanted), line
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: after line {number}: not {error.encoding}; say what it is, e.g. --encoding gb18030 or cp1252"
        ) from error
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise DataError(
            f"{path}: after line {number}: needs an id and a reply, a string or null ({error!r})"
        ) from error


def _row(content: Mapping[str, Any], wanted: Mapping[str, str]) -> Row:
    id_, reply = content[wanted["id"]], content[wanted["reply"]]
    task, model, failure = (content.get(wanted[name]) for name in ("task", "model", "failure"))
    if type(id_) is int:
        id_ = str(id_)
    if not isinstance(id_, str) or not id_:
        raise TypeError(f"id is {id_!r}")
    for value in (reply, task, model, failure):
        if not isinstance(value, (str, type(None))):
            raise TypeError(f"wanted a string, found {str(value)[:80]!r}")
    reason = failure or ("null_reply" if reply is None else "")
    return Row(task or "", model or "", Reply(id_, None if failure else reply, reason))


def _names(path: Path, encoding: str | None) -> list[str]:
    """The columns of the first line; they can be told in most encodings."""
    lines = {**dict.fromkeys(_JSON, _json_lines), **dict.fromkeys(_CSV, _csv_lines)}.get(path.suffix)
    if lines is None:
        return []
    return [name for name in next(lines(path, encoding, "replace"), (0, {}, ""))[1] if isinstance(name, str)]


def _json_lines(path: Path, encoding: str | None, errors: str = "strict") -> Iterator[tuple[int, dict[str, Any], str]]:
    with open(path, encoding=encoding or _encoding(path), errors=errors) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                content = json.loads(line)
                if not isinstance(content, dict):
                    raise TypeError("the line is no object")
                yield number, content, line.rstrip("\r\n")


def _csv_lines(path: Path, encoding: str | None, errors: str = "strict") -> Iterator[tuple[int, dict[str, Any], str]]:
    csv.field_size_limit(2**31 - 1)
    with open(path, encoding=encoding or _encoding(path), errors=errors, newline="") as file:
        header = file.readline()
        delimiter = max(_DELIMITERS, key=header.count)
        file.seek(0)
        reader = csv.DictReader(file, delimiter=delimiter, strict=True)
        for row in reader:
            if None in row or None in row.values():
                raise ValueError("the line has not as many fields as the header")
            yield reader.line_num, row, json.dumps(row)


def _encoding(path: Path) -> str:
    """By its first bytes: a mark, or NUL bytes, which no UTF-8 has; else UTF-8, which fails on what is another."""
    with open(path, "rb") as file:
        head = file.read(256)
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        return "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"
    return "utf-8"
