"""FORGE (arXiv 2604.07413, AI4Manufacturing/forge): manufacturing parts, down to the model number.

| what | whose |
| --- | --- |
| items, photo and three-view pictures, letters (WORKVERI A-D, ASSYVERI A-F), five classes of SURFINSP | the paper's |
| settings zero-shot, reference pictures, two worked examples | the paper's |
| random baseline = mean of 1 / number of options | the paper's |
| accuracy under ``first_letter`` | the paper's reading rule as summarised: the first letter of the reply |
| accuracy reads the letter the reply declares | ours, the default (see `geoeval.extraction.letter`) |
| accuracy_valid, parse_rate | ours: the paper and its page use both denominators without naming them |
| macro F1, F1 per defect, breakdown by scenario, granularity, modality | ours |
| wording of the prompts, 2048 new tokens | ours: not published |
| which pictures come before the question where the release does not fix them | ours: `geoeval.data.demonstrations` |
| what a grounding probe asks and how coordinates are read | ours: only the names of the probes are published |

A task's name is the dataset, then one modality or none for both, then the setting or none for zero-shot.
"""

from __future__ import annotations

from collections.abc import Iterator

from geoeval.benchmarks.base import Benchmark
from geoeval.benchmarks.forge.grounding import ToCoordinate, ToLetter
from geoeval.benchmarks.forge.inspection import SurfInsp, SurfInspText
from geoeval.benchmarks.forge.verification import AssyVeri, MissingPart, WorkVeri

_MODALITIES = {"image": "photo", "three_view": "three_view"}
_SETTINGS = ("", "ref_cond", "icd")
_DEMONSTRATIONS = ("", "within", "outside")


def _tasks() -> Iterator[Benchmark]:
    for task, modalities in (
        (WorkVeri, ("", "image", "three_view")),
        (AssyVeri, ("", "image", "three_view")),
        (SurfInsp, ("", "three_view")),
    ):
        for modality in modalities:
            subset = {"modality": _MODALITIES[modality]} if modality else {}
            for setting in _SETTINGS:
                yield task(_name(task.dataset, modality, setting), subset, setting)
    yield SurfInspText("forge_surfinsp_text", setting="coordinates")
    for modality, value in _MODALITIES.items():
        yield MissingPart(f"forge_missing_part_{modality}", {"modality": value})
    for probe, task_, settings in (
        ("letter_to_coordinate", ToCoordinate, _DEMONSTRATIONS),
        ("coordinate_to_letter", ToLetter, _DEMONSTRATIONS),
        ("cross_letter", ToLetter, ("",)),
        ("cross_coordinate", ToCoordinate, ("",)),
    ):
        for setting in settings:
            yield task_(_name("forge_grounding", probe, setting), {"probe": probe}, setting)


def _name(*parts: str) -> str:
    return "_".join(filter(None, parts))


TASKS: tuple[Benchmark, ...] = tuple(_tasks())
