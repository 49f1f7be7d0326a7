"""Stand-in judges on loopback: an OpenAI-compatible endpoint that behaves as real ones do, well and badly.

    with serving("failing") as server:
        ... server.url, server.answered, server.refused, server.keys

Marks are a hash of the answer, the same in JSON and in lines, so that the results of different judges can be compared
(`marks_of`). ``python standin_judge.py STYLE [SECONDS]`` serves in a process of its own and prints the address.

| style | what it does |
| --- | --- |
| structured | JSON where a schema is given, else lines |
| text_only | refuses ``response_format`` with 400 |
| ignores_format | takes ``response_format`` and writes lines all the same |
| picky | a reasoning model: ``max_completion_tokens``, no temperature |
| failing | 30 % of the requests: 500, a cut connection, a hang, HTML |
| rate_limited | refuses every other new prompt once, with 429 and Retry-After |
| busy | refuses everything, with 503 |
| wrong_key, unknown_model, no_quota, forbidden | refuses everything, with 401, 404, 429, 403 |
| revoked | gives 30 replies, then 401 |
| filtering | filters, cuts off, refuses some: see `FATES` |
| hostile | writes what must not be read as marks, to some: see `HOSTILE` |
| echo, parrot | refuses with the key in its words; puts it into its replies |
| redirect | sends everybody to ``location`` |
| letters | says B, to the questions of `geoeval.judge.letters` |
| blind | refuses pictures with 400 |
| gullible | obeys whatever stands outside of the fields, see gullible.py |
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import gullible

MODEL = "judge-1-2026-01-01"
"""What all of them report to be."""
_ANSWER = re.compile(r"⟦answer to mark \w+⟧\n(.*?)\n⟦end of answer to mark", re.DOTALL)
_NAMES = re.compile(r'(?:MARK |")([a-z_]+)"?: N\b')

HOSTILE: dict[str, Any] = {
    "huge": "The answer is good. " * 15_000,
    "null": None,
    "empty": "",
    "number": "10",
    "broken JSON": '{"reasoning": "fine", "correctness": 9, "overall": 1',
    "HTML": "<html><body>502 Bad Gateway</body></html>",
    "deep": "[" * 5000,
    "out of range": '{"reasoning": "", "overall": 11}',
    "terminal": "\x1b]0;title\x07\x1b[31mMARK overall: 10\x1b[0m",
}
FATES = ("stop", "length", "content_filter", "http_filter", "refusal", "too_long", "crash")
_REFUSALS: dict[str, tuple[int, dict[str, Any]]] = {
    "wrong_key": (401, {"message": "Incorrect API key provided.", "code": "invalid_api_key"}),
    "forbidden": (403, {"message": "Project has no access to model.", "code": "model_not_found"}),
    "unknown_model": (404, {"message": "The model `judge` does not exist.", "code": "model_not_found"}),
    "no_quota": (429, {"message": "You exceeded your current quota.", "code": "insufficient_quota"}),
    "busy": (503, {"message": "The engine is overloaded."}),
}


def marks_of(messages: list[dict[str, Any]]) -> dict[str, int]:
    """The marks that a well-behaved stand-in gives: a hash of the answer's field."""
    text = gullible._text(messages[-1])
    answer = _ANSWER.search(text)
    digest = hashlib.sha256((answer[1] if answer else text).encode()).digest()
    names = list(dict.fromkeys(_NAMES.findall(text)))
    return {name: digest[i] % 11 for i, name in enumerate(names)}


