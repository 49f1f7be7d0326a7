"""A reply ready for reading, and what can be told about a letter in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from geoeval.extraction.options import OptionTexts
from geoeval.extraction.text import has_any

# Letters of words that letters of options must not touch; Chinese, Japanese and Korean ones may.
WORD = r"0-9A-Za-z_À-ӿ"
_PHRASE_END = re.compile(r"[.!?;,]\s|\n")
NEGATION = re.compile(
    r"\b(?:not|cannot|unable|neither|none|nor|without|difficult|rules? out|less|least)\b|n't\b|enough information|不|没"
)
NEGATES = (
    *("not", "n't", "unable", "neither", "none", "nor", "without", "difficult", "rule", "less", "least", "enough"),
    *("不", "没"),
)
_JOINED = re.compile(
    r"[)\]}\"'.]{0,2}\s*(?:,|/|&|\band\b|\bor\b|和|或|、|及|与){1,2}\s*(?:(?:and|or|option|point)\s)?\s*[(\[\"']?"
    rf"(?P<letter>[A-Za-z])(?![{WORD}'-])[)\]\"']?"
)
_JOINED_AFTER_TEXT = re.compile(
    r"(?:(?!because|since|\bas\b|while|\bnot\b|than)[^.,;:\n]){0,70}?\b(?:and|or)\s+(?:the \w+ \w+ )?"
    r"\((?P<letter>[A-Z])\)"
)
_WORD_FOLLOWS = re.compile(r"\s+(?!(?:because|since|as|which|with|and|or|for|due|but|based|according|if|in)\b)[a-z]")
_MARKER = re.compile(
    r"(?:[ \t]|[-#>][ \t])*(?:[(\[](?P<a>[A-Z])[)\]]|(?P<b>[A-Z])[ \t]*[.):](?=\s|$)|(?P<c>[A-Z])[ \t]*(?=\n|$))"
)
_ORDINAL_IMAGE = re.compile(r"\b(?:first|second|third|fourth) image \($")


class Reply(NamedTuple):
    """A reply ready for reading.

    Attributes:
        text: The normalised text.
        low: Its lower case, of the same length.
        offered: Upper-case letter -> the choice as the caller spells it.
        options: The option texts.
    """

    text: str
    low: str
    offered: Mapping[str, str]
    options: OptionTexts


class Reading(NamedTuple):
    """What was read at a place.

    Attributes:
        letter: The upper-case letter, or None when the place settles that there is no answer.
        start, end: Where it stands in the normalised text.
        reason: Why there is none.
        weak: Read without the word "answer" before it: never replaces a letter that was declared with it.
    """

    letter: str | None
    start: int
    end: int
    reason: str | None = None
    weak: bool = False


def names_image(reply: Reply, i: int) -> bool:
    """Whether the bracketed letter at i numbers a picture: "the third image (C)" when that is the text of option B."""
    before = _ORDINAL_IMAGE.search(reply.low[max(0, i - 30) : i])
    named = reply.options.leading(before[0]) if before else None
    return before is not None and (named is None or named.letter != reply.text[i])


def marked_letter(text: str, start: int = 0) -> tuple[str, int] | None:
    """The letter a line begins with, as in "(B) text", "B. text" or "B" alone, and where it stands."""
    marker = _MARKER.match(text, start)
    return (marker[marker.lastgroup], marker.start(marker.lastgroup)) if marker and marker.lastgroup else None


def joined_letters(text: str, end: int, lower: bool = False) -> set[str]:
    """Upper-cased letters joined to the one that ends at a position: "B and (C)", "B, C", "(A) text and (B) text"."""
    letters: set[str] = set()
    while (more := _JOINED.match(text, end)) and more["letter"].islower() == lower:
        if text[more.end() - 1] == more["letter"] and is_word(text, more.end() - 1):
            break
        if more["letter"].upper() in letters:
            break
        letters.add(more["letter"].upper())
        end = more.end()
    following = text[end : end + 100]
    if (" and " in following or " or " in following) and (far := _JOINED_AFTER_TEXT.match(following)):
        letters.add(far["letter"])
    return letters


def is_negated(low: str, i: int) -> bool:
    """Whether a negation precedes position i in its phrase."""
    before = low[max(0, i - 60) : i]
    return has_any(before, NEGATES) and NEGATION.search(_PHRASE_END.split(before)[-1]) is not None


def is_word(text: str, i: int) -> bool:
    """Whether the letter at i is the article "A" or the pronoun "I"."""
    return text[i] in "AI" and _WORD_FOLLOWS.match(text, i + 1) is not None
