"""A judge as a last step for letters: which letter does a reply say, where our reader found none?

Off by default, and never a part of ``accuracy``: what it reads gives a second number, ``accuracy_with_judge_reading``,
printed beside it. The judge sees the reply, the letters and the texts of the options; not the question, the picture or
the right answer, so that it can only read. It must quote where the reply says the letter; a quote that is not in the
reply is no reading.

A `LetterAsk` is a `geoeval.judge.prompt.Ask`, all that an engine needs to know of a question to a judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, nan
from typing import Any

from geoeval.extraction.reasoning import strip_reasoning
from geoeval.extraction.text import ascii_forms
from geoeval.judge.fields import as_data, content_code, field
from geoeval.judge.prompt import FIELDS_ARE_DATA, Message
from geoeval.judge.reply import Unreadable, beside, objects_with, visible_reply
from geoeval.metrics.intervals import clustered_rate
from geoeval.types import Extraction, Item, Metric, Outcome, Score

READING_PROMPT_VERSION = "1"
"""Part of the signature; any change of a word below needs the next one."""
METRIC = "accuracy_with_judge_reading"
NONE = "none"
"""What the judge says of a reply that commits to no letter."""
UNREADABLE = "unreadable"
"""Begins the reason of a reading that failed because of the judge."""

_ROLE = (
    "You read replies to multiple-choice questions. You are shown the offered letters, their texts where there are "
    "any, and one reply. Say which letter the reply finally commits to as its answer. You are not shown the question, "
    "and you do not solve it: whether the reply is right is of no interest. A reply that names an option by its text "
    "commits to that option's letter. A reply that commits to no option, to several, that refuses, that only discusses "
    f"options or that breaks off before it answers commits to {NONE}. Never guess: in doubt it is {NONE}."
)
_LINES = re.compile(r"(?im)^[ \t*_`]*(?P<key>QUOTE|LETTER)[*_`]{0,3}[ \t]*:[ \t*_`]*(?P<value>.*)$")
_EDGES = " \t\r\n\"'“”‘’*_`"
_WITHOUT_A_READING = ("empty", "only_reasoning")  # there is nothing to read


@dataclass(frozen=True)
class LetterAsk:
    """The question which letter one reply says.

    Attributes:
        id: The item's id.
        choices: The letters offered.
        options: Their texts in the same order; empty when only letters are offered.
        reply: What the model under test wrote, without its reasoning.
    """

    id: str
    choices: tuple[str, ...]
    options: tuple[str, ...]
    reply: str

    schema_name = "letter"

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of a structured reply."""
        return {
            "type": "object",
            "properties": {"quote": {"type": "string"}, "letter": {"type": "string", "enum": [*self.choices, NONE]}},
            "required": ["quote", "letter"],
            "additionalProperties": False,
        }

    def messages(self, structured: bool) -> list[Message]:
        """A system and a user message, the same for the same arguments."""
        options = "\n".join(
            f"{letter}) {text}" for letter, text in zip(self.choices, self.options or self.choices, strict=True)
        )
        code = content_code(options, self.reply)
        parts = [field("options", code, options), field("reply", code, self.reply, end=True), _task(structured)]
        return [
            {"role": "system", "content": f"{_ROLE}\n\n{FIELDS_ARE_DATA}"},
            {"role": "user", "content": "\n\n".join(parts)},
        ]

    def read(self, reply: str | None) -> Extraction:
        """Read the judge's reply.

        Returns:
            ``value`` is one of the choices with the method "judge"; None with the method "judge" and the reason "none"
            when the judge says that the reply commits to none; None with the method "none" and a reason that begins
            with "unreadable" when the judge's reply cannot be used. Never raises; takes linear time.
        """
        try:
            quote, said = _quote_and_letter(visible_reply(reply))
            if said.lower() == NONE:
                return Extraction(None, "judge", NONE)
            letter = next((choice for choice in self.choices if choice.upper() == said.upper()), None)
            if letter is None:
                raise Unreadable(f"{said[:40]!r} is no offered letter and not {NONE}")
            if not _plain(quote) or _plain(quote) not in _plain(self.reply):
                raise Unreadable("the quote is not in the reply")
        except Unreadable as error:
            return Extraction(None, "none", f"{UNREADABLE}: {error}")
        return Extraction(letter, "judge", data={"quote": quote})


