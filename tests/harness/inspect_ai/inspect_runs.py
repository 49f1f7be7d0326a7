"""Runs inspect-ai as a user does, against an OpenAI-compatible endpoint, and reads what it saved."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from environments import python_with
from processes import finished

from geoeval.types import Outcome, Score


def inspect_python() -> Path:
    """The Python that has inspect-ai, or the test is skipped."""
    return python_with("inspect_ai", "GEOEVAL_VENV_INSPECT", ".venv-inspect")


@dataclass
class InspectRun:
    """One finished command.

    Attributes:
        status: Exit status.
        output: Both streams.
        logs: The log files, oldest first.
    """

    status: int
    output: str
    logs: list[Path]

    def log(self, task: str) -> dict[str, Any]:
        """A task's newest log as inspect-ai dumps it."""
        found = [log for log in self.logs if f"_{task.replace('_', '-')}_" in log.name]
        assert found, f"no log of {task}; the command printed:\n{self.output[-4000:]}"
        return dump(found[-1])

    def numbers(self, task: str) -> dict[str, float]:
        """Name -> number, as inspect-ai saved it; with scored_samples and unscored_samples."""
        return saved_numbers(self.log(task))

    def items(self, task: str) -> dict[str, dict[str, Any]]:
        """Item id -> its score as inspect-ai saved it: value, answer, explanation, reason, metadata."""
        return {str(sample["id"]): sample["scores"][task] for sample in self.log(task)["samples"]}

    def scores(self, task: str) -> dict[str, Score]:
        """Item id -> its score, rebuilt from what was saved."""
        return {id_: score_of(id_, saved) for id_, saved in self.items(task).items()}


def saved_numbers(log: Mapping[str, Any]) -> dict[str, float]:
    """Name -> number of the only score of a dumped log."""
    (score,) = log["results"]["scores"]
    numbers = {name: number(metric["value"]) for name, metric in score["metrics"].items()}
    return {**numbers, "scored_samples": score["scored_samples"], "unscored_samples": score["unscored_samples"]}


def number(value: Any) -> float:
    """A number of a dumped log; nan is written as text or null."""
    return math.nan if value is None or value == "NaN" else float(value)


def score_of(id_: str, saved: Mapping[str, Any]) -> Score:
    """A score as inspect-ai dumps it, without what a judge says."""
    values = saved["value"] if isinstance(saved["value"], dict) else {}
    metadata = saved["metadata"]
    return Score(
        id=id_,
        outcome=Outcome(metadata["outcome"]),
        values={name: number(value) for name, value in values.items() if not math.isnan(number(value))},
        extracted=saved.get("answer"),
        gold=tuple(metadata["gold"]),
        method=metadata["method"],
        reason=metadata["reason"],
        cluster=metadata["cluster"],
        strata=metadata["strata"],
    )


def command(folder: Path, *arguments: str, **changes: str) -> InspectRun:
    """Run ``inspect`` to its end in a folder that gets the logs."""
    environment = {
        **os.environ,
        "GEOEVAL_DATA": "sample",
        "INSPECT_LOG_DIR": str(folder / "logs"),
        "INSPECT_DISPLAY": "plain",
        "NO_PROXY": "127.0.0.1",
        "HOME": str(folder),  # where inspect-ai keeps its cache and traces
        **changes,
    }
    done = finished([str(inspect_python()), "-m", "inspect_ai", *arguments], folder, environment)
    logs = sorted((folder / "logs").rglob("*.eval"), key=lambda path: path.stat().st_mtime_ns)
    return InspectRun(done.returncode, done.stdout, logs)


def evaluate(folder: Path, url: str, *tasks: str, options: tuple[str, ...] = (), **changes: str) -> InspectRun:
    """``inspect eval`` of tasks with an endpoint as model.

    Args:
        folder: Gets the logs.
        url: Of the endpoint, ending with /v1; also for ``--model-role grader=openai-api/local/judge``.
        tasks: Their names.
        options: Further arguments.
        changes: Environment variables.
    """
    names = [f"geoeval/{task}" for task in tasks]
    model = ("--model", "openai-api/local/stand-in", "--max-retries", "0", "--max-connections", "8")
    endpoint = {"LOCAL_BASE_URL": url, "LOCAL_API_KEY": "none"}
    return command(folder, "eval", *names, *model, *options, **{**endpoint, **changes})


@cache
def dump(log: Path) -> dict[str, Any]:
    """A log as JSON, through inspect-ai; a log is not changed once it is there."""
    done = subprocess.run(
        [str(inspect_python()), "-m", "inspect_ai", "log", "dump", "--resolve-attachments", "full", str(log)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    content: dict[str, Any] = json.loads(done.stdout)
    return content
