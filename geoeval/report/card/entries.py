"""Results -> what may be said of them on a card: one model, each task once, SAMPLE only where asked for."""

from __future__ import annotations

import datetime
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from geoeval.benchmarks import get_benchmark
from geoeval.data import DataError
from geoeval.data.fetch import REPOSITORIES
from geoeval.data.prepare import manifest_of
from geoeval.data.source import SAMPLE, prepared_folder
from geoeval.runs.model import Result
from geoeval.types import Metric

FAMILIES = ("lithobench", "georefusal", "forge")
SAMPLE_ID = "SAMPLE/geoeval"
"""Stands where a dataset's id would: the bundled sample is in no dataset of the Hub."""

_SECRET = re.compile(
    r"(?i)([\w-]*(?:key|token|secret|password|authorization)\"?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^,\s}]+)"
)
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True)
class Dataset:
    """A dataset of the Hub.

    Attributes:
        id: OWNER/NAME.
        revision: The commit; None where it is not known.
    """

    id: str
    revision: str | None = None


@dataclass(frozen=True)
class Settings:
    """What the results do not say.

    Attributes:
        model: The model's id; None to take the name that the results give.
        datasets: "lithobench", "georefusal" or "forge" -> its dataset.
        sample: Whether results of the bundled sample may be written.
        source_url, source_name: Where the evaluation can be looked at.
        organization: Who ran it.
        relationship: Theirs to the maker of the model, see `every_eval_ever.RELATIONSHIPS`.
        command: The command that wrote the card.
    """

    model: str | None = None
    datasets: Mapping[str, Dataset] = field(default_factory=dict)
    sample: bool = False
    source_url: str | None = None
    source_name: str | None = None
    organization: str | None = None
    relationship: str = "other"
    command: str = ""


