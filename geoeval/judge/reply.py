"""Reading a judge's marks from its reply: strictly, or not at all.

A reply is read when it ends with all marks of the rubric in one of the two forms that are asked for, a JSON object or
one line for each mark, and holds no other value for any of them. A number that merely stands somewhere is never taken:
what cannot be read is asked again, so that strictness costs a call, where leniency would cost the truth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from geoeval.extraction.json_objects import Number, Pairs
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.extraction.text import ascii_forms, well_formed
from geoeval.judge.prompt import LABEL
from geoeval.judge.rubric import LEAST, MOST, OVERALL, REASONING, Rubric
from geoeval.types import Judgement

Claim = tuple[str, Any]
"""Name and value of a mark, as the reply has it."""
LONGEST = 200_000
"""Characters of a reply that is still read; a judge that writes more is out of control."""

_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, strict=False)
_OBJECT = re.compile(r"\{\s*\"(?P<key>[^\"\n]{1,60})\"")
_FAILURES = 50  # A decoder that fails may have read all of the text.
# What may follow the marks: the end of a fence, a token that a server forgot to remove.
_NOTHING = re.compile(r"(?:`{3,})?\s*(?:<\|\w{1,20}\|>|</s>|<end_of_turn>)?")

_D = r"[*_`]{0,3}"  # decoration
_LEAD = rf"[ \t]*(?:[-•*][ \t]+)?{_D}"
# In capitals it is always the label; "Mark the answer down" is prose.
_IS_LABELLED = re.compile(rf"{_LEAD}(?:{LABEL}[ \t]|(?i:{LABEL})[ \t]+{_D}\w{{1,60}}{_D}[ \t]*:)")
_LINE = re.compile(
    rf"{_LEAD}(?i:{LABEL})[ \t]+{_D}(?P<name>[A-Za-z]\w{{0,60}}?){_D}[ \t]*:"
    rf"[ \t]*{_D}(?P<mark>[^*`\n]{{1,40}}?){_D}\.?\s*"
)
_MARK = re.compile(
    rf"\s*(?P<value>(?:0|[1-9]\d{{0,2}})(?:\.\d{{1,4}})?)(?:\s{{0,3}}/\s{{0,3}}{MOST}|\s{{1,3}}out\s{{1,3}}of\s{{1,3}}{MOST})?\s*",
    re.ASCII,
)


class Unreadable(ValueError):
    """Why a reply cannot be read."""


class Found(NamedTuple):
    """An object in a text and where it stands."""

    start: int
    end: int
    members: Pairs


def read_marks(reply: str | None, rubric: Rubric) -> Judgement:
    """Read the marks of a judge's reply.

    Args:
        reply: What the judge wrote; reasoning in tags is removed first. None for no reply.
        rubric: Its dimensions are the marks that must be there, and "overall", which becomes the score.

    Returns:
        Score and dimensions, each 0-10; a mark may be "7", "7.5", "7/10" or "7 out of 10", and in JSON a number or such
        a string. ``comment`` is what the judge wrote beside the marks. Else the score is None and ``reason`` is
        "unreadable: " and why. Never raises; takes linear time.
    """
    try:
        visible = visible_reply(reply)
        objects = list(objects_with(visible, rubric.marks))
        rows = [row for row in ascii_forms(visible).split("\n") if _IS_LABELLED.match(row)]
        if objects and rows:
            raise Unreadable("marks in JSON and in lines")
        if not objects and not rows:
            raise Unreadable("no marks")
        comment, claims = _from_objects(visible, objects) if objects else _from_lines(visible, rubric)
        marks = _agreed(claims, rubric)
    except Unreadable as error:
        return Judgement(None, reason=f"unreadable: {error}")
    return Judgement(marks.pop(OVERALL), marks, comment)


def visible_reply(reply: str | None) -> str:
    """The part of a judge's reply that counts.

    Raises:
        Unreadable: There is none, or it is longer than `LONGEST`.
    """
    if not reply or not reply.strip():
        raise Unreadable("no reply")
    if len(reply) > LONGEST:
        raise Unreadable(f"too long, {len(reply)} characters")
    visible = strip_reasoning(well_formed(reply))
    if not visible:
        raise Unreadable("only reasoning")
    return visible


def objects_with(text: str, keys: Iterable[str]) -> Iterator[Found]:
    """The JSON objects of a text that have one of the keys, outermost ones only, from left to right.

    Raises:
        Unreadable: An object that begins with one of the keys or with "reasoning" is no JSON, e.g. being cut off.
    """
    wanted = {*keys}
    position = failures = 0
    while failures < _FAILURES and (start := _OBJECT.search(text, position)):
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            if start["key"] in wanted or start["key"] == REASONING:
                raise Unreadable("damaged JSON, or cut off") from None
            position, failures = start.start() + 1, failures + 1
            continue
        position = end
        if any(key in wanted for key, _ in value):
            yield Found(start.start(), end, value)


def beside(text: str, objects: Sequence[Found]) -> str:
    """What a judge wrote before the last object, and its member "reasoning".

    Raises:
        Unreadable: Something follows the last object.
    """
    last = objects[-1]
    if not _NOTHING.fullmatch(text[last.end :].strip()):
        raise Unreadable("text after the JSON object")
    said = [value for key, value in last.members if key == REASONING and isinstance(value, str)]
    return "\n\n".join(part for part in (_prose(text[: last.start]), *said) if part)


def _from_objects(visible: str, objects: Sequence[Found]) -> tuple[str, list[Claim]]:
    return beside(visible, objects), [member for found in objects for member in found.members]


def _from_lines(visible: str, rubric: Rubric) -> tuple[str, list[Claim]]:
    """What stands before the last block of labelled lines, and what every labelled line claims."""
    rows = ascii_forms(visible).split("\n")
    end = len(rows)
    while _NOTHING.fullmatch(rows[end - 1].strip()):
        end -= 1
    start = end
    while start and (_IS_LABELLED.match(rows[start - 1]) or not rows[start - 1].strip()):
        start -= 1
    before, block = _claims(rows[:start], rubric), _claims(rows[start:end], rubric)
    if {name for name, _ in before} - {name for name, _ in block}:
        raise Unreadable("text after the marks, or between them")
    return _prose("\n".join(visible.split("\n")[:start])), [*before, *block]


def _claims(rows: Iterable[str], rubric: Rubric) -> list[Claim]:
    claims: list[Claim] = []
    for row in filter(_IS_LABELLED.match, rows):
        line = _LINE.fullmatch(row)
        if line is None:
            raise Unreadable(f"a line that gives no mark: {row.strip()[:60]!r}")
        if line["name"].lower() not in rubric.marks:
            raise Unreadable(f"an unknown mark: {line['name']!r}")
        claims.append((line["name"].lower(), line["mark"]))
    return claims


def _prose(text: str) -> str:
    """A text without the fence that opens at its end."""
    return text.rstrip().removesuffix("```json").removesuffix("```").strip()


def _agreed(claims: Iterable[tuple[str, Any]], rubric: Rubric) -> dict[str, float]:
    """One value for each mark of the rubric, in its order."""
    marks: dict[str, float] = {}
    for name, raw in claims:
        if name not in rubric.marks:
            continue
        value = _value(name, raw)
        if marks.setdefault(name, value) != value:
            raise Unreadable(f"different marks for {name}")
    missing = [name for name in rubric.marks if name not in marks]
    if missing:
        raise Unreadable(f"no mark for {', '.join(missing)}")
    return {name: marks[name] for name in rubric.marks}


def _value(name: str, raw: Any) -> float:
    match = _MARK.fullmatch(raw) if isinstance(raw, str) else None
    if match is None or not LEAST <= float(match["value"]) <= MOST:
        shown = repr(raw[:40]) if isinstance(raw, str) else type(raw).__name__
        raise Unreadable(f"the mark for {name} is {shown}, not one number from {LEAST} to {MOST}")
    return float(match["value"])
