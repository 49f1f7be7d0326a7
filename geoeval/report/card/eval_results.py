"""Entries for `.eval_results/*.yaml` in a model's repository: one file a task, its headline number.

The format is the Hub's (https://huggingface.co/docs/hub/eval-results) and written by huggingface_hub's own classes. A
value gets onto the leaderboard of the dataset that an entry names, so that it must be of all its items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geoeval.data import DataError
from geoeval.report.card.entries import Entry, Settings
from geoeval.report.card.model_index import as_yaml

_NEEDS = "huggingface_hub 1.4"


def eval_results(entries: Sequence[Entry], settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """File name -> its entries.

    Raises:
        DataError: A dataset's id is not known, a run is of a part of the items, a headline has no value, or the
            installed huggingface_hub is too old.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        raise DataError(f".eval_results needs {_NEEDS} or later: pip install -U huggingface_hub") from None
    files = {}
    for entry in entries:
        problem = _problem(entry)
        if problem:
            raise DataError(f"{entry.task}: no entry in .eval_results, {problem}")
        assert entry.dataset is not None
        mark = "SAMPLE_" if entry.result.is_sample else ""
        made = EvalResultEntry(
            dataset_id=entry.dataset.id,
            task_id=entry.task,
            value=entry.headline.value,
            dataset_revision=entry.dataset.revision,
            date=entry.date,
            source_url=settings.source_url,
            source_name=settings.source_name,
            notes=entry.notes(),
        )
        files[f"{mark}geoeval_{entry.task}.yaml"] = eval_result_entries_to_yaml([made])
    return files


def check_files(folder: Path, files: dict[str, list[dict[str, Any]]]) -> None:
    """Whether files may be written: each is new, or held the same task of the same dataset and no more.

    Raises:
        DataError: One may not, or what it would hold cannot be read as the Hub's format.
    """
    import yaml
    from huggingface_hub import parse_eval_result_entries

    for name, entries in files.items():
        made = parse_eval_result_entries(yaml.safe_load(as_yaml(entries)))
        if not (folder / name).exists():
            continue
        try:
            there = parse_eval_result_entries(yaml.safe_load((folder / name).read_text(encoding="utf-8")))
            same = {(entry.dataset_id, entry.task_id) for entry in there} == {
                (entry.dataset_id, entry.task_id) for entry in made
            }
        except (OSError, ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError):
            same = False
        if not same:
            raise DataError(f"{folder / name}: holds other entries than the one of geoeval; move it away first")


def _problem(entry: Entry) -> str:
    if entry.dataset is None:
        return "the id of the dataset is not known; give --dataset BENCHMARK=OWNER/NAME"
    if entry.reservations:
        return f"it stands for the task, and this is: {', '.join(entry.reservations)}; leave --eval-results out"
    if math.isnan(entry.headline.value):
        return f"{entry.headline.name} has no value"
    return ""
