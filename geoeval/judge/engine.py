"""All answers of a run to a judge and back: in order, at once, each call stored.

| an answer | its judgement |
| --- | --- |
| is empty | 0 without a call, reason ``empty_answer`` |
| is marked | the marks, and the keys of the calls they rest on |
| got a reply that cannot be read | asked again, then no score: ``unreadable: ...`` |
| got a reply that was cut off, filtered or refused | no score: ``length``, ``content_filter``, ``refusal`` |
| met an endpoint that failed, or would not take it | no score: ``failed: ...`` |
| was not asked: max_calls, max_cost or ctrl-C | no score: ``budget: ...`` |
| is not in the store of a replay | no score: ``no_stored_call`` |

A wrong key, an unknown model and the like raise. What was answered until then is stored; the next run goes on there.
"""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from geoeval.judge.caller import Caller
from geoeval.judge.cost import Estimate, Meter, estimate
from geoeval.judge.errors import JudgeError, MissingCallsError
from geoeval.judge.letters import READING_PROMPT_VERSION, LetterAsk
from geoeval.judge.limits import Brake
from geoeval.judge.progress import judging
from geoeval.judge.prompt import Ask
from geoeval.judge.prompt import signature as rubric_signature
from geoeval.judge.question import Asked, MarkAsk, make_question
from geoeval.judge.rubric import Rubric, load_rubric
from geoeval.judge.run import NOT_STORED, UNREADABLE, Run, Told, own_judge
from geoeval.judge.settings import JudgeSettings
from geoeval.judge.store import CallStore
from geoeval.types import Extraction, Judgement

__all__ = [
    "Asked",
    "JudgeError",
    "Judged",
    "MissingCallsError",
    "dry_run",
    "dry_run_letters",
    "judge_all",
    "judge_letters",
    "judge_run",
]

CTRL_C = "ctrl-C"
"""Why a run stopped, beside the limits."""
_PROBE = Asked("probe", "Which rock is this?", ("It is granite.",), "The rock is granite.")
_LETTER_PROBE = LetterAsk("probe", ("A", "B"), (), "The answer is B.")


@dataclass(frozen=True)
class Judged:
    """What a judge made of a run.

    Attributes:
        judgements: One for each answer, in their order.
        signature: Judge, rubric, prompt and form, for the signature of the task.
        facts: For the record, plain JSON values: model, reported, endpoint, rubric, rubric_sha256, weight, form,
            temperature, picture, repeat, replay, answers, empty, unscored, unscored_reasons, stopped (by which limit,
            or by ctrl-C; "" if not), calls (sent in this run), from_store, cost (USD of all calls it rests on, None if
            unknown), spent (USD in this run), prices.
    """

    judgements: list[Judgement]
    signature: str
    facts: Mapping[str, Any]


def judge_all(
    asked: Sequence[Asked], settings: JudgeSettings, *, tested: str | None = None, progress: bool | None = None
) -> list[Judgement]:
    """The judgements of `judge_run`."""
    return judge_run(asked, settings, tested=tested, progress=progress).judgements


def judge_run(
    asked: Sequence[Asked], settings: JudgeSettings, *, tested: str | None = None, progress: bool | None = None
) -> Judged:
    """Have answers marked. From any thread, inside an event loop or not.

    Args:
        asked: The answers.
        settings: Of the judge.
        tested: The model that gave the answers, which must not be the judge.
        progress: Whether to show a bar; None where standard error is a terminal.

    Raises:
        JudgeError: The judge cannot be used: wrong key, unknown model, the model under test, no package, no
            store, a rubric that cannot be used.
        MissingCallsError: A strict replay lacks calls.
        DataError: A picture cannot be opened.
        KeyboardInterrupt: At a second ctrl-C; the first lets calls under way end.
    """
    rubric = load_rubric(settings.rubric)
    asks = [MarkAsk(one, rubric, settings.picture) for one in asked if one.answer.strip()]
    run = _ask_all(asks, _probe(rubric, settings), settings, tested, progress)
    told = iter(run.told)
    zero = {dimension.name: 0.0 for dimension in rubric.dimensions}
    judgements = [
        _judgement(next(told)) if one.answer.strip() else Judgement(0.0, zero, reason="empty_answer") for one in asked
    ]
    signature = f"{rubric_signature(rubric)}|judge_picture:{'yes' if settings.picture else 'no'}"
    facts = {**_facts(run), "rubric": rubric.id, "rubric_sha256": rubric.sha256, **_counts(judgements)}
    return Judged(judgements, f"{_signature(run)}|{signature}", {**facts, "weight": settings.weight})


def judge_letters(
    asks: Sequence[LetterAsk], settings: JudgeSettings, *, tested: str | None = None, progress: bool | None = None
) -> tuple[dict[str, Extraction], str, dict[str, Any]]:
    """Have a judge read the letters that our reader left unread.

    Args:
        asks: The replies, see `geoeval.judge.letters`.
        settings: Of the judge.
        tested: The model that gave the replies, which must not be the judge.
        progress: Whether to show a bar; None where standard error is a terminal.

    Returns:
        Id -> what it read, for `accuracy_with_judge_reading`; who read it, for the signature; and the facts of the
        run, see `Judged`.

    Raises:
        JudgeError, MissingCallsError, KeyboardInterrupt: See `judge_run`.
    """
    run = _ask_all(asks, _LETTER_PROBE, settings, tested, progress)
    readings = {
        ask.id: told.said if told.said is not None else Extraction(None, "none", f"{UNREADABLE}: {told.reason}")
        for ask, told in zip(asks, run.told, strict=True)
    }
    return readings, f"{_signature(run)}|reading_prompt:{READING_PROMPT_VERSION}", _facts(run)


