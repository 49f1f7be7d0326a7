"""Guards inside VLMEvalKit's process, for messages and files of our datasets only.

- ``BaseAPI.generate`` returns one text for an empty reply and for a failed request: the last answer is noted.
- It may return an error text of an endpoint as the reply: an answer without status 0 is a failed request.
- API mode waits for ever when a model raises, or a reply cannot be saved: a failed request; an error in the status.
- A model that is not ``INTERLEAVE`` shows the first picture only, with a warning: more than one is refused.
- None is written as the text "None": it becomes a failed request before that.
- A reply with half an emoji cannot be saved (a pickle in place of the file, or none): lone surrogates are replaced.
- Its own predictions are read back with "None", "N/A" and "03" made nan and 3: our reader reads them.
- With --reuse it goes on with predictions of other data: they are refused.
"""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from geoeval.data import DataError
from geoeval.extraction.text import well_formed
from geoeval.harness.vlmevalkit.redact import redacted
from geoeval.harness.vlmevalkit.rows import Prompt
from geoeval.runs.model import Reply
from geoeval.runs.vlmevalkit import FACTS_COLUMN, datasets, read, replies, split_stem

FAILED = "Failed to obtain answer via API."
"""The harness's own marker, so that it asks such an item again on --reuse."""
_PATIENCE = 5
"""Seconds that API mode may take to begin an evaluation after the last reply."""
_last = threading.local()
_limits_apply = False


def install() -> None:
    """Put the guards in place. Calling it again changes nothing."""
    import vlmeval.inference
    import vlmeval.inference_api
    import vlmeval.smp.file
    from vlmeval.api.base import BaseAPI
    from vlmeval.vlm.base import BaseModel

    _wrap(BaseAPI, "generate", _asks_endpoint)
    _wrap(BaseModel, "generate", _asks_local)
    for module in (vlmeval.inference, vlmeval.inference_api):
        _wrap(module, "dump", _dumps)
        _wrap(module, "load", _loads)
    _wrap(vlmeval.smp.file, "load", _loads)
    _wrap(vlmeval.inference_api.APIEvalPipeline, "_monitor_loop", _ends)


def apply_limits() -> None:
    """Send each task's own generation limit, for a model that is given by its URL only."""
    global _limits_apply  # noqa: PLW0603 - the harness's model class takes no further setting
    _limits_apply = True


def _wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    if not hasattr(original, "geoeval"):
        wrapped: Any = functools.wraps(original)(make(original))
        wrapped.geoeval = True
        setattr(owner, name, wrapped)


def _asks_endpoint(original: Callable[..., Any]) -> Callable[..., Any]:
    def generate(self: Any, message: Any, **keywords: Any) -> Any:
        if not isinstance(message, Prompt):
            return original(self, message, **keywords)
        if problem := _cannot_show(self, message):
            return f"{FAILED} {problem}"
        if "generate_inner" not in vars(self):
            self.generate_inner = _noting(self.generate_inner)
        if _limits_apply and "max_tokens" in self.default_kwargs:
            keywords["max_tokens"] = message.max_new_tokens
        _last.answer = None
        try:
            answer = original(self, message, **keywords)
        except Exception as error:
            _last.answer = None, f"{type(error).__name__}: {error}"
            answer = ""
        return _settled(answer)

    return generate


def _noting(inner: Callable[..., Any]) -> Callable[..., Any]:
    """Note what became of each request, in the thread that makes it."""

    @functools.wraps(inner)
    def noted(*arguments: Any, **keywords: Any) -> Any:
        try:
            result = inner(*arguments, **keywords)
        except Exception as error:
            _last.answer = None, f"{type(error).__name__}: {error}"
            raise
        _last.answer = result[0], result[1]
        return result

    return noted


def _settled(answer: Any) -> Any:
    """The reply, "" when the model said nothing, or the marker of a failed request with its reason."""
    if _last.answer is None:  # never asked
        return answer or FAILED
    status, text = _last.answer
    if status is None:
        return f"{FAILED} {redacted(text)[:300]}"
    if status != 0:
        return f"{FAILED} status {status}"
    if isinstance(text, str) and not text.strip():
        return ""
    return _kept(answer)


