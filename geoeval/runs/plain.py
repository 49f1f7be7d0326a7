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
from typing import Any

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


Line = tuple[int, dict[str, Any], str]
"""Number, content and the same as JSON."""


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
        yield SavedRun("", path, partial(_of_one_run, path, encoding, wanted), facts=dict(_FACTS))
        return
    parts = _Parts()
    for number, content, line in _lines(path, encoding):
        parts.add(*_run_of(path, number, content, wanted), f"{number}\t{line}\n")
    for task, model in parts.runs():
        facts = {**_FACTS, **({"model": model} if model else {})}
        yield SavedRun(task, path, partial(_of_a_part, path, wanted, parts, task, model), facts=facts)


class _Parts:
    """Lines of several runs, parted into a temporary file for each run; little is in memory."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="geoeval-")
        self._numbers: dict[tuple[str, str], int] = {}
        self._waiting: dict[int, list[str]] = {}
        self._size = 0

    def add(self, task: str, model: str, line: str) -> None:
        """One more line: its number, a tab, and its content as JSON."""
        number = self._numbers.setdefault((task, model), len(self._numbers))
        self._waiting.setdefault(number, []).append(line)
        self._size += len(line)
        if self._size > _BUFFER:
            self._flush()

    def runs(self) -> list[tuple[str, str]]:
        """Task and model of every run, in the order they were met."""
        self._flush()
        return list(self._numbers)

    def lines(self, task: str, model: str) -> Iterator[Line]:
        """The lines of one run."""
        with open(self._path(self._numbers[task, model]), encoding="utf-8", newline="\n") as file:
            for line in file:
                number, _, content = line.partition("\t")
                yield int(number), json.loads(content), content

    def _flush(self) -> None:
        for number, lines in self._waiting.items():
            with open(self._path(number), "a", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)
        self._waiting, self._size = {}, 0

    def _path(self, number: int) -> Path:
        return Path(self._folder.name) / f"{number}.jsonl"


def _name(name: str, columns: Mapping[str, str] | None) -> str:
    return (columns or {}).get(name, name)


def _run_of(path: Path, number: int, content: Mapping[str, Any], wanted: Mapping[str, str]) -> tuple[str, str]:
    """Task and model of a line; "" where it does not say."""
    task, model = (content.get(wanted[name]) or "" for name in ("task", "model"))
    if not isinstance(task, str) or not isinstance(model, str):
        raise DataError(f"{path}:{number}: task and model must be strings; found {str((task, model))[:80]}")
    return task, model


def _of_one_run(path: Path, encoding: str | None, wanted: Mapping[str, str]) -> Iterator[Reply]:
    for number, content, _ in _lines(path, encoding):
        if any(_run_of(path, number, content, wanted)):
            raise DataError(f"{path}:{number}: names a task or model, and line 1 does not; all lines must, or none")
        yield _reply(path, number, content, wanted)


def _of_a_part(path: Path, wanted: Mapping[str, str], parts: _Parts, task: str, model: str) -> Iterator[Reply]:
    for number, content, _ in parts.lines(task, model):
        yield _reply(path, number, content, wanted)


def _reply(path: Path, number: int, content: Mapping[str, Any], wanted: Mapping[str, str]) -> Reply:
    id_, reply = content.get(wanted["id"]), content.get(wanted["reply"], 0)
    failure = content.get(wanted["failure"])
    if type(id_) is int:
        id_ = str(id_)
    wrong = [value for value in (reply, failure) if not isinstance(value, (str, type(None)))]
    if wrong or not isinstance(id_, str) or not id_:
        found = str({name: content.get(wanted[name], "nothing") for name in ("id", "reply", "failure")})
        raise DataError(f"{path}:{number}: needs an id and a reply, a string or null; found {found[:200]}")
    if failure:
        return Reply(id_, None, failure)
    return Reply(id_, reply, "null_reply" if reply is None else "")


def _lines(path: Path, encoding: str | None) -> Iterator[Line]:
    """Every line of a file that can be read; one that cannot ends it with an error."""
    number = 0
    try:
        for number, content, line in (_json_lines if path.suffix in _JSON else _csv_lines)(path, encoding):
            yield number, content, line
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: after line {number}: not {error.encoding}; say what it is, e.g. --encoding gb18030 or cp1252"
        ) from error
    except (ValueError, TypeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read after line {number} ({error})") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def _names(path: Path, encoding: str | None) -> list[str]:
    """The columns of the first line; they can be told in most encodings."""
    lines = {**dict.fromkeys(_JSON, _json_lines), **dict.fromkeys(_CSV, _csv_lines)}.get(path.suffix)
    if lines is None:
        return []
    return [name for name in next(lines(path, encoding, "replace"), (0, {}, ""))[1] if isinstance(name, str)]


def _json_lines(path: Path, encoding: str | None, errors: str = "strict") -> Iterator[Line]:
    with open(path, encoding=encoding or _encoding(path), errors=errors) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                content = json.loads(line)
                if not isinstance(content, dict):
                    raise TypeError("the line is no object")
                yield number, content, line.rstrip("\r\n")


def _csv_lines(path: Path, encoding: str | None, errors: str = "strict") -> Iterator[Line]:
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
