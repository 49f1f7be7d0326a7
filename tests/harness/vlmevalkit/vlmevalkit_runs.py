"""Runs VLMEvalKit as a user does, in its own environment and process, and reads what it saved.

The environment is the folder in GEOEVAL_VENV_VLMEVALKIT, else ``.venv-vlmevalkit`` beside the sources.
GEOEVAL_VLMEVALKIT_ROOT is a checkout of VLMEvalKit to be tested as well.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from geoeval.benchmarks import get_benchmark
from geoeval.data import item_from_row, locate
from geoeval.runs.record import from_line
from geoeval.types import Item, Score

HERE = Path(__file__).parent
SHIM = HERE / "shim"
COMMAND = ("-m", "geoeval", "vlmevalkit")
KEY = "sk-this-is-a-secret"


def python() -> str:
    """The interpreter that has VLMEvalKit; the test is skipped when there is none."""
    folder = Path(os.environ.get("GEOEVAL_VENV_VLMEVALKIT") or HERE.parents[2] / ".venv-vlmevalkit")
    found = folder / "bin" / "python"
    if not found.exists():
        pytest.skip(f"no VLMEvalKit: {found} is not there; make test sets it up, GEOEVAL_VENV_VLMEVALKIT names another")
    return str(found)


def checkout() -> str:
    """A checkout of VLMEvalKit; the test is skipped when there is none."""
    root = os.environ.get("GEOEVAL_VLMEVALKIT_ROOT")
    if not root:
        pytest.skip("no checkout of VLMEvalKit: GEOEVAL_VLMEVALKIT_ROOT is not set")
    return root


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """Of a user with data in a folder; nothing of the test runner's own settings matters to it."""
    base = {name: value for name, value in os.environ.items() if not name.startswith("GEOEVAL_JUDGE_")}
    return {
        **base,
        "GEOEVAL_DATA": "sample",
        "PYTHONPATH": str(SHIM),
        "LMUData": str(folder / "LMUData"),
        "NO_PROXY": "127.0.0.1",
        **changes,
    }


@dataclass
class Finished:
    """One finished command."""

    status: int
    output: str
    folder: Path

    def file(self, name: str) -> Path:
        """The newest file of that name below the folder; links are not followed."""
        found = [path for path in self.folder.rglob(name) if not path.is_symlink() and "earlier-" not in str(path)]
        assert found, f"no {name}; the command printed:\n{self.output[-4000:]}"
        return max(found, key=lambda path: path.stat().st_mtime_ns)

    def predictions(self, dataset: str) -> Path:
        return self.file(f"*_{dataset}.tsv")

    def record(self, dataset: str) -> dict[str, Any]:
        return json.loads(self.file(f"*_{dataset}_score.geoeval.json").read_text(encoding="utf-8"))

    def scores(self, dataset: str) -> dict[str, Score]:
        with open(self.file(f"*_{dataset}_score.items.jsonl"), encoding="utf-8") as lines:
            return {score.id: score for score, _ in (from_line(json.loads(line)) for line in lines)}

    def replies(self, dataset: str) -> dict[str, str | None]:
        with open(self.file(f"*_{dataset}_score.items.jsonl"), encoding="utf-8") as lines:
            return {score.id: reply for score, reply in (from_line(json.loads(line)) for line in lines)}

    @property
    def state(self) -> dict[str, Any]:
        return json.loads(self.file("status.json").read_text(encoding="utf-8"))


def command(folder: Path, *arguments: str, launcher: Sequence[str] = COMMAND, **changes: str) -> Finished:
    """Run ``geoeval vlmevalkit`` to its end; both streams in one text."""
    folder.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [python(), *launcher, *arguments],
        env=environment(folder, **changes),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that what it starts ends with it
    ) as process:
        try:
            output, _ = process.communicate(timeout=180)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return Finished(process.returncode, output, folder)


def evaluate(folder: Path, url: str, datasets: Sequence[str], *arguments: str, **more: Any) -> Finished:
    """Evaluate what answers at a URL, each request once; for ``more`` see `command`."""
    chosen = ("--data", *datasets, "--model", "org/stand-in", "--base-url", url, "--key", KEY)
    return command(folder, *chosen, "--work-dir", str(folder / "out"), "--retry", "1", *arguments, **more)


def tagged(folder: Path, task: str, styles: Sequence[str], first: int = 1) -> list[tuple[int, str, Item]]:
    """Write rows of the sample, each asking `standin` for a style; returns number, style and item of each.

    The file is of the task's dataset and holds those rows only.
    """
    folder.mkdir(parents=True, exist_ok=True)
    benchmark = get_benchmark(task)
    table = pq.read_table(locate(benchmark.dataset, "sample").path)
    rows = [row for row in table.to_pylist() if benchmark.includes(row)][: len(styles)]
    assert len(rows) == len(styles), f"the sample has {len(rows)} rows of {task}"
    found = []
    for number, (row, style) in enumerate(zip(rows, styles, strict=True), first):
        answer = benchmark.format_reply(item_from_row(row, benchmark.strata), row["gold"][0])
        row["question"] += f" [item {number} style {style} answer {answer}]"
        found.append((number, style, item_from_row(row, benchmark.strata, benchmark.setting)))
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / f"{benchmark.dataset}.parquet")
    return found


def inside(*arguments: str, **changes: str) -> dict[str, str]:
    """Run ``inside.py`` in VLMEvalKit's environment; check -> "" or what is wrong."""
    done = subprocess.run(
        [python(), str(HERE / "inside.py"), *arguments],
        env={**environment(Path(changes.pop("folder"))), **changes},
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
        timeout=300,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, f"inside.py ended with {done.returncode}:\n{done.stdout[-4000:]}"
    return json.loads(lines[-1].removeprefix("RESULT "))
