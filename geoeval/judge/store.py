"""Every call to a judge, in one SQLite file that only grows.

A call is found by its key, the hash of all that decides the reply: messages, model, endpoint, parameters, and the
number of the attempt and of the repetition. Failed calls are kept as a log and never served. No header and no key comes
here.

A row is there once `add` returns, whatever happens to the process afterwards: the file is in WAL mode, where a commit
is one append that a reader takes whole or not at all. ``synchronous=NORMAL`` leaves it to the operating system when
that append reaches the disk, so a crash of the *machine* may lose the last calls, but never damages the file. Several
processes may use one store; it must not lie on a network file system, where SQLite has no reliable locks.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geoeval.extraction.text import well_formed
from geoeval.judge.errors import JudgeError
from geoeval.judge.keys import canonical

_VERSION = 1
_PATIENCE = 60.0
_COLUMNS = (
    "key",
    "prompt_sha256",
    "model",
    "endpoint",
    "parameters",
    "reply",
    "refusal",
    "reported",
    "usage",
    "finish_reason",
    "time",
    "latency",
    "status",
    "error",
)
_JSON = ("parameters", "usage")
_DIALECT = ("endpoint", "model", "time", "dialect")
_TABLES: Mapping[str, tuple[str, ...]] = {"calls": _COLUMNS, "dialects": _DIALECT}
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, prompt_sha256 TEXT NOT NULL, model TEXT NOT NULL, endpoint TEXT NOT NULL,
    parameters TEXT NOT NULL, reply TEXT, refusal TEXT, reported TEXT, usage TEXT NOT NULL, finish_reason TEXT,
    time TEXT NOT NULL, latency REAL NOT NULL, status INTEGER, error TEXT
);
CREATE INDEX IF NOT EXISTS calls_by_key ON calls (key);
CREATE TABLE IF NOT EXISTS dialects (
    id INTEGER PRIMARY KEY, endpoint TEXT NOT NULL, model TEXT NOT NULL, time TEXT NOT NULL, dialect TEXT NOT NULL
);
CREATE TRIGGER IF NOT EXISTS calls_stay BEFORE UPDATE ON calls BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER IF NOT EXISTS calls_remain BEFORE DELETE ON calls BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER IF NOT EXISTS dialects_stay BEFORE UPDATE ON dialects BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER IF NOT EXISTS dialects_remain BEFORE DELETE ON dialects BEGIN SELECT RAISE(ABORT, 'append-only'); END;
"""


@dataclass(frozen=True)
class StoredCall:
    """One call.

    Attributes:
        key: Of all that decides the reply, see `geoeval.judge.keys`.
        prompt_sha256: Of the messages.
        model: The judge as it was asked for.
        endpoint: Where, without credentials.
        parameters: Temperature and so on, with ``attempt`` and ``repeat``.
        reply: What the judge wrote, as it wrote it; None when it wrote nothing.
        refusal: What it wrote in place of a reply.
        reported: The model that the endpoint says it was.
        usage: The endpoint's counts of tokens.
        finish_reason: The endpoint's, e.g. "stop".
        time: When it was sent, ISO 8601 in UTC.
        latency: Seconds.
        status: Of HTTP; None when there was no answer.
        error: Why it failed; None for a call that was answered.
    """

    key: str
    prompt_sha256: str
    model: str
    endpoint: str
    parameters: Mapping[str, Any]
    reply: str | None = None
    refusal: str | None = None
    reported: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    finish_reason: str | None = None
    time: str = ""
    latency: float = 0.0
    status: int | None = None
    error: str | None = None


