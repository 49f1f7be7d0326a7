"""Read the verdict of a reply that should be ``{"verdict": code, "answer": ..., "justification": ...}``."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from geoeval.extraction.json_objects import CUT, Number, Pairs, decode, find_objects, unescape
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.types import Extraction

VERDICTS = (
    "ANSWER",
    "REFUSE_INFO_MISSING_IN_CONTEXT",
    "REFUSE_GRANULARITY_MISMATCH",
    "REFUSE_AMBIGUOUS_QUERY",
    "REFUSE_FALSE_PREMISE_IN_QUERY",
    "REFUSE_NONFACTUAL_QUERY",
)
_CODES = {alias: code for code in VERDICTS for alias in (code, code.removeprefix("REFUSE_"))}
_SYNONYMS = {"verdict": "verdict", "final_verdict": "verdict", "finalverdict": "verdict", "decision": "verdict"}
# What a model says on its way, or quotes, is not its verdict.
_ASIDES = frozenset(
    "justification explanation reason reasoning thought thoughts thinking analysis draft example examples default".split()
)
_MARKUP = " \t\r\n*_`\"'“”‘’.。,\x00\ufeff\u200b"
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\u200b-\u200f\u2060\ufeff]")
_SEPARATOR = re.compile(r"[\s_\-‐-―]+")

_FENCE = re.compile(r"\s*```\w*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
# A fenced program that is more than one object: its strings and variables are no statement of the model.
_PROGRAM = re.compile(
    r"^[ \t]*```(?!json|ya?ml|te?xt|plain|markdown|md\b|xml|html|output)[a-z][\w+#]*[ \t]*\n(?!\s*[\[{]).*?(?:^[ \t]*```|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_CALL = re.compile(r"\[?\s*[\w.]{1,60}\((.*)\)\s*\]?", re.DOTALL)
_HEADLESS = re.compile(r"[\"'“]verdict[\"'”]\s*:", re.IGNORECASE)
_TAGS = re.compile(r"<\|[^|<>]{1,40}\|>|</?[a-z_]{1,20}>|```\w*\n?", re.IGNORECASE)

_KEY = r"(?P<key>(?:final[ _])?verdict|decision|answer|justification)"
_PARAMETER = re.compile(
    rf"<(?:arg_key>\s{{0,9}}|[^<>]{{0,60}}[=\"' ])?{_KEY}[\"']?\s{{0,9}}(?:>|</arg_key>\s{{0,9}}<arg_value>)"
    r"(?P<value>[^<]*)</",
    re.IGNORECASE,
)
_LINE = re.compile(
    rf"^[ \t>*#|•+-]{{0,12}}(?:\d[.)][ *]{{1,3}})?[\"'`_]?{_KEY}[\"'`_]?[*_ \t]{{0,5}}"
    r"(?:(?:[:：=|]|[-–—]\s)(?P<value>.*))?$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_LINE = re.compile(r"\s*(.*)")
_QUOTED = re.compile(r"([\"'`“]?)(.*?)([\"'`”]?)")


def extract_verdict(reply: str) -> Extraction:
    """Read the verdict of a reply.

    The rules are tried in this order, and the first that finds a verdict names the method: the reply as JSON
    ("whole_json"); without reasoning, the last object with a verdict, well-formed ("object") or not ("repaired"); a code
    that is all of the reply ("bare_code"); an XML parameter ("parameter"); a line with the key ("key_line"). A code is
    never read out of prose.

    Args:
        reply: The model's reply, of any length.

    Returns:
        ``value`` is one of `VERDICTS` or None. ``data`` holds ``answer`` and ``justification`` (str or None) and
        ``strict_valid`` (bool): the whole reply is exactly the object asked for (see ``verdict.schema.json``).
        ``reason`` is "empty", "only_reasoning", "contradiction", "cut_off", "unknown_code" or "no_verdict".
        Takes linear time.
    """
    if not reply.strip():
        return _result(None, "none", "empty")
    try:
        return _from_json(reply)
    except ValueError:
        visible = _PROGRAM.sub("", strip_reasoning(reply))
    if not visible:
        return _result(None, "none", "only_reasoning")
    reason = None
    for view in _views(visible):
        code, why, method, members = _last_verdict(view)
        if code or why == "contradiction":
            return _result(code, method, why, members)
        reason = reason or why
    if reason == "cut_off":  # The lines of a cut-off object are not whole lines.
        return _result(None, "none", reason)
    if code := fold(_TAGS.sub("", visible) if len(visible) < 300 else ""):
        return _result(code, "bare_code")
    for method, fields in (("parameter", _parameters(visible)), ("key_line", _lines(visible))):
        code, why = _judge([value for key, value in fields if _field(key) == "verdict" and fold(value)])
        if code or why == "contradiction":
            return _result(code, method, why, fields)
    return _result(None, "none", reason or "no_verdict")


def fold(value: Any) -> str | None:
    """The code that a value spells, whatever its case, separators, markup and prefix; None when it spells none."""
    if not isinstance(value, str) or not 5 < len(value) < 200:
        return None
    text = value if value.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", value))
    return _CODES.get(_SEPARATOR.sub("_", text.strip(_MARKUP).replace("\\", "")).upper())


def _from_json(reply: str) -> Extraction:
    """Read a reply that is JSON as a whole, or a fence around JSON; ValueError when it is not."""
    try:
        value = decode(reply)
    except ValueError:
        fence = _FENCE.fullmatch(reply)
        if fence is None:
            raise
        value = decode(fence[1])
        fenced = True
    else:
        fenced = False
    if isinstance(value, str) and not isinstance(value, Number):
        inner = extract_verdict(value)
        return Extraction(inner.value, inner.method, inner.reason, {**inner.data, "strict_valid": False})
    code, reason, members = _verdict_in(value)
    result = _result(code, "whole_json", reason or "no_verdict", members)
    strict = not fenced and _is_strict(value)
    return Extraction(result.value, result.method, result.reason, {**result.data, "strict_valid": strict})


def _is_strict(value: Any) -> bool:
    if not isinstance(value, Pairs) or sorted(key for key, _ in value) != ["answer", "justification", "verdict"]:
        return False
    members = dict(value)
    return (
        members["verdict"] in VERDICTS
        and type(members["answer"]) in (str, type(None))
        and type(members["justification"]) is str
    )


def _views(text: str) -> Iterator[str]:
    """The text, then what it would be with its wrapping undone."""
    yield text
    if call := _CALL.fullmatch(text):
        yield f"{{{call[1]}}}"
    elif _HEADLESS.match(text):
        yield "{" + text
    unwrapped = unescape(html.unescape(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text))))
    if unwrapped != text:
        yield unwrapped


def _last_verdict(text: str) -> tuple[str | None, str | None, str, Iterable[tuple[str, Any]]]:
    """What the last object that says something says: code, reason, method and the object's members."""
    last: tuple[str | None, str | None, str, Iterable[tuple[str, Any]]] = (None, None, "none", ())
    for value, valid in find_objects(text):
        code, reason, members = _verdict_in(value)
        if code or reason == "contradiction" or (reason and last[:2] == (None, None)):
            last = code, reason, "object" if valid else "repaired", members
    return last


