"""The reader of lmms-eval's files, on files made by hand; real ones are in tests/harness/test_saved_results.py."""

import json

import pytest

from geoeval.data import DataError
from geoeval.runs import lmms_eval
from geoeval.runs.recognise import find_replies

STAMP = "20261130_181422"


def sample(id_, reply, **more):
    return {"doc_id": 0, "filtered_resps": reply, "coverage": {"id": id_, "score": 1.0}, **more}


def write_run(
    folder, *, model_args="model=gpt,api_key=sk-secret123,base_url=http://me:pw@host/v1", tasks=("georefusal",)
):
    content = {
        "results": {task: {"coverage,none": 1.0} for task in tasks},
        "configs": {
            task: {"metadata": {"data": "SAMPLE", "data_sha256": "ab" * 32, "version": "1-A"}, "generation_kwargs": {}}
            for task in tasks
        },
        "n-samples": {task: {"original": 83, "effective": 2} for task in tasks},
        "config": {"model_args": model_args, "resolved_cli_args": {"timezone": "Asia/Singapore"}},
        "date": STAMP,
        "model_source": "openai",
        "model_name": "gpt",
        "lmms_eval_version": "unknown@unknown",
    }
    content["configs"]["theirs"] = {"metadata": {"version": 1}}
    path = folder / f"{STAMP}_results.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    for task in tasks:
        lines = [sample("a", "yes"), sample("b", "[LMMS_EVAL_REQUEST_FAILED] HTTP 500")]
        log = folder / f"{STAMP}_samples_{task}.jsonl"
        log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_what_is_read(tmp_path):
    (run,) = lmms_eval.read(write_run(tmp_path))
    assert (run.task, run.data, run.data_sha256) == ("georefusal", "SAMPLE", "ab" * 32)
    assert run.facts == {
        "harness": "lmms-eval",
        "model": "gpt",
        "backend": "openai",
        "model_args": "model=gpt,api_key=***,base_url=http://***@host/v1",
        "generation_kwargs": {},
        "date": "2026-11-30T18:14:22+08:00",
        "version": "1-A",
        "items_asked": 2,
    }
    assert [(r.id, r.text, r.failure) for r in run.read()] == [
        ("a", "yes", ""),
        ("b", None, "[LMMS_EVAL_REQUEST_FAILED] HTTP 500"),
    ]


def test_a_log_is_read_with_the_result_file_beside_it_or_alone(tmp_path):
    results = write_run(tmp_path)
    log = tmp_path / f"{STAMP}_samples_georefusal.jsonl"
    (run,) = lmms_eval.read(log)
    assert run.facts["model"] == "gpt"
    results.unlink()
    (run,) = lmms_eval.read(log)
    assert (run.task, run.data_sha256, run.facts) == ("georefusal", "", {"harness": "lmms-eval"})
    assert lmms_eval.recognises(log)


def test_files_given_one_by_one_are_scored_once(tmp_path):
    """As where a shell expands ``results/*``."""
    path = write_run(tmp_path, tasks=("georefusal", "forge_workveri"))
    logs = sorted(tmp_path.glob("*_samples_*"))
    assert [found.path for found in find_replies([*logs, path])] == [path]
    assert [found.path for found in find_replies(logs)] == logs


def test_in_a_folder_the_result_file_stands_for_its_logs(tmp_path):
    path = write_run(tmp_path, tasks=("georefusal", "forge_workveri"))
    (found,) = find_replies([tmp_path])
    assert (found.path, found.reader) == (path, "lmms_eval")
    assert [run.task for run in found.runs()] == ["georefusal", "forge_workveri"]
    path.unlink()
    assert [found.path.name for found in find_replies([tmp_path])] == [
        f"{STAMP}_samples_forge_workveri.jsonl",
        f"{STAMP}_samples_georefusal.jsonl",
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{}", "jsonl:1: not a sample of this task"),
        ("no json", "jsonl:1: not a sample of this task"),
        (json.dumps(sample(3, "yes")), "must be a string"),
        (json.dumps(sample("a", ["yes", "no"])), "one reply or null"),
    ],
)
def test_damage_is_named(tmp_path, line, says):
    path = write_run(tmp_path)
    (tmp_path / f"{STAMP}_samples_georefusal.jsonl").write_text(line, encoding="utf-8")
    (run,) = lmms_eval.read(path)
    with pytest.raises(DataError, match=says):
        list(run.read())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x_results.json", "{}"),
        ("x_results.json", "[]"),
        ("x_results.json", "no json"),
        ("x_samples_mine.jsonl", '{"filtered_resps": "A"}\n'),
        ("x_samples_mine.jsonl", ""),
        ("other.json", "{}"),
    ],
)
def test_what_is_not_lmms_eval(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert not lmms_eval.recognises(tmp_path / name)


@pytest.mark.parametrize(
    ("reply", "text"),
    [("yes", "yes"), (["yes"], "yes"), (None, None), ("  [LMMS_EVAL_BUDGET_EXCEEDED] x", None), ("", "")],
)
def test_replies_and_failures(tmp_path, reply, text):
    path = write_run(tmp_path)
    log = tmp_path / f"{STAMP}_samples_georefusal.jsonl"
    log.write_text(json.dumps(sample("a", reply)), encoding="utf-8")
    (run,) = lmms_eval.read(path)
    assert [r.text for r in run.read()] == [text]


@pytest.mark.parametrize("zone", ["", "Nowhere/None", "../etc/passwd"])
def test_a_zone_that_is_not_known_is_left_out(tmp_path, zone):
    path = write_run(tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["config"]["resolved_cli_args"] = {"timezone": zone}
    path.write_text(json.dumps(content), encoding="utf-8")
    (run,) = lmms_eval.read(path)
    assert run.facts["date"] == "2026-11-30T18:14:22"


def test_a_run_of_which_nothing_was_scored(tmp_path):
    path = write_run(tmp_path)
    assert lmms_eval.unscored_tasks(path) == []
    content = json.loads(path.read_text(encoding="utf-8"))
    content["results"]["georefusal"]["coverage,none"] = 0.0
    path.write_text(json.dumps(content), encoding="utf-8")
    assert lmms_eval.unscored_tasks(path) == ["georefusal: no item could be scored, all requests failed"]


def test_secrets_in_other_spellings(tmp_path):
    path = write_run(tmp_path, model_args="OPENAI_API_KEY=a,hf_token=b, secret : c,max_tokens=5,authorization=d")
    (run,) = lmms_eval.read(path)
    assert run.facts["model_args"] == "OPENAI_API_KEY=***,hf_token=***, secret : ***,max_tokens=5,authorization=***"
