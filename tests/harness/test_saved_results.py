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
    assert not list(folder.rglob("*.geoeval.json"))
    return done


@pytest.fixture
def copied(upstream_run, tmp_path):
    """A copy of the run that a test may damage."""
    shutil.copytree(upstream_run.folder, tmp_path / "run")
    return tmp_path / "run"


def records_of(folder):
    """Task -> record, of all records below a folder."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.geoeval.json"))]
    return {record["task"]: record for record in records}


def test_tables_and_records_of_an_upstream_run(upstream_run, copied):
    done = run(copied, "score", str(copied), command=GEOEVAL)
    assert done.status == 0, done.output
    stamp = next(copied.rglob("*_results.json")).name.removesuffix("_results.json")
    for task in TASKS:
        assert (copied / f"{stamp}_{task}.geoeval.json").is_file()
        assert (copied / f"{stamp}_{task}.items.jsonl").is_file()
    records = records_of(copied)
    assert records.keys() == set(TASKS)
    for task, record in records.items():
        assert record["run"]["data"] == "SAMPLE"
        assert record["run"]["data_check"] == "same"
        assert record["run"]["model_args"] == "strategy=random"
        assert record["run"]["partial"] is None
        for metric in record["metrics"]:
            value = upstream_run.value(task, metric["name"])
            assert metric["value"] == pytest.approx(value, abs=1e-12), metric
            assert f"{value:.4f}" in done.output
    assert "SAMPLE numbers" in done.output
    assert run(copied, "score", "--check", str(copied), command=GEOEVAL).status == 0


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda log: log.unlink(), "run the evaluation with --log_samples"),
        (lambda log: log.write_text("".join(log.open().readlines()[1:])), "the log is not whole"),
        (lambda log: log.write_text(log.read_text() + log.open().readlines()[0]), "1 ids occur more than once"),
        (lambda log: log.write_text('{"doc_id": 0}\n'), "_samples_georefusal.jsonl:1: not a sample of this task"),
        (lambda log: log.write_text(log.read_text()[:-20]), "not a sample of this task"),
    ],
    ids=["missing", "a line lost", "a line doubled", "another log", "cut off"],
)
def test_half_a_run_gets_no_number(copied, damage, says):
    (log,) = copied.rglob("*_samples_georefusal.jsonl")
    damage(log)
    done = run(copied, "score", str(copied), command=GEOEVAL)
    assert done.status == 1
    assert says in done.output
    assert records_of(copied).keys() == set(TASKS) - {"georefusal"}
    assert not [path for path in copied.rglob("*") if "georefusal.items" in path.name]


@pytest.mark.parametrize("content", ["{}", "no json", None])
def test_no_results_is_an_error(tmp_path, content):
    if content is not None:
        (tmp_path / "x_results.json").write_text(content, encoding="utf-8")
    done = run(tmp_path, "score", str(tmp_path), command=GEOEVAL)
    assert done.status == 2
    assert str(tmp_path) in done.output
    assert "<stamp>_results.json" in done.output


def test_evaluation_by_our_script_writes_the_same_records(upstream_run, copied, tmp_path):
    run(copied, "score", str(copied), command=GEOEVAL)
    ours = evaluate(tmp_path / "ours", "strategy=random")
    for path in ours.folder.rglob("*.items.jsonl"):
        task = path.name.removesuffix(".items.jsonl").split("_", 2)[2]
        (other,) = copied.rglob(f"*_{task}.items.jsonl")
        assert path.read_bytes() == other.read_bytes()
    theirs = records_of(copied)
    for task, record in records_of(ours.folder).items():
        assert {**record, "run": None} == {**theirs[task], "run": None}


def test_rules_of_today_score_what_was_saved_and_not_what_was_marked(copied):
    """A log whose marks are wrong, as an older version may have left them: the replies count."""
    (log,) = copied.rglob("*_samples_forge_workveri.jsonl")
    samples = [json.loads(line) for line in log.open(encoding="utf-8")]
    for sample in samples:
        sample["filtered_resps"] = f"Answer: {sample['coverage']['gold'][0]}"
        sample["accuracy"]["score"] = 0.0
    log.write_text("".join(f"{json.dumps(sample)}\n" for sample in samples), encoding="utf-8")
    assert run(copied, "score", str(copied), "--task", "forge_workveri", command=GEOEVAL).status == 0
    (record,) = records_of(copied).values()
    assert record["metrics"][0]["value"] == 1.0


def test_a_sample_log_alone(copied, tmp_path):
    (log,) = copied.rglob("*_samples_georefusal.jsonl")
    shutil.copy(log, tmp_path)
    done = run(tmp_path, "score", str(tmp_path / log.name), "--model", "lonely", command=GEOEVAL)
    assert done.status == 0, done.output
    (record,) = records_of(tmp_path).values()
    assert (record["run"]["model"], record["run"]["data_check"]) == ("lonely", "unknown")
