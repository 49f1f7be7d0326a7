"""Multiple choice: what all tasks share whose answer is one of the letters that an item offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks.base import Benchmark
from geoeval.extraction.letter import extract_letter
from geoeval.metrics.classification import classification_from_counts
from geoeval.types import Extraction, Item, PromptView, Score

if TYPE_CHECKING:
    from numpy.typing import NDArray


def closed_marks(item: Item, extraction: Extraction, options: int) -> dict[str, float]:
    """What all closed questions are marked by: right or not, ``accuracy_valid`` only where an answer was read.

    Args:
        item: What was asked.
        extraction: What was read.
        options: How many answers there are to choose from.
    """
    right = float(extraction.value in item.gold)
    return {
        "accuracy": right,
        **({"accuracy_valid": right} if extraction.value is not None else {}),
        "parse_rate": float(extraction.value is not None),
        "random_baseline": 1 / options,
    }


class ChoiceBenchmark(Benchmark):
    """One letter out of those offered; `labels` holds every letter that some item offers.

    ``accuracy`` counts an unread reply as wrong, ``accuracy_valid`` leaves it out, ``parse_rate`` says how many were
    read. ``accuracy_first_letter`` is the accuracy under the naive policy of that name, for comparison.
    """

    rates = ("accuracy", "accuracy_valid", "parse_rate", "accuracy_first_letter")
    means = ("random_baseline",)
    composites = ("macro_f1",)
    stratum_metrics = ("accuracy", "accuracy_valid", "parse_rate", "random_baseline")

    def lettered_question(self, view: PromptView) -> str:
        """The question, its options where they have texts, and how to end the reply: the common end of the prompts."""
        options = "".join(f"\n{letter}) {text}" for letter, text in zip(view.choices, view.options, strict=False))
        return (
            f"{view.question}{options}\n\n"
            f"Choose exactly one of {', '.join(view.choices)}. "
            'You may reason first; end with a line "Answer: X", where X is the letter.'
        )

    def read(self, item: Item, reply: str) -> Extraction:
        """The letter the reply declares."""
        return extract_letter(reply, item.choices, item.options or None)

    def mark(self, item: Item, reply: str, extraction: Extraction) -> Mapping[str, float]:
        """Right if the letter is the gold one, under the default policy and under ``first_letter``."""
        first = extract_letter(reply, item.choices, item.options or None, policy="first_letter").value
        marks = closed_marks(item, extraction, len(item.choices))
        return {**marks, "accuracy_first_letter": float(first in item.gold)}

    def from_counts(self, counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        """See `geoeval.metrics.classification`."""
        return classification_from_counts(counts)

    def method_signature(self, scores: Sequence[Score]) -> str:
        """The reading policy of the default accuracy."""
        return "letters:declared"

    def format_reply(self, item: Item, answer: str) -> str:
        """The line that the prompt asks for."""
        return f"Answer: {answer}"
