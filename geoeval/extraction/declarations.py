"""Where a reply declares a letter ("Answer: B", "option (B) is correct"), and which declaration stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from geoeval.extraction.options import Mention, OptionTexts


class Reply(NamedTuple):
    """A reply ready for reading.

    Attributes:
        text: The normalised text.
        low: Its lower case, of the same length.
        offered: Upper-case letter -> the choice as the caller spells it.
        options: Gives the option texts; a call, because most replies are read without them.
    """

    text: str
    low: str
    offered: Mapping[str, str]
    options: Callable[[], OptionTexts]


class Reading(NamedTuple):
    """What was read at a place.

    Attributes:
        letter: The upper-case letter, or None when the place settles that there is no answer.
        start, end: Where it stands in the normalised text.
        reason: Why there is none.
        weak: Read from an option's text without the word "answer": never replaces a declared letter.
    """

    letter: str | None
    start: int
    end: int
    reason: str | None = None
    weak: bool = False


# Only the last declarations matter, so that of 200,000 cues only the last few are looked at.
_LAST_CUES = 60
_NOUN, _CHINESE, _VERB, _QUALITY, _BOX, _LINE = "noun", "chinese", "verb", "quality", "box", "line"
_CUE_WORDS = {
    "answer ans: ans. option choice conclusion selection respuesta antwort": _NOUN,
    "select choose chose pick guess lean go_with opt_for": _VERB,
    "correct best better right most_ more_ corresponding": _QUALITY,
    "boxed{ fbox{": _BOX,
}
_NON_ASCII_CUE_WORDS = {"réponse": _NOUN, "答案 选 字母 正解 答え 正确": _CHINESE}


def _listed(kinds: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((word.replace("_", " "), kind) for words, kind in kinds.items() for word in words.split())


_ASCII_CUES = _listed(_CUE_WORDS)
_ALL_CUES = _ASCII_CUES + _listed(_NON_ASCII_CUE_WORDS)
_NO_CUE = re.compile(
    r"(?:option|choice|selection|conclusion)s|correct(?:ly|ness)|right(?! answer| choice| option)|选项"
    r"|(?:answer|select|choose|chose|pick|guess|lean)(?!ed|s?\b|ing|ning)[a-z]|(?:option|choice|correct|best|better|right)[a-rt-z]"
    r"|(?:correct|best|better|corresponding) (?:answer|option|choice)"  # The noun that follows is the cue.
    r"|mo(?:st|re) (?!likely|appropriate|suitable|accurate|similar|plausible|logical|probable|consistent|reasonable|fitting)"
)
_LINE_END = re.compile(r":[ \t]*\n")
_ANNOUNCES = re.compile(r"\b(?:is|are|be|was|towards?|choose|select|pick|say)[ \t]*$")

_FILLER = (
    r"(?:[\s\"'_\[{(:>=~,]|\\[(\[]|\\(?:text|math|boxed|fbox)\w*|\.{3}|选项|选|对应的|字母|应该?|是|为"
    r"|(?:the|correct|best|right|final|option|choice|letter|answer|most|likely|probably|therefore|thus|simply|indeed"
    r"|clearly|actually|still|either|both|towards?|as|to be|that)\b){0,24}"
)
_LETTER = r"(?<![a-z0-9\\.])(?P<letter>[a-z])(?!\w|\\(?![)\]])|['-][a-z]|\s*[+=<>^])"
_CONNECTOR = r"(?:\b(?:is|are|be|was)\b(?!\s+(?:not|neither|none)\b)|[:=>]|[是为は选])"
_SUFFIX = r"(?:s|ed|ing|ning)?"
_GAP = _SUFFIX + r"(?!\s*[(\[]?[a-z][)\]]?[\s:.])[^.!?\n()\[\]]{0,80}?"
_AFTER_NOUN = re.compile(rf"{_GAP}{_CONNECTOR}{_FILLER}{_LETTER}")
_TEXT_AFTER_NOUN = re.compile(rf"{_GAP}{_CONNECTOR}{_FILLER}")
_AFTER_WORD = re.compile(rf"{_SUFFIX}(?:likely|appropriate|suitable|accurate)?{_FILLER}{_LETTER}")
_TEXT_AFTER_WORD = re.compile(rf"{_SUFFIX}(?:likely|appropriate|suitable|accurate)?(?:likely|appropriate|suitable|accurate)?{_FILLER}")

_VERB_BEFORE = re.compile(
    r"(?:(?:\b(?:would|might|may|could|should|must) )?\b(?:is|be|are|was|seems|appears|as|looks)(?:\s+(?:to be|the|a|also|therefore|thus|likely|probably|most|clearly"
    r"|more|actually|best|better|correct|right))*|是)\s*$"
)
_LETTER_BEFORE = re.compile(
    r"(?:[(\[]|\b(?:option|choice|answer|statement|part|picture)\s*[(\[]?|选项\s*)(?P<a>[A-Z])(?![\w'-])[)\]]?"
    r"|(?P<b>[A-Z])选项",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.!?]\s|[\n;]")
_NEGATION = re.compile(
    r"\b(?:not|cannot|unable|neither|none|nor|without|difficult|rules? out|less)\b|n't\b|enough information|不|没"
)
_JOINED = re.compile(
    r"[)\]}\"'.]{0,2}\s*(?:,|/|&|\band\b|\bor\b|和|或|、|及|与){1,2}\s*(?:(?:and|or|option|point)\s)?\s*[(\[\"']?"
    r"(?P<letter>[A-Za-z])(?![\w'-])[)\]\"']?"
)
_JOINED_TEXT = re.compile(
    r"(?:(?!because|since|\bas\b|while|\bnot\b|than)[^.,;:\n]){0,70}?\b(?:and|or)\s+(?:the \w+ \w+ )?\((?P<letter>[A-Z])\)"
)
_LETTERS = re.compile(r"[A-Z]{2,6}(?![\w'-])")
_WORD_FOLLOWS = re.compile(
    r"\s+(?!(?:because|since|as|which|with|and|or|for|due|but|based|according|if|in)\b)[a-z]"
)
_LOWER_CASE_END = re.compile(
    r"[)\]}\"']*\s*(?:[.!;]?\s*(?:$|\n)|[.!]\s|,?\s*(?:and|or|,)\s*\(?[a-z]\)?(?!\w))"
)
_MARKER = re.compile(
    r"(?:[ \t]|[-#>][ \t])*(?:[(\[](?P<a>[A-Z])[)\]]|(?P<b>[A-Z])[ \t]*[.):](?=\s|$)|(?P<c>[A-Z])[ \t]*(?=\n|$))"
)
_ORDINAL_IMAGE = re.compile(r"\b(?:first|second|third|fourth) image \($")
_SUBQUESTION = re.compile(r"(?:^|[\n.?!;]\s*|\bin )\(?(?P<label>[a-e])\)")
_NONE_FITS = re.compile(r"none of the (?!other)[^.\n]{0,30}(?:options|choices|answers)|\bneither \(|没有正确|无正确|都不[是对]")


class _Cue(NamedTuple):
    kind: str
    start: int
    end: int


def standing_declaration(reply: Reply) -> Reading | None:
    """The declaration that stands: the last one.

    None stands when the reply retracts them, goes through the options one by one ("so the answer is (B). ... so the
    answer is (C). ..."), or answers sub-questions (a), (b) with different letters.
    """
    found = _declarations(reply)
    if any(reading.letter and not reading.weak for reading in found):
        found = [reading for reading in found if not reading.weak]
    if not found:
        return None
    last = found[-1]
    if _NONE_FITS.search(reply.low, last.end):
        return last._replace(letter=None, reason="none_fits")
    if len({reading.letter for reading in found}) > 1 and (_one_by_one(reply, found) or _by_subquestion(reply, found)):
        return last._replace(letter=None, reason="several")
    return last


def names_image(reply: Reply, i: int) -> bool:
    """Whether the bracketed letter at i numbers a picture: "the third image (C)" when that is the text of option B."""
    before = _ORDINAL_IMAGE.search(reply.low[max(0, i - 30) : i])
    named = reply.options().leading(before[0]) if before else None
    return before is not None and (named is None or named.letter != reply.text[i])


def marked_letter(text: str, start: int) -> tuple[str, int] | None:
    """The letter a line begins with, as in "(B) text", "B. text" or "B" alone, and where it stands."""
    marker = _MARKER.match(text, start)
    return (marker[marker.lastgroup], marker.start(marker.lastgroup)) if marker and marker.lastgroup else None


def joined_letters(text: str, end: int, lower: bool = False) -> set[str]:
    """Upper-cased letters joined to the one that ends at a position: "B and (C)", "B, C"."""
    letters = set()
    while (more := _JOINED.match(text, end)) and more["letter"].islower() == lower:
        bare = text[more.end() - 1] == more["letter"]
        if bare and more["letter"] in "AI" and _WORD_FOLLOWS.match(text, more.end()):
            break
        letters.add(more["letter"].upper())
        end = more.end()
    following = text[end : end + 100]
    if (" and " in following or " or " in following) and (far := _JOINED_TEXT.match(following)):
        letters.add(far["letter"])
    return letters


def is_negated(low: str, i: int) -> bool:
    """Whether a negation precedes position i in its clause."""
    return _NEGATION.search(re.split(r"[.!?;,]\s|\n", low[max(0, i - 60) : i])[-1]) is not None


def is_word(text: str, start: int, end: int) -> bool:
    """Whether the bare letter there is the article "A" or the pronoun "I"."""
    return text[start] in "AI" and _WORD_FOLLOWS.match(text, end) is not None


def _declarations(reply: Reply) -> list[Reading]:
    found = {}
    for cue in _cues(reply.low):
        readings = [_after(reply, cue)]
        if cue.kind in (_QUALITY, _CHINESE) or reply.low.startswith(("answer", "choice"), cue.start):
            readings.append(_before(reply, cue))
        found.update({reading.start: reading for reading in readings if reading})
    line = _last_line(reply)
    if line:
        found.setdefault(line.start, line)
    return [found[start] for start in sorted(found)]


def _cues(low: str) -> list[_Cue]:
    """The last places that may announce an answer. Plain searches: one pattern for all of them is ten times slower."""
    cues = []
    for word, kind in _ASCII_CUES if low.isascii() else _ALL_CUES:
        start, left = low.rfind(word), _LAST_CUES
        while start >= 0 and left:
            inside_word = start > 0 and word.isascii() and low[start - 1].isalpha() and kind != _BOX
            if not inside_word and not _NO_CUE.match(low, start):
                cues.append(_Cue(kind, start, start + len(word)))
            start, left = low.rfind(word, 0, start), left - 1
    for line_end in _LINE_END.finditer(low, max(0, len(low) - 20_000)):
        if _ANNOUNCES.search(low[max(0, line_end.start() - 12) : line_end.start()]):
            cues.append(_Cue(_LINE, *line_end.span()))
    return sorted(cues, key=lambda cue: cue.start)[-_LAST_CUES:]


def _after(reply: Reply, cue: _Cue) -> Reading | None:
    """A letter or an option's text after a cue: "the answer is (B)", "I would choose B", "\\boxed{B}"."""
    low = reply.low
    if cue.kind in (_VERB, _QUALITY) and is_negated(low, cue.start):
        return None
    after, after_text = (_AFTER_NOUN, _TEXT_AFTER_NOUN) if cue.kind == _NOUN else (_AFTER_WORD, _TEXT_AFTER_WORD)
    match = after.match(low, cue.end)
    i = match.start("letter") if match else -1
    bracketed = match is not None and reply.text[i].isupper() and reply.text[i - 1] == "("
    if not bracketed:  # A text may stand before the letter ("is 4 m, option B"), or be "(a) 4 m".
        head = after_text.match(low, cue.end)
        if head and (match is None or head.end() < i or reply.text[i] == "a"):
            letters = _LETTERS.match(reply.text, head.end())
            if letters and cue.kind in (_NOUN, _CHINESE) and _are_choices(letters[0], reply):
                return Reading(None, *letters.span(), "several")
            named = reply.options().leading(low, head.end())
            if named:
                return _named(reply, named, weak=cue.kind in (_VERB, _QUALITY))
    return _letter_at(reply, i, marked=cue.kind == _LINE) if match else None


def _are_choices(letters: str, reply: Reply) -> bool:
    """Whether the letters are choices in order, as in "Answer: ABD"."""
    return set(letters) <= reply.offered.keys() and list(letters) == sorted(set(letters))


def _before(reply: Reply, cue: _Cue) -> Reading | None:
    """A letter or an option's text before a cue: "option (B) is correct", "B选项正确", "Box B is the better choice"."""
    if cue.kind != _CHINESE and not _VERB_BEFORE.search(reply.low, max(0, cue.start - 30), cue.start):
        return None
    far = max(0, cue.start - 110)
    start = max((far + end.end() for end in _CLAUSE_END.finditer(reply.low[far : cue.start])), default=far)
    window = reply.text[start : cue.start]
    low = reply.low[start : cue.start]
    if _NEGATION.search(low):
        return None
    letters = [match for match in _LETTER_BEFORE.finditer(window) if match[match.lastgroup or 0].isupper()]
    if not letters:
        named = reply.options().mentions(reply.low, start, cue.start)
        if named and _VERB_BEFORE.fullmatch(reply.low[named[-1].end : cue.start].strip()):
            return Reading(*named[-1], weak=True)
        return None
    last = letters[-1]
    i = start + last.start(last.lastgroup or 0)
    letter = reply.text[i]
    listed = re.match(r"[ \t]*(?:[-#>][ \t]*)?[(\[]?$", reply.text[reply.text.rfind("\n", 0, i) + 1 : i])  # "(B) It is correct, but"
    if letter not in reply.offered or names_image(reply, i) or (listed and not _VERB_BEFORE.match(low[last.end() :].lstrip())):
        return None
    others = {match[match.lastgroup or 0] for match in letters[-2:-1]} - {letter}
    if others and re.search(r"\b(?:and|or)\b[^,]*$|[和、]", window[letters[-2].end() : last.start()]):
        return Reading(None, i, i + 1, "several")
    return Reading(letter, i, i + 1)


def _letter_at(reply: Reply, i: int, marked: bool) -> Reading | None:
    """The declaration made by the letter at i; None when it is a word, a sub-question's label or part of a name."""
    text = reply.text
    letter = text[i].upper()
    opened = i > 0 and text[i - 1] in "([{"
    closed = re.match(r"\s*[)\]}]", text[i + 1 : i + 4]) is not None
    if marked and not (opened and closed) and not re.match(r"[.):]*\s*(?:\n|$)|[.)]\s", text[i + 1 : i + 8]):
        return None
    if text[i].islower():
        if not _LOWER_CASE_END.match(text, i + 1):  # "(a) 3 m" answers a sub-question, unless an option reads so.
            named = reply.options().leading(reply.low, i - opened)
            return _named(reply, named) if named else None
    elif not (opened and (closed or text[i + 1 : i + 2] == ",")):
        if is_word(text, i, i + 1):
            return None
        if letter not in reply.offered and not re.match(r"[.\"'}\]]*\s*(?:$|\n)", text[i + 1 :][:20]):
            return None
    if joined_letters(text, i + 1, text[i].islower()) - {letter} or _heads_list(text, i):
        return Reading(None, i, i + 1, "several")
    if letter not in reply.offered:
        return None if names_image(reply, i) else Reading(None, i, i + 1, "not_offered")
    return Reading(letter, i, i + 1)


def _named(reply: Reply, named: Mention, weak: bool = False) -> Reading:
    """The declaration made by an option's text: none when another one is joined to it or listed below it."""
    joint = re.compile(r"[\"')]*,?\s*(?:or|and)\s[\"'(]*|[^\n]{0,3}\n\W{0,6}").match(reply.low, named.end)
    other = reply.options().leading(reply.low, joint.end()) if joint else None
    if other and other.letter != named.letter:
        return Reading(None, named.start, named.end, "several", weak)
    return Reading(named.letter, named.start, named.end, None, weak)


def _heads_list(text: str, i: int) -> bool:
    """Whether the letter at i opens a list of options: the next line begins with another letter."""
    line = text.rfind("\n", max(0, i - 6), i) + 1
    line_end = text.find("\n", i, i + 600)
    if not line or line_end < 0:
        return False
    here = marked_letter(text, line)
    following = marked_letter(text[line_end : line_end + 20].lstrip("\n"), 0)
    return bool(here and following and here[0] != following[0])


def _last_line(reply: Reply) -> Reading | None:
    """A last line that is only a letter, perhaps with its text, unless it ends a list of options."""
    text = reply.text
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    marked = marked_letter(text, start) if start and end - start < 300 else None
    if not marked:
        return None
    letter, i = marked
    above = text[max(0, start - 700) : start].rstrip().rpartition("\n")[2]
    listed = marked_letter(above, 0)
    if listed and listed[0] != letter:
        return None
    if letter not in reply.offered:
        return Reading(None, i, i + 1, "not_offered") if text[i - 1] == "(" else None
    return Reading(letter, i, i + 1)


def _one_by_one(reply: Reply, found: list[Reading]) -> bool:
    """Whether the last declarations run through three or more options in order, the last one declared only there."""
    letters = [reading.letter or "" for reading in found]
    run = 1
    while run < len(letters) and letters[-run] > letters[-run - 1] > "":
        run += 1
    own_line = found[-1].start - reply.text.rfind("\n", 0, found[-1].start) < 25  # "Answer: D" is no part of a run.
    return run >= 3 and letters.count(letters[-1]) == 1 and not own_line


def _by_subquestion(reply: Reply, found: list[Reading]) -> bool:
    """Whether sub-questions (a), (b) are answered with different letters."""
    labels = [(match.start(), match["label"]) for match in _SUBQUESTION.finditer(reply.text)]
    answers = {}
    for reading in found:
        before = [label for start, label in labels if start < reading.start]
        if before:
            answers[before[-1]] = reading.letter
    return len(set(answers.values())) > 1
