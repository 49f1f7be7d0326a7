"""The snippet of docs/vlmevalkit.md for evalscope, run in the environment that GEOEVAL_VENV_EVALSCOPE names.

The Makefile sets none up: evalscope is 1.2 GB more for a snippet that runs what the other tests run.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from plain_endpoint import serving
from vlmevalkit_runs import SHIM, environment

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, task_items

PAGE = Path(__file__).parents[3] / "docs" / "vlmevalkit.md"
(SNIPPET,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_snippet_is_python_and_registers_before_evalscope_is_imported():
    compile(SNIPPET, str(PAGE), "exec")
    assert SNIPPET.index("register()") < SNIPPET.index("from evalscope")


def test_the_snippet_gives_our_numbers(tmp_path):
    python = Path(os.environ.get("GEOEVAL_VENV_EVALSCOPE", "none")) / "bin" / "python"
    if not python.exists():
        pytest.skip("no evalscope: GEOEVAL_VENV_EVALSCOPE names no environment that has it")
    reply = '{"verdict": "ANSWER", "answer": "water", "justification": "It is seen."}'
    with serving(reply) as host:
        script = tmp_path / "run.py"
        script.write_text(SNIPPET.replace("HOST:PORT", host).replace('"NAME"', '"stand-in"'), encoding="utf-8")
        changes = {
            "PYTHONPATH": f"{SHIM}{os.pathsep}{PAGE.parents[1]}",
            "OPENAI_API_KEY": "none",
            "HOME": str(tmp_path),
        }
        done = subprocess.run(
            [python, script],
            cwd=tmp_path,
            env=environment(tmp_path, **changes),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=180,
            check=False,
        )
    found = {path.resolve() for path in tmp_path.rglob("*_GeoRefusalBench_score.geoeval.json")}
    assert len(found) == 1, done.stdout[-4000:]
    record = json.loads(found.pop().read_text(encoding="utf-8"))
    benchmark = get_benchmark("georefusal")
    items = task_items("georefusal", locate("georefusal", "sample"), pictures=False)
    summary = benchmark.summarise(benchmark.score(item, reply) for item in items)
    numbers = {metric["name"]: metric["value"] for metric in record["metrics"]}
    assert numbers["accuracy"] == pytest.approx(summary.metrics[0].value, abs=1e-9)
    assert record["coverage"]["items"] == summary.coverage.items
