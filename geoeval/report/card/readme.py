"""A README with our results in it: every other byte stays as it was, or nothing is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from geoeval.data import DataError
from geoeval.report.card.front_matter import with_results
from geoeval.report.card.section import END, START

_BOM = "\ufeff"


class _Parts(NamedTuple):
    """A README cut up; put together again it is what it was. ``matter`` is None where there is no front matter."""

    before: str
    matter: str | None
    after: str
    body: str


def merged(content: bytes, section: str, index: Sequence[Mapping[str, Any]], name: str) -> bytes:
    """A README with a section in its body and results in its metadata, in place of ours that were there.

    Args:
        content: The README; may be empty.
        section: See `geoeval.report.card.section`.
        index: The model index of our results: one model.
        name: What the README is called in messages.

    Raises:
        DataError: It is not UTF-8, its front matter or markers are damaged, or it cannot be changed safely.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 ({error}); nothing was changed") from error
    line_end = _line_end(text)
    old = _parts(text, name)
    body = _with_section(old.body, section.replace("\n", line_end), line_end, name)
    matter = with_results(old.matter or "", index, line_end, name)
    if old.matter is None:
        new = _Parts(f"{old.before}---{line_end}", matter, f"{line_end}---{line_end}", body)
    else:
        ended = old.after if re.search(r"[\r\n]\Z", old.after) else f"{old.after}{line_end}"
        new = _Parts(old.before, matter, ended, body)
    whole = "".join(part or "" for part in new)
    if _parts(whole, name) != new:
        raise DataError(f"{name}: cannot be changed safely; nothing was changed")
    return whole.encode("utf-8")


def _parts(text: str, name: str) -> _Parts:
    """Cut where huggingface_hub, and with it the Hub, sees the front matter."""
    from huggingface_hub.repocard import REGEX_YAML_BLOCK

    bom, rest = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    found = REGEX_YAML_BLOCK.search(rest)
    if found:
        return _Parts(bom + found[1], found[2], found[3], rest[found.end() :])
    if re.match(r"\s*---[ \t]*(?:\r|\n|$)", rest):
        raise DataError(f"{name}: begins with --- but no second --- closes the front matter; mend that first")
    return _Parts(bom, None, "", rest)


def _with_section(body: str, section: str, line_end: str, name: str) -> str:
    """The body with the section in the place of the last one, else at its end."""
    starts, ends = _lines(body, START), _lines(body, END)
    if not starts and not ends:
        missing = 2 - len(re.findall(r"\r\n|\r|\n", body[len(body.rstrip("\r\n")) :])) if body.strip() else 0
        return body + line_end * max(0, missing) + section
    if len(starts) != 1 or len(ends) != 1 or starts[0] > ends[0]:
        raise DataError(
            f"{name}: {len(starts)} lines {START} and {len(ends)} lines {END}; there must be one of each, in this "
            "order, or none. Nothing was changed"
        )
    return body[: starts[0]] + section.removesuffix(line_end) + body[ends[0] + len(END) :]


def _lines(body: str, mark: str) -> list[int]:
    """Where the lines are that hold nothing but a marker."""
    return [found.start() for found in re.finditer(rf"(?:\A|(?<=[\r\n])){mark}(?=[ \t]*(?:\r|\n|\Z))", body)]


def _line_end(text: str) -> str:
    """The line end that a text has most of."""
    windows = text.count("\r\n")
    mac, unix = text.count("\r") - windows, text.count("\n") - windows
    return max((unix, "\n"), (windows, "\r\n"), (mac, "\r"), key=lambda pair: pair[0])[1]
