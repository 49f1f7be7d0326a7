"""What the model wrote, told from a request that failed.

What inspect-ai makes of a reply, and what is undone here (0.3.285, measured on an OpenAI-compatible endpoint):

| it | so |
| --- | --- |
| turns a null reply into "" | the raw response says which it was |
| moves the first ``<think>`` part out of the text | the raw response has it whole, as other harnesses see it |
| writes half an emoji into its log as the text of an escape | lone surrogates are replaced before |
| puts the error of a blocked or too long prompt into the reply as text | its stop reason gives it away |
| keeps no reply of a request that failed | a reply that is not there is a failed request |

The raw response is in the transcript unless a run has ``--no-log-model-api`` or its reply came from the cache of
inspect-ai. Then the text is taken as inspect-ai gives it, and a null reply is an empty one.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from geoeval.extraction.text import well_formed

STORED = "geoeval_reply"
"""Key of the sample's store: ``{"text": ..., "failure": ...}`` where it is not the text of the output."""
_ATTACHMENT = "attachment://"
_STOPPED = {"content_filter": "content_filter", "model_length": "context_length_exceeded"}


@solver  # type: ignore[untyped-decorator]
def keep_reply() -> Solver:
    """Keep the reply as the model wrote it, or why there is none; comes after ``generate()``."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        text, failure = _read(state.output, _raw_content())
        if text != state.output.completion:
            state.store.set(STORED, {"text": text, "failure": failure})
        return state

    return solve


def reply_of(state: TaskState) -> tuple[str | None, str]:
    """The reply of a sample, in a run or in a log that is scored again.

    Returns:
        ``(text, "")``, or ``(None, why)`` for a failed request.
    """
    stored = state.store.get(STORED)
    if stored is not None:
        return stored["text"], stored["failure"]
    return _read(state.output, (False, None))


def _read(output: ModelOutput, raw: tuple[bool, str | None]) -> tuple[str | None, str]:
    known, content = raw
    if not output.choices:
        return None, _error()
    if output.stop_reason in _STOPPED:
        return None, _STOPPED[output.stop_reason]
    if known:
        return (well_formed(content), "") if content is not None else (None, "null_reply")
    return well_formed(output.completion), ""


def _last_call() -> ModelEvent | None:
    events = [event for event in transcript().events if isinstance(event, ModelEvent) and event.role is None]
    return events[-1] if events else None


def _error() -> str:
    """Why there is no reply."""
    call = _last_call()
    return f"request_failed: {call.error[:200]}" if call is not None and call.error else "request_failed"


def _raw_content() -> tuple[bool, str | None]:
    """The content of the last response: ``(known, content)``; known only of OpenAI-compatible ones."""
    call = _last_call()
    response = call.call.response if call is not None and call.call else None
    try:
        content = response["choices"][0]["message"]["content"]  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return False, None
    if content is None:
        return True, None
    if not isinstance(content, str):
        return False, None
    return _resolved(content)


def _resolved(content: str) -> tuple[bool, str | None]:
    """Long texts are kept apart from the events, under their hash."""
    if not content.startswith(_ATTACHMENT):
        return True, content
    attachments: dict[str, Any] = transcript().attachments
    text = attachments.get(content.removeprefix(_ATTACHMENT))
    return text is not None, text
