"""What a task YAML of lm-eval needs: rows, prompt, pictures, and a reply -> per-item metrics.

What lm-eval does, and what is done about it here (0.4.13, measured):

| it | so |
| --- | --- |
| writes the bytes of a document's pictures into its sample log | documents hold no picture but an id |
| tells its hooks nothing about their task | each document names its task |
| turns a null reply into "" or what `PLACEHOLDER` says | where that is `NULL_REPLY`, it is a failed request |
| shows one picture, or max_images, and drops the rest | the run stops before its first request |
| loses the sample log of a task to half an emoji in one reply | `ReplyFilter` replaces lone surrogates |
| puts all pictures before the text | tasks that show pictures between texts are not offered |
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import DataError, locate, open_picture
from geoeval.harness.lmms_eval.adapter import ReplyFilter as LmmsEvalFilter
from geoeval.harness.lmms_eval.adapter import metric_list, sample_metrics
from geoeval.harness.rows import Rows
from geoeval.runs.lm_eval import NULL_REPLY, reply_or_failure

__all__ = ["doc_to_image", "doc_to_target", "doc_to_text", "documents", "metadata", "metric_list", "process_results"]

PLACEHOLDER = "LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER"
Document = Mapping[str, Any]


class ReplyFilter(LmmsEvalFilter):
    """The first step of ``filter_list``, as in lmms-eval."""

    null_reply = NULL_REPLY


def tasks_dir() -> Path:
    """The folder of the task YAMLs."""
    return Path(__file__).parent / "tasks"


def offered() -> tuple[str, ...]:
    """The tasks that lm-eval can show as they are: those whose pictures come before all text."""
    return tuple(name for name in benchmark_names() if not get_benchmark(name).setting)


def metadata(task: str) -> dict[str, str]:
    """The YAML's metadata, which enters the result file."""
    benchmark = get_benchmark(task)
    source = locate(benchmark.dataset)
    return {"version": benchmark.version, "data": source.label, "data_sha256": source.sha256}


def documents(task: str, /, **given: Any) -> dict[str, Any]:
    """The rows of a task as lm-eval's documents, without pictures.

    Args:
        task: Its name.
        given: The YAML's metadata and the arguments of the model, which lm-eval passes on.

    Raises:
        DataError: See `Rows`; or lm-eval would drop pictures of an item.
    """
    from datasets import Dataset

    items = _rows(task).items
    _check_pictures(task, given)
    if os.environ.get(PLACEHOLDER) != NULL_REPLY:
        _warn_of_null_replies()
    return {"test": Dataset.from_list([{"task": task, "id": item.id, "gold": list(item.gold)} for item in items])}


def doc_to_text(doc: Document) -> str:
    """The exact user text."""
    rows = _rows(doc["task"])
    return rows.benchmark.flat_prompt(rows.item(doc["id"]))


def doc_to_image(doc: Document) -> list[Any]:
    """The pictures, RGB, in the order they are shown."""
    rows = _rows(doc["task"])
    (message,) = rows.benchmark.prompt(rows.item(doc["id"]))
    return [open_picture(part["image"]) for part in message["content"] if part["type"] == "image"]


def doc_to_target(doc: Document) -> str:
    """The accepted answers in one line; for the log only."""
    return " | ".join(doc["gold"])


def process_results(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """Mark one reply; see `geoeval.harness.lmms_eval.adapter.sample_metrics`."""
    rows = _rows(doc["task"])
    reply, failure = reply_or_failure(results[0])
    return sample_metrics(rows.benchmark, rows.benchmark.score(rows.by_id[doc["id"]], reply, failure))


def _rows(task: str) -> Rows:
    return _rows_of(task, os.environ.get("GEOEVAL_DATA", ""))


@lru_cache(maxsize=64)
def _rows_of(task: str, data: str) -> Rows:
    return Rows(task, data)


@lru_cache(maxsize=1)
def _warn_of_null_replies() -> None:
    logging.getLogger("geoeval").warning(
        "%s is not set to %s: a null reply of an API counts as an empty one, which is marked wrong. "
        "See docs/lm_eval.md.",
        PLACEHOLDER,
        NULL_REPLY,
    )


def _check_pictures(task: str, given: Mapping[str, Any]) -> None:
    """The models for APIs show one picture unless told otherwise, and drop the rest without a word."""
    if "base_url" not in given and "max_images" not in given:
        return
    rows = _rows(task)
    most = max(len(rows.item(id_).images) for id_ in rows.by_id)
    if most > int(given.get("max_images", 1)):
        raise DataError(f"{task} shows up to {most} pictures; add max_images={most} to --model_args")
