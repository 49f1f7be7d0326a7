"""``geoeval score``: our tables for a run that upstream's own command made, and no table for half a run."""

import json
import shutil
import sys

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

from runs import TASKS, UPSTREAM_SCRIPT, evaluate, run

GEOEVAL = (sys.executable, "-m", "geoeval")


@pytest.fixture(scope="module")
def upstream_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    config = folder / "run.yaml"
    config.write_text(
        f"model: geoeval_baseline\nmodel_args: strategy=random\ntasks: {','.join(TASKS)}\n"
        f"output_path: {folder}\nlog_samples: true\nenv:\n  GEOEVAL_DATA: sample\n",
        encoding="utf-8",
    )
    done = run(folder, "--config", str(config), command=UPSTREAM_SCRIPT, GEOEVAL_DATA="")
    assert not list(folder.rglob("*_geoeval.json"))
    return done


@pytest.fixture
def copied(upstream_run, tmp_path):
    """A copy of the run that a test may damage."""
    shutil.copytree(upstream_run.folder, tmp_path / "run")
    return tmp_path / "run"


def test_tables_and_record_of_an_upstream_run(upstream_run, copied):
    done = run(copied, "score", str(copied), command=GEOEVAL)
    assert done.status == 0, done.output
    (path,) = copied.rglob("*_geoeval.json")
    records = {record["task"]: record for record in json.loads(path.read_text(encoding="utf-8"))}
    assert records.keys() == set(TASKS)
    for task, record in records.items():
        assert record["run"]["data"] == "SAMPLE"
        assert record["run"]["model_args"] == "strategy=random"
        for metric in record["metrics"]:
            value = upstream_run.value(task, metric["name"])
            assert metric["value"] == pytest.approx(value, abs=1e-12), metric
            assert f"{value:.4f}" in done.output
    assert "SAMPLE numbers" in done.output


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda log: log.unlink(), "run the evaluation with --log_samples"),
        (lambda log: log.write_text("".join(log.open().readlines()[1:])), "the log is not whole"),
        (lambda log: log.write_text('{"doc_id": 0}\n'), "_samples_georefusal.jsonl:1: not a sample of this task"),
        (lambda log: log.write_text(log.read_text()[:-20]), "not a sample of this task"),
    ],
    ids=["missing", "a line lost", "another log", "cut off"],
)
def test_half_a_run_gets_no_number(copied, damage, says):
    (log,) = copied.rglob("*_samples_georefusal.jsonl")
    damage(log)
    done = run(copied, "score", str(copied), command=GEOEVAL)
    assert done.status == 1
    assert says in done.output
    assert not list(copied.rglob("*_geoeval.json"))


@pytest.mark.parametrize("content", ["{}", "no json", None])
def test_no_results_is_an_error(tmp_path, content):
    if content is not None:
        (tmp_path / "x_results.json").write_text(content, encoding="utf-8")
    done = run(tmp_path, "score", str(tmp_path), command=GEOEVAL)
    assert done.status == 1
    assert str(tmp_path) in done.output
    assert "result file of lmms-eval" in done.output


def test_evaluation_by_our_script_writes_the_same_record(upstream_run, copied, tmp_path):
    run(copied, "score", str(copied), command=GEOEVAL)
    (theirs,) = copied.rglob("*_geoeval.json")
    ours = evaluate(tmp_path / "ours", "strategy=random")
    (path,) = ours.folder.rglob("*_geoeval.json")
    for one, two in zip(json.loads(path.read_text()), json.loads(theirs.read_text()), strict=True):
        assert {**one, "run": None} == {**two, "run": None}
