"""Fields: text of strangers inside a prompt, so that a judge can read it and cannot mistake it for the prompt.

A field begins and ends with a marker in unusual brackets that holds a code derived from the content; between them is
the text, every line of it behind a bar::

    ⟦answer to mark 3f9a1c07b2e4⟧
    | The tile shows sandstone.
    ⟦end of answer to mark 3f9a1c07b2e4⟧

The text cannot leave its field: `as_data` leaves no square bracket of any alphabet, no line end without a bar, nothing
invisible and no token of a chat template. What a reader sees of a normal answer stays as it was.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata

from geoeval.extraction.text import well_formed

OPEN, CLOSE = "⟦", "⟧"
"""Brackets of the markers; no field contains them."""
BAR = "| "
"""Begins every line of a field."""
LONGEST = 20_000
"""Characters of a field that are shown; the 1,024 tokens of a task's answer are about a quarter of that."""

_INVISIBLE = frozenset(("Cc", "Cf", "Co", "Cs"))  # control, format (bidi, joiners), private use, surrogate
# Variation selectors, the plane of tags, noncharacters; letters and marks that show nothing.
_HIDDEN = (range(0xFE00, 0xFE10), range(0xFDD0, 0xFDF0), range(0xE0000, 0xE1000))
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\ufffe\uffff")
# Compatibility forms that only look different. Superscripts, fractions and the like mean something: 10² is not 102.
_SAME = frozenset(("<wide>", "<narrow>", "<font>", "<small>", "<vertical>", "<noBreak>"))
_KEPT = frozenset("{}（）「」『』《》〈〉‚„〝〞〟")  # opening and closing punctuation that is like no marker
_BRACKET_PIECES = {**dict.fromkeys("⎡⎢⎣", "("), **dict.fromkeys("⎤⎥⎦", ")")}
_TOKEN_ANGLES = {"◁": "‹", "▷": "›"}

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# "<" before a letter begins a tag or a token (<|im_start|>, </s>, <image>, <0x0A>); "SiO2 < 52" and "<5 m" stay.
_ANGLES_OPEN = re.compile(r"(?<!<)<+(?=[^\s<>=\d]|0x)")
_ANGLES_CLOSE = re.compile(r"(?<=[^\s<>=\d-])>+")
_SPACES, _BLANK_LINES = re.compile(r"[ \t]{9,}"), re.compile(r"\n{4,}")


class _Folded(dict[int, str]):
    """Character -> what stands for it in a field; filled as characters occur."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    if character in "\n\t":
        return character
    if unicodedata.decomposition(character).partition(" ")[0] in _SAME:
        folded = unicodedata.normalize("NFKC", character)
        if folded.isalnum() or folded in "<>|[] ":  # not the comma of a Chinese text
            return "".join(map(_fold, folded))
    category = unicodedata.category(character)
    hidden = character in _FILLERS or any(ord(character) in block for block in _HIDDEN)
    if hidden or category in _INVISIBLE:
        return ""
    if category in ("Ps", "Pe") and character not in _KEPT:
        return "(" if category == "Ps" else ")"
    return _BRACKET_PIECES.get(character) or _TOKEN_ANGLES.get(character) or character


_TABLE = _Folded()


def content_code(*texts: str) -> str:
    """The code of a prompt's markers: 12 hex digits that a text cannot contain on purpose, since they depend on it."""
    content = json.dumps([well_formed(text) for text in texts], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def as_data(text: str) -> str:
    r"""A text made harmless, without bars.

    Args:
        text: Of any length and content.

    Returns:
        The text with these changes. All line ends are ``\n``; nothing invisible is left (also no joiners and no
        terminal codes); full-width, bold and other forms of a letter or digit are that one; square and other brackets
        are round ones; angle brackets of tags and tokens are ‹ ›; long runs of spaces and blank lines are shortened.
        Takes linear time.
    """
    text = _LINE_END.sub("\n", well_formed(text)).translate(_TABLE)
    text = _ANGLES_OPEN.sub(lambda angles: "‹" * len(angles[0]), text)
    text = _ANGLES_CLOSE.sub(lambda angles: "›" * len(angles[0]), text)
    return _BLANK_LINES.sub("\n\n\n", _SPACES.sub(" " * 8, text)).strip("\n")


def field(title: str, code: str, text: str, *, end: bool = False) -> str:
    """One field; of a text over `LONGEST` characters only that many, and how many are not shown.

    Args:
        title: What it is, e.g. "question".
        code: See `content_code`.
        text: What strangers wrote.
        end: Whether the end is shown of a text that is too long, not the beginning.
    """
    data = as_data(text)
    shown = data[-LONGEST:] if end else data[:LONGEST]
    lines = "".join(f"{f'{BAR}{line}'.rstrip()}\n" for line in shown.split("\n")) if data else "(empty)\n"
    left = len(data) - len(shown)
    note = f"\n(cut: {left} more characters {'before' if end else 'after'} these are not shown)" if left else ""
    return f"{OPEN}{title} {code}{CLOSE}\n{lines}{OPEN}end of {title} {code}{CLOSE}{note}"
