"""What a saved run is, before it is scored and after.

A reader makes a `SavedRun` of a harness's file, scoring makes a `Result` of it, `geoeval.runs.record` writes that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geoeval.types import Metric, Score, Summary


@dataclass(frozen=True)
class Reply:
    """One saved reply.

    Attributes:
        id: The item's id.
        text: What the model wrote; None for a request that failed.
        failure: Why it failed.
    """

    id: str
    text: str | None
    failure: str = "request_failed"


@dataclass(frozen=True)
class SavedRun:
    """The replies of one model to one task, as a harness saved them.

    Attributes:
        task: Our name of the task.
        source: The file they are in.
        read: Reads them from the file, anew at each call, one at a time.
        data: Label of the data that was asked, see `geoeval.data.Source`; "" when the file does not say.
        data_sha256: Its hash; "" when the file does not say.
        facts: Facts of the run for the record, plain JSON values: harness, harness_version, model, model_args,
            generation_kwargs, date (ISO 8601), version (of the task), items_asked (how many items the run had, by the
            harness's own word; fewer than the task has is then no mistake) and what else the file says. Never a key.
    """

    task: str
    source: Path
    read: Callable[[], Iterator[Reply]]
    data: str = ""
    data_sha256: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ChanceTest:
    """Whether the rate of one part of the items differs from the random baseline.

    Attributes:
        breakdown: Name of the breakdown, e.g. "level".
        part: Its value, e.g. "ID".
        metric: The rate, e.g. "accuracy".
        n: Number of items.
        difference: Rate minus random baseline.
        p_value: Two-sided, see `geoeval.metrics.multiple.rate_test`; nan when it cannot be tested.
        p_holm: The same, corrected for all parts of the breakdown.
    """

    breakdown: str
    part: str
    metric: str
    n: int
    difference: float
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class Result:
    """A scored run.

    Attributes:
        task: Our name of the task.
        summary: Its numbers.
        run: Facts of the run, see `SavedRun.facts`, with data, data_sha256, items_in_task, policy, source_sha256,
            prompt_sha256 and partial; all of them in docs/results.md.
        baselines: "random", "majority", "always_answer" -> their numbers on the same items, as far as they make sense.
        items: Reads every score with its reply, in order of id, one at a time.
        judge: What is known of the judge, plain JSON values: model, endpoint, rubric, rubric_sha256, weight, unscored,
            cost; empty when there was none.
        failed: Breakdown name -> value -> number of failed requests, of every value that has some.
        tests: Each part of a breakdown against the random baseline, where there is one.
    """

    task: str
    summary: Summary
    run: Mapping[str, Any]
    items: Callable[[], Iterator[tuple[Score, str | None]]]
    baselines: Mapping[str, tuple[Metric, ...]] = field(default_factory=dict)
    judge: Mapping[str, Any] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    tests: tuple[ChanceTest, ...] = ()

    @property
    def model(self) -> str:
        """The model's name, "unknown" when no file says it."""
        return str(self.run.get("model") or "unknown")

    @property
    def is_sample(self) -> bool:
        """Whether the data is the bundled sample."""
        return bool(self.run.get("data") == "SAMPLE")
