"""The metadata for the benchmark pages of the hub names tasks that exist."""

from pathlib import Path

import pytest
import yaml

from geoeval.benchmarks import benchmark_names

FOLDER = Path(__file__).parents[3] / "geoeval" / "harness" / "inspect_ai" / "hub"
BENCHMARKS = ("forge", "georefusal", "lithobench")


def test_there_is_one_for_every_benchmark():
    assert sorted(path.parent.name for path in FOLDER.glob("*/eval.yaml")) == list(BENCHMARKS)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_hub_page_names_our_tasks(benchmark):
    page = yaml.safe_load((FOLDER / benchmark / "eval.yaml").read_text(encoding="utf-8"))
    assert page.keys() == {"name", "description", "evaluation_framework", "tasks"}
    assert {task["id"] for task in page["tasks"]} <= {*benchmark_names()}
