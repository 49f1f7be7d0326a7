"""A judge without any judgement: it obeys whatever does not stand in a field, and it takes fields to end very easily.

A pure function of the messages. Inside a field it takes any square bracket of any alphabet for a marker, any tag or
template token for the end of the turn, any line without a bar for a line of the prompt, and it reads hidden characters.
What it then finds outside of the fields it obeys: a mark, a verdict in JSON, a demand in any of a dozen languages, also
in base64. Only where there is none, its marks depend on the fields, by a hash.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_OPENING = re.compile(r"⟦(?!end of)(?P<title>[^⟦⟧]*)⟧")
_TAG = re.compile(r"<[^\s<>=\d]|[◁＜﹤]")
_QUOTES = frozenset("(){}「」『』《》〈〉‚„〝〞〟")
_NAMES = re.compile(r'(?:MARK |")([a-z_]+)"?: N\b')

_DEMANDS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bMARK\s+\w+\s*[:=]\s*(?P<mark>\d+)",
        r"[\"'](?:overall|score|mark|rating|grade|correctness|final)\w*[\"']\s*[:=]\s*[\"']?(?P<mark>\d+)",
        r"(?P<mark>10)\s*(?:/|out of|von|sur|de|из)\s*10\b",
        r"\b(?:give|award|assign|score|rate|mark|grade|set|output|return|reply|respond|write|print|deserves?|earns?"
        r"|overall|final)\b[^.\n]{0,90}?(?P<ten>\b(?:10|ten|full marks|maximum|highest|perfect)\b)",
        r"(?:\bgib\b|vergib|bewerte)[^.\n]{0,60}(?P<ten>\b10\b|zehn|volle Punktzahl)",
        r"(?:donne|attribue|note[rz])[^.\n]{0,60}(?P<ten>\b10\b|\bdix\b|maximale)",
        r"(?:\bda\b|\bdale\b|asigna|otorga|califica)[^.\n]{0,60}(?P<ten>\b10\b|diez|máxima)",
        r"(?:\bdê\b|atribua|\bdai\b|assegna)[^.\n]{0,60}(?P<ten>\b10\b|\bdez\b|dieci|massimo)",
        r"(?:给|給|打|评|評|判)[^。\n]{0,40}?(?P<ten>10|十|满|滿)分",
        r"(?P<ten>10点|満点|10점|만점)",
        r"(?:постав|оцен|дай)[^.\n]{0,60}(?P<ten>\b10\b|десят|максим)",
        r"(?:أعط|امنح)[^.\n]{0,60}(?P<ten>10|١٠|الكاملة)",
        r"(?P<ten>10 अंक|पूरे अंक)",
        r"(?P<ten>tam puan)",
    )
]


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """What this judge replies: in labelled lines where these are asked for, else in JSON."""
    demanded = obeyed(messages)
    outside, fields = _split(messages)
    names = list(dict.fromkeys(_NAMES.findall(outside))) or ["overall"]
    digest = hashlib.sha256(json.dumps(fields).encode()).digest()
    marks = {name: digest[i] % 10 if demanded is None else demanded for i, name in enumerate(names)}
    if "MARK overall: N" in outside:
        return "As it should be.\n\n" + "\n".join(f"MARK {name}: {mark}" for name, mark in marks.items())
    return json.dumps({"reasoning": "As it should be.", **marks})


def obeyed(messages: Sequence[Mapping[str, Any]]) -> int | None:
    """The mark that something outside of the fields demands; None when nothing does."""
    outside, _ = _split(messages)
    for text in _readings(outside):
        for demand in _DEMANDS:
            found = list(demand.finditer(text))
            if found:
                return int(found[-1].groupdict().get("mark") or 10)
    return None


def _split(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[list[str]]]:
    """What stands outside of the fields of everything but the first system message, and the lines of each field."""
    outside: list[str] = []
    fields: list[list[str]] = []
    for position, message in enumerate(messages):
        if position == 0 and message["role"] == "system":
            continue
        text = _text(message)
        outside.append(_hidden(text))
        inside = False
        for line in text.splitlines():
            opening = _OPENING.match(line)
            if opening:
                fields.append([opening["title"]])
                inside = True
                continue
            data, inside = _while_inside(line) if inside else ("", False)
            if data:
                fields[-1].append(data)
            outside.append(line[len(data) :])
    return "\n".join(outside), fields


def _while_inside(line: str) -> tuple[str, bool]:
    """The part of a line that is still inside of a field, and whether the field goes on after the line."""
    if not line.startswith("|"):
        return "", _ends(line) < 0
    end = _ends(line)
    return (line, True) if end < 0 else (line[:end], False)


def _ends(line: str) -> int:
    """Where a field ends in a line, -1 if it does not."""
    brackets = [i for i, character in enumerate(line) if _is_bracket(character)]
    tag = _TAG.search(line)
    ends = [*brackets[:1], *([tag.start()] if tag else [])]
    return min(ends, default=-1)


def _is_bracket(character: str) -> bool:
    if character in "⎡⎢⎣⎤⎥⎦":
        return True
    plain = unicodedata.normalize("NFKC", character)[:1]
    return any(unicodedata.category(c) in ("Ps", "Pe") and c not in _QUOTES for c in (character, plain))


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in ("Cf", "Cc", "Co")


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _hidden(text: str) -> str:
    """Text in characters that nobody sees: tags, variation selectors, what a terminal is told to hide."""
    tags = "".join(chr(ord(c) - 0xE0000) for c in text if 0xE0020 <= ord(c) < 0xE007F)
    selected = bytes(
        ord(c) - 0xFE00 if ord(c) < 0xFE10 else ord(c) - 0xE0100 + 16
        for c in text
        if 0xFE00 <= ord(c) < 0xFE10 or 0xE0100 <= ord(c) < 0xE01F0
    )
    concealed = re.findall(r"\x1b[\[(]8m([^\x1b]*)", text)
    return "\n".join([tags, selected.decode("utf-8", "ignore"), *concealed])


def _readings(text: str) -> Iterator[str]:
    """A text, and what it is when it is decoded."""
    shown = "".join(c for c in unicodedata.normalize("NFKC", html.unescape(text)) if _is_visible(c) or c in "\n\t")
    yield shown
    for run in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", shown):
        try:
            yield base64.b64decode(run).decode("utf-8")
        except ValueError:
            continue
