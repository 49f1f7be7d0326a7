"""WORKVERI, ASSYVERI and missing part: one letter."""

from __future__ import annotations

from geoeval.benchmarks.choice import ChoiceBenchmark
from geoeval.types import PromptView

_PHOTO = "The picture is a photo of parts on a bench."
_THREE_VIEW = "The picture shows the same parts in three views (front, side, top)"


class _LetteredParts(ChoiceBenchmark):
    """The letters belong to parts of the picture."""

    version = "1-A"
    max_new_tokens = 2048

    def prompt_text(self, view: PromptView) -> str:
        """What the picture is, the question with its letters, and how to end the reply."""
        return f"{_lettered_picture(view)}\n\n{self.lettered_question(view)}"


class WorkVeri(_LetteredParts):
    """Which part has the wrong model number or does not belong to the batch."""

    dataset = "forge_workveri"
    strata = ("modality", "scenario", "granularity")
    labels = ("A", "B", "C", "D")


class AssyVeri(_LetteredParts):
    """Which part of an assembly is extra, mismatched or incorrect."""

    dataset = "forge_assyveri"
    strata = ("modality", "scenario")
    labels = ("A", "B", "C", "D", "E", "F")


class MissingPart(ChoiceBenchmark):
    """Which part of an assembly is not in the picture; the letters belong to names, not to parts of the picture."""

    dataset = "forge_missing_part"
    version = "1-A"
    strata = ("modality", "scenario")
    max_new_tokens = 2048
    labels = ("A", "B", "C", "D", "E", "F")

    def prompt_text(self, view: PromptView) -> str:
        """What the picture is, the question with its options, and how to end the reply."""
        picture = _PHOTO if view.modality == "photo" else f"{_THREE_VIEW}."
        return f"{picture}\n\n{self.lettered_question(view)}"


def _lettered_picture(view: PromptView) -> str:
    return {"photo": _PHOTO, "three_view": f"{_THREE_VIEW}; each part carries its letter."}[view.modality]
