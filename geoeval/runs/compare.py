"""Comparing results of one task on the items they share.

Items that failed in either result leave the pair and are counted. See `geoeval.runs.differences` for how each kind of
metric is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from string import ascii_uppercase
from typing import NamedTuple

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.data.errors import DataError
from geoeval.data.progress import track
from geoeval.extraction.reasoning import strip_reasoning
from geoeval.metrics.multiple import holm
from geoeval.metrics.similarity import answer_similarity, text_similarity
from geoeval.runs.conditions import Conditions, conditions, relabelled, shown
from geoeval.runs.differences import Difference, differences, stratum_differences
from geoeval.runs.model import Result
from geoeval.types import Metric, Score

Scored = Mapping[str, tuple[Score, str | None]]
"""Item id -> its score and, where asked for, its reply."""

_OF_ITEMS = "_baseline"  # what is known of the items alone is no difference of models


class Incomparable(DataError):
    """The results were not made under the same conditions."""


class Shared(NamedTuple):
    """Which items of two results were compared.

    Attributes:
        compared: Scored in both.
        only_a, only_b: In one result only.
        failed_a, failed_b: In both results, but not scored in this one.
    """

    compared: int
    only_a: int
    only_b: int
    failed_a: int
    failed_b: int


@dataclass(frozen=True)
class Pair:
    """Two models.

    Attributes:
        a, b: Their letters.
        items: What was compared.
        metrics: All metrics; only the headline where there are more than two models.
        strata: Breakdown -> value -> the first metric of a stratum.
        similarity: How alike they reply, where asked for.
    """

    a: str
    b: str
    items: Shared
    metrics: tuple[Difference, ...]
    strata: Mapping[str, Mapping[str, Difference]]
    similarity: tuple[Metric, ...]


@dataclass(frozen=True)
class Comparison:
    """The models that answered one task.

    Attributes:
        task: Its name.
        models: Letter -> what the model is called.
        values: Letter -> its headline on all its own items.
        conditions: What differs although it should not, or is not known.
        pairs: Every two of them.
        sample: Whether some of the numbers come from the bundled sample.
        left_out: Metrics that not all results have.
        partial: Letter -> items had and items of the task, of results that are of a part of it.
    """

    task: str
    models: Mapping[str, str]
    values: Mapping[str, Metric]
    conditions: Conditions
    pairs: tuple[Pair, ...]
    sample: bool
    left_out: tuple[str, ...]
    partial: Mapping[str, tuple[int, int]]


def compare(results: Sequence[Result], *, anyway: bool = False, similarity: bool = False) -> Comparison:
    """Compare two or more results of one task.

    Args:
        results: At most 26.
        anyway: Compare although the conditions differ.
        similarity: Also how alike the replies are.

    Raises:
        Incomparable: The conditions differ; the message says which.
        ValueError: There are fewer than two results, more than 26, or several tasks.
    """
    if not 2 <= len(results) <= len(ascii_uppercase) or len({result.task for result in results}) > 1:
        raise ValueError(f"needs 2 to 26 results of one task, not {[result.task for result in results]}")
    lettered = dict(zip(ascii_uppercase, results, strict=False))
    scored = {letter: _read(result, similarity) for letter, result in lettered.items()}
    met = conditions(lettered)
    labels = relabelled({id_: score for id_, (score, _) in items.items()} for items in scored.values())
    met = met._replace(differing=(*met.differing, *labels))
    models = dict(zip(lettered, _names(results), strict=True))
    if met.differing and not anyway:
        names = ", ".join(f"{letter} = {shown(model)}" for letter, model in models.items())
        raise Incomparable(
            f"{results[0].task}: not comparable, since these differ ({names}):\n  "
            + "\n  ".join(met.differing)
            + "\n  Compare results of the same conditions, or say --anyway."
        )
    summaries = [result.summary for result in results]
    metrics = dict.fromkeys(m.name for summary in summaries for m in summary.metrics if not m.name.endswith(_OF_ITEMS))
    names_of = [{metric.name for metric in summary.metrics} for summary in summaries]
    shared = [name for name in metrics if all(name in own for own in names_of)]
    withheld = {m.name: m.note for summary in summaries for m in summary.metrics if m.note.startswith("withheld")}
    compared = shared if len(results) == 2 else shared[:1]
    return Comparison(
        task=results[0].task,
        models=models,
        values={letter: result.summary.metrics[0] for letter, result in lettered.items()},
        conditions=met,
        pairs=_pairs(get_benchmark(results[0].task), compared, withheld, scored, similarity),
        sample=any(result.is_sample for result in results),
        left_out=tuple(name for name in metrics if name not in shared),
        partial={
            letter: (part["items"], part["of"])
            for letter, result in lettered.items()
            if (part := result.run.get("partial"))
        },
    )


def _names(results: Sequence[Result]) -> list[str]:
    """What the models are called, with their arguments and date where names repeat."""
    names = [result.model for result in results]
    for fact in ("model_args", "date"):
        if len(set(names)) < len(names):
            said = [result.run.get(fact) for result in results]
            names = [f"{name} ({value})" if value else name for name, value in zip(names, said, strict=True)]
    return names


def _read(result: Result, replies: bool) -> Scored:
    return {score.id: (score, reply if replies else None) for score, reply in result.items()}


def _pairs(
    benchmark: Benchmark,
    names: Sequence[str],
    withheld: Mapping[str, str],
    scored: Mapping[str, Scored],
    similarity: bool,
) -> tuple[Pair, ...]:
    """Every two models; where there are more than two, adjusted for the number of pairs and without a breakdown."""
    letters = list(combinations(scored, 2))
    pairs = []
    for a, b in track(letters, f"comparing {benchmark.name}", len(letters)) if len(letters) > 1 else letters:
        ids = sorted(id_ for id_ in scored[a].keys() & scored[b].keys() if _both(scored[a][id_], scored[b][id_]))
        one, two = ([scored[letter][id_] for id_ in ids] for letter in (a, b))
        scores = [score for score, _ in one], [score for score, _ in two]
        metrics = differences(benchmark, names, withheld, *scores)
        strata = stratum_differences(benchmark, withheld, *scores) if len(letters) == 1 else {}
        alike = _similarity(benchmark, one, two) if similarity else ()
        pairs.append(Pair(a, b, _shared(scored[a], scored[b], len(ids)), metrics, strata, alike))
    if len(pairs) == 1:
        return tuple(pairs)
    adjusted = holm([pair.metrics[0].p_value for pair in pairs])
    return tuple(
        replace(pair, metrics=(replace(pair.metrics[0], p_holm=p),)) for pair, p in zip(pairs, adjusted, strict=True)
    )


def _both(one: tuple[Score, str | None], two: tuple[Score, str | None]) -> bool:
    return one[0].outcome.scored and two[0].outcome.scored


def _shared(a: Scored, b: Scored, compared: int) -> Shared:
    common = a.keys() & b.keys()
    failed = (sum(not scored[id_][0].outcome.scored for id_ in common) for scored in (a, b))
    return Shared(compared, len(a) - len(common), len(b) - len(common), *failed)


def _similarity(
    benchmark: Benchmark, a: Sequence[tuple[Score, str | None]], b: Sequence[tuple[Score, str | None]]
) -> tuple[Metric, ...]:
    """How alike the answers, where there are some to choose from, and the visible replies are."""
    scores = [score for score, _ in a]
    clusters = [score.cluster for score in scores]
    visible_a, visible_b = ([strip_reasoning(reply or "") for _, reply in of] for of in (a, b))
    text = text_similarity(visible_a, visible_b, clusters)
    if "accuracy" not in benchmark.rates:
        return (text,)
    chance = [score.values.get("random_baseline") for score in scores]
    offered = [round(1 / rate) if rate else len(benchmark.labels) for rate in chance]
    answers_a, answers_b = ([score.extracted for score, _ in of] for of in (a, b))
    gold = [score.gold for score in scores]
    answers = answer_similarity(answers_a, answers_b, gold, clusters, offered=offered, labels=benchmark.labels)
    return (*answers, text)
