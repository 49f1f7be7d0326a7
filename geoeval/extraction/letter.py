"""Reading the option letter a reply commits to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from geoeval.extraction.declarations import (
    Reading,
    Reply,
    is_negated,
    is_word,
    joined_letters,
    marked_letter,
    names_image,
    standing_declaration,
)
from geoeval.extraction.options import option_texts
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.extraction.text import before_run_on, plain_text
from geoeval.types import Extraction

_WHOLE = re.compile(r"\W*(?:(?:option|choice|answer)\W*)?([A-Za-z])\W*", re.IGNORECASE)
_LEADING = re.compile(r"\s*(?:[(\[]([A-Z])[)\]]|([A-Z]) ?[.):,](?=\s|$)|([A-Z]) *\n)")
_NEW_LINE = re.compile(r"\n\s*")
_BRACKETED = re.compile(r"[(\[](?:(?:option|choice|answer)\s)?([A-Z])[)\]]", re.IGNORECASE)
_SENTENCE = re.compile(r"[^\s.!?\n](?:[^.!?\n]|[.!?](?!\s|$))*")
_NAMED_LAST = re.compile(r"\b(?:is|are|be|by|as|to|with|labell?ed|marked|point|part)\s?[:\"'(\[]{0,2}\s?([A-Z])[\"')\]]?[.,]?[\"']?(?=\s|$)(?!\s*[=<>+])")
_STANDALONE = re.compile(r"(?<![\w'])[A-Z](?![\w'])")
_REFUSES = re.compile(
    r"(?:not|can't|don't|doesn't|unable to|impossible to|difficult to)\b[^.\n]{0,40}?(?:determine|identify|answer|select|choose|provide|view|analy[sz]e|see\b|make"
    r"|predict|interpret|assess|enough|sufficient|information|say|tell|feel comfortable|definitiv|listed|provided"
    r"|available|included|among)"
    r"|none of (?:the|these|them)|option is not|no (?:correct|right|suitable) (?:answer|option|choice)|i(?:'m| am) sorry"
    r"|apologi[sz]e|failed to|no option|options? (?:do|does) not|not match|neither the"
    r"|mistake in the (?:question|options|problem)|无法|没有正确|无正确|有误|都不[是对]"
)
_SUGGESTS = re.compile(r"would (?:suggest|say|be the better)|(?:more|most) likely|best guess|better choice|closest|assessment|given options|therefore|might be a")
_CONCLUDES = re.compile(r"\b(?:therefore|thus|hence|so|consequently|conclusion|summary|overall|based on)\b|所以|因此|综上")
_NO_CLAIM = re.compile(
    r"\bimages? (?:\([a-z]\)[,:]? )?(?:also )?(?:shows?|depicts?|features?|contains?|displays?|has|is an? )"
    r"|\bto (?:determine|find|answer|solve|identify)\b|\b(?:let's|we|need)\b|\b(?:not|cannot|neither|none|nor|less|least)\b|n't\b"
)
_NEGATES = re.compile(r"\b(?:not|cannot|neither|none|nor|without|difficult|less|least|unlike)\b|n't\b|不|没")
_LONG = 20_000
_NEAR = 2_000
_MANY = 60


def extract_letter(
    reply: str, choices: Sequence[str], options: Sequence[str] | None = None, policy: str = "declared"
) -> Extraction:
    """Read the option letter a reply finally commits to.

    Args:
        reply: The model's reply; reasoning in tags does not count.
        choices: The letters offered.
        options: The text of each choice in the same order, when known; lets a reply name an option by its text.
        policy: "declared" reads the declared answer. "first_letter" is the naive rule of the FORGE paper, kept for
            comparison: the first capital letter anywhere in the reply, so that "I will select option A" reads "I".

    Returns:
        ``value`` is one of `choices`, or None. ``method`` names the rule that read it. ``reason`` says why nothing was
        read: "empty", "only_reasoning", "not_offered" (the declared letter is no choice), "several", "none_fits" (the
        reply says no option is right), "refusal", "cut_off" or "no_declaration". ``data["span"]`` is where the answer
        stands in the reply, unless reasoning was removed after it. Takes linear time.

    Raises:
        ValueError: Unknown policy.
    """
    if policy == "first_letter":
        return _first_letter(reply, choices)
    if policy != "declared":
        raise ValueError(f'unknown policy {policy!r}; there are "declared" and "first_letter"')
    visible = strip_reasoning(reply)
    if not visible:
        return Extraction(None, "none", "only_reasoning" if reply.strip() else "empty")
    text = before_run_on(plain_text(visible))
    offered = {choice.upper(): choice for choice in choices}
    prepared = Reply(text, text.lower(), offered, lambda: option_texts(tuple(offered), tuple(options or ())))
    scopes = _scopes(prepared)
    for method, rule, scope in RULES:
        reading = rule(prepared) if scope in scopes else None
        if reading is None:
            continue
        if reading.letter is None:
            return Extraction(None, "none", reading.reason)
        return Extraction(offered[reading.letter], method, data=_span(reply, visible, reading))
    return Extraction(None, "none", "cut_off" if _cut_off(prepared) else "no_declaration")


def _first_letter(reply: str, choices: Sequence[str]) -> Extraction:
    first = re.search("[A-Z]", reply)
    if first is None:
        return Extraction(None, "none", "no_declaration" if reply.strip() else "empty")
    if first[0] not in choices:
        return Extraction(None, "none", "not_offered")
    return Extraction(first[0], "first_letter", data={"span": first.span()})


def _span(reply: str, visible: str, reading: Reading) -> dict[str, tuple[int, int]]:
    kept = reply.rstrip()
    offset = len(kept) - len(visible)
    return {"span": (reading.start + offset, reading.end + offset)} if kept.endswith(visible) else {}


def whole_reply(reply: Reply) -> Reading | None:
    """Nothing but a letter: "B", "(b).", "Option B"; or one word of another language that means an option."""
    if len(reply.text) > 40:
        return None
    word = reply.options().translated(reply.low)
    if word:
        return Reading(word, 0, len(reply.text.rstrip()))
    match = _WHOLE.fullmatch(reply.text)
    return _offered(reply, match[1].upper(), match.start(1)) if match else None


def leading_letter(reply: Reply) -> Reading | None:
    """A letter before its text or a reason: "(B) text", "B. text", "B" on a line of its own; not a copied list."""
    match = _LEADING.match(reply.text)
    if match is None or match.lastindex is None:
        return None
    letter, i = match[match.lastindex], match.start(match.lastindex)
    if letter not in reply.offered and match.lastindex > 1:
        return None  # "E. coli" where no E is offered.
    named = reply.options().leading(reply.low) if match.lastindex == 2 else None
    if named and named.end > match.end():  # "E. coli", the text of an option.
        return Reading(*named)
    lines = [line.end() for line in _NEW_LINE.finditer(reply.text, 0, _LONG)]
    others = {marked[0] for line in lines if (marked := marked_letter(reply.text, line))}
    if (others | joined_letters(reply.text, i + 1)) - {letter}:
        return Reading(None, i, i + 1, "several")
    return _offered(reply, letter, i)


def leading_text(reply: Reply) -> Reading | None:
    """An option's text first: "No, the car ...", "Box B fits closely."; not a sentence that names other options too."""
    named = reply.options().leading(reply.low[:_NEAR])
    if named is None:
        return None
    ends_there = re.match(r"[\"')]*\s*(?:[.,;:!\n]|$)", reply.low[named.end : named.end + 10])
    return Reading(*named) if ends_there else opening(reply)


