"""Read the verdict of a reply that should be ``{"verdict": code, "answer": ..., "justification": ...}``."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from geoeval.extraction.json_objects import CUT, Number, Pairs, decode, find_objects, unescape
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.extraction.text import ascii_forms, has_any
from geoeval.types import Extraction

VERDICTS = (
    "ANSWER",
    "REFUSE_FALSE_PREMISE_IN_QUERY",
    "REFUSE_AMBIGUOUS_QUERY",
    "REFUSE_GRANULARITY_MISMATCH",
    "REFUSE_NONFACTUAL_QUERY",
    "REFUSE_INFO_MISSING_IN_CONTEXT",
)
"""GeoRefusalBench's label space: the answer, then the refusals in their order of precedence."""
_CODES = {alias: code for code in VERDICTS for alias in (code, code.removeprefix("REFUSE_"))}
_SYNONYMS = {"verdict": "verdict", "final_verdict": "verdict", "finalverdict": "verdict", "decision": "verdict"}
# What a model says on its way, or quotes, is not its verdict.
_ASIDES = frozenset(
    {"justification", "explanation", "reason", "reasoning", "thought", "thoughts", "thinking", "analysis", "draft"}
    | {"example", "examples", "default"}
)
_VALUE_STARTS = tuple('{["-0123456789tfnNI')  # of all that a JSON decoder takes
_LONGEST_BARE = 300
_LONGEST = 400_000  # Damaged JSON costs up to two seconds a megabyte; the verdict of a longer reply is at its end.
_MARKUP = " \t\r\n*_`\"'“”‘’.。,\x00\ufeff\u200b"
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\u200b-\u200f\u2060\ufeff]")
_SEPARATOR = re.compile(r"[\s_\-‐-―]+")

