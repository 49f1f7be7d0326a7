"""Results that the papers and their pages report, under our task and metric names.

>>> best = max(published_results("lithobench_mcq"), key=lambda row: row.value)
>>> best.model, best.setting, best.value
('Qwen3.5-9B', 'lora_ft', 0.9825)

Where each file comes from is in the README beside them. They are read when first asked for.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

_HERE = Path(__file__).parent
_SETTINGS = ("zero_shot", "ref_cond", "icd")
_NAMED_SETTINGS = {" (Zero-Shot)": "zero_shot", " (LoRA FT)": "lora_ft"}
SECOND_NAMES: Mapping[str, str] = {
    f"forge_surfinsp_three_view{setting}": f"forge_surfinsp{setting}" for setting in ("", "_ref_cond", "_icd")
}
"""Tasks that are another by a second name, since SURFINSP has one modality."""


@dataclass(frozen=True)
class PublishedRow:
    """One published number.

    Attributes:
        model: As the source spells it.
        metric: Our name for the number; ``open_score_with_judge`` has no counterpart of ours.
        value: 0-1, or 0-10 where the metric has "score" in its name.
        setting: "zero_shot", "ref_cond", "icd", or "lora_ft" for a fine-tuned model.
        source: Where it was read.
        note: What must be known before comparing with it; "" if nothing. Begins with "conflict:" if sources disagree.
    """

    model: str
    metric: str
    value: float
    setting: str
    source: str
    note: str = ""

    @property
    def conflict(self) -> bool:
        """Whether sources disagree on the number."""
        return self.note.startswith("conflict:")


@dataclass(frozen=True)
class Table:
    """One file of results.

    Attributes:
        file: Its name.
        source: Where its values were read.
        unit: What a value is divided by.
        columns: Column -> task (or group of tasks) and metric.
    """

    file: str
    source: str
    unit: float
    columns: Mapping[str, tuple[str, str]]


TABLES: tuple[Table, ...] = (
    Table(
        "lithobench_results.csv",
        "arXiv 2605.07640",
        1,
        {
            **{f"{level}_mcq": (f"lithobench_mcq_{level}", "accuracy") for level in ("id", "cmp", "exp", "app", "rea")},
            "mcq_all": ("lithobench_mcq", "accuracy_mean_of_levels"),
            "rouge_l": ("lithobench_open", "rouge_l"),
            "bleu_4": ("lithobench_open", "bleu_4"),
            "open_without_judge": ("lithobench_open", "open_score"),
            "open_with_judge": ("lithobench_open", "open_score_with_judge"),
        },
    ),
    Table(
        "forge_results.csv",
        "project page of arXiv 2604.07413",
        100,
        {
            f"{task}_{setting}": (f"forge_{task}" + ("" if setting == "zero_shot" else f"_{setting}"), "accuracy")
            for task in ("workveri_image", "workveri_three_view", "assyveri_image", "assyveri_three_view")
            for setting in _SETTINGS
        }
        | {
            f"surfinsp_three_view_{setting}": (
                "forge_surfinsp" + ("" if setting == "zero_shot" else f"_{setting}"),
                "accuracy",
            )
            for setting in _SETTINGS
        },
    ),
    Table(
        "forge_grounding.csv",
        "project page of arXiv 2604.07413",
        100,
        {
            "single_coordinate_to_letter": ("forge_grounding_coordinate_to_letter", "accuracy"),
            "single_letter_to_coordinate": ("forge_grounding_letter_to_coordinate", "accuracy"),
            "cross_letter_to_letter": ("forge_grounding_cross_letter", "accuracy"),
            "cross_coordinate_to_coordinate": ("forge_grounding_cross_coordinate", "accuracy"),
            "average": ("forge_grounding", "accuracy"),
        },
    ),
    Table(
        "forge_further.csv",
        "a summary of arXiv 2604.07413",
        100,
        {
            "missing_part_image": ("forge_missing_part_image", "accuracy"),
            "surfinsp_text": ("forge_surfinsp_text", "accuracy"),
        },
    ),
)


def published_results(task: str) -> tuple[PublishedRow, ...]:
    """What is published of a task, in the order of the source.

    Args:
        task: A task's name, or "forge_grounding" for the mean of the four probes.

    Returns:
        Empty where nothing is published, e.g. for both modalities of WORKVERI together.
    """
    return _results().get(SECOND_NAMES.get(task, task), ())


def published_tasks() -> tuple[str, ...]:
    """The tasks and groups that have published results, second names left out."""
    return tuple(_results())


@cache
def _results() -> Mapping[str, tuple[PublishedRow, ...]]:
    found: dict[str, list[PublishedRow]] = {}
    for table in TABLES:
        for task, row in _rows(table):
            found.setdefault(task, []).append(row)
    return MappingProxyType({task: tuple(rows) for task, rows in found.items()})


def _rows(table: Table) -> Iterator[tuple[str, PublishedRow]]:
    notes = {(line["column"], line["model"]): line for line in _lines("notes.csv")}
    for line in _lines(table.file):
        model, named_setting = _model(line["model"])
        for column, (task, metric) in table.columns.items():
            if not line[column]:
                continue
            note = notes.get((column, line["model"])) or notes.get((column, "")) or {"conflict": "", "note": ""}
            yield (
                task,
                PublishedRow(
                    model=model,
                    metric=metric,
                    value=round(float(line[column]) / table.unit, 6),
                    setting=next((setting for setting in _SETTINGS if column.endswith(setting)), named_setting),
                    source=table.source,
                    note=("conflict: " if note["conflict"] == "yes" else "") + note["note"],
                ),
            )


def _model(name: str) -> tuple[str, str]:
    """A model and the setting that its name carries."""
    for suffix, setting in _NAMED_SETTINGS.items():
        if name.endswith(suffix):
            return name.removesuffix(suffix), setting
    return name, "zero_shot"


def _lines(file: str) -> list[dict[str, str]]:
    with open(_HERE / file, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
