"""Where in a reply its answer stands, for the eye; nothing is marked unless it is certain.

A place is certain when the record is reproduced by reading the reply again, and when it is the only place without which
the reply would be read otherwise.
"""

from __future__ import annotations

import re

from geoeval.benchmarks import Benchmark
from geoeval.extraction.letter import extract_letter
from geoeval.extraction.text import well_formed
from geoeval.types import Extraction, Item, Outcome, Score

Span = tuple[int, int]

_PLACES = 12
_LONGEST = 20_000
# SURFINSP's letters stand for words; "Yes" says that the part is normal.
_WORDS = {
    "NORMAL": r"yes|normal|true",
    "A": r"A|crack\w*",
    "B": r"B|cut\w*",
    "C": r"C|deform\w*",
    "D": r"D|dent\w*",
}


def answer_span(benchmark: Benchmark, item: Item, reply: str, score: Score) -> Span | None:
    """The place of the answer that was read.

    Args:
        benchmark: The task.
        item: What was asked; see `item_of_score` where only the record is at hand.
        reply: The reply, as the model wrote it.
        score: Its marking.

    Returns:
        Start and end in the reply, in code points. None where nothing was read, where the whole reply is the answer,
        or where no single place can be told.
    """
    reply = well_formed(reply)
    if score.outcome is not Outcome.READ or not score.extracted:
        return None
    if score.method == "visible_text":  # an open answer, without its reasoning
        start = reply.find(score.extracted)
        alone = start >= 0 and reply.find(score.extracted, start + 1) < 0
        return (start, start + len(score.extracted)) if alone and score.extracted != reply.strip() else None
    extraction = _read(benchmark, item, reply, score.method)
    if (extraction.value, extraction.method) != (score.extracted, score.method):
        return None
    if "span" in extraction.data:
        start, end = extraction.data["span"]
        return int(start), int(end)
    return _only_place(benchmark, item, reply, score)


def item_of_score(benchmark: Benchmark, score: Score) -> Item:
    """As much of an item as its marking tells, for when the data are not at hand."""
    return Item(score.id, "", score.gold, score.cluster, choices=benchmark.labels, strata=score.strata)


def _read(benchmark: Benchmark, item: Item, reply: str, method: str) -> Extraction:
    if method == "first_letter":
        return extract_letter(reply, item.choices, policy="first_letter")
    return benchmark.read(item, reply)


def _only_place(benchmark: Benchmark, item: Item, reply: str, score: Score) -> Span | None:
    """The only place of the value without which the reply is read otherwise."""
    if len(reply) > _LONGEST:
        return None
    places = [match.span() for match in re.finditer(_pattern(benchmark, score.extracted or ""), reply, re.IGNORECASE)]
    if not 0 < len(places) <= _PLACES:
        return None
    needed = [
        (start, end)
        for start, end in places
        if benchmark.read(item, f"{reply[:start]}{' ' * (end - start)}{reply[end:]}").value != score.extracted
    ]
    return needed[0] if len(needed) == 1 else None


def _pattern(benchmark: Benchmark, value: str) -> str:
    """How a value may be spelled."""
    if benchmark.dataset == "forge_surfinsp":
        return rf"\b(?:{_WORDS[value]})\b"
    short = re.escape(value.removeprefix("REFUSE_")).replace("_", r"[\s_\-]{1,3}")
    return rf"(?<![A-Za-z])(?:REFUSE[\s_\-]{{1,3}})?{short}(?![A-Za-z])"
