"""LithoBench (arXiv 2605.07640): lithology from satellite tiles, multiple choice and open answers.

| what | whose |
| --- | --- |
| items, five cognitive levels, twelve lithologies | the paper's |
| temperature 0, 1024 new tokens | the paper's |
| MCQ overall = unweighted mean of the five level accuracies | derived from all 14 published rows |
| open_score = 10 * (0.6 ROUGE-L + 0.4 BLEU-4) | derived from all 14 published rows (residual <= 0.0002) |
| which BLEU-4, which tokenizer | ours: the paper does not say (see `geoeval.metrics.overlap`) |
| how a letter is read from a reply | ours, as everywhere (`geoeval.extraction.letter`): the paper does not say |
| accuracy_valid, parse_rate, macro F1, random baseline | ours |
| up to six options, A to F | ours: how many the items offer is not published |
| prompts | ours: not published |
| reasoning is removed before marking | ours |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from geoeval.benchmarks.base import Benchmark, PartMean
from geoeval.benchmarks.choice import ChoiceBenchmark
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.metrics.overlap import bleu_4, bleu_4_signature, open_score, rouge_l, rouge_l_signature
from geoeval.types import Extraction, Item, PromptView, Score

LEVELS: Mapping[str, str] = {
    "ID": "identification and description",
    "Cmp": "comparison",
    "Exp": "mechanism explanation",
    "App": "application",
    "Rea": "comprehensive reasoning",
}
LITHOLOGIES: Mapping[str, str] = {
    "AR": "sandstone",
    "BR": "breccia",
    "CR": "carbonate",
    "CG": "conglomerate",
    "CS": "crushed stone",
    "DI": "diorite",
    "GB": "gabbro",
    "GT": "granite",
    "GV": "gravel",
    "SL": "slate",
    "SO": "soil",
    "WA": "water",
}
_TILE = "The picture is a satellite image tile: natural colours, seen from straight above."


class LithoBenchMcqLevel(ChoiceBenchmark):
    """Multiple choice, the items of one level."""

    dataset = "lithobench_mcq"
    version = "1-A"
    strata = ("level", "lithology")
    max_new_tokens = 1024
    labels = ("A", "B", "C", "D", "E", "F")

    def prompt_text(self, view: PromptView) -> str:
        """The tile, the question with its options, and how to end the reply."""
        return f"{_TILE}\n\nQuestion: {self.lettered_question(view)}"


class LithoBenchMcq(LithoBenchMcqLevel):
    """Multiple choice, all levels: the headline lets every level count alike, as published."""

    part_means: ClassVar[Mapping[str, PartMean]] = {
        "accuracy_mean_of_levels": PartMean("accuracy", "level", tuple(LEVELS))
    }


class LithoBenchOpen(Benchmark):
    """Open answers, marked by overlap with the reference answer; no judge."""

    dataset = "lithobench_open"
    version = "1-A"
    strata = ("level", "lithology")
    max_new_tokens = 1024
    means = ("open_score", "rouge_l", "bleu_4")
    bounds = MappingProxyType({"open_score": (0, 10), "rouge_l": (0, 1), "bleu_4": (0, 1)})
    stratum_metrics = ("open_score", "rouge_l", "bleu_4")

    def prompt_text(self, view: PromptView) -> str:
        """The tile, the question, and that plain prose is wanted."""
        return (
            f"{_TILE}\n\n"
            f"Question: {view.question}\n\n"
            "Answer in one short paragraph of plain text, in the language of the question, "
            "based on what the tile shows."
        )

    def read(self, item: Item, reply: str) -> Extraction:
        """The reply without its reasoning; what is left is the answer."""
        visible = strip_reasoning(reply).strip()
        if not visible:
            return Extraction(None, "none", "only_reasoning")
        return Extraction(visible, "visible_text")

    def mark(self, item: Item, reply: str, extraction: Extraction) -> Mapping[str, float]:
        """ROUGE-L and BLEU-4 (0-1) and open_score (0-10) against the best reference."""
        answer = extraction.value or ""
        rouge, bleu = rouge_l(answer, item.gold), bleu_4(answer, item.gold)
        return {"open_score": open_score(rouge, bleu), "rouge_l": rouge, "bleu_4": bleu}

    def method_signature(self, scores: Sequence[Score]) -> str:
        """How the overlaps are computed, with the versions of the libraries."""
        references = [score.gold for score in scores]
        return f"{rouge_l_signature(references)}|{bleu_4_signature(references)}"


TASKS: tuple[Benchmark, ...] = (
    LithoBenchMcq("lithobench_mcq"),
    *(LithoBenchMcqLevel(f"lithobench_mcq_{level.lower()}", {"level": level}) for level in LEVELS),
    LithoBenchOpen("lithobench_open"),
    *(LithoBenchOpen(f"lithobench_open_{level.lower()}", {"level": level}) for level in LEVELS),
)
