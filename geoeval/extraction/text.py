"""A reply made ready for reading. Every step keeps positions: one code point in, one code point out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_SURROGATE = re.compile("[\ud800-\udfff]")
# Tokens of the model's template; those that open a further turn end the reply instead.
_SPECIAL_TOKEN = re.compile(r"<[|｜](?!im_start|endoftext)[^|｜<>]{0,40}[|｜]>|</?s>|<eo[a-z]>|<end_of_turn>|\[/INST\]")
# All in lower-case text, one for each first character: a search skips to it, but only if it is the only one.
_TURNS = (
    re.compile(r"<\|im_start\|>|<\|endoftext\|>|<start_of_turn>"),
    re.compile(r"\[inst\]"),
    re.compile(r"\n *(?:human|user|### ?instruction) *:"),
)
_HEADING = re.compile(
    r"""
    \n(?=[ #celnpqrst总问题])(?:
      [ #]*(?:(?:next\ |new\ )?(?:question|problem|exercise)\ ?(?:no\.?\ ?)?\d{0,3}|q\d{0,3}|问题|题目)\ *[:.]
    | \ *choose\ exactly\ one\ of\b
    | \ *(?:now,?\ )?(?:let'?s\ ?)?(?:to\ )?
      (?:总结|(?:summari[sz]e|summary|recap|combin(?:e|ing)|list)\b[^\n]{0,30}\b(?:answers|questions))
    )
    """,
    re.VERBOSE,
)


def _ascii_forms() -> dict[str, str]:
    """Compatibility forms of one ASCII character: full-width, bold, circled, other spaces."""
    table = dict.fromkeys("\u00a0\u3000", " ")
    for block in (range(0x2460, 0x2500), range(0xFF01, 0xFF5F), range(0x1D400, 0x1D6A4)):
        for form in map(chr, block):
            plain = unicodedata.normalize("NFKC", form)
            if len(plain) == 1 and plain.isascii():
                table[form] = plain
    return table


def _plain_forms() -> dict[str, str]:
    """Marks and quotes in one spelling; decoration becomes a space."""
    table = dict.fromkeys("【】〖〗\u200b\u200c\u200d\u2060\ufeff", " ")
    quotes = dict.fromkeys("“”„「」『』《》", '"') | dict.fromkeys("‘’", "'")
    # The lower case of "İ" is two characters long, of any other character one.
    others = {"〔": "[", "〕": "]", "：": ":", "。": ".", "İ": "I"}
    return table | quotes | others


_ASCII = _ascii_forms()
_PLAIN = _ASCII | _plain_forms()
_FEW = 40


def well_formed(text: str) -> str:
    """Lone surrogates (half an emoji, cut by the token limit) as U+FFFD: they cannot be written as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def ascii_forms(text: str) -> str:
    """Full-width, bold and circled letters, digits and marks as ASCII; everything else, and the length, stays.

    A table does it, not NFKC: that changes positions and takes quadratic time on long runs of combining marks.
    """
    return _replaced(text, _ASCII)


def has_any(text: str, parts: tuple[str, ...]) -> bool:
    """Whether one of some strings occurs: a cheap question before a pattern that needs one of them."""
    for part in parts:  # noqa: SIM110 - any() takes twice as long
        if part in text:
            return True
    return False


def plain_text(text: str) -> str:
    """Normalise a reply: as `ascii_forms`, and markdown marks and model tokens become spaces.

    Args:
        text: Any string.

    Returns:
        A string of the same length; its lower case has that length too.
    """
    text = _replaced(text.replace("*", " ").replace("`", " ").replace("$", " "), _PLAIN)
    if "<" in text or ("[" in text and "[/INST]" in text):
        text = _SPECIAL_TOKEN.sub(lambda token: " " * len(token[0]), text)
    return text


def before_run_on(text: str, low: str) -> str:
    """What precedes an invented next question, a made-up turn of the user or a recap of other answers.

    A heading of a question with next to nothing before it, or announced by a colon, repeats the one that was asked.

    Args:
        text: The visible part of a reply, from `plain_text`.
        low: Its lower case.

    Returns:
        The text before the first such heading; all of it when there is none.
    """
    if "\n" not in low and "<" not in low and "[" not in low:
        return text
    begin = len(low) - len(low.lstrip()) + 1
    turns = [turn.start() for pattern in _TURNS if (turn := pattern.search(low, begin))]
    text = text[: min(turns, default=len(text))]
    for heading in _HEADING.finditer(low, 0, len(text)):
        before = text[max(0, heading.start() - 200) : heading.start()].strip()
        if (len(before) > 20 or "nswer" in before) and not before.endswith((":", "：")):
            return text[: heading.start()]
    return text


def _replaced(text: str, forms: Mapping[str, str]) -> str:
    if text.isascii():
        return text
    present = forms.keys() & set(text)
    if len(present) > _FEW:
        return text.translate({ord(form): plain for form, plain in forms.items()})
    for form in present:
        text = text.replace(form, forms[form])
    return text
