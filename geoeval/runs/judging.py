"""A judge beside the rules: marks of open answers, and letters that our reader left unread."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks import Benchmark
from geoeval.benchmarks.lithobench import JudgedLithoBenchOpen, LithoBenchOpen
from geoeval.data import DataError, Source, task_items
from geoeval.runs.items import TaskItems
from geoeval.runs.marking import Marked
from geoeval.runs.model import SavedRun
from geoeval.runs.record import encode_line, from_line, without_nan
from geoeval.types import Item, Judgement, Score

if TYPE_CHECKING:
    from geoeval.judge.engine import Asked, Judged
    from geoeval.judge.letters import LetterAsk
    from geoeval.judge.settings import JudgeSettings


@dataclass
class Budget:
    """A judge over all runs of one command, which have its max_calls and max_cost together.

    Attributes:
        settings: Of the judge, with what is left of the limits.
    """

    settings: JudgeSettings

    def take(self, facts: Mapping[str, Any]) -> None:
        """Count what a run took, see `geoeval.judge.engine.Judged`."""
        self.settings = self.settings.after(facts)


def judged(
    run: SavedRun, benchmark: Benchmark, items: TaskItems, marked: Marked, settings: JudgeSettings
) -> tuple[Benchmark, Marked, dict[str, Any]]:
    """Have a judge mark the answers of a run.

    Returns:
        The benchmark that summarises such scores, the scores, and what the record says of the judge.

    Raises:
        DataError: The task is not one of open answers.
        geoeval.judge.errors.JudgeError: The judge cannot be used, or would mark its own answers.
    """
    answered = ((items.by_id[score.id], score) for score, _ in map(from_line, map(json.loads, marked.ordered())))
    asked = list(asked_of(run.task, items.source, answered, settings.picture))
    judging, judgements, facts = judge_answers(benchmark, asked, settings, tested_model(run))

    def with_marks(k: int, line: bytes) -> tuple[Score, bytes]:
        score, reply = from_line(json.loads(line))
        if score.id not in judgements:
            return marked.scores[k], line
        score = judging.judged(score, judgements[score.id])
        return replace(score, extracted=None), encode_line(score, reply)

    return judging, marked.change(with_marks), facts


def judge_answers(
    benchmark: Benchmark, asked: Sequence[Asked], settings: JudgeSettings, tested: str | None
) -> tuple[JudgedLithoBenchOpen, dict[str, Judgement], dict[str, Any]]:
    """Have a judge mark answers, whatever harness they are from.

    Args:
        benchmark: The task.
        asked: Its scored answers, see `asked_of`.
        settings: Of the judge.
        tested: The model that gave them.

    Returns:
        The benchmark with the judge's marks, id -> judgement, and what a record says of the judge.

    Raises:
        DataError, geoeval.judge.errors.JudgeError: See `judged`.
    """
    from geoeval.judge.engine import judge_run

    if not isinstance(benchmark, LithoBenchOpen):
        raise DataError(f"{benchmark.name}: a judge marks open answers only; leave it out for this task")
    say_if_unknown(tested, benchmark.name, settings)
    done: Judged = judge_run(asked, settings, tested=tested)
    judgements = {one.id: judgement for one, judgement in zip(asked, done.judgements, strict=True)}
    facts = {**done.facts, "max_unscored": settings.max_unscored}
    return judged_benchmark(benchmark, settings, done.signature), judgements, facts


def judged_benchmark(benchmark: Benchmark, settings: JudgeSettings, signature: str = "") -> JudgedLithoBenchOpen:
    """A task of open answers with the metrics that a judge adds."""
    from geoeval.judge.rubric import load_rubric

    return JudgedLithoBenchOpen(
        benchmark,
        weight=settings.weight,
        dimensions=[dimension.name for dimension in load_rubric(settings.rubric).dimensions],
        max_unscored=settings.max_unscored,
        signature=signature,
    )


def asked_of(task: str, source: Source, answered: Iterable[tuple[Item, Score]], pictures: bool) -> Iterator[Asked]:
    """What a judge is asked: every scored answer.

    Args:
        task: Its name.
        source: Its data, for the pictures.
        answered: Items with the scores of their answers, whose ``extracted`` is the answer.
        pictures: Whether the judge sees them.
    """
    from geoeval.judge.engine import Asked

    shown = {item.id: item.images[0] for item in task_items(task, source) if item.images} if pictures else {}
    for item, score in answered:
        if score.outcome.scored:
            yield Asked(item.id, item.question, item.gold, score.extracted or "", shown.get(item.id))


def tested_model(run: SavedRun) -> str | None:
    """The model that gave the replies of a run; None when nothing says it."""
    model = run.facts.get("model")
    return None if model is None else str(model)


def say_if_unknown(tested: str | None, task: str, settings: JudgeSettings) -> None:
    """Say it where nothing tells whether the judge is the model under test."""
    if tested is None:
        print(
            f"geoeval: {task}: nothing says which model gave these replies, so nobody checked that it is not the judge "
            f"{settings.model}; a record that geoeval score --model NAME makes says it",
            file=sys.stderr,
        )


def answers(run: SavedRun, pictures: bool, **scoring: Any) -> list[Asked]:
    """What a judge would be asked about a run.

    Args:
        run: Of open answers.
        pictures: Whether the judge sees them.
        scoring: Arguments of `geoeval.runs.score.score_run`.

    Raises:
        DataError: The run cannot be scored.
    """
    items, scored = _scored(run, scoring)
    answered = ((items.by_id[score.id], score) for score, _ in scored)
    return list(asked_of(run.task, items.source, answered, pictures))


def letters_read(run: SavedRun, settings: JudgeSettings, **scoring: Any) -> dict[str, Any]:
    """Let a judge read the letters that our reader left unread: a second accuracy beside the first.

    Args:
        run: Of a multiple-choice task.
        settings: Of the judge.
        scoring: Arguments of `geoeval.runs.score.score_run`.

    Returns:
        Plain JSON values: task, model, metrics (``accuracy`` and ``accuracy_with_judge_reading``), signature, judge
        (see `geoeval.judge.engine.Judged`), readings.

    Raises:
        DataError: The run cannot be scored.
        geoeval.judge.errors.JudgeError: The judge cannot be used.
    """
    from geoeval.judge.engine import judge_letters
    from geoeval.judge.letters import accuracy_with_judge_reading, letter_asks
    from geoeval.runs.score import score_run

    result = score_run(run, **scoring)
    tested = tested_model(run)
    say_if_unknown(tested, run.task, settings)
    asks = letter_asks(result.items(), items_for(run, scoring).by_id)
    readings, signature, facts = judge_letters(asks, settings, tested=tested)
    metric = accuracy_with_judge_reading((score for score, _ in result.items()), readings, settings.max_unscored)
    read: dict[str, Any] = without_nan(
        {
            "task": run.task,
            "model": result.model,
            "metrics": [asdict(result.summary["accuracy"]), asdict(metric)],
            "signature": f"{result.summary.signature}|{signature}",
            "judge": facts,
            "readings": {
                id_: {"letter": found.value, "reason": found.reason, **found.data} for id_, found in readings.items()
            },
        }
    )
    return read


def unread_letters(run: SavedRun, **scoring: Any) -> list[LetterAsk]:
    """What a judge would be asked about the letters of a run.

    Raises:
        DataError: The run cannot be scored.
    """
    from geoeval.judge.letters import letter_asks

    items, scored = _scored(run, scoring)
    return letter_asks(scored, items.by_id)


def _scored(run: SavedRun, scoring: Mapping[str, Any]) -> tuple[TaskItems, Iterable[tuple[Score, str | None]]]:
    from geoeval.runs.score import score_run

    return items_for(run, scoring), score_run(run, **scoring).items()


def items_for(run: SavedRun, scoring: Mapping[str, Any]) -> TaskItems:
    """The items of a run's task, as `geoeval.runs.score.score_run` with these arguments takes them."""
    from geoeval.benchmarks import get_benchmark
    from geoeval.runs.items import items_of, source_of

    return items_of(run.task, source_of(run, get_benchmark(run.task).dataset, scoring.get("data")))
