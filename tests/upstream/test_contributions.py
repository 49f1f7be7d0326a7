"""What is written: the project's format and names, no geoeval in it, numbers that are true, the same at every call."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from contributions import code, contribution, trees

from geoeval import cli
from geoeval.benchmarks import get_benchmark
from geoeval.data import DataError
from geoeval.report.card.entries import Dataset
from geoeval.upstream.cli import PROJECTS, generator, write
from geoeval.upstream.families import FAMILIES
from geoeval.upstream.settings import Settings
from geoeval.upstream.text import constant_summary

CHECKS = {
    "lmms-eval": (
        ("black", "--check", "--quiet", "--line-length=240"),
        ("isort", "--check-only", "--profile=black"),
        ("ruff", "check", "--isolated", "--select=F,E9", "--quiet"),
    ),
    "vlmevalkit": (
        ("flake8", "--max-line-length=120", "--ignore=W503"),
        ("yapf", "--diff", "--recursive", "--style={column_limit=120}"),
    ),
    "inspect-evals": (("ruff", "check", "--quiet"), ("ruff", "format", "--check", "--quiet")),
}


@pytest.mark.parametrize("project", PROJECTS)
def test_nothing_imports_geoeval(project):
    files = code(project)
    assert len(files) > 30
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "geoeval"], path


@pytest.mark.parametrize("project", PROJECTS)
def test_code_is_in_the_format_of_the_project(project):
    for tree in trees(project):
        for step in CHECKS[project]:
            command = [sys.executable, "-m", *step, "."]
            environment = {**os.environ, "RUFF_NO_CACHE": "true"}
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{' '.join(step)} in {tree}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


@pytest.mark.parametrize("project", PROJECTS)
def test_the_same_at_every_call(project):
    folder = contribution(project) / "georefusal"
    for path, text in generator(project)(FAMILIES["georefusal"], Settings()).items():
        assert (folder / path).read_text(encoding="utf-8") == text, path


@pytest.mark.parametrize("project", PROJECTS)
def test_nothing_of_this_machine(project):
    for path in contribution(project).rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"/(tmp|home|root)/", text), path
            assert str(Path(__file__).parents[2]) not in text, path


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("project", PROJECTS)
def test_the_pull_request_has_true_numbers_and_all_places_filled(project, family):
    text = (contribution(project) / family / "PR.md").read_text(encoding="utf-8")
    for task in FAMILIES[family].headlines:
        summary = constant_summary(get_benchmark(task), FAMILIES[family].constant)
        metric = summary.metrics[0]
        assert f"| `{task}` | {metric.n} | {metric.name} | {metric.value:.4f} |" in text
    assert "$" not in text
    assert "have to be hosted first" in text


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("project", PROJECTS)
def test_readme_stands_alone(project, family):
    (readme,) = (contribution(project) / family).rglob("README.md")
    text = readme.read_text(encoding="utf-8")
    assert "](.." not in text
    assert "geoeval" not in text
    assert "## Marking" in text
    assert "| all | `cluster` |" in text


@pytest.mark.parametrize("family", FAMILIES)
def test_every_task_has_a_definition_with_all_metrics(family):
    folder = contribution("lmms-eval") / family / "tree" / "lmms_eval" / "tasks" / family
    utils = (folder / "utils.py").read_text(encoding="utf-8")
    for benchmark in FAMILIES[family].tasks:
        definition = loaded(folder / f"{benchmark.name}.yaml")
        assert definition["task"] == benchmark.name
        template = loaded(folder / definition["include"])
        assert [entry["metric"] for entry in template["metric_list"]] == ["coverage", *benchmark.metric_names]
        for entry in template["metric_list"]:
            assert entry["higher_is_better"] == (entry["metric"] not in benchmark.lower_is_better)
            assert f"{entry['aggregation'].removeprefix('utils.')}" in utils
        assert template["generation_kwargs"]["max_new_tokens"] == benchmark.max_new_tokens
        assert template["metadata"] == {"version": benchmark.version}


def loaded(path):
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    return yaml.load(path.read_text(encoding="utf-8"), Loader)


def test_a_dataset_is_written_into_the_code():
    settings = Settings(datasets={"georefusal": Dataset("me/rows", "abcdef1")})
    for project in PROJECTS:
        contribution(project)
        text = "\n".join(generator(project)(FAMILIES["georefusal"], settings).values())
        assert re.search(r"REPOSITORY = ['\"]me/rows['\"]", text)
        assert re.search(r"REVISION.* = ['\"]abcdef1['\"]", text)
        assert "have to be hosted first" not in text


@pytest.mark.parametrize("family", FAMILIES)
def test_register_entries_are_as_inspect_evals_asks(family):
    commit = "0123456789abcdef0123456789abcdef01234567"
    settings = Settings(repository="https://github.com/owner/evals", commit=commit)
    made = generator("inspect-evals")(FAMILIES[family], settings)
    entries = {path.split("/")[1]: yaml.safe_load(text) for path, text in made.items() if path.startswith("register/")}
    assert set(entries) == set(FAMILIES[family].headlines)
    for task, entry in entries.items():
        assert entry["source"]["repository_commit"] == commit
        (listed,) = entry["tasks"]
        path = f"repository/{listed['task_path']}"
        names = [n.name for n in ast.parse(made[path]).body if isinstance(n, ast.FunctionDef) and n.decorator_list]
        assert task in names
        line = int(re.search(rf"{commit}/{listed['task_path']}#L(\d+)", made["PR.md"])[1])
        assert made[path].splitlines()[line - 1] == "@task"
    metadata = pytest.importorskip("inspect_evals.metadata", reason="inspect_evals is not installed")
    for task, entry in entries.items():
        metadata.ExternalEvalMetadata(**entry, id=task)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    for force in (False, True):
        with pytest.raises(DataError, match="not empty"):
            list(write("inspect-evals", tmp_path, Settings(), force=force))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_force_replaces_an_earlier_one(tmp_path):
    pytest.importorskip("ruff")
    out = tmp_path / "out"
    first = list(write("inspect-evals", out, Settings()))
    old = out / "forge" / "repository" / "old.py"
    old.write_text("old")
    with pytest.raises(DataError, match="not empty"):
        list(write("inspect-evals", out, Settings()))
    assert list(write("inspect-evals", out, Settings(), force=True)) == first
    assert not old.exists()


def test_a_formatter_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match="pip install ruff"):
        list(write("inspect-evals", tmp_path / "out", Settings()))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("other", "--out", "x"),
        ("lmms-eval",),
        ("inspect-evals", "--out", "x", "--repository", "https://github.com/a/b"),
        ("inspect-evals", "--out", "x", "--repository", "https://github.com/a/b", "--commit", "main"),
        ("lmms-eval", "--out", "x", "--dataset", "georefusal"),
    ],
)
def test_wrong_arguments(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["upstream", *arguments])
    assert ended.value.code == 2
    assert not list(tmp_path.iterdir())
