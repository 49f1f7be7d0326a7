"""A record of the Every Eval Ever store (https://github.com/evaleval/every_eval_ever), one for each task.

The schema beside this file is that project's, version 0.3.0, unchanged (MIT, see the licence beside it). Every record
is checked against it, and for scores inside their bounds, before any is written.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from geoeval import __version__
from geoeval.benchmarks import get_benchmark
from geoeval.data import DataError
from geoeval.report.card.entries import Entry, Settings, without_secrets
from geoeval.types import Metric

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_SCHEMA = Path(__file__).with_name("every_eval_ever.schema.json")
_GLOBAL_IDS = {"accuracy": "accuracy", "macro_f1": "f1_macro", "rouge_l": "rouge_l", "bleu_4": "bleu_4", "mcc": "mcc"}
_TYPED = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k"}


def records(entries: Sequence[Entry], settings: Settings) -> dict[str, dict[str, Any]]:
    """Path below the folder of the store -> record.

    Raises:
        DataError: A record is not as the schema asks, or jsonschema is not installed.
    """
    made = {_path(entry): _record(entry, settings) for entry in entries}
    for path, record in made.items():
        check_record(record, path)
    return made


def with_old_date(record: dict[str, Any], path: Path) -> dict[str, Any]:
    """A record, with the date of the one that is there already when nothing else has changed."""
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
        dated = {**record, "retrieved_timestamp": there["retrieved_timestamp"]}
    except (OSError, ValueError, KeyError, TypeError):
        return record
    return dated if dated == there else record


def check_record(record: Mapping[str, Any], where: str) -> None:
    """Whether a record is as the store asks.

    Raises:
        DataError: It is not; says what and where.
    """
    try:
        from jsonschema.validators import Draft7Validator
    except ImportError:
        raise DataError("the records of Every Eval Ever are checked with jsonschema: pip install jsonschema") from None
    for error in Draft7Validator(_schema()).iter_errors(record):
        place = "/".join(map(str, error.absolute_path))
        raise DataError(f"{where}: {place or 'record'}: {error.message}")
    for result in record["evaluation_results"]:
        metric, score = result["metric_config"], result["score_details"]["score"]
        if not metric["min_score"] <= score <= metric["max_score"]:
            raise DataError(f"{where}: {metric['metric_id']} is {score}, outside its bounds")


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    return schema


def _record(entry: Entry, settings: Settings) -> dict[str, Any]:
    run, summary = entry.result.run, entry.result.summary
    developer, _, _ = entry.model.rpartition("/")
    about = {
        "geoeval": __version__,
        "task_version": summary.version,
        "signature": summary.signature,
        "coverage": _coverage(entry),
        "commands": "\n".join(entry.commands),
    }
    if entry.result.is_sample:
        about["SAMPLE"] = "numbers of a bundled sample; they say nothing about the benchmark"
    details = {"deployment_type": "unknown", "model_availability": "unknown"}
    if run.get("model_args"):
        details["model_args"] = without_secrets(_text(run["model_args"]))
    return {
        "schema_version": _schema()["version"],
        "evaluation_id": _evaluation_id(entry),
        **({"evaluation_timestamp": entry.date} if entry.date else {}),
        "retrieved_timestamp": str(int(time.time())),
        "source_metadata": {
            "source_name": settings.source_name or "geoeval",
            "source_type": "evaluation_run",
            "source_organization_name": settings.organization or "unknown",
            "evaluator_relationship": settings.relationship,
            "additional_details": {**about, **({"url": settings.source_url} if settings.source_url else {})},
        },
        "eval_library": {
            "name": str(run.get("harness") or "unknown"),
            "version": str(run.get("harness_version") or "unknown"),
            "additional_details": {"geoeval": __version__},
        },
        "model_info": {
            "name": entry.model,
            "id": entry.model,
            **({"developer": developer} if developer else {}),
            "additional_details": details,
        },
        "evaluation_results": [_result(entry, metric) for metric in entry.metrics],
    }


def _result(entry: Entry, metric: Metric) -> dict[str, Any]:
    low, high = entry.bounds(metric)
    family = get_benchmark(entry.task).dataset.split("_")[0]
    judge = entry.result.judge if "judge" in metric.name else {}
    interval = {"lower": metric.low, "upper": metric.high, "confidence_level": 0.95, "method": _method(entry, metric)}
    return {
        "evaluation_result_id": f"{_evaluation_id(entry)}/{metric.name}",
        "evaluation_name": f"{'SAMPLE.' if entry.result.is_sample else ''}geoeval.{entry.task}",
        "source_data": _source(entry),
        **({"evaluation_timestamp": entry.date} if entry.date else {}),
        "metric_config": {
            "metric_id": _GLOBAL_IDS.get(metric.name, f"{family}.{metric.name}"),
            "metric_name": metric.name,
            "metric_unit": "proportion" if (low, high) == (0, 1) else "points",
            "lower_is_better": entry.lower_is_better(metric),
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
            **({"additional_details": {name: _text(value) for name, value in judge.items()}} if judge else {}),
        },
        "score_details": {
            "score": metric.value,
            "uncertainty": {
                **({} if math.isnan(metric.low) else {"confidence_interval": interval}),
                "num_samples": metric.n,
            },
            "details": {"coverage": _coverage(entry), **({"note": metric.note} if metric.note else {})},
        },
        "generation_config": _generation(entry),
    }


def _generation(entry: Entry) -> dict[str, Any]:
    given = entry.result.run.get("generation_kwargs")
    given = dict(given) if isinstance(given, Mapping) else {}
    typed: dict[str, Any] = {
        name: given.pop(key)
        for key, name in _TYPED.items()
        if isinstance(given.get(key), (int, float)) and not isinstance(given[key], bool)
    }
    for key in ("max_new_tokens", "max_tokens", "max_gen_toks"):
        if isinstance(given.get(key), int) and given[key] >= 1:
            typed["max_tokens"] = given.pop(key)
            break
    if entry.commands:
        typed["execution_command"] = entry.commands[0]
    rest = {key: without_secrets(_text(value)) for key, value in given.items()}
    return {"generation_args": typed, **({"additional_details": rest} if rest else {})}


def _source(entry: Entry) -> dict[str, Any]:
    details = {"data": entry.data, "data_sha256": str(entry.result.run.get("data_sha256") or "unknown")}
    if entry.dataset is None or entry.result.is_sample:
        return {"dataset_name": entry.title, "source_type": "other", "additional_details": details}
    if entry.dataset.revision:
        details["revision"] = entry.dataset.revision
    return {
        "dataset_name": entry.task,
        "source_type": "hf_dataset",
        "hf_repo": entry.dataset.id,
        "samples_number": entry.result.summary.coverage.items,
        "additional_details": details,
    }


def _method(entry: Entry, metric: Metric) -> str:
    benchmark = get_benchmark(entry.task)
    if metric.name in benchmark.rates:
        return "Wilson, n divided by the design effect of the clusters"
    if metric.name in (*benchmark.composites, *benchmark.part_means):
        return "cluster bootstrap, 2000 resamples, percentiles, seeded"
    return "normal, standard error clustered (Miller 2024, eq. 4)"


def _coverage(entry: Entry) -> str:
    coverage = entry.result.summary.coverage
    reservations = f" ({', '.join(entry.reservations)})" if entry.reservations else ""
    return (
        f"{coverage.items} items{reservations}: {coverage.read} read, {coverage.unread} unread, "
        f"{coverage.empty} empty, {coverage.failed} failed, {coverage.unscored} unscored"
    )


def _evaluation_id(entry: Entry) -> str:
    """The same for the same run, whenever the record is made."""
    run = entry.result.run
    when = entry.date or str(run.get("source_sha256") or "")[:16] or _digest(entry.result.summary.signature)[:16]
    return f"{entry.task}/{entry.model}/{when}"


def _path(entry: Entry) -> str:
    """data/<collection>/<developer>/<model>/<UUID 4>.json, as the store asks; the UUID is made of the id."""
    developer, _, model = entry.model.rpartition("/")
    digits = list(_digest(_evaluation_id(entry))[:32])
    digits[12], digits[16] = "4", "89ab"[int(digits[16], 16) % 4]
    text = "".join(digits)
    uuid = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    mark = "SAMPLE_" if entry.result.is_sample else ""
    parts = (f"{mark}{entry.task}", developer or "unknown", model)
    return "/".join(("data", *(_component(part) for part in parts), f"{uuid}.json"))


def _component(text: str) -> str:
    """A name that is one part of a path everywhere."""
    return re.sub(r"[^\w.-]", "_", text).strip(". ")[:120] or "unknown"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
