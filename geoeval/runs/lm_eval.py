"""Sample logs of lm-evaluation-harness (lm-eval) -> saved runs; lm-eval need not be installed.

A run is ``results_<date>.json`` and, with ``--log_samples``, one ``samples_<task>_<date>.jsonl`` for each task. A
sample log alone is read too; it does not say on which data and by which model it was made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from geoeval.benchmarks import benchmark_names
from geoeval.data import DataError
from geoeval.runs.model import Reply, SavedRun
from geoeval.runs.sample_log import replies_of
from geoeval.runs.secrets import without_secrets

NULL_REPLY = "[GEOEVAL_NULL_REPLY]"
"""What a null reply becomes where LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER says so, see docs/lm_eval.md."""
_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d{2}-\d{2}T[\d.-]+)\.jsonl")


def recognises(path: Path) -> bool:
    """Whether a file is a sample log of one of our tasks."""
    found = _SAMPLES.fullmatch(path.name)
    if not found or not path.is_file() or found["task"] not in benchmark_names():
        return False
    try:
        with open(path, encoding="utf-8") as file:
            return "id" in json.loads(file.readline())["coverage"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read(path: Path) -> Iterator[SavedRun]:
    """The run of a sample log, with what the result file beside it says.

    Raises:
        DataError: It is no sample log of lm-eval, or the result file is damaged.
    """
    found = _SAMPLES.fullmatch(path.name)
    if not found:
        raise DataError(f"{path}: not a sample log of lm-eval, samples_<task>_<date>.jsonl")
    task, results = found["task"], path.with_name(f"results_{found['date']}.json")
    content = _content(results) if results.is_file() else {}
    config = content.get("configs", {}).get(task, {})
    metadata = config.get("metadata") or {}
    yield SavedRun(
        task=task,
        source=path,
        read=partial(replies_of, path, _reply),
        data=str(metadata.get("data") or ""),
        data_sha256=str(metadata.get("data_sha256") or ""),
        facts=_facts(content, config) if content else {"harness": "lm-eval"},
    )


def reply_or_failure(reply: str | None) -> tuple[str | None, str]:
    """Tell a reply from a failed request.

    Returns:
        ``(reply, "")``, or ``(None, reason)`` for a failed request.
    """
    return (None, "null_reply") if reply is None or reply == NULL_REPLY else (reply, "")


def _facts(content: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """What the result file says, without any key."""
    given = content["config"].get("model_args")
    date = content.get("date")
    facts = {
        "harness": "lm-eval",
        "harness_version": content.get("lm_eval_version"),
        "model": content.get("model_name"),
        "backend": content.get("model_source"),
        "model_args": without_secrets(given) if isinstance(given, Mapping) else None,
        "generation_kwargs": config.get("generation_kwargs"),
        "date": datetime.fromtimestamp(date, timezone.utc).isoformat() if isinstance(date, (int, float)) else None,
        "version": (config.get("metadata") or {}).get("version"),
        "items_asked": (content.get("n-samples", {}).get(config.get("task")) or {}).get("effective"),
    }
    return {name: value for name, value in facts.items() if value not in (None, "")}


def _content(results: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
        content["configs"], content["config"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{results}: not a result file of lm-eval ({error!r})") from error
    return content


def _reply(sample: Mapping[str, Any]) -> Reply:
    (reply,) = sample["filtered_resps"]
    if not isinstance(reply, (str, type(None))):
        raise TypeError("'filtered_resps' must hold one reply")
    return Reply(sample["coverage"]["id"], *reply_or_failure(reply))
