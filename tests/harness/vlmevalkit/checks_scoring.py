"""Evaluation of prediction files, and what is said of a run."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import tempfile
from pathlib import Path

from checking import check, dataset, predictions, raises


@check
def numbers_are_plain_and_the_headline_is_the_primary_metric():
    from geoeval.benchmarks import get_benchmark
    from geoeval.data import locate, task_items

    built = dataset("GeoRefusalBench")
    benchmark = get_benchmark("georefusal")
    items = list(task_items("georefusal", locate("georefusal"), pictures=False))
    replies = [benchmark.format_reply(item, item.gold[0]) for item in items]
    with tempfile.TemporaryDirectory() as folder:
        numbers = built.evaluate(str(predictions(folder, "GeoRefusalBench", replies)), model=None, nproc=4)
    assert {type(value) for value in numbers.values()} <= {int, float}
    assert numbers["accuracy"] == 1
    assert numbers["n_items"] == len(items)
    assert built.report_primary_metric(numbers) == {"accuracy": 1.0}
    assert json.dumps(numbers, allow_nan=False)


@check
def evaluation_works_in_a_process_that_was_spawned():
    built = dataset("GeoRefusalBench_A")
    with tempfile.TemporaryDirectory() as folder:
        file = predictions(folder, "GeoRefusalBench_A", ["x"] * len(built))
        queue = multiprocessing.get_context("spawn").Queue()
        process = multiprocessing.get_context("spawn").Process(
            target=_evaluated, args=(pickle.dumps(built), str(file), queue)
        )
        process.start()
        numbers = queue.get(timeout=120)
        process.join()
    assert numbers["n_unread"] == len(built), numbers


def _evaluated(dump, file, queue):
    queue.put(pickle.loads(dump).evaluate(file))


@check
def a_file_of_other_ids_data_or_task_is_refused_and_leaves_no_record():
    from geoeval.data import DataError

    built = dataset("GeoRefusalBench_A")
    with tempfile.TemporaryDirectory() as folder:
        file = predictions(folder, "GeoRefusalBench_A", ["x"] * len(built))
        built.evaluate(str(file))
        assert len(list(Path(folder).glob("*_score.*"))) == 2
        whole = file.read_text()
        predictions(folder, "GeoRefusalBench_A", ["x"] * (len(built) - 1))
        raises(DataError, built.evaluate, str(file), match="1 missing")
        assert not list(Path(folder).glob("*_score.*"))
        file.write_text(whole[: len(whole) // 2])
        raises(DataError, built.evaluate, str(file), match="cannot be read as predictions")
        file.write_text(whole.replace(built.data["index"][0], "another"))
        raises(DataError, built.evaluate, str(file), match="1 unknown")
        file.write_text(whole.replace('""1-A""', '""0-A""'))
        raises(DataError, built.evaluate, str(file), match="these predictions were made with version, data")
        raises(DataError, dataset("GeoRefusalBench_B").evaluate, str(file), match="the name says georefusal_a")


@check
def a_run_without_one_reply_is_an_error_and_has_its_record():
    from geoeval.data import DataError

    built = dataset("GeoRefusalBench_A")
    with tempfile.TemporaryDirectory() as folder:
        file = predictions(folder, "GeoRefusalBench_A", [None] * len(built))
        raises(DataError, built.evaluate, str(file), match="no item could be scored")
        assert len(list(Path(folder).glob("*_score.*"))) == 2
        assert built.report_infer_err(file) == {"failed": len(built), "total": len(built)}


@check
def a_judge_is_the_one_that_was_named_and_none_otherwise():
    from geoeval.harness.vlmevalkit.scoring import judge_settings

    assert judge_settings({"nproc": 4}, {}) is None
    assert judge_settings({"model": "exact_matching"}, {}) is None
    named = judge_settings({"model": "j", "api_base": "http://127.0.0.1:1/v1/chat/completions", "key": "k" * 9}, {})
    assert (named.model, named.base_url) == ("j", "http://127.0.0.1:1/v1")
    assert os.environ.pop("GEOEVAL_JUDGE_API_KEY") == "k" * 9
    assert judge_settings({}, {"GEOEVAL_JUDGE_MODEL": "own"}).model == "own"


@check
def a_status_of_an_earlier_run_or_a_dataset_that_is_missing_is_a_failure():
    from datetime import datetime, timedelta

    from geoeval.harness.vlmevalkit.outcome import failures

    now = datetime.now().astimezone()
    fresh, old = now.isoformat(), (now - timedelta(seconds=9)).isoformat()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        for name in ("GeoRefusalBench", "GeoRefusalBench_A"):
            (folder / f"{name}.tsv").write_text("x")
        (folder / "GeoRefusalBench_score.geoeval.json").write_text("{}")
        entry = {"status": "done", "prediction_file": "GeoRefusalBench.tsv"}
        unscored = {**entry, "prediction_file": "GeoRefusalBench_A.tsv"}
        for name, found, mode, said in (
            ("GeoRefusalBench", {**entry, "updated_at": fresh}, "all", ""),
            ("GeoRefusalBench", {**entry, "updated_at": old}, "all", "was not run"),
            ("GeoRefusalBench", {}, "all", "was not run"),
            ("GeoRefusalBench", {**entry, "updated_at": fresh, "status": "infer"}, "all", "ended in the state 'infer'"),
            ("GeoRefusalBench", {**entry, "updated_at": fresh, "error_message": "E: x\ny"}, "all", "E: x"),
            ("GeoRefusalBench", {**entry, "updated_at": fresh, "skip_reason": "mode_infer"}, "all", "skipped"),
            ("GeoRefusalBench", {**entry, "updated_at": fresh, "skip_reason": "mode_infer"}, "infer", ""),
            ("GeoRefusalBench_A", {**unscored, "updated_at": fresh}, "all", "no record"),
            ("MMStar", {"status": "done", "updated_at": fresh}, "all", "no number"),
            ("MMStar", {"status": "done", "updated_at": fresh, "metrics": {"a": 1}}, "all", ""),
        ):
            (folder / "status.json").write_text(json.dumps({"datasets": {name: found}}))
            problems = list(failures(folder, [name], mode, now))
            assert len(problems) == bool(said), (name, found, problems)
            assert not said or said in problems[0], (said, problems)


@check
def earlier_replies_are_moved_aside_and_no_others():
    from geoeval.harness.vlmevalkit.outcome import move_aside

    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        old = (
            "m_GeoRefusalBench.tsv",
            "m_GeoRefusalBench_checkpoint.pkl",
            "01_GeoRefusalBench.pkl",
            "m_GeoRefusalBench.xlsx",
        )
        other = ("m_GeoRefusalBench_A.tsv", "n_GeoRefusalBench.tsv", "01_GeoRefusalBench_A.pkl", "m_MMStar.tsv")
        for name in (*old, *other):
            (folder / name).write_text(name)
        both = {"GeoRefusalBench": {"metrics": 1}, "MMStar": {"metrics": 2}}
        (folder / "status.json").write_text(json.dumps({"x": 1, "datasets": both}))
        known = ["GeoRefusalBench", "GeoRefusalBench_A", "MMStar"]
        aside = move_aside(folder, "m", ["GeoRefusalBench"], known, "stamp")
        assert {path.name for path in aside.iterdir()} == {*old, "status.json"}
        assert {path.name for path in folder.iterdir()} == {*other, "status.json", "earlier-stamp"}
        assert json.loads((folder / "status.json").read_text()) == {"x": 1, "datasets": {"MMStar": {"metrics": 2}}}
        assert move_aside(folder, "m", ["GeoRefusalBench"], known, "later") is None
