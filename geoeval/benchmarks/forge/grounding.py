"""Grounding probes: does a model connect letters, coordinates and parts of a picture?

Only the names of the probes and the random baseline of 1/6 are published. Ours: ``coordinate_to_letter`` gives a centre
and asks for the letter at it, ``letter_to_coordinate`` the reverse; the cross probes show the parts twice and ask where
a part of the first picture is in the second, by letters or by centres. Centres are offered as a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from geoeval.benchmarks.base import Benchmark
from geoeval.benchmarks.choice import ChoiceBenchmark, closed_marks
from geoeval.extraction.coordinate import extract_coordinate, parse_coordinate
from geoeval.types import Extraction, Item, PromptView, Score


class ToLetter(ChoiceBenchmark):
    """A probe whose answer is a letter that is drawn in the picture."""

    dataset = "forge_grounding"
    version = "1-A"
    strata = ("scenario",)
    max_new_tokens = 2048
    labels = ("A", "B", "C", "D", "E", "F")

    def prompt_text(self, view: PromptView) -> str:
        """The question, the letters, and how to end the reply."""
        return self.lettered_question(view)


class ToCoordinate(Benchmark):
    """A probe whose answer is one of the centres that are offered."""

    dataset = "forge_grounding"
    version = "1-A"
    strata = ("scenario",)
    max_new_tokens = 2048
    rates = ("accuracy", "accuracy_valid", "parse_rate")
    means = ("random_baseline",)
    stratum_metrics = ("accuracy", "accuracy_valid", "parse_rate", "random_baseline")

    def unmarkable(self, row: Mapping[str, Any]) -> str:
        """Whether what is offered are coordinates and the answer is one of them."""
        wrong = [choice for choice in row["choices"] if parse_coordinate(choice) is None]
        if wrong or not {*row["gold"]} <= {*row["choices"]}:
            return f"choices {list(row['choices'])} must be coordinates [x, y] and hold gold {list(row['gold'])}"
        return super().unmarkable(row)

    def prompt_text(self, view: PromptView) -> str:
        """The question, the centres offered, and how to end the reply."""
        return (
            f"{view.question}\n\nChoose exactly one of:\n" + "\n".join(view.choices) + "\n\n"
            'You may reason first; end with a line "Answer: [x, y]", with x and y as in the list.'
        )

    def read(self, item: Item, reply: str) -> Extraction:
        """The offered coordinate that the reply declares."""
        return extract_coordinate(reply, item.choices)

    def mark(self, item: Item, reply: str, extraction: Extraction) -> Mapping[str, float]:
        """Right if the coordinate is the gold one."""
        return closed_marks(item, extraction, len(item.choices))

    def method_signature(self, scores: Sequence[Score]) -> str:
        """How coordinates are read."""
        return "coordinates:declared"

    def format_reply(self, item: Item, answer: str) -> str:
        """The line that the prompt asks for."""
        return f"Answer: {answer}"