def refusal(reply: Reply) -> Reading | None:
    """"I cannot determine ...": none, unless another sentence suggests one option."""
    refused = _REFUSES.search(reply.low)
    if refused is None:
        return None
    suggested = None
    for start, end in _sentences(reply):
        sentence = reply.low[start:end]
        if re.search(r"\b(?:neither|none)\b", sentence):
            suggested = None
        elif _SUGGESTS.search(sentence) and not _REFUSES.search(sentence) and not _NEGATES.search(sentence):
            suggested = _one_option(reply, start, end) or suggested
    return suggested or Reading(None, refused.start(), refused.end(), "refusal")


def paired(reply: Reply) -> Reading | None:
    """A bracketed letter beside its own option's text, when only one is: "(A) 4 zebras", "the second image (A)"."""
    found: dict[str, int] = {}
    for match in list(_BRACKETED.finditer(reply.text))[-_MANY:]:
        letter = match[1]
        if letter in reply.offered and letter not in found and not is_negated(reply.low, match.start()):
            after = reply.options().leading(reply.low, match.end())
            before = reply.options().mentions(reply.low, max(0, match.start() - 60), match.start())[-1:]
            adjacent = before and not reply.text[before[0].end : match.start()].strip(' ,"')
            if letter in {mention.letter for mention in (after, *(before if adjacent else ())) if mention}:
                found[letter] = match.start(1)
    return _only(found)


