"""The record is JSON with null for nan, written as a whole or not at all."""

import json

import pytest

from geoeval.benchmarks import get_benchmark
from geoeval.data.files import write_json
from geoeval.runs.model import Result
from geoeval.runs.record import to_record


def test_record_of_an_empty_run_is_json_with_null():
    record = to_record(
        Result("georefusal", get_benchmark("georefusal").summarise([]), {"model": "m"}, items=lambda: iter(()))
    )
    again = json.loads(json.dumps(record, allow_nan=False))
    assert again["task"] == "georefusal"
    assert again["run"] == {"model": "m"}
    assert {metric["value"] for metric in again["metrics"]} == {None}
    assert again["coverage"]["items"] == 0


def test_written_file_is_whole(tmp_path):
    path = tmp_path / "new" / "record.json"
    write_json(path, {"a": "é"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "é"}
    assert [p.name for p in path.parent.iterdir()] == ["record.json"]


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing(tmp_path):
    path = tmp_path / "record.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["record.json"]
