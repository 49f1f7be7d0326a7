"""Results, from records or from saved runs of any harness that are scored on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from geoeval.runs import saved
from geoeval.runs.facts import hash_of
from geoeval.runs.model import Result
from geoeval.runs.recognise import Found, find_replies
from geoeval.runs.score import score_run


def load_results(paths: Sequence[Path], **settings: Any) -> list[Result]:
    """The results at some paths.

    Args:
        paths: Records (``*.geoeval.json``), saved runs of any harness, or folders of them. Where a folder has both, a
            saved run that a record in it was made of is not scored again; one that changed since then is. Task and
            model of a plain file may have been said on the command line, so that only its record has them.
        settings: Of `geoeval.runs.score.score_run`, for saved runs.

    Returns:
        In the order of the paths, within a folder by name.

    Raises:
        DataError: A path holds no results, or a run cannot be scored.
    """
    found = find_replies(paths, records=True)
    records = {one.path: saved.load(one.path) for one in found if one.reader == "saved"}
    made_of = {_key(result.task, result.run, result.run.get("source_sha256")) for result in records.values()}
    results: list[Result] = []
    for one in found:
        results += [records[one.path]] if one.reader == "saved" else _scored(one, made_of, settings)
    return results


def _scored(found: Found, made_of: set[tuple[str, ...]], settings: dict[str, Any]) -> Iterator[Result]:
    for run in found.runs():
        if not (run.source.is_file() and _is_of(_key(run.task, run.facts, hash_of(run.source)), made_of)):
            yield score_run(run, **settings)


def _is_of(run: tuple[str, ...], made_of: set[tuple[str, ...]]) -> bool:
    """Whether a record was made of a run; what the run does not say is no difference."""
    return any(all(own in ("", its) for own, its in zip(run, record, strict=True)) for record in made_of)


def _key(task: str, facts: Mapping[str, Any], digest: Any) -> tuple[str, ...]:
    """What a record and the run it was made of have in common."""
    return task, str(facts.get("model") or ""), str(digest)
