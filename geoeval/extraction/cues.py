"""The words that announce an answer, and where they stand in a reply."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """How a cue is followed by its letter."""

    NOUN = "a connecting word stands between: the answer is (B)"
    LABEL = "nothing or a connecting word: 答案 B, 答案是 B"
    VERB = "the letter is its object: I choose (B)"
    QUALITY = "the letter stands on either side: (B) is correct, most likely (B)"
    BOX = "the letter stands inside: \\boxed{B}"
    LINE = "the letter begins the next line: the corresponding point is:\\n(B) Point B"


class Cue(NamedTuple):
    """A cue and where it stands."""

    kind: Kind
    start: int
    end: int


_ASCII_WORDS = {
    Kind.NOUN: (
        "answer",
        "ans:",
        "ans.",
        "option",
        "choice",
        "conclusion",
        "selection",
        "respuesta",
        "antwort",
        "risposta",
    ),
    Kind.VERB: ("select", "choose", "chose", "pick", "guess", "lean", "go with", "going with", "opt for"),
    Kind.QUALITY: ("correct", "best", "better", "right", "most ", "more ", "corresponding"),
    Kind.BOX: ("boxed{", "fbox{"),
}
_OTHER_WORDS = {
    Kind.NOUN: ("réponse", "ответ"),
    Kind.LABEL: ("答案", "选", "字母", "正解", "答え", "正确", "정답"),
}
_ASCII_CUES = tuple((word, kind) for kind, words in _ASCII_WORDS.items() for word in words)
_ALL_CUES = _ASCII_CUES + tuple((word, kind) for kind, words in _OTHER_WORDS.items() for word in words)

_NO_CUE = re.compile(
    r"""
      (?:option|choice|selection|conclusion)s                       # "the options are (A) ..." lists them
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
_ANNOUNCES = re.compile(r"\b(?:is|are|be|was|towards?|choose|select|pick|say)[ \t]*$")
# Only the last declarations matter, so that of 200,000 cues only the last few are looked at.
_LAST = 60
_LINES_WITHIN = 20_000


def find_cues(low: str) -> list[Cue]:
    """The last places that may announce an answer.

    Args:
        low: Lower-case text of any length.

    Returns:
        At most 60 cues of each word, in order. (Plain searches: one pattern for all words is several times slower.)
    """
    cues = []
    for word, kind in _ASCII_CUES if low.isascii() else _ALL_CUES:
        start, left = low.rfind(word), _LAST
        while start >= 0 and left:
            inside_word = start > 0 and low[start - 1].isalpha() and word[0].isascii() and kind is not Kind.BOX
            if not inside_word and not _NO_CUE.match(low, start):
                cues.append(Cue(kind, start, start + len(word)))
            start, left = low.rfind(word, 0, start), left - 1
    for line_end in _LINE_END.finditer(low, max(0, len(low) - _LINES_WITHIN)):
        if _ANNOUNCES.search(low[max(0, line_end.start() - 12) : line_end.start()]):
            cues.append(Cue(Kind.LINE, *line_end.span()))
    return sorted(cues, key=lambda cue: cue.start)[-_LAST:]
