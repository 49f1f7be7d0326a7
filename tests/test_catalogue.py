"""``geoeval tasks``: every task with its items, one task, and what is published of it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.cli import main

SAMPLE = Path(__file__).parents[1] / "geoeval" / "data" / "sample"


@pytest.fixture
def tasks(capsys):
    """Runs the command: exit status, standard output, standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as exit_:
            main(["tasks", *arguments])
        captured = capsys.readouterr()
        return exit_.value.code, captured.out, captured.err

    return run


@pytest.fixture
def listed(tasks):
    def run():
        status, out, _ = tasks("--json")
        assert status == 0
        return {task["task"]: task for task in json.loads(out)}

    return run


def test_list_has_every_task_with_version_and_headline(tasks):
    status, out, _ = tasks()
    assert status == 0
    lines = {line.split()[0]: line.split() for line in out.splitlines()[1:]}
    assert set(lines) == set(benchmark_names())
    assert lines["lithobench_mcq_id"] == ["lithobench_mcq_id", "1-A", "800", "published", "accuracy", "6", "14"]
    assert lines["georefusal_a"] == ["georefusal_a", "1-A", "n/a", "published", "accuracy", "16"]


PUBLISHED_N = {
    "lithobench_mcq": 4000,
    "lithobench_open_rea": 1200,
    "georefusal_jpeg95": 587,
    "georefusal_b": None,
    "forge_workveri": 947,
    "forge_workveri_image_icd": 451,
    "forge_assyveri_three_view": 309,
    "forge_missing_part_image": None,
    "forge_grounding_cross_letter": None,
}
SAMPLE_N = {
    "lithobench_mcq": 60,
    "lithobench_open_rea": 12,
    "georefusal": 83,
    "forge_workveri_three_view": 24,
    "forge_missing_part_image": 12,
    "forge_grounding_cross_letter": 6,
}


def test_items_are_the_published_ones_where_no_data_are_at_hand(listed):
    found = listed()
    assert {name: found[name]["n"] for name in PUBLISHED_N} == PUBLISHED_N
    assert {task["n_of"] for task in found.values()} == {"published"}


def test_items_are_those_of_the_data_in_use(listed, monkeypatch):
    monkeypatch.setenv("GEOEVAL_DATA", "sample")
    found = listed()
    assert {name: found[name]["n"] for name in SAMPLE_N} == SAMPLE_N
    assert {task["n_of"] for task in found.values()} == {"SAMPLE"}


def test_a_folder_with_one_good_and_one_broken_file(listed, monkeypatch, tmp_path):
    shutil.copy(SAMPLE / "georefusal.parquet", tmp_path)
    (tmp_path / "lithobench_mcq.parquet").write_bytes(b"not parquet")
    (tmp_path / "lithobench_open.parquet").write_bytes((SAMPLE / "georefusal.parquet").read_bytes())
    monkeypatch.setenv("GEOEVAL_DATA", str(tmp_path))
    found = listed()
    assert (found["georefusal"]["n"], found["georefusal"]["n_of"]) == (83, "local")
    assert (found["lithobench_mcq"]["n"], found["lithobench_mcq"]["n_of"]) == (4000, "published")
    assert (found["lithobench_open_id"]["n"], found["lithobench_open_id"]["n_of"]) == (1200, "published")


def test_one_task(tasks):
    status, out, _ = tasks("forge_workveri_image_ref_cond")
    assert status == 0
    for line in (
        "items:          451 (published)",
        "dataset:        forge_workveri where modality = photo",
        "setting:        ref_cond",
        "same items:     forge_workveri_image, forge_workveri_image_icd",
        "limit:          2048 new tokens, temperature 0",
        "by:             modality, scenario, granularity",
        "published:      18 rows, see --published",
    ):
        assert f"  {line}\n" in out


def test_one_task_as_json(tasks):
    _, out, _ = tasks("georefusal", "--json")
    about = json.loads(out)
    assert about["metrics"] == list(get_benchmark("georefusal").metric_names)
    assert about["lower_is_better"] == ["false_refusal_rate", "missed_refusal_rate"]
    assert "published" not in about


def models(out):
    """The model column; names hold spaces, and the next column begins with one of these words."""
    return [line.split("  ")[0].strip() for line in out.splitlines()[2:] if not line.startswith(("[", "source"))]


def test_published_rows_are_sorted_and_hold_the_random_baseline(tasks):
    status, out, _ = tasks("forge_workveri_three_view", "--published")
    assert status == 0
    found = models(out)
    assert found[:3] == ["Gemini-3-Flash", "GPT-5.2", "GPT-5"]
    assert found[17:19] == ["(random)", "Kimi-K2.5"]
    (kimi,) = [line for line in out.splitlines() if line.startswith("Kimi")]
    assert kimi.split() == ["Kimi-K2.5", "zero_shot", "0.1940", "![2]"]
    assert "[2] conflict: project page 19.4" in out
    assert "of forge_workveri as a whole" in out
    assert "source: project page of arXiv 2604.07413" in out


def test_open_task_is_sorted_by_its_headline(tasks):
    _, out, _ = tasks("lithobench_open", "--published")
    header, first = out.splitlines()[1:3]
    assert header.split() == ["model", "setting", "open_score", "rouge_l", "bleu_4", "open_score_with_judge"]
    assert first.split()[:3] == ["InternVL3.5-8B-HF", "lora_ft", "1.9740"]
    assert "random" not in out


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("georefusal", ["(always answer)", "0.5030", "no model's result is known"]),
        ("forge_workveri", ["(random)", "0.2500", "there are some of forge_workveri_image, "]),
        ("lithobench_mcq_id", ["(random): not published", "0.9863"]),
        ("forge_grounding", ["(random)", "0.1670", "Gemini-3-Flash", "0.9160"]),
    ],
)
def test_what_is_and_is_not_published(tasks, task, words):
    status, out, _ = tasks(task, "--published")
    assert status == 0
    assert [word for word in words if word not in out] == []


def test_a_baseline_of_the_whole_dataset_is_called_so(tasks):
    _, out, _ = tasks("georefusal_a", "--published")
    assert "of georefusal as a whole, of which this is a part" in out


def test_published_as_json(tasks):
    _, out, _ = tasks("forge_assyveri_image", "--published", "--json")
    about = json.loads(out)
    assert about["baselines"] == [
        {"name": "(random)", "metric": "accuracy", "value": 0.295, "of": "forge_assyveri", "whole": False}
    ]
    assert len(about["published"]) == 18
    assert about["published"][0] == {
        "model": "GPT-5",
        "metric": "accuracy",
        "value": 0.501,
        "setting": "zero_shot",
        "source": "project page of arXiv 2604.07413",
        "note": "",
        "conflict": False,
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["georefusals"], "no task 'georefusals'; did you mean georefusal"),
        (["xyzzy"], "no task 'xyzzy'; see \"geoeval tasks\""),
        (["xyzzy", "--published"], "no task 'xyzzy'"),
        (["--published"], "--published needs the name of a task"),
    ],
)
def test_wrong_arguments(tasks, arguments, says):
    status, out, err = tasks(*arguments)
    assert (status, out) == (2, "")
    assert says in err


@pytest.mark.parametrize("arguments", [[], ["--json"], ["georefusal"], ["georefusal", "--published"]])
def test_a_reader_that_goes_away_sees_no_traceback(arguments):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "geoeval", "tasks", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")
