"""What lmms-eval saved of a run -> summaries and result records.

A run is ``<stamp>_results.json`` and, with ``--log_samples``, one ``<stamp>_samples_<task>.jsonl`` for each task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import SAMPLE, DataError
from geoeval.harness.lmms_eval.adapter import score_from_sample
from geoeval.runs.model import Result
from geoeval.runs.record import to_record
from geoeval.types import Score, Summary

_SUFFIX = "_results.json"


@dataclass(frozen=True)
class TaskRun:
    """One of our tasks in a saved run.

    Attributes:
        task: Its name.
        summary: Its numbers.
        run: Facts of the run, for the record.
        samples: The sample log they were computed from.
    """

    task: str
    summary: Summary
    run: Mapping[str, Any]
    samples: Path

    @property
    def is_sample(self) -> bool:
        """Whether the data is the bundled sample."""
        return bool(self.run["data"] == SAMPLE)

    def record(self) -> dict[str, Any]:
        """The result record."""
        return to_record(Result(self.task, self.summary, self.run, items=lambda: iter(())))


def result_files(folder: Path) -> list[Path]:
    """The result files below a folder, oldest first; a result file given itself is returned as it is."""
    if folder.is_file():
        return [folder]
    return sorted(folder.rglob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)


def task_runs(results: Path) -> Iterator[TaskRun]:
    """Our tasks in one result file; a user's own task of one of our names is not ours.

    Raises:
        DataError: The file is no result file, or the samples were not logged, are incomplete or doubled.
    """
    content = _read(results)
    for task in _ours(content):
        samples = results.with_name(results.name.replace(_SUFFIX, f"_samples_{task}.jsonl"))
        scores = _scores(samples)
        counts, config = content["n-samples"][task], content["configs"][task]
        if len(scores) != counts["effective"]:
            had = counts["effective"]
            raise DataError(f"{samples}: {len(scores)} samples, but the run had {had}; the log is not whole")
        metadata = config["metadata"]
        run = {
            "harness": "lmms-eval",
            "model": content.get("model_source"),
            "model_name": content.get("model_name"),
            "model_args": content["config"].get("model_args"),
            "generation_kwargs": config.get("generation_kwargs"),
            "data": metadata["data"],
            "data_sha256": metadata["data_sha256"],
            "items_in_task": counts["original"],
            "date": content.get("date"),
        }
        data = f"{metadata['data']}@{metadata['data_sha256'][:12]}"
        try:
            summary = get_benchmark(task).summarise(scores, data=data)
        except ValueError as error:
            raise DataError(f"{samples}: {error}") from error
        yield TaskRun(task, summary, run, samples)


def unscored_tasks(results: Path) -> list[str]:
    """What is wrong with a run as a whole: our tasks of which no item could be scored; needs no sample log.

    Raises:
        DataError: The file is no result file.
    """
    content = _read(results)
    shares = {task: content["results"].get(task, {}).get("coverage,none") for task in _ours(content)}
    return [f"{task}: no item could be scored, all requests failed" for task, share in shares.items() if share == 0]


def _read(results: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
        content["configs"], content["n-samples"], content["config"], content["results"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{results}: not a result file of lmms-eval ({error!r})") from error
    return content


def _ours(content: Mapping[str, Any]) -> list[str]:
    configs = content["configs"]
    return [task for task in benchmark_names() if "data_sha256" in (configs.get(task, {}).get("metadata") or {})]


def _scores(samples: Path) -> list[Score]:
    if not samples.is_file():
        raise DataError(f"{samples}: no such file; run the evaluation with --log_samples and --output_path")
    scores = []
    with open(samples, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                scores.append(score_from_sample(json.loads(line)))
            except (ValueError, KeyError) as error:
                raise DataError(f"{samples}:{number}: not a sample of this task ({error!r})") from error
    return scores