def only_option(reply: Reply) -> Reading | None:
    """The whole reply names one option, by a bracketed letter or by its text."""
    return _one_option(reply, 0, len(reply.text))


def opening(reply: Reply) -> Reading | None:
    """The first sentence names one option, and neither states the task nor describes a picture."""
    start, end = next(_sentences(reply), (0, 0))
    return None if end - start > _NEAR or _NO_CLAIM.search(reply.low, start, end) else _one_option(reply, start, end)


def concluding(reply: Reply) -> Reading | None:
    """The last sentence with "therefore", "so", "based on" names one option."""
    concluded = None
    for start, end in _sentences(reply):
        sentence = reply.low[start:end]
        if _CONCLUDES.search(sentence) and not _NEGATES.search(sentence):
            concluded = _one_option(reply, start, end) or concluded
    return concluded


def named_last(reply: Reply) -> Reading | None:
    """A bare letter that ends a statement, the only letter there is: "The mismatched part is C."."""
    found = {match[1]: match.start(1) for match in _NAMED_LAST.finditer(reply.text)}
    other = {match[0] for match in _STANDALONE.finditer(reply.text) if not is_word(reply.text, *match.span())}
    reading = _only(found)
    return reading if reading and not other - {reading.letter} and reading.letter in reply.offered else None


_ANY, _SHORT, _COMPLETE = "any reply", "not a very long one", "nor one that is cut off, where the answer may be missing"
RULES: tuple[tuple[str, Callable[[Reply], Reading | None], str], ...] = (
    ("whole_reply", whole_reply, _ANY),
    ("declared", standing_declaration, _ANY),
    ("leading_letter", leading_letter, _ANY),
    ("leading_text", leading_text, _ANY),
    ("hedged", refusal, _SHORT),
    ("paired", paired, _SHORT),
    ("only_option", only_option, _COMPLETE),
    ("concluding", concluding, _COMPLETE),
    ("opening", opening, _COMPLETE),
    ("named_last", named_last, _COMPLETE),
)
"""Method, rule and what it may be tried on, in order; the first rule that reads something settles the reply."""


def _scopes(reply: Reply) -> tuple[str, ...]:
    if len(reply.text) > _LONG:
        return (_ANY,)
    return (_ANY, _SHORT) if _cut_off(reply) else (_ANY, _SHORT, _COMPLETE)


def _offered(reply: Reply, letter: str, i: int) -> Reading:
    return Reading(letter, i, i + 1) if letter in reply.offered else Reading(None, i, i + 1, "not_offered")


def _only(found: dict[str, int]) -> Reading | None:
    return next((Reading(letter, i, i + 1) for letter, i in found.items()), None) if len(found) == 1 else None


def _one_option(reply: Reply, start: int, end: int) -> Reading | None:
    """The one option named between two positions; a bracketed letter counts before a text."""
    letters = {
        match[1]: match.start(1)
        for match in _BRACKETED.finditer(reply.text, start, end)
        if match[1] in reply.offered and not names_image(reply, match.start(1))
    }
    texts = {named.letter: named for named in reply.options().mentions(reply.low, start, end)}
    if letters:
        return _only(letters) if texts.keys() <= letters.keys() else None
    return Reading(*next(iter(texts.values()))) if len(texts) == 1 else None


def _sentences(reply: Reply) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _SENTENCE.finditer(reply.text))


def _cut_off(reply: Reply) -> bool:
    """Whether a reply of some length ends in the middle of a sentence."""
    text = reply.text.rstrip()
    return len(text) > 200 and text[-1] not in ".!?)\"']}"
