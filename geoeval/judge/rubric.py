"""Rubrics: by what a judge marks an open answer.

A rubric is a YAML file, so that it can be read, cited and replaced without touching code. The shipped ones are never
edited: a change is a new version, and the hash of the file is part of every signature. The rubric of the LithoBench
paper is not published; ``lithology-1`` is ours.

| key | what |
| --- | --- |
| ``name``, ``version`` | "lithology" and 1: the rubric is called "lithology-1" |
| ``about`` | one line: for what, by whom |
| ``role`` | who the judge is and what it is given |
| ``rules`` | how to mark, whatever the dimension |
| ``dimensions`` | list of ``name`` (lower case, a metric's name), ``title``, ``description``, ``levels`` |
| ``overall`` | ``description`` and ``levels`` of the mark as a whole |

``levels`` is a map from a mark or a range of marks ("0", "2-3" ...) to what deserves it, rising, with "0" and "10".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from geoeval.judge.errors import JudgeError

DEFAULT_RUBRIC = "lithology-1"
LEAST, MOST = 0, 10
"""The scale of all marks."""
OVERALL, REASONING = "overall", "reasoning"
"""What a judge's reply holds besides the dimensions."""

_SHIPPED = Path(__file__).parent / "rubrics"
_KEYS = ("name", "version", "about", "role", "rules", "dimensions", OVERALL)
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_LEVEL = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


@dataclass(frozen=True)
class Dimension:
    """One mark that a judge gives.

    Attributes:
        name: As in the reply and in metrics, e.g. "correctness".
        title: For people.
        description: What is marked.
        levels: Marks ("0", "2-3" ...) and what deserves them, rising.
    """

    name: str
    title: str
    description: str
    levels: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Rubric:
    """By what a judge marks.

    Attributes:
        name: E.g. "lithology".
        version: From 1.
        sha256: Of the file, 64 hex digits.
        about: For what, by whom.
        role: Who the judge is.
        rules: How to mark.
        dimensions: What is marked apart.
        overall: The mark as a whole, which becomes the score.
    """

    name: str
    version: int
    sha256: str
    about: str
    role: str
    rules: str
    dimensions: tuple[Dimension, ...]
    overall: Dimension

    @property
    def id(self) -> str:
        """Name and version, e.g. "lithology-1"."""
        return f"{self.name}-{self.version}"

    @property
    def marks(self) -> tuple[str, ...]:
        """The names of all marks a reply must hold: the dimensions, then "overall"."""
        return (*(dimension.name for dimension in self.dimensions), OVERALL)


def shipped_rubrics() -> list[str]:
    """The names of the rubrics that come with the package."""
    return sorted(path.stem for path in _SHIPPED.glob("*.yaml"))


def load_rubric(name_or_path: str | Path = DEFAULT_RUBRIC) -> Rubric:
    """Read a rubric.

    Args:
        name_or_path: The name of a shipped rubric ("lithology-1") or the path of a YAML file (see the module).

    Raises:
        JudgeError: There is none, or it is not as described above.
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and name_or_path in shipped_rubrics():
        path = _SHIPPED / f"{name_or_path}.yaml"
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise JudgeError(
            f"rubric {str(name_or_path)!r}: {reason}; give the path of a YAML file or one of {shipped_rubrics()}"
        ) from error
    return _rubric(str(name_or_path), content)


def _rubric(where: str, content: bytes) -> Rubric:
    import yaml

    try:
        raw = yaml.safe_load(content.decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise JudgeError(f"rubric {where!r}: not a YAML file in UTF-8 ({error})") from error
    fields = _mapping(raw, where, _KEYS)
    name, version = _text(fields, "name", where), fields["version"]
    if not _NAME.fullmatch(name):
        raise JudgeError(f"rubric {where!r}: name is {name!r}; use lower-case letters, digits and underscores")
    if type(version) is not int or version < 1:
        raise JudgeError(f"rubric {where!r}: version is {version!r}; use a whole number from 1")
    if not isinstance(fields["dimensions"], list) or not fields["dimensions"]:
        raise JudgeError(f"rubric {where!r}: dimensions is not a list of at least one dimension")
    parts = enumerate(fields["dimensions"], 1)
    dimensions = tuple(_dimension(part, f"{where}: dimension {number}") for number, part in parts)
    names = [dimension.name for dimension in dimensions]
    taken = sorted({name for name in names if names.count(name) > 1 or name in (OVERALL, REASONING)})
    if taken:
        raise JudgeError(f"rubric {where!r}: the dimension names {taken} occur twice or are reserved; use others")
    return Rubric(
        name=name,
        version=version,
        sha256=hashlib.sha256(content).hexdigest(),
        about=_text(fields, "about", where),
        role=_text(fields, "role", where),
        rules=_text(fields, "rules", where),
        dimensions=dimensions,
        overall=_overall(fields[OVERALL], f"{where}: overall"),
    )


def _dimension(raw: Any, where: str) -> Dimension:
    fields = _mapping(raw, where, ("name", "title", "description", "levels"))
    name = _text(fields, "name", where)
    if not _NAME.fullmatch(name):
        raise JudgeError(f"rubric {where!r}: name is {name!r}; use lower-case letters, digits and underscores")
    title, description = _text(fields, "title", where), _text(fields, "description", where)
    return Dimension(name, title, description, _levels(fields["levels"], where))


def _overall(raw: Any, where: str) -> Dimension:
    fields = _mapping(raw, where, ("description", "levels"))
    return Dimension(OVERALL, "Overall", _text(fields, "description", where), _levels(fields["levels"], where))


def _levels(raw: Any, where: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(raw, Mapping):
        raise JudgeError(f"rubric {where!r}: levels is not a map from marks to descriptions")
    levels = []
    ends: list[int] = []
    for mark, text in raw.items():
        match = _LEVEL.fullmatch(str(mark))
        if not match or not isinstance(text, str) or not text.strip():
            raise JudgeError(f"rubric {where!r}: level {mark!r} is not a mark such as 5 or 2-3 with a text")
        ends += [int(end) for end in match.groups() if end]
        levels.append((str(mark), text.strip()))
    if not ends or (ends[0], ends[-1]) != (LEAST, MOST) or any(a >= b for a, b in pairwise(ends)):
        marks = [mark for mark, _ in levels]
        raise JudgeError(f"rubric {where!r}: the levels {marks} do not rise from {LEAST} to {MOST}")
    return tuple(levels)


def _mapping(raw: Any, where: str, keys: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise JudgeError(f"rubric {where!r}: not a map with the keys {list(keys)}")
    missing, unknown = [key for key in keys if key not in raw], [key for key in raw if key not in keys]
    if missing or unknown:
        raise JudgeError(f"rubric {where!r}: missing keys {missing}, unknown keys {unknown}; it has {list(keys)}")
    return raw


def _text(fields: Mapping[str, Any], key: str, where: str) -> str:
    value = fields[key]
    if not isinstance(value, str) or not value.strip():
        raise JudgeError(f"rubric {where!r}: {key} is {value!r}; write a text")
    return value.strip()
