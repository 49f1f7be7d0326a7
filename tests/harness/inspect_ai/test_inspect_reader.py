"""Logs of inspect-ai are read without it: both formats, Zstandard in several frames, runs that were broken off."""

import json
import struct
import zipfile

import pyarrow as pa
import pytest

from geoeval.data import DataError
from geoeval.runs.inspect_ai import read, recognises

SPEC = {
    "task": "geoeval/georefusal",
    "task_version": "1-A",
    "created": "2026-11-30T10:00:00+00:00",
    "model": "openai/gpt-5.4",
    "model_args": {"api_key": "sk-secret", "base_url": "https://user:pass@host/v1", "extra_headers": {"x": "y"}},
    "packages": {"inspect_ai": "0.3.285"},
    "config": {"epochs": 1},
    "metadata": {"data": "release", "data_sha256": "ab" * 32},
}
HEADER = {
    "version": 2,
    "status": "success",
    "eval": SPEC,
    "plan": {"config": {"temperature": 0, "max_tokens": 9}},
}


def output(content, **choice):
    return {"choices": [{"message": {"role": "assistant", "content": content}, "stop_reason": "stop", **choice}]}


def stored(text, failure=""):
    return {"store": {"geoeval_reply": {"text": text, "failure": failure}}}


CALL_FAILED = {"event": "model", "error": "Error code: 500 - overloaded"}
GRADER_FAILED = {"event": "model", "error": "other", "role": "grader"}
FAILED = None, "request_failed: Error code: 500 - overloaded"
PARTS = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "B"}, {"type": "text", "text": "end"}]
LONG = {"attachments": {"ff": "long text"}}
NOTHING = {"choices": []}
# What a sample holds -> the reply and why there is none.
SAMPLES = {
    "plain": ({"output": output("A")}, ("A", "")),
    "parts": ({"output": output(PARTS)}, ("B\nend", "")),
    "empty": ({"output": output("")}, ("", "")),
    "long": ({"output": output("attachment://ff"), **LONG}, ("long text", "")),
    "stored": ({"output": output("B"), **stored("<think>A</think>B")}, ("<think>A</think>B", "")),
    "stored_long": ({"output": output("B"), **stored("attachment://ff"), **LONG}, ("long text", "")),
    "null": ({"output": output(""), **stored(None, "null_reply")}, (None, "null_reply")),
    "filtered": ({"output": output("sorry", stop_reason="content_filter")}, (None, "content_filter")),
    "too_long": ({"output": output("error", stop_reason="model_length")}, (None, "context_length_exceeded")),
    "failed": ({"output": NOTHING, "error": {"message": "..."}, "events": [CALL_FAILED]}, FAILED),
    "judged": ({"output": NOTHING, "events": [CALL_FAILED, GRADER_FAILED]}, FAILED),
    "cancelled": ({"output": NOTHING}, (None, "request_failed")),
}


def samples():
    return [{"id": id_, "epoch": 1, **sample} for id_, (sample, _) in SAMPLES.items()]


def write_zip(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, json.dumps(content))


def write_zstd(path, members):
    """As inspect-ai writes it: method 93; here in two frames each, as of members over 200 MB."""
    written = {}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            text = json.dumps(content).encode()
            frames = [pa.Codec("zstd").compress(part, asbytes=True) for part in (text[:20], text[20:])]
            archive.writestr(name, b"".join(frames))
            written[name] = len(text)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        places = [(info.header_offset, written[info.filename]) for info in archive.infolist()]
        central = archive.start_dir
    for offset, size in places:
        struct.pack_into("<H", data, offset + 8, 93)
        struct.pack_into("<I", data, offset + 22, size)
    for _, size in places:
        struct.pack_into("<H", data, central + 10, 93)
        struct.pack_into("<I", data, central + 24, size)
        central += 46 + sum(struct.unpack_from("<HHH", data, central + 28))
    path.write_bytes(data)


def members():
    return {"header.json": HEADER, **{f"samples/{one['id']}_epoch_1.json": one for one in samples()}}


@pytest.fixture(params=["deflated", "zstd", "json"])
def log(request, tmp_path):
    path = tmp_path / ("log.json" if request.param == "json" else "log.eval")
    if request.param == "json":
        path.write_text(json.dumps({**HEADER, "samples": samples()}, indent=2), encoding="utf-8")
    elif request.param == "zstd":
        write_zstd(path, members())
    else:
        write_zip(path, members())
    return path


def test_every_reply_is_told_from_a_failure(log):
    assert recognises(log)
    (run,) = read(log)
    assert {reply.id: (reply.text, reply.failure) for reply in run.read()} == {
        id_: expected for id_, (_, expected) in SAMPLES.items()
    }
    assert (run.task, run.data, run.data_sha256) == ("georefusal", "release", "ab" * 32)


def test_facts_hold_no_key(log):
    (run,) = read(log)
    assert run.facts == {
        "harness": "inspect-ai",
        "harness_version": "0.3.285",
        "model": "openai/gpt-5.4",
        "model_args": {"base_url": "https://host/v1"},
        "generation_kwargs": {"temperature": 0, "max_tokens": 9},
        "date": "2026-11-30T10:00:00+00:00",
        "version": "1-A",
        "status": "success",
    }


def test_a_run_that_was_broken_off_is_read_as_far_as_it_went(tmp_path):
    path = tmp_path / "log.eval"
    write_zip(path, {"_journal/start.json": {"eval": SPEC, "plan": {}}, "samples/a_epoch_1.json": samples()[0]})
    (run,) = read(path)
    assert [reply.text for reply in run.read()] == ["A"]
    assert run.facts["status"] is None


def test_each_epoch_is_a_run(tmp_path):
    path = tmp_path / "log.eval"
    header = {**HEADER, "eval": {**SPEC, "config": {"epochs": 2}}}
    pairs = {f"samples/a_epoch_{n}.json": {"id": "a", "epoch": n, "output": output(str(n))} for n in (1, 2)}
    write_zip(path, {"header.json": header, **pairs})
    assert [(run.facts["epoch"], [reply.text for reply in run.read()]) for run in read(path)] == [
        (1, ["1"]),
        (2, ["2"]),
    ]


@pytest.mark.parametrize(
    "spec",
    [{"task": "inspect_evals/georefusal"}, {"task": "geoeval/no_such_task"}, {"metadata": {}}, {"metadata": None}],
)
def test_logs_of_other_tasks_are_not_ours(tmp_path, spec):
    path = tmp_path / "log.eval"
    write_zip(path, {"header.json": {**HEADER, "eval": {**SPEC, **spec}}})
    assert not recognises(path)
    with pytest.raises(DataError, match="no task of geoeval"):
        list(read(path))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_other_files_are_not_logs(tmp_path, content):
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    assert not recognises(path)
    with pytest.raises(DataError, match="not a log of inspect-ai"):
        list(read(path))
    other = tmp_path / "other.json"
    other.write_text('{"results": {}}')
    assert not recognises(other)
    assert not recognises(tmp_path)
    assert not recognises(tmp_path / "none.eval")


def test_a_log_that_was_cut_is_an_error(tmp_path):
    path = tmp_path / "log.eval"
    write_zip(
        path, {"header.json": HEADER, "samples/a_epoch_1.json": {"id": "a", "epoch": 1, "output": {"choices": [{}]}}}
    )
    (run,) = read(path)
    with pytest.raises(DataError, match="sample 'a'"):
        list(run.read())
