"""Find the JSON objects of a text, well-formed or nearly so, from left to right and in linear time.

A repair library is not used: the ones we know take more than linear time, recurse, and complete a value that was cut
off, which here would invent an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any


class Pairs(list[tuple[str, Any]]):
    """The members of one object in order, so that duplicate keys stay visible."""


class Number(str):
    """The literal text of a JSON number, so that a number of any length is read."""

    __slots__ = ()


class Cut:
    """A value that the text ends in, so that nobody knows how it would have gone on."""


CUT = Cut()

_STRICT = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=Number, parse_float=Number)
_RELAXED = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, strict=False)

_DOUBLE, _SINGLE = '"“”„', "'‘’`"
_Q = f"[{_DOUBLE}{_SINGLE}]"
_KEY = rf"(?:{_Q}[^{_DOUBLE}{_SINGLE}\n{{}}]{{1,60}}{_Q}|{_Q}?\w[\w.-]{{0,40}}{_Q}?)\s{{0,20}}(?:=>|[:=])"
_COMMENT = r"(?://|\#)[^\n]{0,500}\n|/\*[^*]{0,500}\*/"
_START = re.compile(rf"\{{\s*(?:(?:{_COMMENT})\s*)*(?:{_KEY}|\}})")
_LIST_START = re.compile(r"\[\s{0,20}\Z")
_TOKEN = re.compile(
    rf"(?P<space>[\s,]+|//[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z))|(?P<open>[{{\[])|(?P<close>[}}\]])"
    rf"|(?P<key>{_KEY})|(?P<quote>{_Q})|(?P<bare>[^\s,{{}}\[\]\"“”/#:=]+)|(?P<other>.)",
    re.DOTALL,
)
_REST_OF_VALUE = re.compile(r"[^,{}\[\]\n\"“”/#]*")
# A quote ends a string only where the object goes on (or the line or the text ends) after it: others are unescaped.
_AFTER_STRING = re.compile(
    rf"\s*(?:\Z|[}}\];]|(?:,\s*)+(?:\Z|[}}\]]|{_Q}|{_KEY}|//|/\*|\#)|{_Q}\w+{_Q}\s{{0,20}}:|//|/\*|\#)|[ \t]*\n"
)
_AFTER_ELEMENT = re.compile(r"\s*(?:\Z|[,\]}])")
_NEW_OBJECT = rf"\n[ \t]{{0,20}}\{{\s{{0,20}}{_Q}"
_STRING_STOP = {
    **dict.fromkeys(_DOUBLE, re.compile(rf"\\.|[{_DOUBLE}]|{_NEW_OBJECT}", re.DOTALL)),
    **dict.fromkeys(_SINGLE, re.compile(rf"\\.|[{_SINGLE}]|{_NEW_OBJECT}", re.DOTALL)),
}
_FAILURES = 20  # A failing decoder may have read all of the text, so it gets no more attempts than this.
_DEPTH = 100  # What is nested deeper is read over.
_ESCAPE = re.compile(r"\\([\"'\\/nt])")


def decode(text: str, strict: bool = True) -> Any:
    """The value of a text that is JSON as a whole, objects as `Pairs` and numbers as `Number`.

    Args:
        text: The text; white space around the value is allowed.
        strict: Whether raw control characters in strings are refused, as JSON does.

    Raises:
        ValueError: The text is not JSON, or nested too deeply for the decoder.
    """
    try:
        return (_STRICT if strict else _RELAXED).decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def find_objects(text: str) -> Iterator[tuple[Any, bool]]:
    """All objects, or lists of objects, that are not part of another one, from left to right.

    Yields:
        The value, and whether it was well-formed JSON (raw line breaks in strings allowed). In one that was not,
        a value that is not complete in the text is `CUT`.
    """
    position = failures = 0
    while start := _START.search(text, position):
        listed = _LIST_START.search(text, max(position, start.start() - 21), start.start())
        position = (listed or start).start()
        try:
            if failures == _FAILURES:
                raise ValueError
            value, position = _RELAXED.raw_decode(text, position)
            yield value, True
        except (ValueError, RecursionError):
            failures += 1 if failures < _FAILURES else 0
            value, position = _read(text, position)
            yield value, False


def _read(text: str, position: int) -> tuple[Any, int]:
    """Read the object that starts here although it is not JSON; also gives where reading stopped."""
    root: list[Any] = []
    stack = [root]
    key: str | None = None
    while position < len(text) and (token := _TOKEN.match(text, position)):
        kind, position = token.lastgroup, token.end()
        top = stack[-1]
        if kind == "open":
            value: Any = Pairs() if token[0] == "{" else []
            if len(stack) < _DEPTH:
                _attach(top, key, value)
            stack.append(value)
            key = None
        elif kind == "close":
            stack.pop()
            key = None
        elif kind == "key" and isinstance(top, Pairs) and key is None:
            key = token[0].rstrip("=:> \t\r\n").strip(_DOUBLE + _SINGLE + " ")
        elif kind in ("key", "quote", "bare") and (key is not None or not isinstance(top, Pairs)):
            value, position = _scalar(text, token, isinstance(top, Pairs))
            _attach(top, key, value)
            key = None
            if value is CUT:
                break
        if len(stack) == 1:
            break
    for container in stack[1:]:
        if not isinstance(container, Pairs):  # A list that goes on, nobody knows how.
            container.append(CUT)
    return root[0], position


def _scalar(text: str, token: re.Match[str], member: bool) -> tuple[Any, int]:
    """The string or bare word that starts with this token, and where it ends."""
    quote = token[0][0]
    if quote not in _STRING_STOP:
        end = _REST_OF_VALUE.match(text, token.start()).end()  # type: ignore[union-attr]
        word = text[token.start() : end].strip()
        return (CUT if end == len(text) else None if word in ("null", "None") else word), max(end, token.end())
    after = _AFTER_STRING if member else _AFTER_ELEMENT
    start = token.start() + 1
    for stop in _STRING_STOP[quote].finditer(text, start):
        if stop[0][0] == "\n":  # The object was given up and a new one begins.
            return CUT, stop.start()
        if stop[0][0] != "\\" and after.match(text, stop.end()):
            return unescape(text[start : stop.start()]), stop.end()
    return CUT, len(text)


def _attach(parent: list[Any], key: str | None, value: Any) -> None:
    parent.append((key or "", value) if isinstance(parent, Pairs) else value)


def unescape(text: str) -> str:
    r"""Take away one level of backslash escapes (``\"``, ``\n``, ...)."""
    return _ESCAPE.sub(lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), text) if "\\" in text else text