def letter_asks(scored: Iterable[tuple[Score, str | None]], items: Mapping[str, Item]) -> list[LetterAsk]:
    """The questions to a judge about the replies that our reader left unread.

    Args:
        scored: Every score with its reply.
        items: Id -> item. Items that offer no letters are passed over.

    Raises:
        KeyError: A score has no item.
    """
    asks = []
    for score, reply in scored:
        item = items[score.id]
        if score.outcome is not Outcome.UNREAD or not item.choices or not reply or score.reason in _WITHOUT_A_READING:
            continue
        asks.append(LetterAsk(item.id, tuple(item.choices), tuple(item.options), strip_reasoning(reply)))
    return asks


def accuracy_with_judge_reading(
    scores: Iterable[Score], readings: Mapping[str, Extraction], max_unscored: float = 1.0
) -> Metric:
    """Accuracy where the judge's reading stands in for ours on the replies that we left unread.

    Args:
        scores: Of one task whose metrics have ``accuracy``.
        readings: Id -> what `LetterAsk.read` gave.
        max_unscored: Largest share of the scored items that may be left out, 0-1; above it the number is withheld, for
            those left out are all among the unread and the rest would look better than the whole.

    Returns:
        The share of right ones among all scored items, with a clustered Wilson interval. A reply that commits to none
        counts as wrong, as in ``accuracy``; one whose reading failed because of the judge is left out, and the note
        says how many there were.
    """
    kept = sorted((score for score in scores if "accuracy" in score.values), key=lambda score: score.id)
    failed = {id_ for id_, found in readings.items() if (found.reason or "").startswith(UNREADABLE)}
    values, clusters = [], []
    asked = unusable = read = 0
    for score in kept:
        reading = readings.get(score.id)
        asked += reading is not None
        if score.id in failed:
            unusable += 1
            continue
        read += reading is not None and reading.value is not None
        values.append(score.values["accuracy"] if reading is None else float(reading.value in score.gold))
        clusters.append(score.cluster)
    note = f"the judge was asked about {asked} unread replies and read a letter in {read}"
    note += f"; {unusable} are left out, since its reply could not be used" if unusable else ""
    if unusable > max_unscored * len(kept):
        return Metric(METRIC, nan, len(values), note=f"withheld: more than {max_unscored:.1%} left out; {note}")
    value = fsum(values) / len(values) if values else nan
    return Metric(METRIC, value, len(values), *clustered_rate(values, clusters), note=note)


def _task(structured: bool) -> str:
    task = (
        'This is the end of the data. Say which letter the field "reply" commits to, and copy the words of the reply '
        f"in which it does so, exactly and at most 20 of them; for {NONE} the quote is empty.\n\n"
    )
    if structured:
        return f'{task}Reply with one JSON object and nothing else: {{"quote": "...", "letter": "X or {NONE}"}}.'
    form = f"QUOTE: ...\nLETTER: X or {NONE}"
    return f"{task}You may reason first. End your reply with these two lines and nothing after them:\n{form}"


def _quote_and_letter(visible: str) -> tuple[str, str]:
    objects = list(objects_with(visible, ("letter",)))
    rows = list(_LINES.finditer(visible))
    if objects and any(row["key"].upper() == "LETTER" for row in rows):
        raise Unreadable("a letter in JSON and in a line")
    if objects:
        beside(visible, objects)  # nothing may follow
        claims = [(key, value) for found in objects for key, value in found.members]
    else:
        claims = [(row["key"].lower(), row["value"].strip(_EDGES + ".")) for row in rows]
        if rows and visible[rows[-1].end() :].strip("` \n"):
            raise Unreadable("text after the letter")
    letters = {value.strip(" ().") for key, value in claims if key == "letter" and isinstance(value, str)}
    if len(letters) != 1 or (not objects and claims[-1][0] != "letter"):
        raise Unreadable("several letters" if len(letters) > 1 else "no letter")
    quotes = [value for key, value in claims if key == "quote" and isinstance(value, str)]
    return (quotes[-1] if quotes else ""), letters.pop()


def _plain(text: str) -> str:
    """A text as the judge saw it, without what differs between a quote and its source."""
    return " ".join(ascii_forms(as_data(text)).casefold().strip(_EDGES + ".").split())
