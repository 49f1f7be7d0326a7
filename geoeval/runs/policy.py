"""Other rules than the declared ones: another reading policy, or another version of a benchmark."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from geoeval.benchmarks import Benchmark, benchmark_names, get_benchmark
from geoeval.benchmarks.choice import ChoiceBenchmark
from geoeval.data import DataError
from geoeval.extraction.letter import extract_letter
from geoeval.types import Extraction, Item, Score

POLICIES = ("declared", "first_letter")


class _FirstLetter(ChoiceBenchmark):
    """Reads letters by the naive rule, for comparison with numbers that were made so."""

    def read(self, item: Item, reply: str) -> Extraction:
        """The first letter of the reply that is offered."""
        return extract_letter(reply, item.choices, item.options or None, policy="first_letter")

    def method_signature(self, scores: Sequence[Score]) -> str:
        """The reading policy."""
        return "letters:first_letter"


def benchmark_for(task: str, policy: str = "declared", rules: str | None = None) -> Benchmark:
    """The benchmark that marks a task by the rules asked for.

    Args:
        task: Its name.
        policy: "declared" (the benchmark's own reading) or "first_letter" (letter tasks only).
        rules: The version of the benchmark to mark by; the installed one when None.

    Raises:
        DataError: There is no such task, the policy does not apply to it, or this install has another version.
    """
    if task not in benchmark_names():
        raise DataError(f'no task {task!r}; see "geoeval tasks"')
    benchmark = get_benchmark(task)
    if rules is not None and rules != benchmark.version:
        raise DataError(
            f"{task}: this geoeval marks by rules {benchmark.version}, not {rules}. "
            f"Install the geoeval that had {rules}: CHANGELOG.md says which"
        )
    if policy not in POLICIES:
        raise DataError(f"no policy {policy!r}; there are {', '.join(POLICIES)}")
    if policy == "declared":
        return benchmark
    if not isinstance(benchmark, ChoiceBenchmark):
        raise DataError(f"{task}: the policy {policy} reads letters, and replies to this task are none; leave it out")
    other = copy.copy(benchmark)
    other.__class__ = type(f"FirstLetter{type(benchmark).__name__}", (_FirstLetter, type(benchmark)), {})
    return other
