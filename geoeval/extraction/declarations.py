"""Where a reply declares a letter ("Answer: B", "option (B) is correct"), and which declaration stands."""

from __future__ import annotations

import re

from geoeval.extraction.cues import LABEL, LINE, NOUN, QUALITY, VERB, Cue, Kind, find_cues
from geoeval.extraction.options import Mention
from geoeval.extraction.reply import (
    NEGATES,
    NEGATION,
    WORD,
    Reading,
    Reply,
    is_negated,
    is_word,
    joined_letters,
    marked_letter,
    names_image,
)
from geoeval.extraction.text import has_any

# What may stand between a cue and its letter. All repeats are bounded, so that every match takes bounded time.
_FILLER = (
    r"(?:[\s\"'_\[{(:>=~,→⇒]|->|\\[(\[]|\\(?:text|math|boxed|fbox)\w*|\.{3}|\[[\d., ]{3,24}\]"
    r"|选项|选|对应的|字母|应该?|是|为|は|은|는"
    r"|(?:the|correct|best|right|final|option|choice|letter|answer|most|likely|probably|therefore|thus|simply|indeed"
    r"|clearly|actually|still|either|both|towards?|as|to be|that)\b){0,24}"
)
_CONNECTOR = r"(?:\b(?:is|are|be|was|remains|es|ist|est)\b(?!\s+(?:not|neither|none)\b)|[:=>→⇒]|[是为は选은는])"
_GAP = r"(?:s|ed|ing)?(?!\s*[(\[]?[a-z][)\]]?[\s:.])[^.!?\n()\[\]]{0,80}?"
_SUFFIX = r"(?:s|ed|ning|ing|likely|appropriate|suitable|accurate)?"
_LETTER = rf"(?<![{WORD}\\.])(?P<letter>[a-z])(?![{WORD}]|\\(?![)\]])|['-][a-z]|\s*(?:[+=>^]|<(?!/)))"
_AFTER_NOUN, _AFTER_WORD = (
    (re.compile(before), re.compile(before + _LETTER))
    for before in (rf"{_GAP}{_CONNECTOR}{_FILLER}", rf"{_SUFFIX}{_FILLER}")
)
"""What stands between a cue and its target, and the same with a letter as the target."""
_LETTER_HERE = re.compile(_LETTER)
_ALONE = re.compile(r"[ ]?[(\[]?(?P<letter>[a-z])[)\]]?\.?[ ]*(?=\n|$)")
_LETTERS = re.compile(rf"[A-Z]{{2,6}}(?![{WORD}'-])")

_VERBS = ("is", "be", "are", "was", "seems", "appears", "as", "looks", "是")
_AFTER_VERB = (
    *("the", "a", "also", "therefore", "thus", "likely", "probably", "most", "clearly", "more", "actually", "best"),
    *("better", "correct", "right"),
)
_VERB_BEFORE = re.compile(
    rf"(?:(?:\b(?:would|might|may|could|should|must) )?\b(?:{'|'.join(_VERBS[:-1])})"
    rf"(?:\s+(?:to be|{'|'.join(_AFTER_VERB)}))*|是)\s*$"
)
_LETTER_BEFORE = re.compile(
    rf"(?:[(\[]|\b(?i:option|choice|answer|statement|part|picture)\s*[(\[]?|选项\s*)"
    rf"(?P<named>[A-Z])(?![{WORD}'-])[)\]]?"
    rf"|(?P<chinese>[A-Z])选项|(?<![{WORD}'-])(?P<bare>[A-Z])(?=\s(?i:is|would|are|and|or)\b)"
)
_LONE_CAPITAL = re.compile(rf"[A-Z](?![{WORD}'-])")
_LIST_MARK = re.compile(r"[ \t]*(?:[-#>][ \t]*)?[(\[]?$")
_CLAUSE_END = re.compile(r"[.!?\n;](?:(?<=[\n;])|\s)")
_TEXT_JOINT = re.compile(r"[\"')]*,?\s*(?:or|and)\s[\"'(]*|[^\n]{0,3}\n\W{0,6}")
_LOWER_CASE_END = re.compile(r"[)\]}\"']*\s*(?:[.!;]?\s*(?:$|\n)|[.!]\s|,?\s*(?:and|or|,)\s*\(?[a-z]\)?(?!\w))")
_ENDS_LINE = re.compile(r"[.\"'}\]]*\s*(?:$|\n)")
_LINE_MARK_END = re.compile(r"[.):]*\s*(?:\n|$)|[.)]\s")
_INSTRUCTS = re.compile(r"\b(?:line|format|form)\b[^\n\w]{0,4}[\"']$")  # 'end with a line "Answer: X"', echoed.
_QUOTES = ("'", '"')
_NAMES = ("answer", "option", "choice")
_SUBQUESTION = re.compile(r"(?:^|[\n.?!;]\s*|\bin )\(?(?P<label>[a-e])\)")
_NONE_SIGNS = ("none of the ", "neither (", "正确", "都不")
_NONE_FITS = re.compile(
    r"none of the (?!other)[^.\n]{0,30}(?:options|choices|answers)|neither \(|没有正确|无正确|都不[是对]"
)


