"""The dataset class that VLMEvalKit runs; importing this imports the harness."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from vlmeval.dataset.image_base import ImageBaseDataset

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import DataError
from geoeval.harness.rows import Rows
from geoeval.harness.vlmevalkit import scoring
from geoeval.harness.vlmevalkit.rows import Prompt, read_rows
from geoeval.harness.vlmevalkit.run_facts import run_facts
from geoeval.runs.vlmevalkit import FACTS_COLUMN, datasets, replies


class GeoEvalDataset(ImageBaseDataset):  # type: ignore[misc]
    """One of our tasks.

    Nothing of ``ImageBaseDataset`` that guesses is used: ids stay text (it evaluates them as Python to see whether they
    are numbers), the message is the benchmark's own, and gold is looked up when replies are marked.

    Attributes:
        TYPE: A word that no model of the harness looks for, so that none puts its own prompt in place of ours.
        force_use_dataset_prompt: The same, where the harness asks.

    Args:
        dataset: The harness's name of the task, e.g. "GeoRefusalBench".

    Raises:
        DataError: See `geoeval.harness.rows.Rows`.
    """

    TYPE = "GeoEval"
    MODALITY = "IMAGE"
    DEFAULT_JUDGE = DEFAULT_JUDGE_MODEL = ""
    force_use_dataset_prompt = True

    def __init__(self, dataset: str = "GeoRefusalBench") -> None:
        if dataset not in datasets():
            raise DataError(f"no dataset {dataset!r} in geoeval; there are {', '.join(datasets())}")
        self.dataset_name = dataset
        self.task = datasets()[dataset]
        checked = Rows(self.task)
        rows = list(read_rows(checked))
        self.skip_noimg, self.meta_only, self.img_root = False, True, ""
        self.facts = {
            "version": checked.benchmark.version,
            "data": checked.source.label,
            "data_sha256": checked.source.sha256,
            **run_facts(),
        }
        self._prompts = {row.id: row.prompt for row in rows}
        self.data = pd.DataFrame(
            {
                "index": [row.id for row in rows],
                "question": [row.text for row in rows],
                "image_path": [json.dumps(row.prompt.pictures) for row in rows],
                FACTS_COLUMN: json.dumps(self.facts, ensure_ascii=False),
            }
        )

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """The harness's names of our tasks."""
        return list(datasets())

    def build_prompt(self, line: int | Mapping[str, Any]) -> Prompt:
        """The message of one row, new at each call, for the harness changes it."""
        row = self.data.iloc[line] if isinstance(line, int) else line
        kept = self._prompts[row["index"]]
        prompt = Prompt(dict(part) for part in kept)
        prompt.max_new_tokens = kept.max_new_tokens
        return prompt

    def dump_image(self, line: Mapping[str, Any]) -> list[str]:
        """The picture files of one row."""
        return self._prompts[line["index"]].pictures

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, float | int]:
        """Mark the replies in a prediction file and write our record beside it.

        Args:
            eval_file: The prediction file.
            judge_kwargs: What the harness knows of a judge. Judging is geoeval's own, see `scoring.judge_settings`.

        Returns:
            Metric -> number, the headline first, then what became of the replies. A number that is nan is left out.

        Raises:
            DataError: The file cannot be used, is not of this task, version or data, or no item could be scored.
        """
        return scoring.evaluate(
            Path(eval_file), self.task, [str(id_) for id_ in self.data["index"]], self.facts, judge_kwargs
        )

    @classmethod
    def report_infer_err(cls, prediction_file: str | Path | None) -> dict[str, int]:
        """Failed requests in a prediction file, for the harness's table; it looks for its marker in any place."""
        if prediction_file is None or not Path(prediction_file).exists():
            return {"failed": 0, "total": 0}
        try:
            failed = [reply.text is None for reply in replies(Path(prediction_file))]
        except DataError:  # `evaluate` says what is wrong with the file
            return {"failed": 0, "total": 0}
        return {"failed": sum(failed), "total": len(failed)}

    @classmethod
    def report_judge_err(
        cls,
        prediction_file: str | Path | None,
        *,
        total_samples: int | None,
        judge_model: str | None = None,
        error_message: str | None = None,
    ) -> dict[str, int | None]:
        """Answers without a mark, from our record; the harness guesses a file and looks for a text in it."""
        record = scoring.read_record(Path(prediction_file)) if prediction_file else None
        if record is None:
            return {"failed": total_samples if error_message else 0, "total": total_samples}
        return {"failed": record["coverage"]["unscored"], "total": total_samples}

    @classmethod
    def report_primary_metric(cls, metrics: Mapping[str, Any] | None) -> dict[str, float | int]:
        """The headline; the harness takes whatever key looks like one."""
        headlines = {get_benchmark(task).metric_names[0] for task in benchmark_names()}
        first = next(iter(metrics or {}), None)
        return {first: (metrics or {})[first]} if first in headlines else {}
