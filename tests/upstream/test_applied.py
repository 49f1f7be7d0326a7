"""Each contribution in a fresh copy of its harness, in a process that cannot import geoeval, on numbered rows of the
sample: the same per-item scores, numbers and prompts as ours.

The replies and the endpoint are those of the parity test of our own harnesses.
"""

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import parity
import pytest
from contributions import blocked, contribution, trees

from geoeval.benchmarks import get_benchmark
from geoeval.harness.lmms_eval.adapter import score_from_sample
from geoeval.runs.vlmevalkit import dataset_name
from geoeval.upstream.families import FAMILIES
from geoeval.upstream.vlmevalkit import entry

VARIABLES = [f"{family.upper()}_DATA" for family in FAMILIES]


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    return folder, parity.prepare(folder)


def run(command, folder, path, rows, **changes):
    """Run a command with the copy of a harness in front, geoeval hidden, and the rows where contributions look."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GEOEVAL_")}
    environment |= {
        **dict.fromkeys(VARIABLES, str(rows)),
        "PYTHONPATH": os.pathsep.join([str(blocked(folder / "blocked")), *map(str, path)]),
        "HF_HUB_OFFLINE": "1",
        "NO_PROXY": "127.0.0.1",
        **changes,
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def copied(package: Path, project: str, site: Path) -> Path:
    """A copy of an installed harness with the contributions of all benchmarks in it."""
    shutil.copytree(package, site / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    for tree in trees(project):
        shutil.copytree(tree, site, dirs_exist_ok=True)
    return site


def same(expected, outcome, values, extracted):
    """Whether a saved score is the one that our rules give."""
    return (outcome, values) == (expected.outcome.value, dict(expected.values)) and (
        expected.extracted is None or extracted == expected.extracted
    )


def unit_tests(interpreter, folder, path, rows, tests, **changes):
    """Run a contribution's own tests, where the environment of its harness has pytest."""
    has = subprocess.run([interpreter, "-c", "import pytest"], capture_output=True, check=False)
    if has.returncode == 0:
        files = [str(file) for test in tests for file in test.rglob("test_*.py")]
        assert len(files) == len(FAMILIES)
        run([interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files], folder, path, rows, **changes)


def in_vlmevalkit(case):
    """What our rules say of what is left of a reply there: its requests turn an empty reply into a failed one."""
    return get_benchmark(case.task).score(case.item, None) if case.reply == "" else case.expected


def check_numbers(cases, task, numbers, expected=lambda case: case.expected):
    summary = get_benchmark(task).summarise(expected(case) for case in cases if case.task == task)
    for metric in summary.metrics:
        found = numbers.get(metric.name, math.nan)
        assert found == pytest.approx(metric.value, abs=1e-9, nan_ok=True), (task, metric.name)


def check_prompts(cases, seen):
    for case in cases:
        (message,) = get_benchmark(case.task).prompt(case.item)
        texts = [part["text"] for part in message["content"] if part["type"] == "text"]
        assert seen[case.number].texts == texts, case.number
        assert len(seen[case.number].pictures) == len(message["content"]) - len(texts)


def test_lmms_eval(cases, tmp_path):
    spec = importlib.util.find_spec("lmms_eval")
    if spec is None:
        pytest.skip("lmms-eval is not installed")
    contribution("lmms-eval")
    rows, all_cases = cases
    site = copied(Path(spec.origin).parent, "lmms-eval", tmp_path / "site")
    unit_tests(sys.executable, tmp_path, [site], rows, [site / "test"])
    with parity.serving(all_cases) as endpoint:
        arguments = f"model=stand-in,base_url={endpoint.url},num_concurrent=8,max_retries=1"
        command = ["-m", "lmms_eval", "--model", "openai", "--model_args", arguments, "--tasks", ",".join(parity.TASKS)]
        saved = ["--output_path", str(tmp_path / "out"), "--log_samples", "--verbosity", "WARNING"]
        run([sys.executable, *command, *saved], tmp_path, [site], rows, OPENAI_API_KEY="none")
        check_prompts(all_cases, endpoint.seen)
    (results,) = (tmp_path / "out").rglob("*_results.json")
    found = json.loads(results.read_text(encoding="utf-8"))["results"]
    for task in parity.TASKS:
        (log,) = (tmp_path / "out").rglob(f"*_samples_{task}.jsonl")
        with open(log, encoding="utf-8") as lines:
            scores = {score.id: score for score in map(score_from_sample, map(json.loads, lines))}
        for case in (case for case in all_cases if case.task == task):
            score = scores.pop(case.item.id)
            assert same(case.expected, score.outcome.value, dict(score.values), score.extracted), case.number
        assert not scores
        check_numbers(all_cases, task, {name.removesuffix(",none"): value for name, value in found[task].items()})


