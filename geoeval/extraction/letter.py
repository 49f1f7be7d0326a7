"""Reading the option letter a reply commits to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from geoeval.extraction import hints
from geoeval.extraction.declarations import standing_declaration
from geoeval.extraction.options import OptionTexts
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.extraction.reply import Reading, Reply, joined_letters, marked_letter
from geoeval.extraction.text import before_run_on, plain_text
from geoeval.types import Extraction

_WHOLE = re.compile(r"\W*(?:(?:(?:final )?answer|option|choice)\W*)?(?P<letter>[A-Za-z])\W*", re.IGNORECASE)
_LEADING = re.compile(
    r"\s*(?:[(\[](?P<bracketed>[A-Z])[)\]]|(?P<marked>[A-Z]) ?[.):,](?=\s|$)"
    r"|(?P<alone>[A-Z]) *(?:\n|[-–—] |because\b|since\b|\[\d))"
)
# Letters as names: "A, B and D are alike, while ...".
_SUBJECT = re.compile(r"\s*[A-Z](?:, [A-Z])*,? and [A-Z] (?:all |both )?(?:are|have|look|share|appear|seem|show)\b")
_NEW_LINE = re.compile(r"\n\s*")
_LONG = 20_000


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
        ``value`` is one of `choices`, or None. ``method`` names the rule that read it (see `RULES`). ``reason`` says
        why nothing was read: "empty", "only_reasoning", "not_offered" (the declared letter is no choice), "several",
        "none_fits" (the reply says that no option is right), "refusal", "cut_off" or "no_declaration". ``data["span"]``
        is where the answer stands in the reply; absent when reasoning was removed after it. Takes linear time.

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
    plain = plain_text(visible)
    low = plain.lower()
    text = before_run_on(plain, low)
    offered, texts = _asked(tuple(choices), tuple(options or ()))
    prepared = Reply(text, low[: len(text)], offered, texts)
    for method, rule, scope in RULES:
        reading = rule(prepared) if scope is _ANY or scope in _scopes(text) else None
        if reading and reading.letter:
            return Extraction(offered[reading.letter], method, data=_span(reply, visible, reading))
        if reading:
            return Extraction(None, "none", reading.reason)
    return Extraction(None, "none", "no_declaration" if _COMPLETE in _scopes(text) else "cut_off")


@lru_cache(maxsize=4096)
def _asked(choices: tuple[str, ...], options: tuple[str, ...]) -> tuple[Mapping[str, str], OptionTexts]:
    """Choices by their upper-case letters, and the texts; kept because an item is usually read many times."""
    offered = {choice.upper(): choice for choice in choices}
    return offered, OptionTexts(tuple(offered), options)


def whole_reply(reply: Reply) -> Reading | None:
    """Nothing but a letter: "B", "(b).", "Option B"; or one word of another language that means an option."""
    if len(reply.text) > 40:
        return None
    word = reply.options.translated(reply.low)
    if word:
        return Reading(word, 0, len(reply.text.rstrip()))
    match = _WHOLE.fullmatch(reply.text)
    return _offered(reply, match["letter"].upper(), match.start("letter")) if match else None


def leading_letter(reply: Reply) -> Reading | None:
    """A letter before its text or a reason: "(B) text", "B. text", "B because ..."; not a copied list of options."""
    match = _LEADING.match(reply.text)
    if match is None or match.lastgroup is None or _SUBJECT.match(reply.text):
        return None
    letter, i = match[match.lastgroup], match.start(match.lastgroup)
    if match["marked"]:
        named = reply.options.leading(reply.low)
        if named and named.end > match.end():  # "E. coli", the text of an option.
            return Reading(*named)
    if letter not in reply.offered and not match["bracketed"]:
        return None
    lines = [line.end() for line in _NEW_LINE.finditer(reply.text, 0, _LONG)]
    others = {marked[0] for line in lines if (marked := marked_letter(reply.text, line))}
    if (others | joined_letters(reply.text, i + 1)) - {letter}:
        return Reading(None, i, i + 1, "several")
    return _offered(reply, letter, i)


_ANY, _SHORT, _COMPLETE = "any reply", "not a very long one", "nor one that is cut off, where the answer may be missing"
RULES: tuple[tuple[str, Callable[[Reply], Reading | None], str], ...] = (
    ("whole_reply", whole_reply, _ANY),
    ("declared", standing_declaration, _ANY),
    ("leading_letter", leading_letter, _ANY),
    ("leading_text", hints.leading_text, _ANY),
    ("hedged", hints.refusal, _SHORT),
    ("paired", hints.paired, _SHORT),
    ("only_option", hints.only_option, _COMPLETE),
    ("concluding", hints.concluding, _COMPLETE),
    ("opening", hints.opening, _COMPLETE),
    ("named_last", hints.named_last, _COMPLETE),
)
"""Method, rule and the replies it is tried on, in order; the first rule that reads something settles the reply."""


def _scopes(text: str) -> tuple[str, ...]:
    if len(text) > _LONG:
        return (_ANY,)
    kept = text.rstrip()
    cut_off = len(kept) > 200 and kept[-1] not in ".!?)\"']}"
    return (_ANY, _SHORT) if cut_off else (_ANY, _SHORT, _COMPLETE)


def _offered(reply: Reply, letter: str, i: int) -> Reading:
    return Reading(letter, i, i + 1) if letter in reply.offered else Reading(None, i, i + 1, "not_offered")


def _span(reply: str, visible: str, reading: Reading) -> dict[str, tuple[int, int]]:
    kept = reply.rstrip()
    offset = len(kept) - len(visible)
    return {"span": (reading.start + offset, reading.end + offset)} if kept.endswith(visible) else {}


def _first_letter(reply: str, choices: Sequence[str]) -> Extraction:
    first = re.search("[A-Z]", reply)
    if first is None:
        return Extraction(None, "none", "no_declaration" if reply.strip() else "empty")
    if first[0] not in choices:
        return Extraction(None, "none", "not_offered")
    return Extraction(first[0], "first_letter", data={"span": first.span()})
