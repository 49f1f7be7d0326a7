"""Untrusted text made safe to look at: what is invisible is shown, what is markup is escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

ODD_RANGES = (
    *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD)),  # controls but tab and line feed, soft hyphen
    *((0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F)),  # zero width, direction
    *((0x3164, 0x3164), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0xFFFE, 0xFFFF)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),  # tags can carry whole hidden sentences
)
"""Characters that are invisible or change how their neighbours are shown, as first and last code point."""

_ODD = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ODD_RANGES) + "]")
_LINE_ENDS = re.compile(r"\r\n?")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&!$^@]|:(?=//))")
_LATEX = {mark: f"\\{mark}" for mark in "{}$&#%_"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
}


def odd_pattern() -> str:
    """`ODD_RANGES` as a class of a JavaScript expression with the flag ``u``."""
    return "[" + "".join(f"\\u{{{first:x}}}-\\u{{{last:x}}}" for first, last in ODD_RANGES) + "]"


def plain(text: str) -> str:
    """One line of plain text; what is invisible becomes its code point, e.g. ``[U+202E]``."""
    return " ".join(_ODD.sub(lambda odd: f"[U+{ord(odd[0]):04X}]", _LINE_ENDS.sub("\n", text)).split())


def clipped(text: str, length: int) -> str:
    """`plain`, with its middle left out where it is too long: names differ at either end."""
    text = plain(text)
    if len(text) <= length:
        return text
    head = (length - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (length - 1 - head) :]}"


def html(text: str) -> Markup:
    """Escaped, in one line, what is invisible marked as such."""
    from markupsafe import Markup, escape

    parts = re.split(r"(\[U\+[0-9A-F]{4,6}\])", plain(text))
    return Markup("").join(
        Markup('<span class="odd" title="invisible character">{}</span>').format(part) if k % 2 else escape(part)
        for k, part in enumerate(parts)
    )


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and what it counts, e.g. "1 reply" or "1,200 replies"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def markdown(text: str) -> str:
    """One line in which nothing is markup."""
    return _MARKDOWN.sub(r"\\\1", plain(text))


def latex(text: str) -> str:
    """One line in which nothing is a command; needs the packages fontenc (T1) and textcomp."""
    return "".join(_LATEX.get(character, character) for character in plain(text))


def csv_cell(text: str) -> str:
    """One line that no spreadsheet takes for a formula."""
    text = plain(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