def test_vlmevalkit(cases, tmp_path):
    from vlmevalkit_runs import SHIM, python

    interpreter = python()
    contribution("vlmevalkit")
    rows, all_cases = cases
    where = [interpreter, "-c", "import importlib.util as u; print(u.find_spec('vlmeval').origin)"]
    package = Path(subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip()).parent
    site = copied(package, "vlmevalkit", tmp_path / "site")
    init = site / "vlmeval" / "dataset" / "__init__.py"
    text = init.read_text(encoding="utf-8")
    for family in FAMILIES.values():  # the two lines that the text of the PR asks for
        imported, listed = entry(family)
        text = text.replace("\nIMAGE_DATASET = [\n", f"\n{imported}\nIMAGE_DATASET = [\n    {listed},\n", 1)
    init.write_text(text, encoding="utf-8")
    (tmp_path / "LMUData").mkdir()
    unit_tests(interpreter, tmp_path, [SHIM, site], rows, [site / "tests"], LMUData=str(tmp_path / "LMUData"))
    names = [dataset_name(task) for task in parity.TASKS]
    with parity.serving(all_cases) as endpoint:
        chosen = ["--data", *names, "--model", "stand-in", "--base-url", f"{endpoint.url}/chat/completions"]
        options = ["--key", "none", "--retry", "1", "--api-nproc", "8", "--work-dir", str(tmp_path / "out")]
        run(
            [interpreter, "-m", "vlmeval", *chosen, *options],
            tmp_path,
            [SHIM, site],
            rows,
            LMUData=str(tmp_path / "LMUData"),
            PRED_FORMAT="tsv",
        )
        check_prompts(all_cases, endpoint.seen)
    for task, name in zip(parity.TASKS, names, strict=True):
        (items,) = {path.resolve() for path in (tmp_path / "out").rglob(f"*_{name}_items.jsonl")}
        with open(items, encoding="utf-8") as lines:
            scores = {line["id"]: line for line in map(json.loads, lines)}
        for case in (case for case in all_cases if case.task == task):
            score = scores.pop(case.item.id)
            assert same(in_vlmevalkit(case), score["outcome"], score["values"], score["extracted"]), case.number
        assert not scores
        (file,) = {path.resolve() for path in (tmp_path / "out").rglob(f"*_{name}_score.json")}
        check_numbers(all_cases, task, json.loads(file.read_text(encoding="utf-8"))["scores"], in_vlmevalkit)


def test_inspect_evals(cases, tmp_path):
    from inspect_runs import dump, inspect_python, saved_numbers, score_of

    interpreter = inspect_python()
    contribution("inspect-evals")
    rows, all_cases = cases
    repositories = [tmp_path / family for family in FAMILIES]
    for tree, repository in zip(trees("inspect-evals"), repositories, strict=True):
        shutil.copytree(tree, repository)
    path = [repository / "src" for repository in repositories]
    unit_tests(str(interpreter), tmp_path, path, rows, [repository / "tests" for repository in repositories])
    model = ["--model", "openai-api/local/stand-in", "--max-retries", "0", "--max-connections", "8"]
    with parity.serving(all_cases) as endpoint:
        tasks = [
            f"{repository}/src/{family}_inspect/task.py@{task}"
            for family, repository in zip(FAMILIES, repositories, strict=True)
            for task in parity.TASKS
            if task.startswith(family)
        ]
        run(
            [str(interpreter), "-m", "inspect_ai", "eval", *tasks, *model],
            tmp_path,
            path,
            rows,
            LOCAL_BASE_URL=endpoint.url,
            LOCAL_API_KEY="none",
            INSPECT_LOG_DIR=str(tmp_path / "logs"),
            INSPECT_DISPLAY="plain",
            HOME=str(tmp_path),
        )
        check_prompts(all_cases, endpoint.seen)
    for task in parity.TASKS:
        (log,) = (tmp_path / "logs").rglob(f"*_{task.replace('_', '-')}_*.eval")
        content = dump(log)
        scores = {str(s["id"]): score_of(str(s["id"]), s["scores"][task]) for s in content["samples"]}
        for case in (case for case in all_cases if case.task == task):
            score = scores.pop(case.item.id)
            assert same(case.expected, score.outcome.value, dict(score.values), score.extracted), case.number
        assert not scores
        check_numbers(all_cases, task, saved_numbers(content))


def test_geoeval_is_hidden_in_these_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import geoeval"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(blocked(tmp_path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "geoeval is hidden" in done.stderr
