"""The data of the item browser: what was asked, what each model replied and how that was marked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.data.errors import DataError
from geoeval.data.source import Source, find
from geoeval.extraction.text import well_formed
from geoeval.report.lines import Entry, item_metric, top
from geoeval.report.spans import Span, answer_span, item_of_score
from geoeval.report.thumbnails import Thumbnails
from geoeval.types import Item, Judgement, Score

LONGEST = 20_000
"""A page keeps that many characters of a reply, half from either end."""
_UNSAFE = re.compile("[<>&\u2028\u2029\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class Asked:
    """What is known of the items of one task.

    Attributes:
        items: By id; without pictures, to be light.
        pictures: Id -> numbers of its thumbnails.
        problem: Why there are none, for the reader; "" where all is well.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    pictures: Mapping[str, list[int]] = field(default_factory=dict)
    problem: str = ""


def asked(task: Sequence[Entry], thumbnails: Thumbnails | None, data: str | None) -> Asked:
    """The items of a task, where the very data that was asked is at hand; nothing is fetched.

    Args:
        task: Its results.
        thumbnails: Takes the pictures; None for none.
        data: "sample" or a folder; GEOEVAL_DATA when None.
    """
    benchmark = get_benchmark(task[0].result.task)
    hashes = {str(entry.result.run.get("data_sha256") or "") for entry in task}
    if hashes == {""}:
        return Asked(problem="The results do not say which data was asked, so questions and pictures cannot be shown.")
    if len(hashes) > 1:
        return Asked(problem="The results are of different data, so questions and pictures are not shown.")
    source = _source(benchmark.dataset, hashes.pop(), data)
    if source is None:
        return Asked(
            problem="The data that was asked is not at hand here, so questions and pictures are not shown. "
            "GEOEVAL_DATA or --data says where it is."
        )
    return _read(benchmark, source, thumbnails)


def _source(dataset: str, sha256: str, data: str | None) -> Source | None:
    """The data with a hash: where it was said to be, or the bundled sample."""
    for setting in (data, "sample"):
        try:
            source = find(dataset, setting)
        except DataError:
            continue
        if source and source.sha256 == sha256:
            return source
    return None


def _read(benchmark: Benchmark, source: Source, thumbnails: Thumbnails | None) -> Asked:
    from geoeval.data.items import task_items
    from geoeval.data.progress import track

    items, pictures = {}, {}
    for item in track(task_items(benchmark.name, source, pictures=thumbnails is not None), f"{benchmark.name}: items"):
        items[item.id] = replace(item, images=(), context=())
        if thumbnails is not None:
            pictures[item.id] = thumbnails.add(item.images)
    return Asked(items, pictures)


def task_data(task: Sequence[Entry], replies: Sequence[Mapping[str, tuple[Score, str | None]]], about: Asked) -> Any:
    """Everything the browser shows of one task, as JSON values.

    Args:
        task: Its results.
        replies: For each of them, id -> score and reply.
        about: What was asked.
    """
    benchmark = get_benchmark(task[0].result.task)
    ids = sorted({id_ for scored in replies for id_ in scored})
    firsts = {id_: next(scored[id_][0] for scored in replies if id_ in scored) for id_ in ids}
    strata = [*benchmark.strata]
    values = {name: sorted({str(score.strata.get(name, "")) for score in firsts.values()}) for name in strata}
    places = {name: {value: k for k, value in enumerate(found)} for name, found in values.items()}
    metric = item_metric(benchmark, task[0].headline)
    return {
        "task": benchmark.name,
        "sample": any(entry.result.is_sample for entry in task),
        "metric": metric,
        "rate": metric in benchmark.rates,
        "top": top(metric),
        "models": [[entry.key, entry.label] for entry in task],
        "metrics": list(dict.fromkeys(m for scored in replies for score, _ in scored.values() for m in score.values)),
        "strata": [[name, values[name]] for name in strata],
        "setting": benchmark.setting,
        "problem": about.problem,
        "items": [
            _item(firsts[id_], about, [places[name][str(firsts[id_].strata.get(name, ""))] for name in strata])
            for id_ in ids
        ],
        "replies": [_replies(benchmark, ids, scored, about, metric) for scored in replies],
    }


def _item(score: Score, about: Asked, strata: list[int]) -> list[Any]:
    """Id, question, choices, options, gold, thumbnails and strata."""
    item = about.items.get(score.id)
    question = (item.question, item.choices, item.options) if item else ("", (), ())
    pictures = about.pictures.get(score.id, [])
    return [score.id, *question, score.gold, pictures, strata]


def _replies(
    benchmark: Benchmark,
    ids: Sequence[str],
    scored: Mapping[str, tuple[Score, str | None]],
    about: Asked,
    metric: str,
) -> list[Any]:
    """For each item None or [outcome, value, read, text, span, left out, method, reason, values, judgement]."""
    rows: list[Any] = []
    for id_ in ids:
        if id_ not in scored:
            rows.append(None)
            continue
        score, reply = scored[id_]
        span = None
        if reply:
            item = about.items.get(id_) or item_of_score(benchmark, score)
            span = answer_span(benchmark, item, reply, score)
        text, place, left_out = _shortened(reply or "", span)
        read = score.extracted if score.method != "visible_text" else None
        values = {name: round(value, 6) for name, value in score.values.items() if math.isfinite(value)}
        rows.append(
            [
                *(score.outcome.value, values.get(metric), read, text, place, left_out),
                *(score.method, score.reason, values, _judgement(score.judgement)),
            ]
        )
    return rows


def _judgement(judgement: Judgement | None) -> list[Any] | None:
    if judgement is None:
        return None
    comment, left_out = judgement.comment, len(judgement.comment) - LONGEST
    if left_out > 0:
        comment = f"{comment[:LONGEST]} … {left_out:,} characters are left out of this page"
    return [judgement.score, dict(judgement.dimensions), comment, judgement.reason]


def _shortened(reply: str, span: Span | None) -> tuple[str, list[int] | None, list[int] | None]:
    """The text that is kept, the span in UTF-16 units as JavaScript counts, and what was left out: where, how much."""
    reply = well_formed(reply)
    half, left_out = LONGEST // 2, len(reply) - LONGEST
    if left_out <= 0:
        return reply, _utf16(reply, span), None
    head, tail = reply[:half], reply[-half:]
    if span and span[0] >= len(reply) - half:
        span = (span[0] - left_out, span[1] - left_out)
    elif span and span[1] > half:
        span = None
    return head + tail, _utf16(head + tail, span), [_units(head), left_out]


def _utf16(text: str, span: Span | None) -> list[int] | None:
    return span and [_units(text[: span[0]]), _units(text[: span[1]])]


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def json_block(content: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or the line, or is half a character."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda unsafe: f"\\u{ord(unsafe[0]):04x}", text)
