"""Saved runs in memory and plain files, for the tests of scoring."""

from __future__ import annotations

import json
from pathlib import Path

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, task_items
from geoeval.runs.model import Reply, SavedRun


def items(task):
    """The items of a task on the bundled sample."""
    return list(task_items(task, locate(get_benchmark(task).dataset, "sample"), pictures=False))


def gold_replies(task, wrong=0):
    """A right reply to each item; the first few get one that cannot be read."""
    benchmark = get_benchmark(task)
    replies = [Reply(item.id, benchmark.format_reply(item, item.gold[0])) for item in items(task)]
    return [Reply(r.id, "I cannot tell.") if k < wrong else r for k, r in enumerate(replies)]


def saved(task, replies, folder: Path, **changes):
    """A run whose file is there, so that it can be hashed."""
    source = folder / "replies.jsonl"
    source.write_text("".join(f"{json.dumps([r.id, r.text])}\n" for r in replies), encoding="utf-8")
    facts = {"harness": "test", "model": "m", **changes.pop("facts", {})}
    return SavedRun(task, source, lambda: iter(replies), facts=facts, **{"data": "SAMPLE", **changes})


def write_plain(path: Path, replies, **more):
    """A plain JSONL of replies."""
    lines = ({"id": r.id, "reply": r.text, **more} for r in replies)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path
