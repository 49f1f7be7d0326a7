"""Replies that declare no letter in so many words: refusals, and what names one option all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from geoeval.extraction.reply import Reading, Reply, is_negated, is_word, names_image
from geoeval.extraction.text import has_any

_TO_TELL = (
    r"\b[^.\n]{0,40}?(?:determine|identify|answer|select|choose|provide\b|view|analy[sz]e|see\b|make|predict|interpret"
    r"|assess|enough|sufficient|information|say|tell|feel comfortable|definitiv)"
)
_WHAT_IS_ASKED = r"(?:any|exactly|with (?:any|the)|(?:one of )?the (?:\w+ )?(?:options|choices|answers))"
# How a refusal begins -> how it goes on. One pattern for all takes ten times as long.
_REFUSALS = {
    "not": rf"(?:{_TO_TELL}| (?:directly )?(?:listed|provided|available|included|among)\b| match {_WHAT_IS_ASKED})",
    **dict.fromkeys(("can't", "don't", "doesn't", "unable to", "impossible to", "difficult to"), _TO_TELL),
    **dict.fromkeys(("no correct ", "no right ", "no suitable "), "(?:answer|option|choice)"),
    **dict.fromkeys(("none of the", "no option", "neither the", "i'm sorry", "i am sorry", "failed to"), ""),
    "apologi": "[sz]e",
    "option": r"(?: is not|s? (?:do|does) not)",
    "mistake in the ": "(?:question|options|problem)",
    **dict.fromkeys(("无法", "没有正确", "无正确", "有误"), ""),
    "都不": "[是对]",
}
_REFUSES = tuple((begins, re.compile(begins + goes_on)) for begins, goes_on in _REFUSALS.items())
_SUGGESTS = re.compile(
    r"would (?:suggest|say|be the better)|(?:more|most) likely|best guess|better choice|closest|assessment"
    r"|given options|therefore|might be a"
)
_CONCLUSIONS = (
    *("therefore", "thus", "hence", "so", "consequently", "conclusion", "summary", "overall", "based on"),
    *("所以", "因此", "综上"),
)
_CONCLUDES = re.compile(rf"\b(?:{'|'.join(_CONCLUSIONS[:-3])})\b|{'|'.join(_CONCLUSIONS[-3:])}")
_DENIES = re.compile(r"\b(?:not|cannot|neither|none|nor|without|difficult|less|least|unlike)\b|n't\b|不|没")
_STATES_TASK = re.compile(r"\bto (?:determine|find|answer|solve|identify)\b|\b(?:let's|we|need)\b")
_DESCRIBES = re.compile(
    r"\bimages? (?:\([a-z]\)[,:]? )?(?:also )?(?:shows?|depicts?|features?|contains?|displays?|is an? )"
)
_TEXT_ENDS = re.compile(r"[\"')]*\s*(?:[.,;:!\n]|$)")
# In lower-case text. Every alternative begins with a plain character, which lets a search skip; so what stands for
# a word boundary comes after the word.
_BRACKETED = r"(?:(?:option|choice|answer)\s)?([a-z])[)\]]"
_NAMED = re.compile(
    "|".join(
        [rf"\({_BRACKETED}", rf"\[{_BRACKETED}"]
        + [
            rf"{word}(?<!\w{word})\s([a-z])(?![\w'-])"
            for word in ("option", "choice", "part", "object", "item", "component", "workpiece")
        ]
    )
)
_LAST_WORD = re.compile(
    r"(?:\b(?:is|are|be|by|as|to|with|labell?ed|marked|point|part|think|say|[Ss]o)|'s)\s{0,4}[:\"'(\[]{0,2}\s{0,2}"
    r"(?P<letter>[A-Z])[\"')\]]?[.,]?[\"']?(?=\s|$)(?!\s*[=<>+])"
)
_STANDALONE = re.compile(r"[A-Z](?<![\w'].)(?![\w'])")
_LETTER_ENDS = re.compile(r"[A-Z](?!\w)")
_SENTENCE = re.compile(r"[^\s.!?\n][^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*")
_NEAR = 2_000
_MANY = 60


def leading_text(reply: Reply) -> Reading | None:
    """An option's text first, then a full stop or comma: "No, the car ...", "Slate."."""
    named = reply.options.leading(reply.low[:_NEAR])
    return Reading(*named) if named and _TEXT_ENDS.match(reply.low, named.end) else None