# A fenced program that is more than one object: its strings and variables are no statement of the model.
_PROGRAM = re.compile(
    r"^[ \t]*```(?!json|ya?ml|te?xt|plain|markdown|md\b|xml|html|output)[a-z][\w+#]*[ \t]*\n(?!\s*[\[{])"
    r".*?(?:^[ \t]*```|\Z)",
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
    rf"^[ \t>*#•+-]{{0,12}}(?:\d[.)][ *]{{1,3}})?[\"'`_]?{_KEY}[\"'`_]?[*_ \t]{{0,5}}"
    r"(?:(?:[:：=]|[-–—]\s)(?P<value>.*))?$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_LINE = re.compile(r"\s*(.*)")
_QUOTED = re.compile(r"([\"'`“]?)(.*?)([\"'`”]?)")


class _Reading(NamedTuple):
    """What one rule found."""

    code: str | None = None
    reason: str | None = None
    method: str = "none"
    members: Sequence[tuple[str, Any]] = ()


def extract_verdict(reply: str) -> Extraction:
    """Read the verdict of a reply.

    The rules are tried in this order, and the first that finds a verdict names the method: the reply as JSON
    ("whole_json"); without reasoning, the last object with a verdict, well-formed ("object") or not ("repaired"); a
    code that is all of the reply ("bare_code"); an XML parameter ("parameter"); a line with the key ("key_line"). A
    code is never read out of prose.

    Args:
        reply: The model's reply, of any length.

    Returns:
        ``value`` is one of `VERDICTS` or None. ``data`` holds ``answer`` and ``justification`` (str or None) and
        ``strict_valid`` (bool): the whole reply is exactly the object asked for (see ``verdict.schema.json``).
        ``reason`` is "empty", "only_reasoning", "contradiction", "cut_off", "unknown_code" or "no_verdict".
        Takes linear time.
    """
    try:
        return _from_json(reply)
    except ValueError:
        visible = _PROGRAM.sub("", strip_reasoning(reply)[-_LONGEST:])
    if not visible:
        return _result(_Reading(reason="only_reasoning" if reply.strip() else "empty"))
    reason = None
    for reading in _readings(visible):
        if reading.code or reading.reason == "contradiction":
            return _result(reading)
        reason = reason or reading.reason
    return _result(_Reading(reason=reason))


def fold(value: Any) -> str | None:
    """The code that a value spells, whatever its case, separators, markup and prefix; None when it spells none."""
    if not isinstance(value, str) or not 5 < len(value) < 200:
        return None
    text = value if value.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", value))
    return _CODES.get(_SEPARATOR.sub("_", text.strip(_MARKUP).replace("\\", "")).upper())


def _from_json(reply: str) -> Extraction:
    """Read a reply that is JSON as a whole, or a fence around JSON; ValueError when it is not."""
    text = reply.strip()
    if not text.startswith((*_VALUE_STARTS, "```")):
        raise ValueError("no JSON")
    try:
        value, strict = decode(reply), True
    except ValueError:
        value, strict = decode(text[3:-3].partition("\n")[2] if text[:3] == text[-3:] == "```" else text, False), False
    if isinstance(value, str) and not isinstance(value, Number):
        inner = extract_verdict(value)
        return Extraction(inner.value, inner.method, inner.reason, {**inner.data, "strict_valid": False})
    return _result(_verdict_in(value, "whole_json"), strict and _is_strict(value))


def _is_strict(value: Any) -> bool:
    if not isinstance(value, Pairs) or sorted(key for key, _ in value) != ["answer", "justification", "verdict"]:
        return False
    members = dict(value)
    return (
        members["verdict"] in VERDICTS
        and type(members["answer"]) in (str, type(None))
        and type(members["justification"]) is str
    )


def _readings(visible: str) -> Iterator[_Reading]:
    """What each rule finds in the visible text, in the order of the rules."""
    cut_off = False
    for view in _views(visible):
        reading = _last_verdict(view)
        cut_off = cut_off or reading.reason == "cut_off"
        yield reading
    if cut_off:  # The lines of a cut-off object are not whole lines.
        return
    yield _Reading(fold(_TAGS.sub("", visible) if len(visible) < _LONGEST_BARE else ""), None, "bare_code")
    if not has_any(visible.lower(), ("verdict", "decision")):
        return
    for method, fields in (("parameter", _parameters(visible)), ("key_line", _lines(visible))):
        code, reason = _judge([value for key, value in fields if _field(key) == "verdict" and fold(value)])
        yield _Reading(code, reason, method, fields)


def _views(text: str) -> Iterator[str]:
    """The text, then what it would be with its wrapping undone."""
    if "{" in text:
        yield text
    if call := _CALL.fullmatch(text):
        yield f"{{{call[1]}}}"
    elif _HEADLESS.match(text):
        yield "{" + text
    if has_any(text, ("{", "&", "｛")):
        unwrapped = unescape(html.unescape(_INVISIBLE.sub("", ascii_forms(text))))
        if unwrapped != text:
            yield unwrapped


def _last_verdict(text: str) -> _Reading:
    """The last object that gives a verdict, or contradicts itself; else why the first one that tries gives none."""
    last = _Reading()
    for value, valid in find_objects(text):
        reading = _verdict_in(value, "object" if valid else "repaired")
        if reading.code or reading.reason == "contradiction" or last == _Reading():
            last = reading if reading.code or reading.reason else last
    return last


def _verdict_in(value: Any, method: str) -> _Reading:
    """The verdict of an object, or of the objects wrapped in it when it has none; contradiction when these differ."""
    best = _Reading()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and item.lstrip()[:1] in ("{", "["):
            item = _decoded(item)
        if isinstance(item, list) and not isinstance(item, Pairs):
            waiting.extend(item)
        elif isinstance(item, Pairs):
            verdicts = [member for key, member in item if _field(key) == "verdict"]
            if not verdicts or any(isinstance(verdict, Pairs) for verdict in verdicts):
                waiting.extend(member for key, member in item if key.lower() not in _ASIDES)
                continue
            code, reason = _judge(verdicts)
            if reason == "contradiction" or (code and best.code and code != best.code):
                return _Reading(reason="contradiction")
            if code or not (best.code or best.reason):
                best = _Reading(code, reason, method, item)
    return best


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
    return code, None if code or not verdicts else "cut_off" if CUT in values else "unknown_code"


def _field(key: str) -> str:
    name = key.strip().lower().replace(" ", "_")
    return _SYNONYMS.get(name, name)


def _parameters(text: str) -> list[tuple[str, Any]]:
    return [(match["key"], match["value"].strip()) for match in _PARAMETER.finditer(text)]


def _lines(text: str) -> list[tuple[str, Any]]:
    """Key and value of the lines of the form ``key: value``; a verdict may also stand on the line after its key."""
    fields = []
    for line in _LINE.finditer(text):
        value = (line["value"] or "").split(" #")[0].strip(" \t\r*_,>|-")
        if not value and _field(line["key"]) == "verdict":
            below = _NEXT_LINE.match(text, line.end())
            value = below[1] if below and below[1].strip(_MARKUP) in VERDICTS else ""
        quoted = _QUOTED.fullmatch(value)
        if quoted and bool(quoted[1]) == bool(quoted[3]):  # A lone quote: the text was cut off, or is prose.
            fields.append((line["key"], None if quoted[2] in ("null", "~", "") else quoted[2]))
    return fields


def _result(reading: _Reading, strict_valid: bool = False) -> Extraction:
    said = {_field(key): value for key, value in reading.members} if reading.code else {}
    data = {name: said[name] if isinstance(said.get(name), str) else None for name in ("answer", "justification")}
    facts = {**data, "strict_valid": strict_valid}
    if reading.code is None:
        return Extraction(None, "none", reading.reason or "no_verdict", facts)
    return Extraction(reading.code, reading.method, None, facts)
