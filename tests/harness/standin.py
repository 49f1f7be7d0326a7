"""A stand-in for an OpenAI-compatible endpoint on loopback that answers in the many ways real ones do.

A question ends with ``[item N style NAME answer TEXT]``; the style says how the reply is wrapped or spoiled.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from endpoints import Endpoint, JsonHandler, running
from PIL import Image

TAG = re.compile(r"\[item (\d+) style (\w+) answer (.+?)\]", re.DOTALL)

# style -> (how the answer becomes the content of the message, outcome, whether the answer is read)
CONTENT: dict[str, tuple[Callable[[str], str | None], str, bool]] = {
    "plain": (lambda a: a, "read", True),
    "think": (lambda a: f"<think>Perhaps it is D. Or REFUSE.\n</think>\n\n{a}", "read", True),
    "think_unclosed": (lambda a: f"<think>So, step by step: {a} could be", "unread", False),
    "fenced": (lambda a: f"Here is my reply:\n\n```json\n{a}\n```\n", "read", True),
    "prose": (lambda a: "The picture is too small for me to say anything definite.", "unread", False),
    "empty": (lambda a: "", "empty", False),
    "null": (lambda a: None, "failed", False),
    "long": (lambda a: "The scene is wide and calm. " * 1430 + f"\n\n{a}", "read", True),
    "odd_characters": (lambda a: f"\u200b\ufeff{a}\x00\u2028", "read", True),
    "half_an_emoji": (lambda a: f"{a} \ud83d", "read", True),
    "end_token": (lambda a: f"{a}<|im_end|>", "read", True),
}
TROUBLE: dict[str, tuple[str, bool]] = {
    "slow": ("read", True),
    "http_500": ("failed", False),
    "http_500_once": ("read", True),
    "http_429_once": ("read", True),
    "null_without_usage": ("failed", False),
    "not_json": ("failed", False),
    "cut_connection": ("failed", False),
}
STYLES = (*CONTENT, *TROUBLE)


def expected(style: str) -> tuple[str, bool]:
    """What the rules say: the outcome, and whether the answer is read."""
    return CONTENT[style][1:] if style in CONTENT else TROUBLE[style]


class Server(Endpoint):
    """The endpoint.

    By item number: ``pictures`` holds hashes of the pixels that arrived, ``texts`` the last text, ``parts`` all parts
    in their order, a picture as None, and ``settings`` the rest of the request.
    """

    def __init__(self) -> None:
        super().__init__(Handler)
        self.pictures: dict[int, list[str]] = {}
        self.texts: dict[int, str] = {}
        self.parts: dict[int, list[str | None]] = {}
        self.settings: dict[int, dict[str, Any]] = {}
        self.calls: Counter[int] = Counter()


class Handler(JsonHandler):
    """Answers one chat completion in the style that the question names."""

    server: Server
    protocol_version = "HTTP/1.0"  # a connection each, for some are cut

    def do_POST(self) -> None:
        body = self.body()
        content = body["messages"][-1]["content"]
        text = [part["text"] for part in content if part["type"] == "text"][-1]
        number, style, answer = TAG.search(text).groups()
        with self.server.lock:
            self.server.calls[int(number)] += 1
            first = self.server.calls[int(number)] == 1
            self.server.texts[int(number)] = text
            self.server.parts[int(number)] = [part.get("text") for part in content]
            self.server.settings[int(number)] = {**body, "messages": None}
            self.server.pictures[int(number)] = [
                pixels(part["image_url"]["url"]) for part in content if part["type"] == "image_url"
            ]
        if style == "cut_connection":
            self.connection.close()
        elif style == "http_500" or (style == "http_500_once" and first):
            self.send(500, {"error": {"message": "the engine is overloaded"}})
        elif style == "http_429_once" and first:
            self.send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
        elif style == "not_json":
            self.send(200, b"<html>gateway</html>")
        else:
            time.sleep(2 if style == "slow" else 0)
            make = CONTENT.get("null" if style == "null_without_usage" else style, CONTENT["plain"])[0]
            usage = {} if style == "null_without_usage" else {"usage": {"prompt_tokens": 9, "completion_tokens": 5}}
            message = {"role": "assistant", "content": make(answer)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self.send(200, {"id": "1", "object": "chat.completion", "choices": [choice], **usage})


def pixels(url: str) -> str:
    """Hash of size and RGB pixels of a data URL."""
    return pixel_hash(Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1]))))


def pixel_hash(image: Image.Image) -> str:
    """Hash of size and RGB pixels."""
    image = image.convert("RGB")
    return f"{image.size}:{hashlib.sha256(image.tobytes()).hexdigest()}"


@contextmanager
def serving() -> Iterator[Server]:
    """A running endpoint on a free port, shut down at the end."""
    server = Server()
    with running(server):
        yield server