def refusal(reply: Reply) -> Reading | None:
    """None for "I cannot determine ...", unless another sentence suggests one option."""
    if not _refuses(reply.low):
        return None
    suggested = None
    for start, end in _sentences(reply):
        sentence = reply.low[start:end]
        if re.search(r"\b(?:neither|none)\b", sentence):
            suggested = None
        elif _SUGGESTS.search(sentence) and not _refuses(sentence) and not _DENIES.search(sentence):
            suggested = _one_option(reply, start, end) or suggested
    return suggested or Reading(None, 0, 0, "refusal")


def _refuses(low: str) -> bool:
    return any(pattern.search(low) for begins, pattern in _REFUSES if begins in low)


def paired(reply: Reply) -> Reading | None:
    """A bracketed letter beside its own option's text, when only one is: "(A) 4 zebras", "the second image (A)"."""
    found: dict[str, int] = {}
    for match in list(_NAMED.finditer(reply.low))[-_MANY:]:
        i = match.start(match.lastindex or 0)
        letter = reply.text[i] if match[0][0] in "([" else ""
        if letter in reply.offered and letter not in found and not is_negated(reply.low, match.start()):
            after = reply.options.leading(reply.low, match.end())
            before = reply.options.mentions(reply.low, max(0, match.start() - 60), match.start())[-1:]
            adjacent = before and not reply.text[before[0].end : match.start()].strip(' ,"')
            if letter in {mention.letter for mention in (after, *(before if adjacent else ())) if mention}:
                found[letter] = i
    return _only(found)


def only_option(reply: Reply) -> Reading | None:
    """The whole reply names one option, by a bracketed letter or by its text."""
    return _one_option(reply, 0, len(reply.text))


def concluding(reply: Reply) -> Reading | None:
    """The last sentence with "therefore", "so", "based on" that names one option."""
    concluded = None
    for start, end in _sentences(reply):
        sentence = reply.low[start:end]
        if has_any(sentence, _CONCLUSIONS) and _CONCLUDES.search(sentence) and not _DENIES.search(sentence):
            concluded = _one_option(reply, start, end) or _last_word(reply, start, end) or concluded
    return concluded


def opening(reply: Reply) -> Reading | None:
    """The first sentence names one option, and neither states the task nor describes a picture."""
    start, end = next(_sentences(reply), (0, 0))
    sentence = reply.low[start:end]
    heading = reply.text[end : end + 1] == "\n"
    if heading or len(sentence) > _NEAR or any(shape.search(sentence) for shape in (_STATES_TASK, _DESCRIBES, _DENIES)):
        return None
    return _one_option(reply, start, end)


def named_last(reply: Reply) -> Reading | None:
    """A bare letter that ends a statement, the only letter there is: "The mismatched part is C."."""
    return _last_word(reply, 0, len(reply.text))


def _last_word(reply: Reply, start: int, end: int) -> Reading | None:
    """The one bare letter between two positions, where it ends a statement."""
    if not _LETTER_ENDS.search(reply.text, start, end):
        return None
    found = {match["letter"]: match.start("letter") for match in _LAST_WORD.finditer(reply.text, start, end)}
    letters = _STANDALONE.finditer(reply.text, start, end)
    others = {match[0] for match in letters if not is_word(reply.text, match.start())}
    reading = _only(found)
    return reading if reading and reading.letter in reply.offered and others <= found.keys() else None


def _one_option(reply: Reply, start: int, end: int) -> Reading | None:
    """The one option named between two positions; its letter and its text may both be."""
    letters = {}
    for match in _NAMED.finditer(reply.low, start, end):
        i = match.start(match.lastindex or 0)
        letter = reply.text[i]
        if letter in reply.offered and not names_image(reply, i) and not is_negated(reply.low, match.start()):
            letters[letter] = i
    texts = {named.letter: named for named in reply.options.mentions(reply.low, start, end)}
    if letters:
        return _only(letters) if texts.keys() <= letters.keys() else None
    return Reading(*next(iter(texts.values()))) if len(texts) == 1 else None


def _only(found: dict[str, int]) -> Reading | None:
    return next((Reading(letter, i, i + 1) for letter, i in found.items()), None) if len(found) == 1 else None


def _sentences(reply: Reply) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _SENTENCE.finditer(reply.text))
