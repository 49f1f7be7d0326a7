"""Records: written and read again as they were, scored again, checked; and results of mixed folders."""

import json
import math
from dataclasses import replace

import jsonschema
import pytest
from saved_runs import gold_replies, saved, write_plain

from geoeval.benchmarks import benchmark_names
from geoeval.data import DataError
from geoeval.data.files import write_json
from geoeval.runs.load import load_results
from geoeval.runs.model import Reply, SavedRun
from geoeval.runs.recognise import find_replies
from geoeval.runs.record import from_line, to_line, to_record
from geoeval.runs.saved import Stems, check, load, read, record_file, write_result
from geoeval.runs.schema import items_schema, record_schema
from geoeval.runs.score import score_run
from geoeval.types import Judgement, Metric


@pytest.fixture
def written(tmp_path):
    """A written result with everything in it: failed, unread and empty replies, a part of the items."""
    replies = gold_replies("georefusal", wrong=5)[:-3]
    replies[7] = Reply(replies[7].id, None, "timeout")
    replies[8] = Reply(replies[8].id, "")
    result = score_run(saved("georefusal", replies, tmp_path), allow_partial=True)
    return result, write_result(result, tmp_path / "out" / "x")


@pytest.mark.parametrize("schema", [record_schema(), items_schema()])
def test_schemas_are_schemas(schema):
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("task", benchmark_names())
def test_every_task_has_a_record_of_the_schema(task, tmp_path):
    record, _ = write_result(score_run(saved(task, gold_replies(task), tmp_path)), tmp_path / "x")
    assert check(record) == len(gold_replies(task))


def test_a_result_comes_back_as_it_was(written):
    result, (record, items) = written
    again = load(record)
    assert to_record(again) == to_record(result)
    assert repr(again.summary) == repr(result.summary)
    assert repr(again.baselines) == repr(result.baselines)
    assert again.tests == result.tests
    assert again.failed == result.failed
    assert list(again.items()) == list(result.items())
    assert check(record) == items.read_bytes().count(b"\n")


def test_scored_again_a_record_gives_itself(written):
    _, (record, items) = written
    before = json.loads(record.read_text(encoding="utf-8")), items.read_bytes()
    (run,) = read(record)
    assert run.facts == {"harness": "test", "model": "m"}
    with pytest.raises(DataError, match="3 items have no reply"):
        score_run(run)
    again = score_run(run, allow_partial=True, items_to=items)
    write_result(again, record.with_name("x"))
    after = json.loads(record.read_text(encoding="utf-8")), items.read_bytes()
    assert after[1] == before[1]
    for one in (before[0], after[0]):
        for fact in ("source", "source_sha256", "data_check"):
            one["run"].pop(fact)
    assert after[0] == before[0]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda r: r.update(schema="geoeval-result-0"), "this geoeval reads geoeval-result-1"),
        (lambda r: r.update(extra=1), "Additional properties"),
        (lambda r: r["metrics"][0].pop("n"), "'n' is a required property"),
        (lambda r: r["metrics"][0].update(value="0.5"), "not of type 'number', 'null'"),
        (lambda r: r["run"].update(data_sha256="abc"), "data_sha256"),
        (lambda r: r["coverage"].update(items=99), "80 items, but the record has 99"),
        (lambda r: r.update(run=None), "schema"),
    ],
)
def test_a_record_that_is_none(written, damage, says):
    _, (path, _) = written
    record = json.loads(path.read_text(encoding="utf-8"))
    damage(record)
    write_json(path, record)
    with pytest.raises(DataError, match=says):
        check(path)


@pytest.mark.parametrize(
    ("line", "says"),
    [("{}", "required property"), ("no json", "after line 3"), ('{"id": 3}', "x.items.jsonl:3")],
)
def test_items_that_are_none(written, line, says):
    _, (path, items) = written
    lines = items.read_text(encoding="utf-8").split("\n")
    items.write_text("\n".join([*lines[:2], line, *lines[3:]]), encoding="utf-8")
    with pytest.raises(DataError, match=says):
        check(path)
    with pytest.raises(DataError, match=r"x.items.jsonl:3: not an item"):
        list(load(path).items())


def test_items_that_are_gone(written):
    _, (path, items) = written
    items.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        list(load(path).items())


