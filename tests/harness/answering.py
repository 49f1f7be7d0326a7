"""A stand-in for an OpenAI-compatible endpoint that answers each prompt with the reply it was given for it.

A prompt is known by its text, all text parts joined by line breaks, and by the hash of its pictures' pixels: different
items of a benchmark may ask the same of different pictures. Prompts that are not known get HTTP 400.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from endpoints import Endpoint, JsonHandler, completion, running
from PIL import Image

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, open_picture, task_items

BROKEN = object()
"""A reply that is an HTTP 400: the request fails at once, without retries."""

Key = tuple[str, tuple[str, ...]]


@dataclass
class Asked:
    """One request that arrived."""

    texts: list[str]
    pictures: list[str]
    order: list[str]
    body: dict[str, Any]


@dataclass
class Answers:
    """What to answer, and what was asked.

    Attributes:
        replies: Prompt -> reply; None is a null content.
        other: Answers every request whose prompt is not among the replies, e.g. that of a judge.
        asked: Prompt -> the requests.
    """

    replies: Mapping[Key, Any]
    other: Callable[[dict[str, Any]], Any] | None = None
    asked: dict[Key, list[Asked]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def pixels(picture: Image.Image) -> str:
    """Hash of size and RGB pixels."""
    picture = picture.convert("RGB")
    return f"{picture.size}:{hashlib.sha256(picture.tobytes()).hexdigest()}"


def key_of(messages: list[dict[str, Any]]) -> Key:
    """The key of our own messages, see `Benchmark.prompt`."""
    (message,) = messages
    texts = [part["text"] for part in message["content"] if part["type"] == "text"]
    pictures = [pixels(open_picture(part["image"])) for part in message["content"] if part["type"] == "image"]
    return "\n".join(texts), tuple(pictures)


def keys(task: str, data: str = "sample", *, flat: bool = False) -> dict[str, Key]:
    """Item id -> key of its prompt; ids whose prompts are alike share one.

    Args:
        task: Its name.
        data: See `geoeval.data.locate`.
        flat: Of `Benchmark.flat_prompt`, for harnesses that put all pictures before one piece of text.
    """
    benchmark = get_benchmark(task)
    found = {}
    for item in task_items(task, locate(benchmark.dataset, data)):
        text, pictures = key_of(benchmark.prompt(item))
        found[item.id] = (benchmark.flat_prompt(item) if flat else text), pictures
    return found


class _Handler(JsonHandler):
    def do_POST(self) -> None:
        body = self.body()
        content = body["messages"][-1]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        asked = Asked([], [], [part["type"] for part in parts], body)
        for part in parts:
            if part["type"] == "text":
                asked.texts.append(part["text"])
            else:
                data = base64.b64decode(part["image_url"]["url"].split(",", 1)[1])
                asked.pictures.append(pixels(Image.open(io.BytesIO(data))))
        key = "\n".join(asked.texts), tuple(asked.pictures)
        answers: Answers = self.server.answers
        with self.server.lock:
            answers.asked.setdefault(key, []).append(asked)
            known = key in answers.replies
            if not known and answers.other is None:
                answers.unknown.append(key[0])
        if known:
            self._answer(answers.replies[key])
        else:
            self._answer(answers.other(body) if answers.other else BROKEN)

    def _answer(self, reply: Any) -> None:
        if reply is BROKEN:
            self.send(400, {"error": {"message": "the prompt is not known", "type": "invalid_request_error"}})
            return
        message = reply if isinstance(reply, dict) else {"content": reply}  # a dict is a message or a choice as a whole
        self.send(200, completion(**{"content": None, **message}))


@contextmanager
def answering(answers: Answers) -> Iterator[str]:
    """The URL of a running endpoint on a free port, shut down at the end."""
    server = Endpoint(_Handler)
    server.answers = answers  # type: ignore[attr-defined]
    with running(server):
        yield server.url


def seen(answers: Answers) -> Counter[Key]:
    """Prompt -> how often it was asked."""
    return Counter({key: len(requests) for key, requests in answers.asked.items()})