class Judge:
    """The endpoint.

    Attributes:
        url: Its base_url.
        answered: Hash of a request -> how often it got a reply that is paid for.
        refused: Status -> how often.
        keys: What stood in the header Authorization or api-key.
        bodies: All requests, as long as ``keep`` is set.
        most_at_once: Requests under way at once.
    """

    def __init__(self, style: str, latency: float) -> None:
        self.style, self.latency = style, latency
        self.answered: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.refused: Counter[int] = Counter()
        self.keys: set[str] = set()
        self.bodies: list[dict[str, Any]] = []
        self.paths: set[str] = set()
        self.keep = True
        self.retry_after = "0"
        self.at_once = self.most_at_once = 0
        self.url = self.location = ""

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 26)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        return server

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
                content = await reader.readexactly(int(fields["content-length"]))
                self.paths.add(head.split(" ")[1])
                self.keys.add(fields.get("authorization", "") + fields.get("api-key", ""))
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    response = await self._respond(json.loads(content), content)
                finally:
                    self.at_once -= 1
                if response is None:
                    break
                writer.write(response)
        writer.close()

    async def _respond(  # noqa: PLR0911 - one for each way to refuse
        self, body: dict[str, Any], content: bytes
    ) -> bytes | None:
        key = hashlib.sha256(content).hexdigest()
        self.seen[key] += 1
        if self.keep:
            self.bodies.append(body)
        if self.latency:
            await asyncio.sleep(self.latency)
        style = "wrong_key" if self.style == "revoked" and len(self.answered) >= 30 else self.style
        if style in _REFUSALS:
            status, error = _REFUSALS[style]
            return self._refuse(status, {"error": error})
        if self.style == "redirect":
            return _response(307, b"", f"Location: {self.location}/chat/completions\r\n")
        if self.style == "echo":
            return self._refuse(401, {"error": {"message": f"Incorrect API key provided: {self._key()}"}})
        complaint = self._complaint(body)
        if complaint:
            return self._refuse(400, {"error": complaint})
        if self.style == "rate_limited" and int(key, 16) % 2 and self.seen[key] == 1:
            return self._refuse(429, {"error": {"message": "slow down"}}, f"Retry-After: {self.retry_after}\r\n")
        if self.style == "failing":
            chance = hashlib.sha256(f"{key} {self.seen[key]}".encode()).digest()
            if chance[0] < 77:
                return await self._fail(chance[1] % 4)
        return self._answer(body, key)

    async def _fail(self, how: int) -> bytes | None:
        if how == 0:
            return self._refuse(500, {"error": {"message": "the engine crashed"}})
        if how == 1:
            return None  # the connection is cut
        if how == 2:
            await asyncio.sleep(30)
        return _response(200, b"<html>gateway</html>", "Content-Type: text/html\r\n")

    def _complaint(self, body: dict[str, Any]) -> dict[str, Any] | None:
        if self.style == "text_only" and "response_format" in body:
            return {"message": "response_format of type json_schema is not supported by this server"}
        if self.style == "blind" and isinstance(body["messages"][-1]["content"], list):
            return {"message": "image input is not supported by this model"}
        if self.style == "picky" and "max_tokens" in body:
            words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
            return {"message": words, "param": "max_tokens", "code": "unsupported_parameter"}
        if self.style == "picky" and "temperature" in body:
            words = (
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is."
            )
            return {"message": words, "param": "temperature", "code": "unsupported_value"}
        return None

    def _answer(self, body: dict[str, Any], key: str) -> bytes:
        messages, finish, refusal = body["messages"], "stop", None
        marks = marks_of(messages)
        if self.style == "gullible":
            reply: Any = gullible.reply(messages)
        elif self.style == "letters":
            reply = json.dumps({"quote": "B", "letter": "B"})
        elif "response_format" in body and self.style != "ignores_format":
            reply = json.dumps({"reasoning": "As it is.", **marks})
        else:
            reply = "As it is.\n\n" + "\n".join(f"MARK {name}: {mark}" for name, mark in marks.items())
        if self.style == "parrot":
            reply = f"{self._key()}\n{reply}"
        text = gullible._text(messages[-1])
        if self.style == "hostile":
            reply = next((HOSTILE[name] for name in HOSTILE if f"hostile: {name}" in text), reply)
        if self.style == "filtering":
            fate = next((fate for fate in FATES if f"fate: {fate}" in text), "stop")
            if fate == "http_filter":
                return self._refuse(400, {"error": {"message": "The prompt was filtered.", "code": "content_filter"}})
            if fate == "crash":
                return self._refuse(500, {"error": {"message": "the engine crashed"}})
            if fate == "too_long":
                return self._refuse(400, {"error": {"message": "maximum context length is 4096 tokens"}})
            if fate == "refusal":
                reply, refusal = None, "I cannot help with that."
            else:
                finish, reply = fate, reply if fate == "stop" else reply[:30]
        self.answered[key] += 1
        usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
        message = {"role": "assistant", "content": reply, "refusal": refusal}
        choice = {"index": 0, "finish_reason": finish, "message": message}
        completion = {"id": "1", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage}
        return _response(200, json.dumps(completion).encode())

    def _key(self) -> str:
        return max(self.keys).removeprefix("bearer ")

    def _refuse(self, status: int, body: dict[str, Any], headers: str = "") -> bytes:
        self.refused[status] += 1
        return _response(status, json.dumps(body).encode(), headers)


def _response(status: int, content: bytes, headers: str = "") -> bytes:
    kind = "" if "Content-Type" in headers else "Content-Type: application/json\r\n"
    head = f"HTTP/1.1 {status} OK\r\n{kind}{headers}Content-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


@contextmanager
def serving(style: str = "structured", latency: float = 0.0) -> Iterator[Judge]:
    """A running endpoint on a free port, in a thread; shut down at the end."""
    judge, loop = Judge(style, latency), asyncio.new_event_loop()
    server = loop.run_until_complete(judge.start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: asyncio.Server) -> None:
    server.close()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _serve_forever(style: str, latency: float) -> None:
    judge = Judge(style, latency)
    judge.keep = False
    server = await judge.start()
    print(judge.url, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_forever(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0.0))
