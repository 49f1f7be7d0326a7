"""Whether results may be compared: were they made from the same task, data, prompt and rules?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from geoeval.runs.model import Result
from geoeval.types import Score

RUN_FACTS = ("data", "data_sha256", "prompt_sha256", "policy")
JUDGE_FACTS = ("model", "rubric", "rubric_sha256", "picture", "weight")
SIDE_FACTS = ("harness", "harness_version", "generation_kwargs")
_SHOWN = 24


class Conditions(NamedTuple):
    """How the conditions of some results relate, one line for each fact.

    Attributes:
        differing: What forbids a comparison.
        unstated: What some result does not say, so that nobody knows.
        aside: What differs and may.
    """

    differing: tuple[str, ...]
    unstated: tuple[str, ...]
    aside: tuple[str, ...]


def conditions(results: Mapping[str, Result]) -> Conditions:
    """Compare the conditions of results of one task.

    Args:
        results: A short label such as "A" -> the result.
    """
    facts: dict[str, dict[str, Any]] = {
        "task version": {label: result.summary.version for label, result in results.items()}
    }
    facts.update(_facts({label: result.run for label, result in results.items()}, RUN_FACTS))
    if any(_on_other_data(result) for result in results.values()):
        facts["data_sha256 asked"] = {
            label: result.run.get("data_sha256_asked" if _on_other_data(result) else "data_sha256")
            for label, result in results.items()
        }
    judges = {label: result.judge for label, result in results.items() if result.judge}
    facts.update(_facts(judges, JUDGE_FACTS, "judge "))
    unstated = [f"{name}: not stated by {', '.join(_silent(said))}" for name, said in facts.items() if _silent(said)]
    if judges and len(judges) < len(results):
        unstated.append(f"only {', '.join(judges)} was marked by a judge: its marks are not compared")
    aside = _facts({label: result.run for label, result in results.items()}, SIDE_FACTS)
    return Conditions(_differing(facts), tuple(unstated), _differing(aside))


def _on_other_data(result: Result) -> bool:
    return bool(result.run.get("data_check") == "different")


def relabelled(scored: Iterable[Mapping[str, Score]]) -> tuple[str, ...]:
    """Items that do not have the same gold answers, cluster and strata in all results, in one line; none if all do."""
    first: dict[str, Score] = {}
    other = [
        id_
        for scores in scored
        for id_, score in scores.items()
        if _label(first.setdefault(id_, score)) != _label(score)
    ]
    return (f"gold answer, cluster or strata of {len(other)} items, e.g. {other[0]}",) if other else ()


def _label(score: Score) -> tuple[Any, ...]:
    return score.gold, score.cluster, dict(score.strata)


def _facts(said: Mapping[str, Mapping[str, Any]], names: Sequence[str], prefix: str = "") -> dict[str, dict[str, Any]]:
    return {prefix + name: {label: facts.get(name) for label, facts in said.items()} for name in names}


def _silent(said: Mapping[str, Any]) -> list[str]:
    return [label for label, value in said.items() if value in (None, "")]


def _differing(facts: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    lines = []
    for name, said in facts.items():
        stated = {label: value for label, value in said.items() if value not in (None, "")}
        if len({repr(value) for value in stated.values()}) > 1:
            lines.append(f"{name}: {', '.join(f'{label} {_short(value)}' for label, value in stated.items())}")
    return tuple(lines)


def shown(text: str) -> str:
    """Text of somebody else's without what a terminal would obey."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _short(value: Any) -> str:
    text = shown(str(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
