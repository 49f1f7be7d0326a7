"""WORKVERI, ASSYVERI and missing part: one letter."""

from __future__ import annotations

from geoeval.benchmarks.choice import ChoiceBenchmark
from geoeval.types import PromptView

_PHOTO = "The picture is a photo of parts on a bench."
_THREE_VIEW = "The picture shows the same parts in three views (front, side, top)"


class WorkVeri(ChoiceBenchmark):
    """Which part has the wrong model number or does not belong to the batch."""

    dataset = "forge_workveri"
    version = "1-A"
    strata = ("modality", "scenario", "granularity")
    max_new_tokens = 2048
    labels = ("A", "B", "C", "D")

    def prompt_text(self, view: PromptView) -> str:
        """What the picture is, the question with its letters, and how to end the reply."""
        return f"{_lettered_picture(view)}\n\n{self.lettered_question(view)}"


class AssyVeri(ChoiceBenchmark):
    """Which part of an assembly is extra, mismatched or incorrect."""

    dataset = "forge_assyveri"
    version = "1-A"
    strata = ("modality", "scenario")
    max_new_tokens = 2048
    labels = ("A", "B", "C", "D", "E", "F")

    def prompt_text(self, view: PromptView) -> str:
        """What the picture is, the question with its letters, and how to end the reply."""
        return f"{_lettered_picture(view)}\n\n{self.lettered_question(view)}"


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
