"""SURFINSP: is the part normal, and if not, which of four defects has it; and its control without a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks.base import Benchmark
from geoeval.benchmarks.choice import closed_marks
from geoeval.extraction.inspection import extract_inspection
from geoeval.metrics.classification import class_f1_from_counts, classification_from_counts
from geoeval.types import Extraction, Item, PromptView, Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMAL = "NORMAL"
DEFECTS: Mapping[str, str] = {"A": "Crack", "B": "Cut", "C": "Deformation", "D": "Dent"}
_ASKED = "Part 1: Is it normal? (Yes/No)\nPart 2: if No, defect type " + " ".join(
    f"{k}) {v}" for k, v in DEFECTS.items()
)
_FORM = """\
You may reason first; end with the line "Part 1: Yes" if the part is normal, else with the lines "Part 1: No" and \
"Part 2: X", where X is the letter of the defect."""


class SurfInsp(Benchmark):
    """Normal or one of four defects.

    ``accuracy`` is over the five classes and counts an unread reply as wrong, ``accuracy_normal`` only asks whether
    normal and defective are told apart. ``f1_crack`` and its like are the F1 of one class.
    """

    dataset = "forge_surfinsp"
    version = "1-A"
    strata = ("scenario",)
    max_new_tokens = 2048
    labels = (NORMAL, *DEFECTS)
    rates = ("accuracy", "accuracy_normal", "accuracy_valid", "parse_rate")
    means = ("random_baseline",)
    composites = ("macro_f1", "f1_normal", *(f"f1_{name.lower()}" for name in DEFECTS.values()))
    stratum_metrics = ("accuracy", "accuracy_normal", "accuracy_valid", "parse_rate")

    def answers(self, item: Item) -> Sequence[str]:
        """Normal is an answer beside the letters offered."""
        return self.labels

    def prompt_text(self, view: PromptView) -> str:
        """What the picture is, the question in two parts, and how to end the reply."""
        return f"The picture shows one part in three views (front, side, top).\n\n{_question(view)}\n\n{_FORM}"

    def read(self, item: Item, reply: str) -> Extraction:
        """Normal, or the letter of the defect."""
        return extract_inspection(reply)

    def mark(self, item: Item, reply: str, extraction: Extraction) -> Mapping[str, float]:
        """Right if the class is the gold one, and if normal and defective are told apart."""
        value = extraction.value
        told_apart = value is not None and (value == NORMAL) == (NORMAL in item.gold)
        return {**closed_marks(item, extraction, len(self.labels)), "accuracy_normal": float(told_apart)}

    def from_counts(self, counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        """See `geoeval.metrics.classification`."""
        f1 = class_f1_from_counts(counts)
        names = (name for name in self.composites if name != "macro_f1")
        return {**classification_from_counts(counts), **{name: f1[..., k] for k, name in enumerate(names)}}

    def method_signature(self, scores: Sequence[Score]) -> str:
        """How the two parts are read."""
        return "inspection:last-statement"

    def format_reply(self, item: Item, answer: str) -> str:
        """The lines that the prompt asks for."""
        return "Part 1: Yes" if answer == NORMAL else f"Part 1: No\nPart 2: {answer}"


class SurfInspText(SurfInsp):
    """The control: the coordinates of the drawn points as text in place of the picture."""

    def prompt_text(self, view: PromptView) -> str:
        """What the coordinates are, the question in two parts, and how to end the reply."""
        return f"The points above lie on the surface of one part. There is no picture.\n\n{_question(view)}\n\n{_FORM}"

    def prompt(self, item: Item) -> list[dict[str, Any]]:
        """The coordinates and the question, without the pictures of the item."""
        return super().prompt(replace(item, images=()))

    def _before(self, view: PromptView) -> list[Mapping[str, Any]]:
        return list(view.context)


def _question(view: PromptView) -> str:
    """The question with its two parts, which the release may or may not spell out."""
    return view.question if "Part 2" in view.question else f"{view.question}\n{_ASKED}"
