"""What a record says of a run beside its numbers: files, data, prompts, rules, versions, and which items there were."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from geoeval.benchmarks import Benchmark
from geoeval.data import DataError, Source
from geoeval.data.files import sha256_of
from geoeval.runs.items import TaskItems
from geoeval.runs.marking import Marked
from geoeval.runs.model import SavedRun

_LIBRARIES = ("numpy", "rapidfuzz", "sacrebleu")


def check_data(run: SavedRun, source: Source, other_data: bool) -> str:
    """Whether the data that were asked are those at hand.

    Returns:
        "same", "unknown" when the run does not say what was asked, or "different" where that is allowed.

    Raises:
        DataError: They differ and may not.
    """
    if not run.data_sha256:
        return "unknown"
    if source.sha256.startswith(run.data_sha256) or run.data_sha256.startswith(source.sha256):
        return "same"
    if other_data:
        return "different"
    raise DataError(
        f"{run.source}: {run.task} was asked on other data than those at hand, so that ids and answers may not belong "
        f"together.\n  asked:   {run.data_sha256} ({run.data or 'not said which'})\n"
        f"  at hand: {source.sha256} ({source.label}, {source.path})\n"
        "Give the data of the run with --data, or --other-data to score with these all the same"
    )


def check_items(run: SavedRun, items: TaskItems, marked: Marked, allow_partial: bool) -> dict[str, Any] | None:
    """Whether there is one reply to each item that was asked.

    Returns:
        What the numbers are a part of, for the record; None for the whole task.

    Raises:
        DataError: Replies are missing, doubled or of no item of the task, and that is not allowed.
    """
    of = len(items.by_id)
    found = len(marked.scores)
    asked = run.facts.get("items_asked")
    asked = asked if isinstance(asked, int) and 0 < asked <= of else of
    problems = []
    missing_ids: list[str] = []
    if found < asked:
        if asked == of:
            seen = {score.id for score in marked.scores}
            missing_ids = sorted(id_ for id_ in items.by_id if id_ not in seen)[:5]
            shown = f": {_shown(missing_ids, of - found)}"
        else:
            shown = f" of the {asked} that were asked"
        problems.append(f"{asked - found} items have no reply{shown}")
    if marked.doubled:
        problems.append(
            f"{len(marked.doubled)} ids occur more than once: {_shown([*marked.doubled], len(marked.doubled))}"
        )
    if marked.unknown.n:
        problems.append(f"{marked.unknown.n} ids are not of {run.task}: {marked.unknown}")
    if problems and not allow_partial:
        raise DataError(
            f"{run.source}: the log is not whole. {run.task} has {of} items; {'; '.join(problems)}. "
            "No number is given for what may be a chosen part; --allow-partial gives it and says so on every line"
        )
    if not problems and found == of:
        return None
    return {
        "items": found,
        "of": of,
        "stated_by": "harness" if not problems else "allow_partial",
        "missing": max(asked - found, 0),
        "missing_ids": missing_ids,
        "doubled": len(marked.doubled),
        "doubled_ids": [*marked.doubled][:5],
        "unknown": marked.unknown.n,
        "unknown_ids": list(marked.unknown.first),
    }


def run_facts(  # noqa: PLR0913 - each is a fact
    run: SavedRun, benchmark: Benchmark, items: TaskItems, *, check: str, policy: str, partial: Mapping[str, Any] | None
) -> dict[str, Any]:
    """All facts of a scored run, see docs/results.md."""
    source = items.source
    facts = {
        **run.facts,
        "data": source.label,
        "data_sha256": source.sha256,
        "data_check": check,
        "items_in_task": len(items.by_id),
        "policy": policy,
        "rules": benchmark.version,
        "source": run.source.name,
        "source_sha256": hash_of(run.source),
        "prompt_sha256": items.prompt_sha256 if _asked_as_now(run, benchmark) else None,
        "python": platform.python_version(),
        "libraries": libraries(),
        "partial": partial,
    }
    if check == "different":
        facts |= {"data_asked": run.data, "data_sha256_asked": run.data_sha256}
    return facts


@lru_cache(maxsize=1)
def libraries() -> dict[str, str]:
    """Versions of what the numbers are computed with."""
    from importlib.metadata import version

    return {name: version(name) for name in _LIBRARIES}


def hash_of(path: Path) -> str:
    """Hash of a file of replies; computed once for all runs in it."""
    try:
        stat = path.stat()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    return _hash(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _hash(path: Path, mtime_ns: int, size: int) -> str:
    return sha256_of(path)


def _asked_as_now(run: SavedRun, benchmark: Benchmark) -> bool:
    """Whether the prompts are those of the run: they change with N of the version ``N-X`` only."""
    asked = str(run.facts.get("version") or benchmark.version)
    return asked.partition("-")[0] == benchmark.version.partition("-")[0]


def _shown(first: list[str], n: int) -> str:
    first = first[:5]
    return ", ".join(map(repr, first)) + (f" and {n - len(first)} more" if n > len(first) else "")
