"""Reading the coordinate a reply commits to, out of those offered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from geoeval.extraction.reasoning import strip_reasoning
from geoeval.extraction.text import before_run_on, plain_text
from geoeval.types import Extraction

Coordinate = tuple[float, float]

TOLERANCE = 0.005
"""How far x and y may each be from what was offered: rounding, no more."""

_NUMBER = r"[-+]?(?:\d{1,6}(?:\.\d{1,15})?|\.\d{1,15})"
_PAIR = re.compile(
    rf"(?P<open>(?:\\left ?)?[\[(<{{]\s{{0,3}})?(?:\"?x\"? {{0,2}}[:=] {{0,2}})?(?P<x>{_NUMBER})\s{{0,3}}[,;]\s{{0,3}}"
    rf"(?:\"?y\"? {{0,2}}[:=] {{0,2}})?(?P<y>{_NUMBER})(?![\d%]|\s{{0,3}}[,;]\s{{0,3}}[\d.])"
    r"(?(open)\s{0,3}(?:\\right ?)?[\])>}])",  # what is opened is closed
    re.IGNORECASE,
)
# What announces an answer, then words without a number, a bracket or the end of a line; a colon may end a line.
_CUE = re.compile(
    r"(?:\b(?:answer|correct(?: [a-z]{1,12}){0,2})[\"' ]{0,4}(?:\bis\b|\bare\b|[:=])"
    r"|<answer>|\\boxed ?\{(?: ?\\text ?\{)?|\bi(?: would|'d)? (?:choose|select|pick)\b|答案(?:是|为)?|选择"
    r"|\b(?P<correction>actually|correction|i mean)\b)"
    r"(?P<words>:?(?: *\n)?[^\d\[\](){}\n]{0,60})",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s{0,3}(?:[.!,;\n]|$|since\b|because\b)", re.IGNORECASE)
_ANOTHER = re.compile(r"\s{0,3}(?:(?:,\s{0,3})?(?:or|and|或|和)|[,/、])\s{0,3}", re.IGNORECASE)
_NEGATED = re.compile(r"(?:\b(?:not|neither|nor|never|except)\b|n't )[^.;\n]{0,60}$", re.IGNORECASE)
_REFUSED = re.compile(
    r"\b(?:cannot|can't|can not|unable|unsure|unclear|impossible|don't know"
    r"|not (?:sure|certain|possible|able|visible))\b",
    re.IGNORECASE,
)


def parse_coordinate(text: str) -> Coordinate | None:
    """The numbers of ``[x, y]``; None when the text is something else."""
    match = _PAIR.fullmatch(text.strip())
    return _numbers(match) if match else None


def extract_coordinate(reply: str, choices: Sequence[str]) -> Extraction:
    """Read the coordinate a reply finally commits to.

    Args:
        reply: The model's reply; reasoning in tags does not count.
        choices: The coordinates offered, each as ``[x, y]``.

    Returns:
        ``value`` is the only one of `choices` that the reply's pair of numbers equals within `TOLERANCE`, or None.
        ``method`` is "whole_reply", "declared" (the last of "Answer: [x, y]" and its like), "last_line" or "only_pair".
        ``reason`` is "empty", "only_reasoning", "cut_off", "not_offered", "ambiguous" (equal to two of the choices),
        "several" (pairs, none of them declared), "refusal" or "no_declaration". Takes linear time.
    """
    visible = strip_reasoning(reply)
    if not visible:
        return Extraction(None, "none", "only_reasoning" if reply.strip() else "empty")
    plain = plain_text(visible)
    text = before_run_on(plain, plain.lower()).strip()
    method, found = next(filter(None, (rule(text) for rule in (_whole_reply, _declared, _last_line, _only_pair))))
    if isinstance(found, str):
        return Extraction(None, "none", found)
    equal = [choice for choice in choices if _is_equal(parse_coordinate(choice), found)]
    if len(equal) != 1:
        return Extraction(None, "none", "ambiguous" if equal else "not_offered")
    return Extraction(equal[0], method)


_Reading = tuple[str, Coordinate | str]  # the rule, and the pair or the reason why there is none


def _whole_reply(text: str) -> _Reading | None:
    pair = parse_coordinate(text.rstrip("."))
    return ("whole_reply", pair) if pair else None


def _declared(text: str) -> _Reading | None:
    """The last announced pair; one that is announced but broken off or joined to another leaves none."""
    for cue in reversed(list(_CUE.finditer(text))):
        pair = _PAIR.match(text, cue.end())
        following = text[cue.end() : cue.end() + 40].lstrip()
        if pair and cue["correction"] and not _ENDS.match(text, pair.end()):
            continue  # "Actually [0.21, 0.80] is part A."
        if pair and not _NEGATED.search(cue["words"]):
            other = _PAIR.search(text, pair.end(), pair.end() + 30)
            if other and _ANOTHER.fullmatch(text, pair.end(), other.start()):
                return "none", "several"
            return "declared", _numbers(pair)
        if not pair and following.startswith(("[", "(")):
            return "none", "not_offered" if re.search(r"[\])]", following) else "cut_off"
        if not pair and re.match(_NUMBER, following):
            return "none", "not_offered"
    return None


def _last_line(text: str) -> _Reading | None:
    """A last line that is a pair and nothing else, unless it ends a list of them."""
    above, _, last = text.rpartition("\n")
    pair = parse_coordinate(last.rstrip("."))
    listed = parse_coordinate(above.rstrip().rpartition("\n")[2])
    return ("last_line", pair) if pair and not listed else None


def _only_pair(text: str) -> _Reading:
    pairs = list(_bracketed(text))
    if _REFUSED.search(text):
        return "none", "refusal"
    if len({_numbers(pair) for pair in pairs}) > 1:
        return "none", "several"
    if not pairs or _NEGATED.search(text, max(0, pairs[-1].start() - 80), pairs[-1].start()):
        return "none", "no_declaration"
    return "only_pair", _numbers(pairs[0])


def _bracketed(text: str) -> Iterator[re.Match[str]]:
    return (pair for pair in _PAIR.finditer(text) if pair["open"])


def _numbers(pair: re.Match[str]) -> Coordinate:
    return float(pair["x"]), float(pair["y"])


def _is_equal(one: Coordinate | None, other: Coordinate) -> bool:
    return one is not None and all(abs(a - b) <= TOLERANCE + 1e-9 for a, b in zip(one, other, strict=True))
