"""The model role ``grader`` as judge of open answers: ``--model-role grader=openai/gpt-5.4``.

Rubric, prompt and reader are those of `geoeval.judge`, and so are the settings (``GEOEVAL_JUDGE_WEIGHT`` ...), but for
the model, which the role names, and for calls, which inspect-ai makes: its connections, retries, cache and log hold
here. Without the role there is no judge; the model under test never takes its place.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    get_model,
    model_roles,
)

from geoeval.benchmarks import Benchmark
from geoeval.benchmarks.lithobench import JudgedLithoBenchOpen, LithoBenchOpen
from geoeval.judge.errors import JudgeError
from geoeval.judge.prompt import judge_messages, signature
from geoeval.judge.reply import read_marks
from geoeval.judge.rubric import Rubric, load_rubric
from geoeval.judge.settings import PREFIX, JudgeSettings, same_model
from geoeval.types import Item, Judgement, Score

ROLE = "grader"


@dataclass(frozen=True)
class Grader:
    """A judge.

    Attributes:
        model: The model that the role names.
        settings: How it is asked.
        rubric: By what it marks.
        judges_itself: Whether it is the model under test.
    """

    model: Model
    settings: JudgeSettings
    rubric: Rubric
    judges_itself: bool

    @property
    def summary_arguments(self) -> dict[str, Any]:
        """The arguments of `JudgedLithoBenchOpen`; plain values, since every score carries them."""
        return {
            "weight": self.settings.weight,
            "dimensions": [dimension.name for dimension in self.rubric.dimensions],
            "max_unscored": self.settings.max_unscored,
            "signature": self._signature,
        }

    @property
    def _signature(self) -> str:
        """As `geoeval.judge.engine` has it."""
        parts = (
            f"judge:{self.model}|judge_form:text|judge_temperature:{self.settings.temperature:g}",
            *(("judges_itself",) if self.judges_itself else ()),
            f"{signature(self.rubric)}|judge_picture:{'yes' if self.settings.picture else 'no'}",
        )
        return "|".join(parts)

    def benchmark(self, task: Benchmark) -> JudgedLithoBenchOpen:
        """The task with the judge's metrics."""
        return JudgedLithoBenchOpen(task, **self.summary_arguments)

    async def judge(self, item: Item, score: Score, picture: Any | None) -> Judgement:
        """Mark one answer; a judge that fails gives no mark and a reason.

        Args:
            item: What was asked.
            score: Of the reply; what was read from it is marked. Nothing read is marked 0 without a call.
            picture: The question's picture; shown where the settings say so.
        """
        if not score.extracted:
            return Judgement(0.0, dict.fromkeys(self.summary_arguments["dimensions"], 0.0), reason="empty_answer")
        shown = picture if self.settings.picture else None
        if self.settings.picture and picture is None:
            return Judgement(None, reason="no_picture: the log has none; run with --log-images")
        asked = judge_messages(self.rubric, item.question, item.gold, score.extracted, structured=False, picture=shown)
        messages = [_message(message) for message in asked]
        judgement = Judgement(None, reason="not_asked")
        for attempt in range(self.settings.retries + 1):
            judgement = await self._ask(messages, attempt)
            if judgement.score is not None or not (judgement.reason or "").startswith("unreadable"):
                break
        return judgement

    async def _ask(self, messages: list[ChatMessage], attempt: int) -> Judgement:
        settings = self.settings
        seed = None if settings.seed is None else settings.seed + attempt
        config = GenerateConfig(temperature=settings.temperature, max_tokens=settings.max_tokens, seed=seed)
        try:
            output = await get_model(role=ROLE, config=config).generate(messages)
        except Exception as error:  # whatever a provider raises, it is the judge's failure and not the model's
            return Judgement(None, reason=f"call_failed: {type(error).__name__}: {str(error)[:300]}")
        return read_marks(output.completion, self.rubric)


def grader_of(benchmark: Benchmark, tested: str) -> Grader | None:
    """The judge of a run; None where the task has none or the role is not given.

    Args:
        benchmark: The task.
        tested: Name of the model under test.

    Raises:
        JudgeError: A setting is wrong, a judge is set but the role is not, or the role is the model under test.
    """
    if not isinstance(benchmark, LithoBenchOpen):
        return None
    named = model_roles().get(ROLE)
    if named is None:
        if JudgeSettings.from_env() is not None:
            raise JudgeError(
                f"judge: {PREFIX}... is set, but inspect-ai's judge is a model role; add --model-role {ROLE}=MODEL"
            )
        return None
    if isinstance(named, list):
        if len(named) > 1:
            raise JudgeError(f"judge: the role {ROLE} names {len(named)} models; name one")
        named = named[0]
    settings = JudgeSettings.from_env({**os.environ, f"{PREFIX}MODEL": str(named)})
    assert settings is not None
    if settings.structured == "schema":
        raise JudgeError(f"judge: {PREFIX}STRUCTURED=schema is not possible in inspect-ai; use text or auto")
    judges_itself = same_model(str(named), tested)
    if judges_itself and not settings.allow_self:
        from geoeval.judge.run import own_judge

        raise own_judge(str(named))
    return Grader(named, settings, load_rubric(settings.rubric), judges_itself)


def _message(message: dict[str, Any]) -> ChatMessage:
    content = message["content"]
    if message["role"] == "system":
        return ChatMessageSystem(content=content)
    if isinstance(content, str):
        return ChatMessageUser(content=content)
    parts: list[Content] = [
        ContentText(text=part["text"]) if part["type"] == "text" else ContentImage(image=part["image_url"]["url"])
        for part in content
    ]
    return ChatMessageUser(content=parts)