def standing_declaration(reply: Reply) -> Reading | None:
    r"""The declaration that stands: "Answer: B", "option (B) is correct", "\boxed{B}"; the last one.

    None stands when the reply retracts them, goes through the options one by one ("so the answer is (B). ... so the
    answer is (C). ..."), or answers sub-questions (a), (b) with different letters.
    """
    found = _declarations(reply)
    if not found:
        return None
    several = False
    if len(found) > 1:
        if any(reading.letter and not reading.weak for reading in found):
            found = [reading for reading in found if not reading.weak]
        differ = len({reading.letter for reading in found}) > 1
        several = differ and (_one_by_one(reply, found) or _by_subquestion(reply, found))
    last = found[-1]
    tail = reply.low[last.end :]
    if has_any(tail, _NONE_SIGNS) and _NONE_FITS.search(tail):
        return last._replace(letter=None, reason="none_fits")
    return last._replace(letter=None, reason="several") if several else last


def _declarations(reply: Reply) -> list[Reading]:
    found: dict[int, Reading] = {}
    low = reply.low
    for cue in find_cues(low):
        kind, start, _ = cue
        if low[start - 1 : start] in _QUOTES and _INSTRUCTS.search(low, max(0, start - 20), start):
            continue
        if reading := _after(reply, cue):
            found[reading.start] = reading
        either_side = low.startswith(_NAMES, start) if kind is NOUN else kind is QUALITY or kind is LABEL
        if either_side and (reading := _before(reply, cue)):
            found[reading.start] = reading
    if line := _last_line(reply):
        found.setdefault(line.start, line)
    return [found[start] for start in sorted(found)]


def _after(reply: Reply, cue: Cue) -> Reading | None:
    r"""A letter or an option's text after a cue: "the answer is (B)", "I would choose B", "\boxed{B}"."""
    kind = cue.kind
    if kind is NOUN:
        alone = _ALONE.match(reply.low, cue.end) if reply.low.startswith("answer", cue.start) else None
        if alone:  # "Final answer B" on a line; "Option B" on one is a heading.
            return _letter_at(reply, alone.start("letter"), kind)
        return _target(reply, cue, _AFTER_NOUN)
    if (kind is VERB or kind is QUALITY) and is_negated(reply.low, cue.start):
        return None
    reading = _target(reply, cue, _AFTER_WORD)
    if kind is QUALITY:
        reading = reading or _target(reply, cue, _AFTER_NOUN)  # "The correct view for this edge is (B)."
        return reading and reading._replace(weak=True)
    return reading


def _target(reply: Reply, cue: Cue, shapes: tuple[re.Pattern[str], re.Pattern[str]]) -> Reading | None:
    text, low, _, options = reply
    head = shapes[0].match(low, cue.end)
    if head is None:
        return None
    end = head.end()
    match = _LETTER_HERE.match(low, end) or shapes[1].match(low, cue.end)
    i = match.start("letter") if match else -1
    if match and text[i].isupper() and text[i - 1] == "(":
        return _letter_at(reply, i, cue.kind)
    # A text may stand before a bare letter ("is 4 m, option B"), or be what looks like one ("(a) 4 m").
    if match is None or end < i or text[i] == "a":
        letters = _LETTERS.match(text, end)
        if letters and cue.kind in (NOUN, LABEL) and _are_choices(letters[0], reply):
            return Reading(None, *letters.span(), "several")
        named = options.leading(low, end)
        if named:
            return _text_at(reply, named, weak=cue.kind is VERB)
    return _letter_at(reply, i, cue.kind) if match else None


def _are_choices(letters: str, reply: Reply) -> bool:
    """Whether the letters are choices in order, as in "Answer: ABD"."""
    return set(letters) <= reply.offered.keys() and list(letters) == sorted(set(letters))


