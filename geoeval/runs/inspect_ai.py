"""Logs of inspect-ai (``.eval`` and ``.json``) -> saved runs; inspect-ai need not be installed.

An ``.eval`` file is a zip archive with ``header.json`` and one ``samples/<id>_epoch_<n>.json`` for each sample,
compressed with Zstandard (method 93, as written by 0.3.285), which `zipfile` reads from Python 3.14 on only.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from geoeval.benchmarks import benchmark_names
from geoeval.data import DataError
from geoeval.runs.model import Reply, SavedRun
from geoeval.runs.secrets import without_secrets

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
"""Of a member in a zip archive: 26 bytes, then the lengths of its name and of its extra field."""
_HEADERS = ("header.json", "_journal/start.json")
"""What says which run it is; the second is all there is when a run was broken off."""
_ATTACHMENT = "attachment://"
_STORED = "geoeval_reply"
_STOPPED = {"content_filter": "content_filter", "model_length": "context_length_exceeded"}


def recognises(path: Path) -> bool:
    """Whether a file is a log of inspect-ai with one of our tasks."""
    if path.suffix not in (".eval", ".json") or not path.is_file():
        return False
    try:
        return _task(_header(path)) is not None
    except (DataError, KeyError, TypeError):
        return False


def read(path: Path) -> Iterator[SavedRun]:
    """The run of a log; with several epochs one for each.

    Raises:
        DataError: It is no log of inspect-ai, or not with one of our tasks.
    """
    header = _header(path)
    try:
        task, spec, config = _task(header), header["eval"], header["eval"]["config"]
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}: not a log of inspect-ai ({error!r})") from error
    if task is None:
        raise DataError(f"{path}: no task of geoeval, but {spec.get('task')!r}")
    metadata = spec.get("metadata") or {}
    epochs = int(config.get("epochs") or 1)
    for epoch in range(1, epochs + 1):
        yield SavedRun(
            task=task,
            source=path,
            read=partial(_replies, path, epoch),
            data=metadata.get("data", ""),
            data_sha256=metadata.get("data_sha256", ""),
            facts={
                "harness": "inspect-ai",
                "harness_version": (spec.get("packages") or {}).get("inspect_ai"),
                "model": spec.get("model"),
                "model_args": without_secrets(spec.get("model_args") or {}),
                "generation_kwargs": without_secrets((header.get("plan") or {}).get("config") or {}),
                "date": spec.get("created"),
                "version": spec.get("task_version"),
                "status": header.get("status"),
                **({"epoch": epoch, "epochs": epochs} if epochs > 1 else {}),
            },
        )


def _task(header: Mapping[str, Any]) -> str | None:
    package, _, name = str(header["eval"]["task"]).rpartition("/")
    ours = package in ("geoeval", "") and name in benchmark_names()
    return name if ours and "data_sha256" in (header["eval"].get("metadata") or {}) else None


def _header(path: Path) -> dict[str, Any]:
    if path.suffix == ".json":
        return _json_log(path)
    try:
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in _HEADERS if name in archive.NameToInfo)
            header: dict[str, Any] = json.loads(_member(archive, archive.getinfo(name)))
    except (OSError, ValueError, StopIteration, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a log of inspect-ai ({error!r})") from error
    return header


def _json_log(path: Path) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            if '"eval"' not in file.read(500):
                raise DataError(f"{path}: not a log of inspect-ai")
            file.seek(0)
            log: dict[str, Any] = json.load(file)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a log of inspect-ai ({error})") from error
    return log


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".json":
        yield from _json_log(path).get("samples") or ()
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.filename.startswith("samples/"):
                    yield json.loads(_member(archive, member))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot be read to its end ({error!r})") from error


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    if member.compress_type != _ZSTANDARD:
        return archive.read(member)
    import pyarrow as pa

    file = archive.fp
    if file is None:
        raise ValueError("the archive is closed")
    file.seek(member.header_offset)
    name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(name + extra, 1)
    with pa.input_stream(pa.BufferReader(file.read(member.compress_size)), compression="zstd") as stream:
        content: bytes = stream.read()
    if len(content) != member.file_size:
        raise ValueError(f"{member.filename} is {len(content)} bytes, not {member.file_size}")
    return content


def _replies(path: Path, epoch: int) -> Iterator[Reply]:
    for sample in _samples(path):
        if sample.get("epoch", 1) != epoch:
            continue
        try:
            text, failure = _reply(sample)
            yield Reply(str(sample["id"]), text, failure)
        except (KeyError, TypeError, IndexError) as error:
            raise DataError(f"{path}: sample {sample.get('id')!r}: not as inspect-ai writes it ({error!r})") from error


def _reply(sample: Mapping[str, Any]) -> tuple[str | None, str]:
    """As `geoeval.harness.inspect_ai.replies` reads it."""
    stored = (sample.get("store") or {}).get(_STORED)
    if stored is not None:
        return _resolved(sample, stored["text"]), stored["failure"]
    output = sample.get("output") or {}
    if not output.get("choices"):
        calls = [event for event in sample.get("events") or () if event["event"] == "model" and not event.get("role")]
        error = calls[-1].get("error") if calls else None
        return None, f"request_failed: {error[:200]}" if error else "request_failed"
    choice = output["choices"][0]
    if choice.get("stop_reason") in _STOPPED:
        return None, _STOPPED[choice["stop_reason"]]
    content = choice["message"]["content"]
    if isinstance(content, str):
        return _resolved(sample, content), ""
    texts = (_resolved(sample, part["text"]) for part in content if part["type"] == "text")
    return "\n".join(text for text in texts if text is not None), ""


def _resolved(sample: Mapping[str, Any], text: str | None) -> str | None:
    """Long texts are kept apart, under their hash."""
    if text is None or not text.startswith(_ATTACHMENT):
        return text
    found: str = (sample.get("attachments") or {})[text.removeprefix(_ATTACHMENT)]
    return found
