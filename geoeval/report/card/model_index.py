"""`model-index`, the metadata of a README: made and checked by huggingface_hub's own classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import yaml

from geoeval import __version__
from geoeval.data import DataError
from geoeval.report.card.entries import Entry, Settings

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

MARK = "geoeval"
"""The key among ``dataset.args`` that only our results have."""


def model_index(entries: Sequence[Entry], settings: Settings) -> list[dict[str, Any]]:
    """The model index of these results alone."""
    from huggingface_hub import ModelCardData

    found = [result for entry in entries for result in _eval_results(entry, settings)]
    card = ModelCardData(model_name=entries[0].model, eval_results=found)
    data: list[dict[str, Any]] = card.to_dict()["model-index"]  # type: ignore[no-untyped-call]
    return data


def as_yaml(value: Any) -> str:
    """YAML as people write it: block style, order kept, letters of all scripts as they are."""
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))


def is_ours(result: Any) -> bool:
    """Whether one result of a model index was written by `model_index`."""
    dataset = result.get("dataset") if isinstance(result, Mapping) else None
    arguments = dataset.get("args") if isinstance(dataset, Mapping) else None
    return isinstance(arguments, Mapping) and MARK in arguments


def check_index(index: Any, where: str) -> None:
    """Whether huggingface_hub, which knows what the Hub asks for, can read a model index.

    Raises:
        DataError: It cannot.
    """
    from huggingface_hub import ModelCardData

    try:
        ModelCardData(**{"model-index": index})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{where}: not a valid model-index ({error})") from error


def _eval_results(entry: Entry, settings: Settings) -> list[EvalResult]:
    from huggingface_hub import EvalResult

    summary, run = entry.result.summary, entry.result.run
    about = {
        MARK: __version__,
        "version": summary.version,
        "date": entry.date or str(run.get("date") or "unknown"),
        "data": entry.data,
        "items": summary.coverage.items,
        "failed": summary.coverage.failed,
        "unscored": summary.coverage.unscored,
        "harness": f"{run.get('harness') or 'unknown'} {run.get('harness_version') or ''}".strip(),
        "signature": summary.signature,
        "commands": list(entry.commands),
    }
    return [
        EvalResult(
            task_type="image-text-to-text",
            task_name=entry.title,
            dataset_type=entry.dataset.id if entry.dataset else entry.task,
            dataset_name=entry.title,
            dataset_config=entry.task,
            dataset_revision=entry.dataset.revision if entry.dataset else None,
            dataset_args=about,
            metric_type=metric.name,
            metric_name=metric.name,
            metric_value=metric.value,
            metric_args={
                "n": metric.n,
                **({} if math.isnan(metric.low) else {"interval_95": [metric.low, metric.high]}),
                **({"lower_is_better": True} if entry.lower_is_better(metric) else {}),
            },
            source_url=settings.source_url,
            source_name=settings.source_name,
        )
        for metric in entry.metrics
    ]
