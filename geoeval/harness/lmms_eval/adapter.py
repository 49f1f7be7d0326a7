"""What a task YAML needs: a document -> prompt, and a reply -> per-sample metrics.

Three things lmms-eval does to replies are undone here (0.7.3, measured):
it turns a null reply into "" before scoring, which would blame the model, so `ReplyFilter` marks it first;
it writes a failed request into the reply as text, so `reply_or_failure` looks for those markers first;
it drops the document from the sample log, so the metric ``coverage`` carries id, gold, reading and strata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.data import DataError, context_from_row, item_from_row, locate, open_picture, picture_problem
from geoeval.data.schema import row_problems
from geoeval.extraction.text import well_formed
from geoeval.harness.lmms_eval import judging
from geoeval.runs.lmms_eval import NULL_REPLY, reply_or_failure
from geoeval.types import Outcome, Score

Document = Mapping[str, Any]


class ReplyFilter:
    """The first step of ``filter_list``: what lmms-eval could not score or save is replaced, in its log as well.

    A null reply becomes a failed request. A lone surrogate (half an emoji, cut by the token limit) becomes U+FFFD: one
    of them would lose the sample log of the whole task, which lmms-eval writes as UTF-8.

    Attributes:
        null_reply: What stands for a null reply.
    """

    null_reply = NULL_REPLY

    def apply(self, replies: Sequence[list[str | None]], docs: Any) -> Sequence[list[str | None]]:
        """Replace in place, since lmms-eval logs these very lists.

        Args:
            replies: For each document all replies to it.
            docs: Unused.
        """
        for each in replies:
            each[:] = [self.null_reply if reply is None else well_formed(reply) for reply in each]
        return replies


def dataset_kwargs(dataset: str) -> dict[str, Any]:
    """Arguments of ``datasets.load_dataset("parquet", ...)`` for the file of rows that tasks are taken from.

    Raises:
        DataError: See `geoeval.data.locate`.
    """
    return {"data_files": {"test": str(locate(dataset).path)}}


def metadata(task: str) -> dict[str, str]:
    """The YAML's metadata. It enters the result file and the key of the response cache, which knows no pictures."""
    benchmark = get_benchmark(task)
    source = locate(benchmark.dataset)
    return {"version": benchmark.version, "data": source.label, "data_sha256": source.sha256}


def process_docs(task: str, dataset: Any) -> Any:
    """The rows of a task, each with the task's name in the column ``task``, which the other hooks read.

    Every picture is checked before the first request is paid for, and stays compressed until a model asks.

    Raises:
        DataError: A picture is missing or is no picture, the task's setting has nothing to show, an item cannot be
            marked, or no row belongs to the task; names the items.
    """
    from datasets import Image, List

    benchmark = get_benchmark(task)
    shown = ("images", f"{benchmark.setting}_images")  # both are dropped by lmms-eval before scoring
    dataset = dataset.remove_columns([c for c in dataset.column_names if c.endswith("_images") and c not in shown])
    for column in set(shown) & set(dataset.column_names):
        dataset = dataset.cast_column(column, List(Image(decode=False)))
    if benchmark.subset:
        rows = dataset.select_columns(list(benchmark.subset))
        dataset = dataset.select([index for index, row in enumerate(rows) if benchmark.includes(row)])
    if not len(dataset):
        raise DataError(f"{task}: no row with {benchmark.subset}; see the columns of {benchmark.dataset}.parquet")
    problems = [problem for row in dataset for problem in item_problems(benchmark, row)]
    doubled = [id_ for id_, count in Counter(dataset["id"]).items() if count > 1]
    problems += [f"row {id_!r}: the id occurs more than once" for id_ in doubled]
    if problems:
        raise DataError(
            f"{task}: {len(problems)} things to mend before any request is made, e.g. {'; '.join(problems[:5])}. "
            f"An item without its picture, or whose reply cannot be marked, must not be asked."
        )
    judging.check(benchmark)
    return dataset.add_column("task", [task] * len(dataset))


def item_problems(benchmark: Benchmark, row: Document) -> Iterator[str]:
    """What is wrong with one row: its values, its pictures, what its setting shows, whether a reply could be marked."""
    wrong = list(row_problems(benchmark.dataset, row))
    yield from wrong
    for name, pictures in row.items():
        if name.endswith("images"):
            for problem in filter(None, map(picture_problem, pictures or ())):
                yield f"row {row['id']!r}: a picture of {name!r} cannot be opened whole ({problem})"
    if wrong:  # what follows would say much the same again
        return
    if problem := benchmark.unmarkable(row):
        yield f"row {row['id']!r}: {problem}"
    if benchmark.setting:
        try:
            context_from_row(row, benchmark.setting)
        except DataError as error:
            yield str(error)


