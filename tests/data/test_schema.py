"""The layout in code is the layout of the READMEs, the sample and the writers."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from releases import DATASETS, SAMPLE

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data.schema import LAYOUT, TYPES, arrow_schema, columns_of, row_problems, schema_problems

TASKS = Path(__file__).parents[2] / "tasks"
COMMON = [column.name for column in columns_of("lithobench_mcq")][:8]


def readme_rows(path):
    """The rows of all Markdown tables of a README whose first cell is code: name -> the other cells."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| `"):
            for name in re.findall(r"`(\w+)`", cells[0]):
                found[name] = cells[1:]
    return found


def test_common_columns_are_those_of_the_readme():
    rows = readme_rows(TASKS / "README.md")
    for column in columns_of("lithobench_mcq"):
        if column.name in COMMON:
            assert rows[column.name][0] == TYPES[column.type], column.name


@pytest.mark.parametrize("dataset", LAYOUT)
def test_further_columns_are_in_the_readme_of_the_benchmark(dataset):
    text = (TASKS / dataset.split("_")[0] / "README.md").read_text(encoding="utf-8")
    for column in columns_of(dataset):
        if column.name not in COMMON or column.name == "modality":
            name = column.name.removesuffix("_images")
            assert f"`{name}`" in text, f"{dataset}: {name} is not documented"


@pytest.mark.parametrize("task", benchmark_names())
def test_every_task_finds_its_columns(task):
    benchmark = get_benchmark(task)
    columns = {column.name: column for column in columns_of(benchmark.dataset)}
    shown = {benchmark.setting} - {""}
    assert {*benchmark.strata, *benchmark.subset, *shown} <= set(columns)
    for name, value in benchmark.subset.items():
        assert columns[name].values is None or value in columns[name].values


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_sample_is_in_the_layout(dataset):
    table = pq.read_table(SAMPLE / f"{dataset}.parquet")
    assert list(schema_problems(dataset, table.schema)) == []
    assert [problem for row in table.to_pylist() for problem in row_problems(dataset, row)] == []


def test_columns_of_other_types_and_missing_ones_are_named():
    schema = arrow_schema("georefusal")
    assert list(schema_problems("georefusal", schema)) == []
    wrong = schema.remove(schema.get_field_index("set")).set(0, pa.field("id", pa.int64()))
    missing, other = schema_problems("georefusal", wrong)
    assert missing.startswith("no columns set (string: construction batch, no split). There are id, question")
    assert other == "column 'id' is int64; it must be a string"


def test_large_types_and_further_columns_are_fine():
    large = pa.schema([pa.field("id", pa.large_string()), pa.field("gold", pa.large_list(pa.large_string()))])
    fields = [large.field(f.name) if f.name in large.names else f for f in arrow_schema("georefusal")]
    assert list(schema_problems("georefusal", pa.schema([*fields, pa.field("more", pa.int8())]))) == []


ROW = {
    "id": "A-1",
    "question": "?",
    "images": [{"bytes": b"1", "path": None}],
    "choices": [],
    "options": [],
    "gold": ["ANSWER"],
    "cluster": "c",
    "modality": "scene",
    "set": "A",
    "verdict": "ANSWER",
    "category": "NONE",
    "intensity": "none",
    "lever": "",
    "follow_up": "no",
}
TWO = ["REFUSE_AMBIGUOUS_QUERY", "REFUSE_FALSE_PREMISE_IN_QUERY"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, None),
        ({"gold": TWO[::-1], "verdict": TWO[1]}, None),
        ({"gold": TWO, "verdict": TWO[0]}, "not in order of precedence ANSWER > REFUSE_FALSE_PREMISE"),
        ({"gold": ["ANSWER", "ANSWER"]}, "or repeats"),
        ({"gold": ["MAYBE"], "verdict": "ANSWER"}, "unknown verdict"),
        ({"verdict": TWO[0]}, "is not the first of gold"),
        ({"gold": []}, "column 'gold' is empty"),
        ({"images": []}, "column 'images' is empty"),
        ({"lever": None}, "column 'lever' is empty"),
        ({"set": "D"}, "column 'set' has 'D'; allowed: A, B, C"),
        ({"choices": ["A", "B"], "gold": ["C"]}, r"gold \['C'\] is not among the choices"),
        ({"choices": ["A", "A"]}, r"the choices \['A', 'A'\] repeat"),
        ({"choices": ["A", "B"], "options": ["x"]}, "1 options for 2 choices"),
    ],
)
def test_rows(changes, says):
    problems = list(row_problems("georefusal", {**ROW, **changes}))
    if says is None:
        assert problems == []
    else:
        assert any(re.search(says, problem) and problem.startswith("row 'A-1': ") for problem in problems), problems


def test_places_of_pictures_are_counted():
    row = {"ref_cond": "<image> and <image>", "ref_cond_images": [{"bytes": b"1", "path": None}]}
    assert "row '?': ref_cond has 2 times <image> and 1 pictures" in list(row_problems("forge_workveri", row))
