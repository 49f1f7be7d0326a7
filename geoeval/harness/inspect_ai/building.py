"""A task of inspect-ai: its samples, prompt and generation settings.

The prompt is `Benchmark.prompt`, part by part. It is built when a sample is asked, in the setup step, which is run
whatever solver takes the place of ``generate()``; until then a sample holds the question alone.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio.to_thread
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import ChatMessageUser, Content, ContentImage, ContentText, GenerateConfig, Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from geoeval import __version__
from geoeval.data import open_picture
from geoeval.harness.inspect_ai.grader import grader_of
from geoeval.harness.inspect_ai.replies import keep_reply
from geoeval.harness.inspect_ai.samples import sample_of
from geoeval.harness.inspect_ai.scorers import SCORERS
from geoeval.harness.rows import Rows

MOST_FAILED = 0.5
"""Share of failed requests from which on a log has the status "error": nothing can be said then."""


def build(name: str, data: str | None = None) -> Task:
    """One of our tasks.

    Args:
        name: Its name.
        data: "sample" or a folder; None for what GEOEVAL_DATA says.

    Raises:
        DataError: The data cannot be used.
        JudgeError: The role ``grader`` cannot be the judge.
    """
    rows = Rows(name, data)
    benchmark = rows.benchmark
    tested = _tested()
    if tested is not None:
        grader_of(benchmark, str(tested))  # so that a wrong setting ends the run before its first request
    return Task(
        dataset=MemoryDataset([sample_of(item) for item in rows.items], name=rows.source.signature),
        setup=ask(rows),
        solver=[generate(), keep_reply()],
        scorer=SCORERS[name](),
        config=GenerateConfig(temperature=0, max_tokens=benchmark.max_new_tokens),
        fail_on_error=MOST_FAILED,
        continue_on_fail=True,
        score_on_error=True,
        version=benchmark.version,
        metadata={"data": rows.source.label, "data_sha256": rows.source.sha256, "geoeval": __version__},
        headline_metric=HeadlineMetric(metric=benchmark.metric_names[0]),
    )


def _tested() -> Model | None:
    """The model under test; None where a task is made in Python before the run begins."""
    try:
        return get_model()
    except Exception:  # no model, or one that cannot be made, which inspect-ai says itself
        return None


@solver  # type: ignore[untyped-decorator]
def ask(rows: Rows) -> Solver:
    """Put the item's prompt, with its pictures, in the place of the sample's text."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages[:] = await anyio.to_thread.run_sync(partial(messages, rows, str(state.sample_id)))
        return state

    return solve


def messages(rows: Rows, id_: str) -> list[ChatMessageUser]:
    """An item's prompt as inspect-ai's messages."""
    return [
        ChatMessageUser(content=[_part(part) for part in message["content"]])
        for message in rows.benchmark.prompt(rows.item(id_))
    ]


def _part(part: Mapping[str, Any]) -> Content:
    if part["type"] == "image":
        return ContentImage(image=data_url(part["image"]))
    return ContentText(text=part["text"])


def data_url(picture: Any) -> str:
    """A picture's pixels, RGB, as PNG in a data URL; nothing else of it."""
    png = io.BytesIO()
    open_picture(picture).save(png, "PNG")
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode('ascii')}"