def test_what_is_not_of_the_schema_is_not_written(written, tmp_path):
    result, _ = written
    wrong = replace(result, summary=replace(result.summary, metrics=(Metric("", 0.5, -1),)))
    with pytest.raises(DataError, match=r"y: not of the schema record.schema.json at \$.metrics\[0\]"):
        write_result(wrong, tmp_path / "y")
    assert not record_file(tmp_path / "y").exists()


def test_a_judgement_is_of_the_schema(written):
    score, reply = next(written[0].items())
    for judgement in (
        Judgement(7.5, {"correctness": 8}, "well", None, ("k1", "k2")),
        Judgement(None, reason="unreadable: x"),
    ):
        line = to_line(replace(score, judgement=judgement), reply)
        jsonschema.validate(line, items_schema())
        assert from_line(line) == (replace(score, judgement=judgement), reply)
    line = to_line(replace(score, values={"accuracy": math.nan}), reply)
    assert line["values"] == {"accuracy": None}


@pytest.mark.parametrize(
    ("name", "facts", "policy", "stem"),
    [
        ("20260101_010101_samples_georefusal.jsonl", {}, "declared", "20260101_010101_georefusal"),
        ("x.items.jsonl", {}, "declared", "x"),
        ("x.items.jsonl", {}, "first_letter", "x_first_letter"),
        ("replies.csv", {"harness": "plain", "model": "../a b"}, "declared", "replies_georefusal_..-a-b"),
        ("gpt_georefusal.tsv", {"harness": "x", "model": "m"}, "declared", "gpt_georefusal"),
    ],
)
def test_names_of_files(tmp_path, name, facts, policy, stem):
    run = SavedRun("georefusal", tmp_path / name, lambda: iter(()), facts=facts)
    stems = Stems()
    assert [stems.of(run, policy) for _ in range(3)] == [tmp_path / f"{stem}{end}" for end in ("", "_2", "_3")]
    assert Stems(tmp_path / "out").of(run, policy) == tmp_path / "out" / stem


def test_results_of_a_folder(tmp_path):
    """Records, and runs that no record is made of; a run that changed since then is scored again."""
    for model in ("a", "b"):
        write_plain(tmp_path / f"{model}.jsonl", gold_replies("georefusal"), task="georefusal", model=model)
    (found,) = find_replies([tmp_path / "a.jsonl"])
    (run,) = found.runs()
    write_result(score_run(run, data="sample"), tmp_path / "a")
    results = load_results([tmp_path], data="sample")
    assert [result.model for result in results] == ["a", "b"]
    assert results[0].items.path == tmp_path / "a.items.jsonl"
    write_plain(tmp_path / "a.jsonl", gold_replies("georefusal", wrong=9), task="georefusal", model="a")
    results = load_results([tmp_path], data="sample")
    assert [(result.model, result.summary.coverage.unread) for result in results] == [("a", 0), ("a", 9), ("b", 0)]
    both = load_results([tmp_path / "b.jsonl", tmp_path / "a.geoeval.json"], data="sample")
    assert [result.model for result in both] == ["b", "a"]


def test_a_plain_file_whose_task_and_model_were_said_on_the_command_line(tmp_path):
    """Only its record has them; it is not scored again without."""
    write_plain(tmp_path / "a.jsonl", gold_replies("georefusal"))
    (run,) = next(iter(find_replies([tmp_path / "a.jsonl"]))).runs()
    said = replace(run, task="georefusal", facts={**run.facts, "model": "zed"})
    write_result(score_run(said, data="sample"), tmp_path / "a")
    assert [result.model for result in load_results([tmp_path], data="sample")] == ["zed"]


def test_items_that_are_not_all_of_a_record(written):
    _, (path, items) = written
    lines = items.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(list(load(path).items())) == len(lines)
    items.write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match=f"{len(lines) - 1} items, but its record has {len(lines)}"):
        list(load(path).items())


def test_a_record_and_its_items_are_one(written):
    _, (record, items) = written
    for paths in ([record, items], [items, record]):
        assert [one.path for one in find_replies(paths)] == [record]
    assert [one.path for one in find_replies([items])] == [items]


@pytest.mark.parametrize("change", [{"task": "nosuch"}, {"metrics": []}])
def test_a_record_of_no_task_or_without_numbers_is_refused(written, change):
    _, (path, _) = written
    write_json(path, {**json.loads(path.read_text(encoding="utf-8")), **change})
    with pytest.raises(DataError, match="no task of this geoeval, or has no numbers"):
        load_results([path])