class CallStore:
    """The calls of one file.

    Args:
        path: The file, made when it is not there. A ``.jsonl`` that `export` wrote is read into memory.

    Raises:
        JudgeError: It cannot be opened, or is no store of this version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        exported = path.suffix == ".jsonl"
        if not exported:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise JudgeError(f"{path}: cannot be made ({error.strerror}); set store to another file") from error
        with self._explained("cannot be opened"):
            where = ":memory:" if exported else str(path)
            self._database = sqlite3.connect(where, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._prepare()
        if exported:
            self.import_(path)

    def _prepare(self) -> None:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version not in (0, _VERSION):
            raise JudgeError(
                f"{self.path}: a store of version {version}, this geoeval knows {_VERSION}; update geoeval"
            )
        if version == 0:
            (others,) = self._database.execute(
                "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'calls%' AND name NOT LIKE 'dialects%'"
            ).fetchone()
            if others:
                raise JudgeError(f"{self.path}: a database of something else; set store to another file")
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        if version == 0:
            self._database.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version={_VERSION};COMMIT;")

    def add(self, call: StoredCall) -> StoredCall:
        """Store a call for good.

        Returns:
            What counts for its key from now on: the first answered call, which may be another process's.
        """
        row = {name: getattr(call, name) for name in _COLUMNS}
        self._insert("calls", row)
        return call if call.error is not None else self.get(call.key) or call

    def get(self, key: str) -> StoredCall | None:
        """The answered call of a key; the first, where there are several."""
        rows = self._select("SELECT * FROM calls WHERE key = ? AND error IS NULL ORDER BY id LIMIT 1", key)
        return _call(rows[0]) if rows else None

    def last_failure(self, key: str) -> StoredCall | None:
        """The last failed call of a key."""
        rows = self._select("SELECT * FROM calls WHERE key = ? AND error IS NOT NULL ORDER BY id DESC LIMIT 1", key)
        return _call(rows[0]) if rows else None

    def remember(self, endpoint: str, model: str, dialect: Mapping[str, Any], time: str) -> None:
        """Store how a judge wants to be asked."""
        self._insert("dialects", {"endpoint": endpoint, "model": model, "time": time, "dialect": canonical(dialect)})

    def dialects(self, endpoint: str, model: str) -> list[dict[str, Any]]:
        """How a judge wanted to be asked, the last first, each once."""
        rows = self._select(
            "SELECT dialect FROM dialects WHERE endpoint = ? AND model = ? GROUP BY dialect ORDER BY max(id) DESC",
            endpoint,
            model,
        )
        return [json.loads(row["dialect"]) for row in rows]

    def completion_tokens(self, endpoint: str, model: str) -> tuple[float, int]:
        """Mean length of this judge's replies in tokens, and of how many; nan and 0 when there are none."""
        (row,) = self._select(
            "SELECT avg(json_extract(usage, '$.completion_tokens')) AS mean, "
            "count(json_extract(usage, '$.completion_tokens')) AS n "
            "FROM calls WHERE endpoint = ? AND model = ? AND error IS NULL",
            endpoint,
            model,
        )
        return (float("nan"), 0) if not row["n"] else (float(row["mean"]), int(row["n"]))

    def __iter__(self) -> Iterator[StoredCall]:
        """All calls, failed ones too, in the order they were stored."""
        for row in self._select("SELECT * FROM calls ORDER BY id"):
            yield _call(row)

    def export(self, path: Path, keys: Collection[str] | None = None) -> int:
        """Write calls as JSON lines, to be published with a score and replayed by anyone.

        Args:
            path: The file, written whole or not at all.
            keys: Which, e.g. those of `Judgement.calls`; all when None.

        Returns:
            How many.
        """
        from geoeval.data.files import replacing

        wanted = None if keys is None else {*keys}
        rows = [
            row for row in self._select("SELECT * FROM calls ORDER BY id") if wanted is None or row["key"] in wanted
        ]
        judges = {(row["endpoint"], row["model"]) for row in rows}
        dialects = self._select("SELECT * FROM dialects ORDER BY id")
        dialects = [row for row in dialects if (row["endpoint"], row["model"]) in judges]
        with replacing(path) as part, open(part, "w", encoding="utf-8") as file:
            for table, kept in (("dialects", dialects), ("calls", rows)):
                for row in kept:
                    file.write(f"{canonical({'table': table, **{name: row[name] for name in _TABLES[table]}})}\n")
        return len(rows)

    def import_(self, path: Path) -> int:
        """Add the calls that `export` wrote, except those that are here; all of them or none.

        Returns:
            How many are new.

        Raises:
            JudgeError: The file is no export; nothing was added.
        """
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise JudgeError(
                f"{path}: cannot be read ({type(error).__name__}); give a file that geoeval judge --export-calls wrote"
            ) from error
        rows = [_imported(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line]
        with self._explained("cannot be written"), self._lock:
            (before,) = self._database.execute("SELECT count(*) FROM calls").fetchone()
            self._database.execute("BEGIN IMMEDIATE")
            try:
                for table, row in rows:
                    same = " AND ".join(f"{name} IS :{name}" for name in row)
                    if not self._database.execute(f"SELECT 1 FROM {table} WHERE {same}", row).fetchone():
                        self._database.execute(_insertion(table), row)
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            (after,) = self._database.execute("SELECT count(*) FROM calls").fetchone()
        return int(after - before)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def __enter__(self) -> CallStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _insert(self, table: str, row: dict[str, Any]) -> None:
        values = {name: _plain(value) for name, value in row.items()}
        with self._explained("cannot be written"), self._lock:
            self._database.execute(_insertion(table), values)

    def _select(self, query: str, *values: str) -> list[dict[str, Any]]:
        with self._explained("cannot be read"), self._lock:
            cursor = self._database.execute(query, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OverflowError) as error:
            raise JudgeError(f"{self.path}: {what} ({error}); set store to another file, on a local disk") from error


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else well_formed(value)
    return canonical(value) if isinstance(value, Mapping) else value


def _insertion(table: str) -> str:
    names = _TABLES[table]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def _call(row: Mapping[str, Any]) -> StoredCall:
    values = {name: row[name] for name in _COLUMNS}
    return StoredCall(**{**values, **{name: json.loads(values[name]) for name in _JSON}})


def _imported(line: str, where: str) -> tuple[str, dict[str, Any]]:
    try:
        row = json.loads(line)
        table = row.pop("table")
        fine = {*row} == {*_TABLES[table]} and all(isinstance(v, (str, int, float, type(None))) for v in row.values())
        for name in (*_JSON, "dialect"):
            fine = fine and isinstance(json.loads(row.get(name, "{}")), dict)
    except (ValueError, KeyError, TypeError, AttributeError):
        fine = False
    if not fine:
        raise JudgeError(f"{where}: no line of exported calls; nothing was added")
    return table, row
