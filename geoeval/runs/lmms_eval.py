"""What lmms-eval saved -> runs.

A run is ``<stamp>_results.json`` and, with ``--log_samples``, one ``<stamp>_samples_<task>.jsonl`` for each task. A
sample log alone is read too; it does not say on which data and by which model it was made.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from geoeval.benchmarks import benchmark_names
from geoeval.data import DataError
from geoeval.runs.model import Reply, SavedRun
from geoeval.runs.sample_log import replies_of

NULL_REPLY = "[LMMS_EVAL_REQUEST_FAILED] null reply"
_FAILURE_MARKERS = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]")
_RESULTS = "_results.json"
_SAMPLES = re.compile(r"(?P<stamp>.*)_samples_(?P<task>.+)\.jsonl")
_STAMP = re.compile(r"\d{8}_\d{6}")
_SECRET = re.compile(r"(?i)\b([\w-]*(?:key|token|secret|password|auth|authorization)\s*[=:]\s*)[^,\s]+")
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")


def recognises(path: Path) -> bool:
    """Whether a file is a result file or a sample log of one of our tasks."""
    if not path.is_file():
        return False
    if path.name.endswith(_RESULTS):
        return _content(path) is not None
    return bool(_SAMPLES.fullmatch(path.name)) and "coverage" in (_first_line(path) or {})


def whole_of(path: Path) -> Path | None:
    """The result file beside a sample log, which stands for both; None where there is none."""
    results = _results_of(path)
    return results if results is not None and recognises(results) else None


def read(path: Path) -> Iterator[SavedRun]:
    """The runs of our tasks; a user's own task of one of our names is not ours.

    Raises:
        DataError: It is no result file and no sample log.
    """
    if path.name.endswith(_RESULTS):
        content = _content(path)
        if content is None:
            raise DataError(f"{path}: not a result file of lmms-eval")
        yield from _runs(path, content)
        return
    results, found = _results_of(path), _SAMPLES.fullmatch(path.name)
    beside = None if results is None else _content(results)
    runs = [run for run in _runs(results, beside) if run.source == path] if results and beside else []
    if runs:
        yield from runs
        return
    if not found:
        raise DataError(f"{path}: not a sample log of lmms-eval")
    yield SavedRun(found["task"], path, partial(replies_of, path, _reply), facts={"harness": "lmms-eval"})


def unscored_tasks(path: Path) -> list[str]:
    """What is wrong with a run as a whole: our tasks of which no item could be scored; needs no sample log.

    Raises:
        DataError: The file is no result file.
    """
    content = _content(path)
    if content is None:
        raise DataError(f"{path}: not a result file of lmms-eval")
    shares = {task: content["results"].get(task, {}).get("coverage,none") for task in _ours(content)}
    return [f"{task}: no item could be scored, all requests failed" for task, share in shares.items() if share == 0]


def reply_or_failure(reply: str | None) -> tuple[str | None, str]:
    """Tell a reply from a failed request, which lmms-eval writes into the reply as text.

    Returns:
        ``(reply, "")``, or ``(None, reason)`` for a failed request.
    """
    if reply is None:
        return None, "null_reply"
    if reply.lstrip().startswith(_FAILURE_MARKERS):
        return None, reply.strip()[:200]
    return reply, ""


def _runs(path: Path, content: Mapping[str, Any]) -> Iterator[SavedRun]:
    for task in _ours(content):
        metadata = content["configs"][task]["metadata"]
        samples = path.with_name(path.name.replace(_RESULTS, f"_samples_{task}.jsonl"))
        yield SavedRun(
            task=task,
            source=samples,
            read=partial(replies_of, samples, _reply),
            data=str(metadata.get("data") or ""),
            data_sha256=str(metadata["data_sha256"]),
            facts=_facts(task, content),
        )


def _facts(task: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """What the result file says, without any key."""
    config, counts = content["config"], content["n-samples"].get(task) or {}
    version = str(content.get("lmms_eval_version") or "")
    facts = {
        "harness": "lmms-eval",
        "harness_version": "" if version.startswith("unknown") else version,
        "model": content.get("model_name") or content.get("model_source"),
        "backend": content.get("model_source"),
        "model_args": _without_secrets(config.get("model_args")),
        "generation_kwargs": content["configs"][task].get("generation_kwargs"),
        "date": _date(content),
        "version": (content["configs"][task].get("metadata") or {}).get("version"),
        "items_asked": counts.get("effective"),
    }
    return {name: value for name, value in facts.items() if value not in (None, "")}


def _date(content: Mapping[str, Any]) -> str | None:
    """ISO 8601; lmms-eval writes local time of a zone that it names elsewhere."""
    stamp = str(content.get("date") or "")
    if not _STAMP.fullmatch(stamp):
        return None
    date = datetime.datetime.strptime(stamp, "%Y%m%d_%H%M%S")
    zone = (content["config"].get("resolved_cli_args") or {}).get("timezone")
    try:
        from zoneinfo import ZoneInfo

        return date.replace(tzinfo=ZoneInfo(str(zone))).isoformat()
    except (OSError, ValueError, KeyError):  # no such zone, or no data on zones here
        return date.isoformat()


def _without_secrets(text: Any) -> Any:
    return _LOGIN.sub("***@", _SECRET.sub(r"\1***", text)) if isinstance(text, str) else None


def _content(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        content["configs"], content["n-samples"], content["config"], content["results"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return content


def _ours(content: Mapping[str, Any]) -> list[str]:
    configs = content["configs"]
    return [task for task in benchmark_names() if "data_sha256" in (configs.get(task, {}).get("metadata") or {})]


def _results_of(path: Path) -> Path | None:
    found = _SAMPLES.fullmatch(path.name)
    return path.with_name(f"{found['stamp']}{_RESULTS}") if found else None


def _first_line(path: Path) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:
            line = json.loads(file.readline())
    except (OSError, ValueError):
        return None
    return line if isinstance(line, dict) else None


def _reply(sample: Mapping[str, Any]) -> Reply:
    id_, reply = sample["coverage"]["id"], sample["filtered_resps"]
    if isinstance(reply, list) and len(reply) == 1:
        (reply,) = reply
    if not isinstance(id_, str) or not isinstance(reply, (str, type(None))):
        raise TypeError("'coverage.id' must be a string and 'filtered_resps' one reply or null")
    return Reply(id_, *reply_or_failure(reply))