@dataclass(frozen=True)
class Entry:
    """One result with what is known around it.

    Attributes:
        result: The result.
        model: The model's name.
        dataset: The dataset on the Hub; None where it is not known.
        commands: What was run, in order; secrets left out.
    """

    result: Result
    model: str
    dataset: Dataset | None
    commands: tuple[str, ...]

    @property
    def task(self) -> str:
        """Our name of the task."""
        return self.result.task

    @property
    def title(self) -> str:
        """The task as it is printed; says so where the number is not the benchmark's."""
        marks = [*(["SAMPLE"] if self.result.is_sample else ()), *self.reservations]
        return f"{self.task} ({', '.join(marks)})" if marks else self.task

    @property
    def reservations(self) -> tuple[str, ...]:
        """Why the number does not stand for the whole task under its own rule; empty if it does."""
        run, items = self.result.run, self.result.summary.coverage.items
        whole, policy = run.get("items_in_task"), run.get("policy")
        part = f"{items} of {whole} items" if isinstance(whole, int) and items != whole else ""
        return tuple(
            filter(
                None,
                (
                    part or ("not all replies" if run.get("partial") else ""),
                    f"policy {policy}" if policy not in (None, "", "declared") else "",
                    "scored with other data than asked" if run.get("data_check") == "different" else "",
                ),
            )
        )

    @property
    def date(self) -> str | None:
        """When the run was, ISO 8601; None where the results do not say it so."""
        date = self.result.run.get("date")
        try:
            return datetime.datetime.fromisoformat(date.replace("Z", "+00:00")).isoformat() if date else None
        except (AttributeError, ValueError):
            return None

    @property
    def data(self) -> str:
        """Which data, short."""
        label, digest = self.result.run.get("data") or "unknown", str(self.result.run.get("data_sha256") or "")
        return f"{label}@{digest[:12]}" if digest else str(label)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The numbers that have a value."""
        return tuple(metric for metric in self.result.summary.metrics if not math.isnan(metric.value))

    @property
    def headline(self) -> Metric:
        """The number that stands for the task; may be nan."""
        return self.result.summary.metrics[0]

    def lower_is_better(self, metric: Metric) -> bool:
        """Whether less is better."""
        return metric.name in get_benchmark(self.task).lower_is_better

    def bounds(self, metric: Metric) -> tuple[float, float]:
        """Least and most that a metric can be."""
        benchmark = get_benchmark(self.task)
        if metric.name in benchmark.bounds:
            return benchmark.bounds[metric.name]
        if metric.name.startswith(("open_with_judge", "judge_")):
            return (0, 10)
        return (-1, 1) if metric.name in ("mcc", "accuracy_minus_always_answer") else (0, 1)

    def notes(self) -> str:
        """Coverage, interval and versions of the headline in one line."""
        metric, coverage, run = self.headline, self.result.summary.coverage, self.result.run
        parts = [
            "SAMPLE numbers, not the benchmark" if self.result.is_sample else "",
            *self.reservations,
            f"{metric.name}, n={metric.n}",
            "" if math.isnan(metric.low) else f"95% interval {metric.low:.4f} to {metric.high:.4f}",
            f"{coverage.failed} requests failed" if coverage.failed else "",
            f"{coverage.unscored} not marked by the judge" if coverage.unscored else "",
            f"{run.get('harness') or 'unknown harness'} {run.get('harness_version') or ''}".strip(),
            self.result.summary.signature,
        ]
        return "; ".join(part for part in parts if part)


def entries(results: Sequence[Result], settings: Settings) -> list[Entry]:
    """What may be said of results, in the order of the tasks' names.

    Raises:
        DataError: There are none, several models, a task twice, a SAMPLE result without leave, or a task without one
            number.
    """
    if not results:
        raise DataError("no results; give what geoeval score wrote (*.geoeval.json), or saved runs of a harness")
    models = sorted({result.model for result in results})
    if len(models) > 1:
        raise DataError(f"a card is of one model, these results are of {len(models)}: {', '.join(models)}")
    doubled = [task for task, count in Counter(result.task for result in results).items() if count > 1]
    if doubled:
        raise DataError(f"{', '.join(sorted(doubled))}: more than one result; give the one that is to be published")
    samples = sorted(result.task for result in results if result.is_sample)
    if samples and not settings.sample:
        raise DataError(
            f"{', '.join(samples)}: numbers of the bundled SAMPLE say nothing about the benchmark and are not put on a "
            "card; --sample writes them all the same, marked"
        )
    ordered = sorted(results, key=lambda result: result.task)
    found = [_entry(result, settings.model or models[0], settings) for result in ordered]
    empty = [entry.task for entry in found if not entry.metrics]
    if empty:
        raise DataError(f"{', '.join(empty)}: no number has a value (no item was scored); see geoeval score")
    return found


def _entry(result: Result, model: str, settings: Settings) -> Entry:
    run = run_command(result)
    commands = tuple(command for command in (run, settings.command) if command)
    return Entry(result, model, _dataset(result, settings), commands)


def _dataset(result: Result, settings: Settings) -> Dataset | None:
    """The one given, else the one that the prepared file of the same hash is from, else the published one."""
    name = get_benchmark(result.task).dataset
    family = name.split("_")[0]
    if result.is_sample:
        return Dataset(SAMPLE_ID)
    if family in settings.datasets:
        return settings.datasets[family]
    manifest = manifest_of(prepared_folder() / f"{name}.parquet")
    if manifest.is_file():
        about = json.loads(manifest.read_text(encoding="utf-8"))
        source = about["source"]
        if source.get("repo") and about["output"]["sha256"] == result.run.get("data_sha256"):
            return Dataset(source["repo"], source["commit"])
    if result.run.get("data") == "release" and family in REPOSITORIES:
        return Dataset(REPOSITORIES[family])
    return None


def run_command(result: Result) -> str:
    """The command that made the replies: as recorded, else put together from what is recorded; "" if it cannot be."""
    run = result.run
    if run.get("command"):
        return without_secrets(str(run["command"]))
    backend = run.get("backend") or run.get("model")
    if run.get("harness") != "lmms-eval" or not backend:
        return ""
    parts = ["lmms_eval", "--model", str(backend)]
    arguments = run.get("model_args")
    if isinstance(arguments, Mapping):
        arguments = ",".join(f"{name}={value}" for name, value in arguments.items())
    if arguments:
        parts += ["--model_args", without_secrets(str(arguments))]
    data = "GEOEVAL_DATA=sample " if run.get("data") == SAMPLE else ""
    return f"{data}{shlex.join([*parts, '--tasks', result.task, '--log_samples', '--output_path', 'results'])}"


def without_secrets(text: str) -> str:
    """A text without the values of keys, tokens and passwords, and without logins in addresses."""
    return _LOGIN.sub("***@", _SECRET.sub(r"\1***", text))
