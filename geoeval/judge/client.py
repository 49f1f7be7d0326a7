"""One request to an OpenAI-compatible endpoint and what became of it: no exception of a library, and never the key."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from geoeval.judge.errors import JudgeError
from geoeval.judge.settings import JudgeSettings

_TRY_AGAIN = (408, 409, 425, 429)
_SHORTEST_KEY = 8  # Shorter ones ("none", "EMPTY") are no secret, and words.
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_WORDS = 300


@dataclass(frozen=True)
class Answer:
    """What became of a request.

    Attributes:
        reply, refusal, reported, usage, finish_reason, latency, status, error: See `geoeval.judge.store.StoredCall`.
        code: The endpoint's code of an error.
        parameter: The parameter that it blames.
        wait: Seconds that it asks to wait before the next request; None when it does not say.
    """

    reply: str | None = None
    refusal: str | None = None
    reported: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    finish_reason: str | None = None
    latency: float = 0.0
    status: int | None = None
    error: str | None = None
    code: str = ""
    parameter: str = ""
    wait: float | None = None

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later."""
        if self.error is None or self.stops_all:
            return False
        return self.status is None or self.status < 400 or self.status in _TRY_AGAIN or self.status >= 500

    @property
    def stops_all(self) -> bool:
        """Whether no other request would fare better."""
        return self.error is not None and (self.status in (401, 402, 403, 404) or self.code == "insufficient_quota")


class Client:
    """An endpoint. To be made and used inside one event loop.

    Args:
        settings: Model, endpoint, timeout.

    Raises:
        JudgeError: A package is missing, or the key.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        try:
            import openai
            import tenacity  # noqa: F401 - for who repeats a call
        except ImportError as error:
            raise JudgeError(f'judge: needs the package {error.name}; pip install "geoeval[judge]"') from error
        key = settings.api_key()
        self._secrets = (key,) if len(key) >= _SHORTEST_KEY else ()
        self._timeout = settings.timeout
        given: dict[str, Any] = {
            "api_key": key or "none",
            "max_retries": 0,
            "timeout": settings.timeout,
            # No redirects: they would carry the key elsewhere.
            "http_client": _transport()(follow_redirects=False, timeout=settings.timeout),
        }
        if settings.api_version:
            self._openai: Any = openai.AsyncAzureOpenAI(
                azure_endpoint=settings.base_url, api_version=settings.api_version, **given
            )
        else:
            self._openai = openai.AsyncOpenAI(base_url=settings.base_url, **given)

    async def ask(self, body: Mapping[str, Any]) -> Answer:
        """Send one request.

        Args:
            body: Of a chat completion.
        """
        import openai

        begun = time.monotonic()
        try:
            # Not chat.completions.create, which looks at each part of the messages; that takes longer than the rest.
            call = self._openai.post("/chat/completions", body=dict(body), cast_to=object)
            answer = _read(await asyncio.wait_for(call, self._timeout))
        except openai.APIStatusError as error:
            answer = _refused(error.response.status_code, error.response.content, error.response.headers)
        except (openai.APIConnectionError, asyncio.TimeoutError) as error:
            # By the clock: the transport of aiohttp calls a refused connection a timeout.
            cause = error.__cause__ or error
            late = time.monotonic() - begun >= 0.99 * self._timeout
            answer = {"error": f"no answer in {self._timeout:g} s" if late else f"no connection: {cause!r}"}
        except (openai.OpenAIError, ValueError, RecursionError) as error:  # the latter two: what came is no JSON
            answer = {"error": f"no chat completion: {type(error).__name__}: {error}"}
        values = {name: self._clean(name, value) for name, value in answer.items()}
        return Answer(**values, latency=round(time.monotonic() - begun, 3))

    async def close(self) -> None:
        """Close all connections."""
        await self._openai.close()

    def _clean(self, name: str, value: Any) -> Any:
        """Without the key, should the endpoint say it; in one printable line, where it is not the reply."""
        if not isinstance(value, str):
            return value
        for secret in self._secrets:
            value = value.replace(secret, "***")
        return value if name in ("reply", "refusal") else _printable(value)


def _transport() -> Any:
    """The SDK's faster transport where it is installed: it needs a third less time for a call."""
    import openai

    try:
        import aiohttp  # noqa: F401
    except ImportError:
        return openai.DefaultAsyncHttpxClient
    return getattr(openai, "DefaultAioHttpClient", openai.DefaultAsyncHttpxClient)


def _read(body: Any) -> dict[str, Any]:
    """The parts of a chat completion that are wanted; a text is what came in its place."""
    try:
        choice = body["choices"][0]
        reply, refusal = _text(choice["message"].get("content")), choice["message"].get("refusal")
        finish, reported = choice.get("finish_reason"), body.get("model")
    except (TypeError, KeyError, IndexError, AttributeError):
        said = _error_of(body)["error"] if isinstance(body, dict) else str(body)[: 4 * _WORDS]
        return {"status": 200, "error": f"no chat completion: {said}"}
    return {
        "status": 200,
        "reply": reply,
        "refusal": refusal if isinstance(refusal, str) else None,
        "finish_reason": finish if isinstance(finish, str) else None,
        "reported": reported if isinstance(reported, str) else None,
        "usage": _usage(body.get("usage")),
    }


def _text(content: Any) -> str | None:
    """The content of a message, which some endpoints give in parts."""
    if content is None or isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _usage(raw: Any) -> dict[str, int]:
    """Counts of tokens; those read from the provider's cache as ``cached_tokens``."""
    raw = raw if isinstance(raw, dict) else {}
    details = raw.get("prompt_tokens_details")
    counts = {**{name: raw.get(name) for name in _COUNTS}}
    counts["cached_tokens"] = details.get("cached_tokens") if isinstance(details, dict) else None
    return {name: count for name, count in counts.items() if type(count) is int and 0 <= count < 2**53}


def _refused(status: int, content: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    said = _error_of(body) if isinstance(body, dict) else {"error": _decoded(content)}
    code = f" ({said['code']})" if said.get("code") else ""
    words = f"HTTP {status}{code}: {said['error'] or 'no words'}"
    return {**said, "error": words, "status": status, "wait": _wait(headers)}


def _error_of(body: Mapping[str, Any]) -> dict[str, str]:
    """The endpoint's own words, in the shapes of OpenAI, FastAPI and others."""
    error = body.get("error") or body
    if not isinstance(error, dict):
        return {"error": str(error)}
    words = error.get("message") or error.get("detail") or error
    found = {"error": words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)[: 4 * _WORDS]}
    names = {"code": error.get("code"), "parameter": error.get("param")}
    return {**found, **{name: value for name, value in names.items() if isinstance(value, str)}}


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds of Retry-After, a number or a date; of its variant in milliseconds first."""
    asked = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    for text, unit in zip(asked, (1e-3, 1.0), strict=True):
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(0.0, (parsedate_to_datetime(asked[1]) - datetime.now(timezone.utc)).total_seconds())
    except (ValueError, TypeError):
        return None


def _decoded(content: bytes) -> str:
    return content[: 4 * _WORDS].decode("utf-8", "replace")


def _printable(text: str) -> str:
    """One line without control characters, which a terminal would obey."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 8 * _WORDS]).split())
    return text if len(text) <= _WORDS else f"{text[:_WORDS]} ..."