def dry_run(asked: Sequence[Asked], settings: JudgeSettings, repeats: int = 1) -> Estimate:
    """What `judge_run` would take; nothing is sent.

    Args:
        asked: The answers.
        settings: Of the judge.
        repeats: How often each is marked.

    Raises:
        JudgeError: See `judge_run`.
    """
    rubric = load_rubric(settings.rubric)
    asks = [MarkAsk(one, rubric, settings.picture) for one in asked if one.answer.strip()]
    return _plan(asks, _probe(rubric, settings), settings, len(asked), repeats)


def dry_run_letters(asks: Sequence[LetterAsk], settings: JudgeSettings) -> Estimate:
    """What `judge_letters` would take; nothing is sent.

    Raises:
        JudgeError: See `judge_run`.
    """
    return _plan(asks, _LETTER_PROBE, settings, len(asks))


def _plan(asks: Sequence[Ask], probe: Ask, settings: JudgeSettings, answers: int, repeats: int = 1) -> Estimate:
    with CallStore(settings.store_path) as store:
        caller = Caller(settings, store, Meter(replace(settings, max_cost=None), store), Brake())
        known = caller.remembered()
        dialect = known[0] if known else caller.dialect
        times = [replace(settings, repeat=settings.repeat + time) for time in range(repeats)]
        questions = [make_question(ask, time, dialect) for time in times for ask in asks]
        missing = {question.key: question for question in questions if store.get(question.key) is None}
        stored = sum(question.key not in missing for question in questions)
        if asks and not known:
            first = make_question(probe, settings, dialect)
            missing[first.key] = first
        counts = {"answers": answers, "empty": answers - len(asks), "stored": stored, "repeats": repeats}
        return estimate(settings, store, [*missing.values()], **counts)


def _probe(rubric: Rubric, settings: JudgeSettings) -> MarkAsk:
    """An easy question; with a picture where the judge shall see them, for not every model takes one."""
    if not settings.picture:
        return MarkAsk(_PROBE, rubric)
    from PIL import Image

    png = io.BytesIO()
    Image.new("RGB", (64, 64), "gray").save(png, "PNG")
    return MarkAsk(replace(_PROBE, picture=png.getvalue()), rubric, picture=True)


def _ask_all(
    asks: Sequence[Ask], probe: Ask, settings: JudgeSettings, tested: str | None, progress: bool | None
) -> Run:
    if settings.is_tested(tested) and not settings.allow_self:
        raise own_judge(settings.model)
    with ExitStack() as stack:
        store = stack.enter_context(CallStore(settings.store_path))
        advance = stack.enter_context(judging(len(asks), progress))
        run = Run(asks, probe, settings, store, tested, advance)
        _in_thread(run)
    missing = tuple(ask.id for ask, told in zip(asks, run.told, strict=True) if told.reason == NOT_STORED)
    if missing and settings.replay == "strict":
        raise MissingCallsError(missing, str(settings.store_path))
    return run


def _judgement(told: Told) -> Judgement:
    if told.said is None:
        return Judgement(None, reason=told.reason, calls=told.calls)
    judgement: Judgement = replace(told.said, calls=told.calls)
    return judgement


def _facts(run: Run) -> dict[str, Any]:
    settings, meter = run.settings, run.meter
    return {
        "model": settings.model,
        "reported": run.reported,
        "endpoint": settings.endpoint,
        "form": _form(run),
        "temperature": _temperature(run),
        "picture": settings.picture,
        "repeat": settings.repeat,
        "replay": settings.replay,
        "stopped": run.brake.reason,
        "calls": meter.sent,
        "from_store": meter.found,
        "cost": meter.cost([call.usage for call in run.calls.values() if call.error is None]),
        "spent": meter.spent if meter.price else None,
        "prices": meter.prices.label,
    }


def _counts(judgements: Sequence[Judgement]) -> dict[str, Any]:
    reasons = Counter((one.reason or "").partition(":")[0] for one in judgements if one.score is None)
    return {
        "answers": len(judgements),
        "empty": sum(one.reason == "empty_answer" for one in judgements),
        "unscored": sum(reasons.values()),
        "unscored_reasons": dict(sorted(reasons.items())),
    }


def _signature(run: Run) -> str:
    names = "+".join(name.replace("|", "/") for name in run.reported)
    shown = f"[{names}]" if names and names != run.settings.model else ""
    parts = [
        f"judge:{run.settings.model}{shown}",
        f"judge_form:{_form(run)}",
        f"judge_temperature:{_temperature(run)}",
        *([f"judge_repeat:{run.settings.repeat}"] if run.settings.repeat else []),
        *(["judges_itself"] if any(map(run.is_tested, (run.settings.model, *run.reported))) else []),
    ]
    return "|".join(parts)


def _form(run: Run) -> str:
    return run.caller.dialect.form if run.calls else "none"


def _temperature(run: Run) -> str:
    return f"{run.settings.temperature:g}" if run.caller.dialect.temperature else "default"


def _in_thread(run: Run) -> None:
    """Run the event loop in a thread of its own: the caller's may have one. ctrl-C comes to the caller."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="geoeval-judge", daemon=True)
    thread.start()
    judged = asyncio.run_coroutine_threadsafe(run.judge(), loop)
    try:
        try:
            judged.result()
        except KeyboardInterrupt:
            print("geoeval: judge: waiting for the calls under way; ctrl-C again loses them", file=sys.stderr)
            loop.call_soon_threadsafe(run.brake.stop, CTRL_C)
            judged.result()
    finally:
        judged.cancel()
        asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
