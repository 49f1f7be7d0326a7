"""Runs lmms-eval as a user does, in a process of its own, and reads what it saved."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import finished

from geoeval.benchmarks import benchmark_names

TASKS = ("lithobench_open", "georefusal", "forge_workveri")  # one of each benchmark, for what need not be done to all
ALL_TASKS = benchmark_names()
GROUPS = ("forge", "forge_grounding", "georefusal_all", "lithobench")
SCRIPT = (str(Path(sys.executable).parent / "lmms_eval"),)
UPSTREAM_SCRIPT = (str(Path(sys.executable).parent / "lmms-eval"),)
MODULE = (sys.executable, "-m", "lmms_eval")


@dataclass
class Run:
    """One finished command."""

    status: int
    output: str
    folder: Path

    @property
    def results_file(self) -> Path:
        files = sorted(self.folder.rglob("*_results.json"))
        assert len(files) == 1, f"{len(files)} result files; the command printed:\n{self.output[-4000:]}"
        return files[0]

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        return json.loads(self.results_file.read_text(encoding="utf-8"))["results"]

    def samples(self, task: str) -> list[dict[str, Any]]:
        (file,) = self.folder.rglob(f"*_samples_{task}.jsonl")
        with open(file, encoding="utf-8") as lines:  # str.splitlines would split inside a reply with U+2028
            return [json.loads(line) for line in lines]

    def value(self, task: str, metric: str) -> float:
        return self.results[task][f"{metric},none"]


def environment(**changes: str) -> dict[str, str]:
    """Of a user who chose the bundled sample; None of the test runner's own settings matter to it."""
    return {**os.environ, "GEOEVAL_DATA": "sample", "OPENAI_API_KEY": "none", **changes}


def run(folder: Path, *arguments: str, command: tuple[str, ...] = SCRIPT, **changes: str) -> Run:
    """Run a command line to its end; both streams in one text."""
    done = finished([*command, *arguments], folder, environment(**changes))
    return Run(done.returncode, done.stdout, folder)


def evaluate(
    folder: Path,
    model_args: str,
    *arguments: str,
    model: str = "geoeval_baseline",
    tasks: tuple[str, ...] = TASKS,
    command: tuple[str, ...] = SCRIPT,
    **changes: str,
) -> Run:
    """Evaluate a model and log samples below a folder."""
    chosen = ("--model", model, "--model_args", model_args, "--tasks", ",".join(tasks))
    saved = ("--output_path", str(folder), "--log_samples", "--verbosity", "WARNING")
    return run(folder, *chosen, *saved, *arguments, command=command, **changes)