def doc_to_target(doc: Document) -> str:
    """The accepted answers in one line; for the log only."""
    return " | ".join(doc["gold"])


def doc_to_text(doc: Document) -> str:
    """The exact user text, for models that take pictures and text apart."""
    benchmark = get_benchmark(doc["task"])
    return benchmark.flat_prompt(item_from_row(doc, benchmark.strata, benchmark.setting))


def doc_to_messages(doc: Document) -> list[dict[str, Any]]:
    """The prompt as chat messages in lmms-eval's own form."""
    benchmark = get_benchmark(doc["task"])
    return [
        {"role": message["role"], "content": [_part(part) for part in message["content"]]}
        for message in benchmark.prompt(item_from_row(doc, benchmark.strata, benchmark.setting))
    ]


def doc_to_visual(doc: Document) -> list[Any]:
    """The pictures, RGB, in the order they are shown; for models that take pictures and text apart."""
    (message,) = doc_to_messages(doc)
    return [part["url"] for part in message["content"] if part["type"] == "image"]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part["type"] == "image":
        return {"type": "image", "url": open_picture(part["image"])}
    return {"type": "text", "text": part["text"]}


def process_results(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """Mark one reply.

    Returns:
        Metric -> value of this sample. ``coverage`` is always there and carries the record of the sample; the others
        only where the item takes part in them. Means are ``{"score", "cluster"}``, which lmms-eval's clustered
        standard error reads. Metrics that are no means of items are pairs: ``[part, value]`` for means of parts,
        ``[gold labels, read label or null]`` for those of the confusion matrix, ``[id, reply]`` for those of a judge.
    """
    benchmark = get_benchmark(doc["task"])
    reply, failure = reply_or_failure(results[0])
    metrics = sample_metrics(benchmark, benchmark.score(item_from_row(doc, benchmark.strata), reply, failure))
    return {**metrics, **judging.sample_values(benchmark, doc["id"], results[0])}


def sample_metrics(benchmark: Benchmark, score: Score) -> dict[str, Any]:
    """A score in the form that `process_results` returns."""
    coverage = {
        "score": float(score.outcome.scored),
        "cluster": score.cluster,
        "id": score.id,
        "outcome": score.outcome.value,
        "extracted": score.extracted,
        "gold": list(score.gold),
        "method": score.method,
        "reason": score.reason,
        "strata": dict(score.strata),
    }
    metrics: dict[str, Any] = {"coverage": coverage}
    metrics.update({name: {"score": value, "cluster": score.cluster} for name, value in score.values.items()})
    if score.outcome.scored:
        metrics.update(
            {name: [score.strata[m.stratum], score.values[m.rate]] for name, m in benchmark.part_means.items()}
        )
        metrics.update({name: [list(score.gold), score.extracted] for name in benchmark.composites})
    return metrics


def score_from_sample(sample: Mapping[str, Any]) -> Score:
    """The score that `sample_metrics` wrote into a line of the sample log.

    Raises:
        KeyError: The line is not from one of our tasks.
    """
    record = sample["coverage"]
    values = {
        name: value["score"]
        for name, value in sample.items()
        if name != "coverage" and isinstance(value, Mapping) and "score" in value
    }
    return Score(
        id=record["id"],
        outcome=Outcome(record["outcome"]),
        values=values,
        extracted=record["extracted"],
        gold=tuple(record["gold"]),
        method=record["method"],
        reason=record["reason"],
        cluster=record["cluster"],
        strata=record["strata"],
    )


def mean(samples: Sequence[Mapping[str, Any]]) -> float:
    """Aggregation of all metrics that are means; the same for every order of the samples."""
    import math

    scores = [sample["score"] for sample in samples]
    return math.fsum(scores) / len(scores) if scores else math.nan


def metric_list(task: str) -> list[dict[str, Any]]:
    """The YAML's ``metric_list``: coverage, every metric of the benchmark, those of a judge where one is set."""
    benchmark = get_benchmark(task)
    aggregations = {
        "coverage": mean,
        **{name: partial(_part_mean, task, name) for name in benchmark.part_means},
        **dict.fromkeys((*benchmark.rates, *benchmark.means), mean),
        **{name: partial(_composite, task, name) for name in benchmark.composites},
        **judging.aggregations(benchmark),
    }
    return [
        {"metric": name, "aggregation": aggregation, "higher_is_better": name not in benchmark.lower_is_better}
        for name, aggregation in aggregations.items()
    ]


def _part_mean(task: str, name: str, pairs: Sequence[tuple[str, float]]) -> float:
    return get_benchmark(task).part_mean(name, [part for part, _ in pairs], [value for _, value in pairs])


def _composite(task: str, name: str, pairs: Sequence[tuple[Sequence[str], str | None]]) -> float:
    return get_benchmark(task).composite(name, [gold for gold, _ in pairs], [read for _, read in pairs])
