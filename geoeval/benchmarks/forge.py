"""FORGE (arXiv 2604.07413, AI4Manufacturing/forge): manufacturing parts, model verification (WORKVERI).

| what | whose |
| --- | --- |
| items, photo and three-view pictures, letters A-D, zero-shot | the paper's |
| accuracy under ``first_letter`` | the paper's reading rule as summarised: the first letter of the reply |
| accuracy reads the letter the reply declares | ours, the default (see `geoeval.extraction.letter`) |
| accuracy_valid, parse_rate | ours: the paper and its page use both denominators without naming them |
| random baseline = mean of 1 / number of options | the paper's |
| macro F1 over the letters, breakdown by scenario, granularity, modality | ours |
| wording of the prompt, 2048 new tokens | ours: not published |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks.base import Benchmark
from geoeval.extraction.letter import extract_letter
from geoeval.metrics.classification import classification_from_counts
from geoeval.types import Extraction, Item, PromptView, Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PICTURE = {
    "photo": "The picture is a photo of parts on a bench.",
    "three_view": "The picture shows the same parts in three views (front, side, top); each part carries its letter.",
}


class WorkVeri(Benchmark):
    """Which part has the wrong model number or does not belong to the batch: one letter."""

    dataset = "forge_workveri"
    version = "1-A"
    strata = ("modality", "scenario", "granularity")
    max_new_tokens = 2048
    labels = ("A", "B", "C", "D")
    rates = ("accuracy", "accuracy_valid", "parse_rate", "accuracy_first_letter")
    means = ("random_baseline",)
    composites = ("macro_f1",)
    stratum_metrics = ("accuracy", "accuracy_valid", "parse_rate", "random_baseline")

    def prompt_text(self, view: PromptView) -> str:
        """What the picture is, the question with its letters, and how to end the reply."""
        options = "".join(f"\n{letter}) {text}" for letter, text in zip(view.choices, view.options, strict=False))
        return (
            f"{_PICTURE[view.modality]}\n\n{view.question}{options}\n\n"
            f"Choose exactly one of {', '.join(view.choices)}. "
            'You may reason first; end with a line "Answer: X", where X is the letter.'
        )

    def read(self, item: Item, reply: str) -> Extraction:
        """The letter the reply declares."""
        return extract_letter(reply, item.choices, item.options or None)

    def mark(self, item: Item, reply: str, extraction: Extraction) -> Mapping[str, float]:
        """Right if the letter is the gold one; ``accuracy_valid`` only where a letter was read."""
        right = float(extraction.value in item.gold)
        first = extract_letter(reply, item.choices, item.options or None, policy="first_letter").value
        return {
            "accuracy": right,
            **({"accuracy_valid": right} if extraction.value is not None else {}),
            "parse_rate": float(extraction.value is not None),
            "accuracy_first_letter": float(first in item.gold),
            "random_baseline": 1 / len(item.choices),
        }

    def from_counts(self, counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        """See `geoeval.metrics.classification`."""
        return classification_from_counts(counts)

    def method_signature(self, scores: Sequence[Score]) -> str:
        """The reading policy of the default accuracy."""
        return "letters:declared"

    def format_reply(self, item: Item, answer: str) -> str:
        """The line that the prompt asks for."""
        return f"Answer: {answer}"


TASKS: tuple[Benchmark, ...] = (WorkVeri("forge_workveri"),)
