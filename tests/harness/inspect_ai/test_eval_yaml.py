"""The metadata for the register and for the hub names tasks that exist, with the published numbers."""

import ast
from pathlib import Path

import pytest
import yaml

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data.published import PUBLISHED

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "geoeval" / "harness" / "inspect_ai"
BENCHMARKS = ("forge", "georefusal", "lithobench")
# What inspect_evals 0.28.0 accepts of an entry, and what has to be added when it is submitted.
ENTRY = {"full_title", "common_title", "description", "tasks", "tags"}
TASK = {"name", "dataset_samples", "task_path", "comment"}


def load(kind, benchmark):
    return yaml.safe_load((FOLDER / kind / benchmark / "eval.yaml").read_text(encoding="utf-8"))


def test_there_is_one_of_each_for_every_benchmark():
    for kind in ("hub", "register"):
        assert sorted(path.parent.name for path in (FOLDER / kind).glob("*/eval.yaml")) == list(BENCHMARKS)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_register_entry_names_tasks_in_the_source(benchmark):
    entry = load("register", benchmark)
    assert ENTRY <= entry.keys() <= ENTRY | {"arxiv"}
    assert "\n" not in entry["description"]
    for task in entry["tasks"]:
        assert task.keys() <= TASK
        tree = ast.parse((ROOT / task["task_path"]).read_text(encoding="utf-8"))
        written = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == task["name"]]
        assert [getattr(decorator, "id", "") for decorator in written[0].decorator_list] == ["task"]
        ours = get_benchmark(task["name"])
        whole = PUBLISHED[ours.dataset].rows if not ours.subset else None
        assert task.get("dataset_samples") == whole


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_hub_page_names_our_tasks(benchmark):
    page = load("hub", benchmark)
    assert page.keys() == {"name", "description", "evaluation_framework", "tasks"}
    assert {task["id"] for task in page["tasks"]} <= {*benchmark_names()}
    assert [task["id"] for task in page["tasks"]] == [task["name"] for task in load("register", benchmark)["tasks"]]