def _asks_local(original: Callable[..., Any]) -> Callable[..., Any]:
    def generate(self: Any, message: Any, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(message, Prompt) and (problem := _cannot_show(self, message)):
            raise ValueError(problem)
        return original(self, message, *arguments, **keywords)

    return generate


def _cannot_show(model: Any, message: Prompt) -> str:
    if len(message.pictures) > 1 and not getattr(model, "INTERLEAVE", True):
        return (
            f"{type(model).__name__} shows the first of several pictures only, and this task has items with "
            f"{len(message.pictures)}; take a task with one picture or another model"
        )
    return ""


def _dumps(original: Callable[..., Any]) -> Callable[..., Any]:
    def dump(data: Any, f: Any, **keywords: Any) -> Any:
        if _is_ours(f):
            if isinstance(data, dict):
                data = {id_: _kept(reply) for id_, reply in data.items()}
            elif "prediction" in data:
                data = _with_count(data.assign(prediction=[_kept(reply) for reply in data["prediction"]]))
        return original(data, f, **keywords)

    return dump


def _with_count(data: Any) -> Any:
    """Note how many items were asked: all, or the first few with --limit."""
    if FACTS_COLUMN not in data or not len(data):
        return data
    facts = {**json.loads(data[FACTS_COLUMN].iloc[0]), "items_asked": len(data)}
    return data.assign(**{FACTS_COLUMN: json.dumps(facts, ensure_ascii=False)})


def _kept(reply: Any) -> Any:
    """A reply as it can be saved."""
    if reply is None:
        return f"{FAILED} null reply"
    return well_formed(reply) if isinstance(reply, str) else reply


def _loads(original: Callable[..., Any]) -> Callable[..., Any]:
    def load(f: Any, *arguments: Any, **keywords: Any) -> Any:
        path = Path(str(f))
        if path.suffix == ".pkl" or not _is_ours(f):
            return original(f, *arguments, **keywords)
        import pandas as pd

        (run,) = read(path)
        _refuse_other_data(path, run)
        rows = [(reply.id, _as_marked(reply)) for reply in replies(path)]
        return pd.DataFrame(rows, columns=["index", "prediction"], dtype=object)

    return load


def _as_marked(reply: Reply) -> str:
    if reply.text is not None:
        return reply.text
    return reply.failure if reply.failure.startswith(FAILED) else f"{FAILED} {reply.failure}"


def _refuse_other_data(path: Path, run: Any) -> None:
    from geoeval.benchmarks import get_benchmark
    from geoeval.data import locate
    from geoeval.harness.vlmevalkit.scoring import other_data

    benchmark = get_benchmark(run.task)
    source = locate(benchmark.dataset)
    now: Mapping[str, Any] = {"version": benchmark.version, "data": source.label, "data_sha256": source.sha256}
    if problem := other_data(run, now):
        raise DataError(problem)


def _ends(original: Callable[..., Any]) -> Callable[..., Any]:
    async def monitor_loop(self: Any) -> None:
        from vlmeval.inference_api import EvalStatus

        waiting = asyncio.ensure_future(original(self))
        idle = 0
        while not waiting.done():
            await asyncio.sleep(1)
            idle = idle + 1 if self.all_infer_done else 0
            if idle > _PATIENCE:
                for name, state in self.states.items():
                    if state.eval_status is EvalStatus.Pending:
                        state.eval_status = EvalStatus.Error
                        problem = f"{state.processed} of {state.total_samples} replies, none saved; the log says why"
                        self._upsert_dataset_status(name, status="done", error_message=problem)
        await waiting

    return monitor_loop


def _is_ours(file: Any) -> bool:
    """Whether a file holds predictions, or what becomes them, of one of our datasets."""
    stem = Path(str(file)).stem.removesuffix("_checkpoint").removesuffix("_PREV")
    return split_stem(stem) is not None or stem in datasets()
