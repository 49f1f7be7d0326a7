"""A reply made ready for reading. Every step keeps positions: one code point in, one code point out."""

from __future__ import annotations

import re
import unicodedata

_SURROGATE = re.compile("[\ud800-\udfff]")
# Tokens of the model's template; those that open a further turn end the reply instead.
_SPECIAL_TOKEN = re.compile(r"<[|｜](?!im_start|endoftext)[^|｜<>]{0,40}[|｜]>|</?s>|<eo[a-z]>|<end_of_turn>|\[/INST\]")
_TURN = re.compile(
    r"<\|im_start\|>|<\|endoftext\|>|<start_of_turn>|\[INST\]|\n *(?:human|user|### ?instruction) *:", re.IGNORECASE
)
_HEADING = re.compile(
    r"""
      \n[ #]*(?:(?:next\ |new\ )?(?:question|problem|exercise)\ ?(?:no\.?\ ?)?\d{0,3}|q\d{0,3}|问题|题目)\ *[:.]
    | \n\ *choose\ exactly\ one\ of\b
    | \n\ *(?:now,?\ )?(?:let'?s\ ?)?(?:to\ )?
      (?:总结|(?:summari[sz]e|summary|recap|combin(?:e|ing)|list)\b[^\n]{0,30}\b(?:answers|questions))
    """,
    re.IGNORECASE | re.VERBOSE,
)


def _ascii_forms() -> dict[int, str]:
    """Compatibility forms of one ASCII character: full-width, bold, circled, other spaces."""
    table = dict.fromkeys(map(ord, "\u00a0\u3000"), " ")
    for block in (range(0x2460, 0x2500), range(0xFF01, 0xFF5F), range(0x1D400, 0x1D6A4)):
        for code in block:
            plain = unicodedata.normalize("NFKC", chr(code))
            if len(plain) == 1 and plain.isascii():
                table[code] = plain
    return table


def _plain_forms() -> dict[int, str]:
    """Marks and quotes in one spelling; decoration becomes a space."""
    table = dict.fromkeys(map(ord, "*`$【】〖〗\u200b\u200c\u200d\u2060\ufeff"), " ")
    quotes = dict.fromkeys("“”„「」『』《》", '"') | dict.fromkeys("‘’", "'")
    # The lower case of "İ" is two characters long, of any other character one.
    others = {"〔": "[", "〕": "]", "：": ":", "。": ".", "İ": "I"}
    return table | {ord(mark): plain for mark, plain in (quotes | others).items()}


_ASCII = _ascii_forms()
_PLAIN = _ASCII | _plain_forms()


def well_formed(text: str) -> str:
    """Lone surrogates (half an emoji, cut by the token limit) as U+FFFD: they cannot be written as UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def ascii_forms(text: str) -> str:
    """Full-width, bold and circled letters, digits and marks as ASCII; everything else, and the length, stays.

    A table does it, not NFKC: that changes positions and takes quadratic time on long runs of combining marks.
    """
    return text if text.isascii() else text.translate(_ASCII)


def plain_text(text: str) -> str:
    """Normalise a reply: as `ascii_forms`, and markdown marks and model tokens become spaces.

    Args:
        text: Any string.

    Returns:
        A string of the same length; its lower case has that length too.
    """
    text = text.translate(_PLAIN)
    if "<" in text or "[" in text:
        text = _SPECIAL_TOKEN.sub(lambda token: " " * len(token[0]), text)
    return text


def before_run_on(text: str) -> str:
    """What precedes an invented next question, a made-up turn of the user or a recap of other answers.

    A heading of a question with next to nothing before it, or announced by a colon, repeats the one that was asked.

    Args:
        text: The visible part of a reply.

    Returns:
        The text before the first such heading; all of it when there is none.
    """
    for turn in _TURN.finditer(text):
        if not text[: turn.start()].isspace() and turn.start():
            text = text[: turn.start()]
            break
    for heading in _HEADING.finditer(text):
        before = text[max(0, heading.start() - 200) : heading.start()].strip()
        if (len(before) > 20 or "nswer" in before) and not before.endswith((":", "：")):
            return text[: heading.start()]
    return text
