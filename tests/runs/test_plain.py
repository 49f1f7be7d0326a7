"""Plain files of replies: what is read, what is refused, and that files of many runs are parted."""

import json
from pathlib import Path

import pytest

from geoeval.data import DataError
from geoeval.runs import plain


def replies_of(path, **options):
    """(task, model) -> [(id, text, failure)]"""
    return {
        (run.task, run.facts.get("model", "")): [(r.id, r.text, r.failure) for r in run.read()]
        for run in plain.read(path, **options)
    }


TABLE = [
    ("a.jsonl", '{"id": "x", "reply": "A"}\n\n{"id": 7, "reply": null}\n', [("x", "A", ""), ("7", None, "null_reply")]),
    ("a.ndjson", '{"id": "x", "reply": "A", "other": [1]}\n', [("x", "A", "")]),
    ("a.jsonl", '{"id": "x", "reply": "\\ud83d"}', [("x", "\ud83d", "")]),
    ("a.jsonl", '{"id": "x", "reply": "late", "failure": "timeout"}', [("x", None, "timeout")]),
    ("a.csv", "id,reply\nx,A\n", [("x", "A", "")]),
    ("a.csv", 'id,reply\nx,"two\nlines, ""B"""\ny,\n', [("x", 'two\nlines, "B"', ""), ("y", "", "")]),
    ("a.csv", "reply;id\nA, B;x\n", [("x", "A, B", "")]),
    ("a.tsv", "id\treply\nx\tA, B; C\n", [("x", "A, B; C", "")]),
    ("a.csv", "id,reply,failure\nx,A,\ny,,timeout\n", [("x", "A", ""), ("y", None, "timeout")]),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize(("name", "content", "expected"), TABLE)
def test_what_is_read(tmp_path, name, content, expected, encoding):
    path = tmp_path / name
    path.write_bytes(content.encode(encoding))
    assert plain.recognises(path)
    assert replies_of(path) == {("", ""): expected}
    (run,) = plain.read(path)
    assert list(run.read()) == list(run.read())


def test_utf_16_without_a_mark(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("id,reply\nx,答案 A\n".encode("utf-16-le"))
    assert replies_of(path) == {("", ""): [("x", "答案 A", "")]}


def test_other_encodings_are_asked_for_and_not_guessed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("id,reply\nx,答案 A\n".encode("gb18030"))
    assert plain.recognises(path)
    with pytest.raises(DataError, match=r"not utf-8; say what it is, e.g. --encoding"):
        replies_of(path)
    assert replies_of(path, encoding="gb18030") == {("", ""): [("x", "答案 A", "")]}


def test_a_line_in_another_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,reply\n" + b"x,A\n" * 5000 + "y,é\n".encode("cp1252"))
    (run,) = plain.read(path)
    with pytest.raises(DataError, match=r"not utf-8; say what it is, e.g. --encoding"):
        list(run.read())


def test_columns_by_other_names(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"qid": "x", "prediction": "A", "id": 3}\n', encoding="utf-8")
    columns = {"id": "qid", "reply": "prediction"}
    assert not plain.recognises(path)
    assert plain.recognises(path, columns=columns)
    assert replies_of(path, columns=columns) == {("", ""): [("x", "A", "")]}


@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        (
            "a.jsonl",
            ['{"id": "x", "reply": "A"}', '{"id": "x"}'],
            "a.jsonl:2: needs an id and a reply, .*'reply': 'nothing'",
        ),
        ("a.jsonl", ['{"id": "x", "reply": "A"}', '{"id": "", "reply": "A"}'], "jsonl:2: needs an id"),
        ("a.jsonl", ['{"id": "x", "reply": "A"}', '{"id": true, "reply": "A"}'], "jsonl:2: needs an id"),
        ("a.jsonl", ['{"id": "x", "reply": "A"}', '{"id": "y", "reply": ["A"]}'], r"found .*\['A'\]"),
        ("a.jsonl", ['{"id": "x", "reply": "A"}', '{"id": "y", "rep'], "a.jsonl: cannot be read after line 1"),
        ("a.jsonl", ['{"id": "x", "reply": "A"}', "[1]"], "after line 1 .the line is no object"),
        ("a.jsonl", ['{"id": "x", "reply": "A"}', '{"id": "y", "reply": "A", "model": "m"}'], "line 1 does not"),
        ("a.csv", ["id,reply", "x,A", "y,A,B"], "not as many fields"),
        ("a.csv", ["id,reply", "x,A", "y"], "not as many fields"),
        ("a.csv", ["id,reply", "x,A", 'y,"A'], "after line 2"),
    ],
)
def test_damage_is_named(tmp_path, name, lines, says):
    path = tmp_path / name
    path.write_text("\n".join(lines), encoding="utf-8")
    (run,) = plain.read(path)
    with pytest.raises(DataError, match=says):
        list(run.read())


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_many_runs_in_one_file_are_parted(tmp_path, name, monkeypatch):
    monkeypatch.setattr(plain, "_BUFFER", 300)  # so that it is written in many pieces
    path = tmp_path / name
    rows = [(f"t{k % 3}", f"m{k % 4}", str(k), f"reply {k}, é\n") for k in range(200)]
    if name == "a.jsonl":
        lines = [json.dumps(dict(zip(("task", "model", "id", "reply"), row, strict=True))) for row in rows]
    else:
        lines = ["task,model,id,reply", *(f'{t},{m},{i},"{r}"' for t, m, i, r in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    expected = {}
    for task, model, id_, reply in rows:
        expected.setdefault((task, model), []).append((id_, reply, ""))
    assert len(expected) == 12
    assert replies_of(path) == expected


def test_parts_go_with_their_runs(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "x", "reply": "A", "model": "m"}\n', encoding="utf-8")
    (run,) = plain.read(path)
    part = run.read.args[2]._folder.name
    assert list(run.read())
    del run
    assert not Path(part).exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", "id reply\n"), ("a.jsonl", ""), ("a.jsonl", "no json"), ("a.csv", "id,answer\nx,A\n"), ("a.bin", "\0")],
)
def test_what_is_not_plain(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert not plain.recognises(tmp_path / name)
