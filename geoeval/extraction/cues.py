"""The words that announce an answer, and where they stand in a reply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from operator import attrgetter
from typing import NamedTuple


class Kind(Enum):
    """How a cue is followed by its letter."""

    NOUN = "a connecting word stands between: the answer is (B)"
    LABEL = "nothing or a connecting word: 答案 B, 答案是 B"
    VERB = "the letter is its object: I choose (B)"
    QUALITY = "the letter stands on either side: (B) is correct, most likely (B)"
    BOX = "the letter stands inside: \\boxed{B}"
    LINE = "the letter begins the next line: the corresponding point is:\\n(B) Point B"


NOUN, LABEL, VERB, QUALITY, BOX, LINE = Kind  # looked up several times for each cue, which is slow in an Enum


class Cue(NamedTuple):
    """A cue and where it stands."""

    kind: Kind
    start: int
    end: int


_ASCII_WORDS = {
    NOUN: ("answer", "ans:", "ans.", "option", "choice", "conclusion", "respuesta", "antwort", "risposta"),
    VERB: ("select", "choose", "chose", "pick", "guess", "lean", "go with", "going with", "opt for"),
    QUALITY: ("correct", "best", "better", "right", "most ", "more ", "corresponding"),
    BOX: ("boxed{", "fbox{"),
}
_OTHER_WORDS = {
    NOUN: ("réponse", "ответ"),
    LABEL: ("答案", "选", "字母", "正解", "答え", "正确", "정답"),
}
_SIGNS = ("ans", "opt", "cho", "corre", "{", "with")


def _by_sign(*vocabularies: Mapping[Kind, Iterable[str]]) -> dict[str, list[tuple[str, Kind]]]:
    """Part of a word -> words and their kinds: a text without the part is searched for none of them."""
    found: dict[str, list[tuple[str, Kind]]] = {}
    for kind, words in [entry for vocabulary in vocabularies for entry in vocabulary.items()]:
        for word in words:
            found.setdefault(next((sign for sign in _SIGNS if sign in word), word), []).append((word, kind))
    return found


_ASCII_CUES, _ALL_CUES = _by_sign(_ASCII_WORDS), _by_sign(_ASCII_WORDS, _OTHER_WORDS)

_NO_CUE = re.compile(
    r"""
      (?:option|choice|conclusion)s                       # "the options are (A) ..." lists them
    | correct(?:ly|ness) | right(?!\ answer|\ choice|\ option) | 选项
    | (?:answer|select|choose|chose|pick|guess|lean)(?!ed\b|s?\b|ing\b|ning\b)[a-z]
    | (?:option|choice|correct|best|better)[a-z]
    | (?:correct|best|better|corresponding)\ (?:answer|option|choice)  # the noun that follows is the cue
    | mo(?:st|re)\ (?!likely|appropriate|suitable|accurate|similar|plausible|logical|probable|consistent
                     |reasonable|fitting)
    """,
    re.VERBOSE,
)
_LINE_END = re.compile(r":[ \t]*\n")
_ANNOUNCERS = ("is", "are", "be", "was", "toward", "towards", "choose", "select", "pick", "say")
_ANNOUNCES = re.compile(rf"\b(?:{'|'.join(_ANNOUNCERS)})$")
# Only the last declarations matter, so that of 200,000 cues only the last few are looked at.
_LAST = 60
_BY_PLACE = attrgetter("start")
_LINES_WITHIN = 20_000


def find_cues(low: str) -> list[Cue]:
    """The last places that may announce an answer.

    Args:
        low: Lower-case text of any length.

    Returns:
        At most 60 cues of each word, in order. (Plain searches: one pattern for all words is several times slower.)
    """
    cues = []
    by_sign = _ASCII_CUES if low.isascii() else _ALL_CUES
    for word, kind in [entry for sign, words in by_sign.items() if sign in low for entry in words]:
        start, left = low.rfind(word), _LAST
        while start >= 0 and left:
            end = start + len(word)
            inside_word = start > 0 and low[start - 1].isalpha() and word[0].isascii() and kind is not BOX
            goes_on = kind is QUALITY or low[end : end + 1].isalpha()
            if not inside_word and not (goes_on and _NO_CUE.match(low, start)):
                cues.append(Cue(kind, start, end))
            start, left = low.rfind(word, 0, start), left - 1
    for line_end in _LINE_END.finditer(low, max(0, len(low) - _LINES_WITHIN)) if "\n" in low else ():
        before = low[max(0, line_end.start() - 12) : line_end.start()].rstrip(" \t")
        if before.endswith(_ANNOUNCERS) and _ANNOUNCES.search(before):
            cues.append(Cue(LINE, *line_end.span()))
    return sorted(cues, key=_BY_PLACE)[-_LAST:]
