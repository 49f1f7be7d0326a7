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
| a judge (GPT-5.4) marks open answers too | the paper's |
| rubric, scale, and how its marks and open_score are combined | ours: not published (see `JudgedLithoBenchOpen`) |
| prompts | ours: not published |
| reasoning is removed before marking | ours |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from geoeval.benchmarks.base import Benchmark, PartMean
from geoeval.benchmarks.choice import ChoiceBenchmark
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.metrics.overlap import bleu_4, bleu_4_signature, open_score, rouge_l, rouge_l_signature
from geoeval.types import Extraction, Item, Judgement, Metric, PromptView, Score, Summary

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


_NOT_THE_PAPERS = "rubric and combination are ours: the paper's are not published"


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
    means: tuple[str, ...] = ("open_score", "rouge_l", "bleu_4")
    bounds: Mapping[str, tuple[float, float]] = MappingProxyType(
        {"open_score": (0, 10), "rouge_l": (0, 1), "bleu_4": (0, 1)}
    )
    stratum_metrics: tuple[str, ...] = ("open_score", "rouge_l", "bleu_4")

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


class JudgedLithoBenchOpen(LithoBenchOpen):
    """A task of open answers whose replies a judge marks as well, each 0-10.

    ``open_with_judge_w<w>`` is ``(1 - w) * open_score + w * judge_score``; w is in its name, so that it is never
    printed without it. An item without a mark has neither number and is counted; with too many of them the combined
    number is withheld, since what is left need not be like the whole.

    Args:
        task: The task without a judge.
        weight: w, 0-1.
        dimensions: Of the judge's rubric.
        max_unscored: Largest share of the answers that may lack a mark, 0-1.
        signature: Which judge and rubric.
    """

    def __init__(
        self, task: Benchmark, *, weight: float, dimensions: Sequence[str], max_unscored: float, signature: str
    ) -> None:
        super().__init__(task.name, task.subset, task.setting)
        self.weight, self.max_unscored, self.judge_signature = weight, max_unscored, signature
        self.shown_weight = _exactly(weight)
        self.combined = f"open_with_judge_w{self.shown_weight}"
        self.judge_means = ("judge_score", *(f"judge_{name}" for name in dimensions))
        self.means = (*LithoBenchOpen.means, self.combined, *self.judge_means)
        self.bounds = {**LithoBenchOpen.bounds, **dict.fromkeys((self.combined, *self.judge_means), (0, 10))}
        self.stratum_metrics = (*LithoBenchOpen.stratum_metrics, self.combined, "judge_score")

    def judged(self, score: Score, judgement: Judgement) -> Score:
        """A score with the judge's marks."""
        if judgement.score is None:
            return replace(score, judgement=judgement)
        combined = (1 - self.weight) * score.values["open_score"] + self.weight * judgement.score
        marks = {f"judge_{name}": mark for name, mark in judgement.dimensions.items()}
        values = {**score.values, self.combined: combined, "judge_score": judgement.score, **marks}
        return replace(score, values=values, judgement=judgement)

    def summarise(self, scores: Iterable[Score], data: str = "unknown") -> Summary:
        """As of any benchmark, the combined number withheld where too many marks are missing."""
        summary = super().summarise(scores, data)
        notes = {self.combined: _NOT_THE_PAPERS, "judge_score": _NOT_THE_PAPERS}
        summary = replace(summary, metrics=tuple(replace(m, note=notes.get(m.name, m.note)) for m in summary.metrics))
        coverage = summary.coverage
        asked = coverage.items - coverage.failed
        if coverage.unscored <= self.max_unscored * asked:
            return summary
        note = f"withheld: {coverage.unscored} of {asked} answers have no mark; allowed {self.max_unscored:.1%}"

        def withheld(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
            return tuple(Metric(m.name, math.nan, m.n, note=note) if m.name == self.combined else m for m in metrics)

        strata = {
            name: {value: withheld(metrics) for value, metrics in parts.items()}
            for name, parts in summary.strata.items()
        }
        return replace(summary, metrics=withheld(summary.metrics), strata=strata)

    def method_signature(self, scores: Sequence[Score]) -> str:
        """How the overlaps are computed, which judge, and w."""
        return f"{super().method_signature(scores)}|{self.judge_signature}|w:{self.shown_weight}"


def _exactly(weight: float) -> str:
    """A weight in as few digits as tell it from every other."""
    short = f"{weight:g}"
    return short if float(short) == weight else repr(weight)


TASKS: tuple[Benchmark, ...] = (
    LithoBenchMcq("lithobench_mcq"),
    *(LithoBenchMcqLevel(f"lithobench_mcq_{level.lower()}", {"level": level}) for level in LEVELS),
    LithoBenchOpen("lithobench_open"),
    *(LithoBenchOpen(f"lithobench_open_{level.lower()}", {"level": level}) for level in LEVELS),
)