def _before(reply: Reply, cue: Cue) -> Reading | None:
    """A letter or an option's text before a cue: "option (B) is correct", "B选项正确", "Box B is the better choice"."""
    if cue.kind is not LABEL and not _follows_verb(reply.low, cue.start):
        return None
    far = max(0, cue.start - 110)
    start = max((far + end.end() for end in _CLAUSE_END.finditer(reply.low[far : cue.start])), default=far)
    if has_any(reply.low[start : cue.start], NEGATES) and NEGATION.search(reply.low, start, cue.start):
        return None
    lettered = _LONE_CAPITAL.search(reply.text, start, cue.start)
    letters = [
        (match[match.lastgroup or 0], match.start(match.lastgroup or 0), match)
        for match in (_LETTER_BEFORE.finditer(reply.text, start, cue.start) if lettered else ())
    ]
    if not letters:
        named = reply.options.mentions(reply.low, start, cue.start)
        adjacent = named and _VERB_BEFORE.fullmatch(reply.low[named[-1].end : cue.start].strip())
        return Reading(*named[-1], weak=True) if adjacent else None
    letter, i, match = letters[-1]
    verb_next = _VERB_BEFORE.fullmatch(reply.low[match.end() : cue.start].strip())
    listed = _LIST_MARK.match(reply.text[reply.text.rfind("\n", 0, i) + 1 : i])  # "(B) The first part is correct, but"
    if letter not in reply.offered or names_image(reply, i) or ((listed or match["bare"]) and not verb_next):
        return None
    if letters[-2:-1] and letters[-2][0] != letter:
        between = reply.low[letters[-2][2].end() : match.start()]
        if re.search(r"\b(?:and|or)\b[^,]*$|[和、]", between):
            return Reading(None, i, i + 1, "several")
    return Reading(letter, i, i + 1)


def _follows_verb(low: str, end: int) -> bool:
    """Whether a verb stands before a position, as in "(B) is most likely the"; most are told by the last words."""
    words = low[max(0, end - 40) : end].split()
    while words and words[-1] in _AFTER_VERB:
        words.pop()
    return bool(words) and words[-1].endswith(_VERBS) and _VERB_BEFORE.search(low, max(0, end - 40), end) is not None


def _letter_at(reply: Reply, i: int, kind: Kind) -> Reading | None:
    """The declaration made by the letter at i; None when it is a word, a sub-question's label or part of a name."""
    text = reply.text
    lower = text[i].islower()
    letter = text[i].upper()
    opened = i > 0 and text[i - 1] in "([{"
    bracketed = opened and text[i + 1 : i + 4].lstrip()[:1] in (")", "]", "}", ",")
    if kind is LINE and not bracketed and not _LINE_MARK_END.match(text, i + 1):
        return None
    if lower and not _LOWER_CASE_END.match(text, i + 1):  # "(a) 3 m" answers a sub-question, unless an option reads so.
        named = reply.options.leading(reply.low, i - opened)
        return _text_at(reply, named) if named else None
    if not lower and not bracketed:
        ends_line = letter in reply.offered or _ENDS_LINE.match(text, i + 1, i + 20)
        if not ends_line or is_word(text, i):
            return None
    nothing_follows = len(text) - i < 5 and not text[i + 1 :].strip(").]\"' ")
    if not nothing_follows and (joined_letters(text, i + 1, lower) - {letter} or _heads_list(text, i)):
        return Reading(None, i, i + 1, "several")
    if letter not in reply.offered:
        return None if names_image(reply, i) else Reading(None, i, i + 1, "not_offered")
    return Reading(letter, i, i + 1)


def _text_at(reply: Reply, named: Mention, weak: bool = False) -> Reading:
    """The declaration made by an option's text: none when another one is joined to it or listed below it."""
    joint = _TEXT_JOINT.match(reply.low, named.end)
    other = reply.options.leading(reply.low, joint.end()) if joint else None
    if other and other.letter != named.letter:
        return Reading(None, named.start, named.end, "several", weak)
    return Reading(named.letter, named.start, named.end, None, weak)


def _heads_list(text: str, i: int) -> bool:
    """Whether the letter at i opens a list of options, on lines of their own or on one line."""
    line_end = text.find("\n", i, i + 600)
    inline = text[i : line_end if line_end >= 0 else i + 300]
    if f"{text[i]}. " in inline and all(f"{chr(ord(text[i]) + step)}. " in inline for step in (1, 2)):
        return True
    line = text.rfind("\n", max(0, i - 12), i) + 1
    if not line or line_end < 0:
        return False
    here, following = (
        marked_letter(start.lstrip("\n").removeprefix("Option "))
        for start in (text[line : line + 30], text[line_end : line_end + 30])
    )
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
    if text[i + 1 : end] == ":":  # A label with nothing after it.
        return None
    above = marked_letter(text[max(0, start - 700) : start].rstrip().rpartition("\n")[2])
    if above and above[0] != letter:
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
    if sum(f"{label})" in reply.text for label in "abcde") < 2:
        return False
    labels = [(match.start(), match["label"]) for match in _SUBQUESTION.finditer(reply.text)]
    answers = {}
    for reading in found:
        before = [label for start, label in labels if start < reading.start]
        if before:
            answers[before[-1]] = reading.letter
    return len(set(answers.values())) > 1
