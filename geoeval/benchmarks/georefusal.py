"""GeoRefusalBench (albertLee/GeoRefusalBench, CC BY 4.0): knowing when a question cannot be answered.

| what | whose |
| --- | --- |
| six verdicts, their meaning and precedence, one JSON object as the reply | the paper's |
| right if the verdict is in the accepted set | the paper's |
| FRR, MRR, detection, category accuracy, hierarchical, CRS | RefusalBench (arXiv 2510.10390), from its code |
| balanced accuracy, MCC, macro F1, difference to always-answer | ours |
| pictures as JPEG of quality 95 (`georefusal_jpeg95`) | the paper's runs; with Pillow's other defaults: ours |
| wording of the prompt, 2048 new tokens | ours: not published |
| an unread verdict is wrong, neither an answer nor a refusal | ours: the paper does not say |

The release labels verdicts, not answers, so every metric here is about verdicts and covers all items. Three items carry
a conditional follow-up (column ``follow_up``): they leave answer-level metrics, of which there are none.
``answer_accuracy`` of RefusalBench, half of ``crs``, is answered / answerable here, a verdict metric too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks.base import Benchmark
from geoeval.extraction.verdict import VERDICTS, extract_verdict
from geoeval.metrics.refusal import refusal_from_counts
from geoeval.types import AsJpeg, Extraction, Item, PromptView, Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

ANSWER = "ANSWER"
MEANINGS: Mapping[str, str] = {
    ANSWER: "the question can be answered from this image.",
    "REFUSE_FALSE_PREMISE_IN_QUERY": "the question presupposes something that the image refutes.",
    "REFUSE_AMBIGUOUS_QUERY": "the question has no unique referent or no clear criterion in this image.",
    "REFUSE_GRANULARITY_MISMATCH": "the image's spatial or temporal sampling is too coarse for the question.",
    "REFUSE_NONFACTUAL_QUERY": "no image could settle the question, for it asks for opinion, intent or taste.",
    "REFUSE_INFO_MISSING_IN_CONTEXT": "the evidence belongs in this scene but is occluded, blacked out, saturated, "
    "cut off, or in a channel that is missing.",
}

_PROMPT = """\
The image shows a scene on the Earth's surface, seen from above. First decide whether the question can be answered \
from this image; not every question can.

Question: {question}

Choose exactly one verdict:
{meanings}

If several refusals apply, give the one that comes first in this list:
{precedence}

Reply with one JSON object and nothing else:
{{"verdict": "<one of the six verdicts>", "answer": "<your answer, or null if you refuse>", \
"justification": "<one or two sentences about what the image shows>"}}"""


class GeoRefusal(Benchmark):
    """One verdict out of six for each image and question."""

    dataset = "georefusal"
    version = "1-A"
    strata = ("verdict", "category", "intensity", "set")
    max_new_tokens = 2048
    labels = VERDICTS
    rates = (
        "accuracy",
        "false_refusal_rate",
        "missed_refusal_rate",
        "detection_precision",
        "detection_recall",
        "refusal_accuracy",
        "category_accuracy",
        "parse_rate",
        "strict_json_rate",
    )
    means = ("accuracy_minus_always_answer",)
    composites = ("balanced_accuracy", "macro_f1", "mcc", "detection_f1", "hierarchical", "crs")
    lower_is_better = frozenset({"false_refusal_rate", "missed_refusal_rate"})
    stratum_metrics = ("accuracy", "false_refusal_rate", "missed_refusal_rate", "parse_rate")

    def prompt_text(self, view: PromptView) -> str:
        """The question, the six verdicts, their precedence, and the object to return."""
        return _PROMPT.format(
            question=view.question,
            meanings="\n".join(f"- {verdict}: {MEANINGS[verdict]}" for verdict in VERDICTS),
            precedence=" > ".join(VERDICTS[1:]),
        )

    def read(self, item: Item, reply: str) -> Extraction:
        """The verdict of the JSON reply."""
        return extract_verdict(reply)

    def mark(self, item: Item, reply: str, extraction: Extraction) -> Mapping[str, float]:
        """Right if the verdict is accepted; each rate only where the item is in its denominator.

        The same numbers as `geoeval.metrics.refusal`, item by item, so that they can be clustered and broken down.
        """
        verdict, answerable = extraction.value, ANSWER in item.gold
        right = float(verdict in item.gold)
        refused = verdict is not None and verdict != ANSWER
        rates = {"accuracy": right}
        if answerable:
            rates["false_refusal_rate"] = float(refused)
        else:
            rates["missed_refusal_rate"] = float(verdict == ANSWER)
            rates["detection_recall"] = float(refused)
            rates["refusal_accuracy"] = right
        if refused:
            rates["detection_precision"] = float(not answerable)
            if not answerable:
                rates["category_accuracy"] = right
        return {
            **rates,
            "accuracy_minus_always_answer": right - float(answerable),
            "parse_rate": float(verdict is not None),
            "strict_json_rate": float(bool(extraction.data.get("strict_valid"))),
        }

    def from_counts(self, counts: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
        """See `geoeval.metrics.refusal`."""
        return refusal_from_counts(counts)

    def method_signature(self, scores: Sequence[Score]) -> str:
        """How verdicts are read."""
        return "verdict:last-valid-object"

    def format_reply(self, item: Item, answer: str) -> str:
        """The JSON object that the prompt asks for."""
        import json

        content = "yes" if answer == ANSWER else None
        return json.dumps({"verdict": answer, "answer": content, "justification": "Reply of a baseline."})


class GeoRefusalJpeg(GeoRefusal):
    """The same items, their pictures re-encoded as in the paper's runs."""

    quality = 95

    def picture(self, picture: Any) -> Any:
        """What JPEG leaves of a picture."""
        return AsJpeg(picture, self.quality)

    def method_signature(self, scores: Sequence[Score]) -> str:
        """How verdicts are read and how pictures are shown."""
        return f"{super().method_signature(scores)}|pictures:jpeg{self.quality}"


TASKS: tuple[Benchmark, ...] = (
    GeoRefusal("georefusal"),
    *(GeoRefusal(f"georefusal_{batch.lower()}", {"set": batch}) for batch in "ABC"),
    GeoRefusalJpeg("georefusal_jpeg95"),
)
