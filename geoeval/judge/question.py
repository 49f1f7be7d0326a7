"""What is asked of a judge, and in which dialect of the OpenAI chat API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from geoeval.judge.keys import call_key, prompt_hash
from geoeval.judge.prompt import Ask, Message, judge_messages, reply_schema
from geoeval.judge.reply import read_marks
from geoeval.judge.rubric import Rubric
from geoeval.judge.settings import JudgeSettings
from geoeval.types import Judgement

_SEEDS_APART = 1000
_SCHEMA_WORDS = re.compile(r"response_format|json_schema|structured[ _]output|guided|grammar", re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """One answer to mark.

    Attributes:
        id: The item's id.
        question: What was asked.
        references: The reference answers, at least one.
        answer: What the model answered, without its reasoning; "" for an empty reply.
        picture: The question's picture, as the item holds it; shown when the settings say so.
    """

    id: str
    question: str
    references: tuple[str, ...]
    answer: str
    picture: Any | None = None


@dataclass(frozen=True)
class MarkAsk:
    """The question for the marks of one answer, a `geoeval.judge.prompt.Ask`.

    Attributes:
        asked: The answer.
        rubric: By what to mark.
        picture: Whether the judge sees the picture.
    """

    asked: Asked
    rubric: Rubric
    picture: bool = False

    schema_name = "marks"

    @property
    def id(self) -> str:
        """The item's id."""
        return self.asked.id

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of a structured reply."""
        return reply_schema(self.rubric)

    def messages(self, structured: bool) -> list[Message]:
        """A system and a user message, the same for the same answer."""
        asked, shown = self.asked, self.asked.picture if self.picture else None
        return judge_messages(
            self.rubric, asked.question, asked.references, asked.answer, structured=structured, picture=shown
        )

    def read(self, reply: str | None) -> Judgement:
        """The marks; see `read_marks`."""
        return read_marks(reply, self.rubric)


@dataclass(frozen=True)
class Dialect:
    """What an endpoint takes for a model; found out by asking (`geoeval.judge.caller`).

    Attributes:
        schema: Replies can be made to follow a JSON schema.
        limit: How the longest reply is called.
        temperature: A temperature is taken.
        seed: A seed is taken.
    """

    schema: bool = True
    limit: str = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def without(self, words: str, parameter: str) -> Dialect | None:
        """The dialect that an endpoint asks for when it refuses a call.

        Args:
            words: The endpoint's.
            parameter: Which it names as the culprit; "" when it names none.

        Returns:
            None when the words name nothing that can be left out.
        """
        said = f"{parameter} {words}"
        if self.schema and (parameter == "response_format" or (not parameter and _SCHEMA_WORDS.search(words))):
            return replace(self, schema=False)
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and (parameter or words).find("temperature") >= 0:
            return replace(self, temperature=False)
        if self.seed and re.search(r"\bseed\b", parameter or words):
            return replace(self, seed=False)
        return replace(self, schema=False) if self.schema and _SCHEMA_WORDS.search(said) else None

    def beside(self, other: Dialect) -> str:
        """In what it differs from another, e.g. "without temperature"."""
        changes = {
            f"with {self.limit}": self.limit != other.limit,
            "without temperature": self.temperature != other.temperature,
            "without seed": self.seed != other.seed,
        }
        return " and ".join(change for change, made in changes.items() if made)

    def stored(self, structured: str) -> dict[str, Any]:
        """As the store remembers it, for one setting of ``structured``."""
        return {"structured": structured, **asdict(self)}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Dialect:
        """What `stored` made."""
        return cls(**{name: value for name, value in stored.items() if name in cls.__dataclass_fields__})

    @property
    def form(self) -> str:
        """The form of the replies, for the signature."""
        return "schema" if self.schema else "text"


@dataclass(frozen=True)
class Question:
    """One call to be made.

    Attributes:
        key: See `geoeval.judge.keys.call_key`.
        prompt_sha256: Of the messages.
        parameters: As they are stored, with attempt and repeat.
        body: As it is sent.
    """

    key: str
    prompt_sha256: str
    parameters: Mapping[str, Any]
    body: Mapping[str, Any]


def make_question(ask: Ask, settings: JudgeSettings, dialect: Dialect, attempt: int = 0) -> Question:
    """The call that asks one thing.

    Args:
        ask: What.
        settings: Of the judge.
        dialect: Of the endpoint.
        attempt: From 0; each is a call of its own, with its own seed.
    """
    messages = ask.messages(dialect.schema)
    parameters: dict[str, Any] = {dialect.limit: settings.max_tokens}
    if dialect.temperature:
        parameters["temperature"] = settings.temperature
    if dialect.seed and settings.seed is not None:
        parameters["seed"] = settings.seed + attempt + _SEEDS_APART * settings.repeat
    body: dict[str, Any] = {"model": settings.model, "messages": messages, **parameters}
    if dialect.schema:
        schema = {"name": ask.schema_name, "strict": True, "schema": ask.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    prompt = prompt_hash(messages)
    stored = {**parameters, "attempt": attempt, "repeat": settings.repeat, "form": dialect.form}
    key = call_key(prompt, settings.model, settings.endpoint, stored, body.get("response_format"))
    return Question(key, prompt, stored, body)