def _verdict_in(value: Any) -> tuple[str | None, str | None, Pairs]:
    """The verdict of an object, or of the objects wrapped in it when it has none; contradiction when these differ."""
    code, reason, members = None, None, Pairs()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and item.lstrip()[:1] in ("{", "["):
            item = _decoded(item)
        if isinstance(item, Pairs):
            verdicts = [value for key, value in item if _field(key) == "verdict"]
            if not verdicts or any(isinstance(verdict, Pairs) for verdict in verdicts):
                waiting.extend(child for key, child in item if key.lower() not in _ASIDES)
                continue
            found, why = _judge(verdicts)
            if why == "contradiction" or (found and code and found != code):
                return None, "contradiction", Pairs()
            if found:
                code, members = found, item
            reason = reason or why
        elif isinstance(item, list):
            waiting.extend(item)
    return code, None if code else reason, members


def _decoded(text: str) -> Any:
    try:
        return decode(text)
    except ValueError:
        return None


def _judge(verdicts: list[Any]) -> tuple[str | None, str | None]:
    """The code on which all values of one object's verdict key agree, or why there is none."""
    values = [item for value in verdicts for item in (value if isinstance(value, list) else [value])]
    codes = {fold(value) for value in values}
    if len(codes) > 1:
        return None, "contradiction"
    code = codes.pop() if codes else None
    return code, None if code else "cut_off" if CUT in values else "unknown_code"


def _field(key: str) -> str:
    name = key.strip().lower().replace(" ", "_")
    return _SYNONYMS.get(name, name)


def _parameters(text: str) -> list[tuple[str, Any]]:
    return [(match["key"], match["value"].strip()) for match in _PARAMETER.finditer(text)]


def _lines(text: str) -> list[tuple[str, Any]]:
    """Key and value of the lines of the form ``key: value``; a verdict may also stand on the line after its key."""
    fields = []
    for line in _LINE.finditer(text):
        value = (line["value"] or "").split(" #")[0].strip(" \t\r*_|,>-")
        if not value and _field(line["key"]) == "verdict":
            value = _NEXT_LINE.match(text, line.end())[1].strip()  # type: ignore[index]
        quoted = _QUOTED.fullmatch(value)
        if quoted and bool(quoted[1]) == bool(quoted[3]):  # A lone quote: the text was cut off, or is prose.
            fields.append((line["key"], None if quoted[2] in ("null", "~", "") else quoted[2]))
    return fields


def _result(
    code: str | None, method: str, reason: str | None = None, members: Iterable[tuple[str, Any]] = ()
) -> Extraction:
    said = {_field(key): value for key, value in members} if code else {}
    data = {name: said[name] if isinstance(said.get(name), str) else None for name in ("answer", "justification")}
    return Extraction(code, method if code else "none", None if code else reason, {**data, "strict_valid": False})
