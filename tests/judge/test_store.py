"""The store of calls: append-only, found by key, shared by processes, exported and imported."""

import json
import sqlite3
import subprocess
import sys

import pytest
from PIL import Image

from geoeval.judge.errors import JudgeError
from geoeval.judge.keys import call_key, prompt_hash
from geoeval.judge.prompt import with_picture
from geoeval.judge.store import CallStore, StoredCall


def call(key="k", **values):
    given = {"reply": "MARK overall: 3", "usage": {"completion_tokens": 10}, "time": "2026-01-01T00:00:00+00:00"}
    return StoredCall(key, "p", "m", "e", {"attempt": 0, "temperature": 0.0}, **{**given, **values})


@pytest.fixture
def store(tmp_path):
    with CallStore(tmp_path / "folder" / "calls.sqlite") as store:
        yield store


def test_what_is_added_is_found_as_it_was(store):
    odd = call(
        reply='\x00 "quotes" 砂岩 \u2028 ' + "x" * 300_000, refusal="no", status=200, latency=0.2, reported="m-1"
    )
    store.add(odd)
    store.add(call("null", reply=None))
    assert store.get("k") == odd
    assert store.get("null").reply is None
    assert store.get("other") is None
    assert [kept.key for kept in store] == ["k", "null"]


def test_half_an_emoji_can_be_stored(store):
    store.add(call(reply="granite \ud83d"))
    assert store.get("k").reply == "granite \ufffd"


def test_failed_calls_are_logged_and_never_served(store):
    store.add(call(error="HTTP 500: a", reply=None))
    store.add(call(error="HTTP 500: b", reply=None))
    assert store.get("k") is None
    assert store.last_failure("k").error == "HTTP 500: b"
    assert store.add(call()) == call()
    assert store.get("k") == call()
    assert len(list(store)) == 3


def test_the_first_answer_of_a_key_counts(store):
    store.add(call(reply="first"))
    assert store.add(call(reply="second")).reply == "first"
    assert [kept.reply for kept in store] == ["first", "second"]


@pytest.mark.parametrize("statement", ["UPDATE calls SET reply = 'x'", "DELETE FROM calls", "DELETE FROM dialects"])
def test_nothing_can_be_changed_or_removed(store, statement):
    store.add(call())
    store.remember("e", "m", {"schema": True}, "t")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        sqlite3.connect(store.path, isolation_level=None).execute(statement)


def test_dialects_last_first_each_once(store):
    for dialect in ({"a": 1}, {"a": 2}, {"a": 1}):
        store.remember("e", "m", dialect, "t")
    store.remember("e", "other", {"a": 3}, "t")
    assert store.dialects("e", "m") == [{"a": 1}, {"a": 2}]


def test_mean_length_of_replies(store):
    assert store.completion_tokens("e", "m")[1] == 0
    store.add(call("a"))
    store.add(call("b", usage={"completion_tokens": 20}))
    store.add(call("c", usage={}))
    store.add(call("d", error="HTTP 500", usage={"completion_tokens": 99}))
    assert store.completion_tokens("e", "m") == (15.0, 2)


def test_export_and_import(store, tmp_path):
    store.add(call("a"))
    store.add(call("b", error="HTTP 500", reply=None))
    store.add(call("c", reply="砂岩\n\x00"))
    store.remember("e", "m", {"schema": False}, "t")
    file = tmp_path / "calls.jsonl"
    assert store.export(file, keys={"b", "c"}) == 2
    with CallStore(tmp_path / "other.sqlite") as other:
        assert other.import_(file) == 2
        assert other.import_(file) == 0
        assert [kept for kept in other if kept.key == "c"] == [store.get("c")]
        assert other.dialects("e", "m") == [{"schema": False}]
        assert other.get("b") is None
    with CallStore(file) as exported:
        assert [kept.key for kept in exported] == ["b", "c"]


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        '{"table": "calls"}',
        '{"table": "sqlite_master", "x": 1}',
        '{"table": ["calls"]}',
        "LONG",
        "NULL",
    ],
)
def test_a_file_that_is_no_export_changes_nothing(store, tmp_path, line):
    store.add(call("a"))
    file = tmp_path / "calls.jsonl"
    store.export(file)
    good = json.loads(file.read_text())
    bad = {"LONG": {**good, "status": 2**70}, "NULL": {**good, "key": None}}.get(line)
    text = file.read_text().replace('"key":"a"', '"key":"new"')
    file.write_text(text + (json.dumps(bad) if bad else line) + "\n")
    with pytest.raises(JudgeError, match=r"calls\.jsonl|calls\.sqlite"):
        store.import_(file)
    assert [kept.key for kept in store] == ["a"]


