"""Which harness a file is of, and the runs in it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from geoeval.data import DataError
from geoeval.runs.model import SavedRun
from geoeval.runs.record import ITEMS_SUFFIX, RECORD_SUFFIX

READERS: Mapping[str, str] = {
    "saved": "geoeval: a record <name>.geoeval.json with its <name>.items.jsonl",
    "lmms_eval": "lmms-eval: <stamp>_results.json, or <stamp>_samples_<task>.jsonl of one of our tasks",
    "vlmevalkit": "VLMEvalKit: predictions <model>_<dataset>.tsv, .xlsx, .json or .csv",
    "inspect_ai": "inspect-ai: logs .eval or .json",
    "lm_eval": "lm-eval: samples_<task>_<date>.jsonl",
    "plain": "plain: .jsonl, .ndjson, .csv or .tsv with the columns id and reply (or --columns id=... reply=...)",
}
"""Module of each reader -> what it looks for, in the order they are tried."""


class UnknownFormatError(DataError):
    """No reader knows a file; the message says what was looked for."""


@dataclass(frozen=True)
class Found:
    """A file of replies.

    Attributes:
        path: The file.
        reader: Its reader, a key of `READERS`.
        options: What the reader is told beside the path.
    """

    path: Path
    reader: str
    options: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The harness."""
        return READERS[self.reader].partition(":")[0]

    def runs(self) -> Iterator[SavedRun]:
        """The runs in it.

        Raises:
            DataError: The file is damaged.
        """
        yield from _reader(self.reader).read(self.path, **self.options)


def find_replies(
    paths: Sequence[Path],
    *,
    records: bool = False,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
) -> list[Found]:
    """The files of replies at some paths.

    Args:
        paths: Files, or folders to look through.
        records: Whether records of ours count in a folder that has other replies as well; they are made of those.
        columns: Names of columns in plain files, see `geoeval.runs.plain`.
        encoding: Of plain files.

    Returns:
        In the order of the paths, within a folder by name; each file once, and of a record and its items the record.

    Raises:
        UnknownFormatError: A path does not exist, or no reader knows it.
    """
    plain = {key: value for key, value in (("columns", columns), ("encoding", encoding)) if value}
    found: dict[Path, Found] = {}
    for path in paths:
        here = list(_in_folder(path, plain, records)) if path.is_dir() else list(_file(path, plain))
        if not here:
            what = "no such file or folder" if not path.exists() else "not known as replies of any harness"
            looked = "".join(f"\n  {text}" for text in READERS.values())
            raise UnknownFormatError(f"{path}: {what}. Looked for" + looked)
        for one in here:
            found.setdefault(one.path.resolve(), one)
    return [one for path, one in found.items() if _stand_in(one, path) not in found]


def _stand_in(one: Found, path: Path) -> Path | None:
    """The file that stands for another as well where both are given, as where a shell expands ``results/*``."""
    name = path.name
    if name.endswith(ITEMS_SUFFIX):
        return path.with_name(name.removesuffix(ITEMS_SUFFIX) + RECORD_SUFFIX)
    return _whole_of(one, path)


def _in_folder(folder: Path, plain: Mapping[str, Any], records: bool) -> Iterator[Found]:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    saved = [found for path in paths if path.name.endswith(RECORD_SUFFIX) for found in _file(path, plain)]
    others = [
        found
        for path in paths
        if not path.name.endswith((RECORD_SUFFIX, ITEMS_SUFFIX))
        for found in _file(path, plain)
        if _whole_of(found, found.path) is None
    ]
    yield from sorted([*others, *(saved if records or not others else [])], key=lambda found: found.path)


def _whole_of(found: Found, path: Path) -> Path | None:
    """Another file of the folder that stands for this one as well."""
    whole_of = getattr(_reader(found.reader), "whole_of", None)
    return whole_of(path) if whole_of else None


def _file(path: Path, plain: Mapping[str, Any]) -> Iterator[Found]:
    for name in READERS:
        options = plain if name == "plain" else {}
        reader = _reader(name)
        if reader is not None and reader.recognises(path, **options):
            yield Found(path, name, options)
            return


@cache
def _reader(name: str) -> Any:
    module = f"geoeval.runs.{name}"
    loaded = importlib.import_module(module) if find_spec(module) else None
    return loaded if hasattr(loaded, "recognises") else None
