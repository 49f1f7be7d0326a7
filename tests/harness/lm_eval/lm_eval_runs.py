"""Runs lm-eval as a user does, against an OpenAI-compatible endpoint, and reads what it saved."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments import python_with
from processes import finished

from geoeval.harness.lm_eval.adapter import PLACEHOLDER, tasks_dir
from geoeval.harness.lmms_eval.adapter import score_from_sample
from geoeval.runs.lm_eval import NULL_REPLY
from geoeval.types import Score


def lm_eval_python() -> Path:
    """The Python that has lm-eval, or the test is skipped."""
    return python_with("lm_eval", "GEOEVAL_VENV_INSPECT", ".venv-inspect")


@dataclass
class LmEvalRun:
    """One finished command."""

    status: int
    output: str
    folder: Path

    @property
    def results(self) -> dict[str, Any]:
        """The result file."""
        files = sorted(self.folder.rglob("results_*.json"))
        assert len(files) == 1, f"{len(files)} result files; the command printed:\n{self.output[-4000:]}"
        content: dict[str, Any] = json.loads(files[0].read_text(encoding="utf-8"))
        return content

    def numbers(self, task: str) -> dict[str, float]:
        """Name -> number, as lm-eval saved it."""
        found = self.results["results"][task]
        return {name.removesuffix(",none"): value for name, value in found.items() if name.endswith(",none")}

    def sample_log(self, task: str) -> Path:
        """A task's sample log."""
        (file,) = [f for f in self.folder.rglob("samples_*.jsonl") if f.name.rpartition("_")[0] == f"samples_{task}"]
        return file

    def scores(self, task: str) -> dict[str, Score]:
        """Item id -> its score, rebuilt from what was saved."""
        return {score.id: score for score in map(score_from_sample, self.samples(task))}

    def samples(self, task: str) -> list[dict[str, Any]]:
        """The lines of a task's sample log; each is one of `geoeval.harness.lmms_eval.adapter.sample_metrics` too."""
        with open(self.sample_log(task), encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]


def command(folder: Path, *arguments: str, **changes: str) -> LmEvalRun:
    """Run ``lm_eval`` to its end."""
    environment = {
        **os.environ,
        "GEOEVAL_DATA": "sample",
        "OPENAI_API_KEY": "none",
        "NO_PROXY": "127.0.0.1",
        PLACEHOLDER: NULL_REPLY,
        **changes,
    }
    done = finished([str(lm_eval_python()), "-m", "lm_eval", *arguments], folder, environment)
    return LmEvalRun(done.returncode, done.stdout, folder)


def evaluate(folder: Path, url: str, *tasks: str, max_images: int = 8, **changes: str) -> LmEvalRun:
    """``lm_eval`` of tasks with an endpoint as model.

    Args:
        folder: Gets results and sample logs.
        url: Of the endpoint, ending with /v1.
        tasks: Their names.
        max_images: lm-eval's limit of pictures.
        changes: Environment variables.
    """
    model_args = (
        f"model=stand-in,base_url={url}/chat/completions,max_images={max_images},num_concurrent=8,max_retries=1"
    )
    return command(
        folder,
        *("--model", "local-chat-completions", "--model_args", model_args, "--apply_chat_template"),
        *("--tasks", ",".join(tasks), "--include_path", str(tasks_dir())),
        *("--log_samples", "--output_path", str(folder)),
        **changes,
    )