def test_other_files_are_not_touched(tmp_path):
    text, database, newer = tmp_path / "text", tmp_path / "other.sqlite", tmp_path / "newer.sqlite"
    text.write_text("This is no database, and long enough to be none. " * 50)
    sqlite3.connect(database).execute("CREATE TABLE theirs (x)")
    sqlite3.connect(newer).execute("PRAGMA user_version=7")
    before = {path: path.read_bytes() for path in (text, database, newer)}
    for path, words in ((text, "not a database"), (database, "something else"), (newer, "update geoeval")):
        with pytest.raises(JudgeError, match=words):
            CallStore(path)
    with pytest.raises(JudgeError, match="cannot be made"):
        CallStore(text / "below" / "calls.sqlite")
    assert {path: path.read_bytes() for path in before} == before


WRITER = """
import sys
from pathlib import Path
from geoeval.judge.store import CallStore, StoredCall
store = CallStore(Path(sys.argv[1]))
for number in range(150):
    store.add(StoredCall(f"{number}", "p", "m", "e", {}, reply=sys.argv[2], time="t"))
"""


def test_processes_at_once_on_a_store_that_neither_has_made(tmp_path):
    path = tmp_path / "calls.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(n)]) for n in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    with CallStore(path) as store:
        assert len(list(store)) == 450
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        first = {kept.key: kept.reply for kept in reversed(list(store))}
        assert {key: store.get(key).reply for key in first} == first


def test_everything_that_decides_a_reply_is_in_the_key():
    base = ("prompt", "m", "http://e/v1", {"temperature": 0.0, "attempt": 0, "repeat": 0}, None)
    others = [
        ("other", *base[1:]),
        (base[0], "m2", *base[2:]),
        (*base[:2], "http://f/v1", *base[3:]),
        (*base[:3], {"temperature": 1.0, "attempt": 0, "repeat": 0}, None),
        (*base[:3], {"temperature": 0.0, "attempt": 1, "repeat": 0}, None),
        (*base[:3], {"temperature": 0.0, "attempt": 0, "repeat": 1}, None),
        (*base[:4], {"type": "json_schema"}),
    ]
    assert len({call_key(*values) for values in (base, *others)}) == 8
    assert call_key(*base[:3], {"repeat": 0, "attempt": 0, "temperature": 0.0}, None) == call_key(*base)


def test_a_picture_counts_by_its_pixels(tmp_path):
    picture = Image.linear_gradient("L").convert("RGB")
    changed = picture.copy()
    changed.putpixel((0, 0), (1, 2, 3))
    hashes = []
    for level, image in ((1, picture), (9, picture), (9, changed)):
        image.save(tmp_path / "a.png", compress_level=level)
        hashes.append((tmp_path / "a.png").read_bytes())
    assert hashes[0] != hashes[1]

    def of(content):
        import base64

        url = f"data:image/png;base64,{base64.b64encode(content).decode()}"
        return prompt_hash([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])

    assert of(hashes[0]) == of(hashes[1]) != of(hashes[2])
    assert prompt_hash([{"role": "user", "content": with_picture("text", hashes[0])}]) != of(hashes[0])
