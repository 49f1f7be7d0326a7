"""Calls to a judge: from the store where they are in it, else made, repeated where that helps, and stored.

A run finds out how its judge wants to be asked with one call that is made alone, before all others: a wrong key or
model shows there, and so does what the endpoint does not take. The store remembers the answer for the next run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from geoeval.judge.client import Answer, Client
from geoeval.judge.cost import Meter
from geoeval.judge.errors import JudgeError
from geoeval.judge.limits import Brake, Limits
from geoeval.judge.prompt import Ask
from geoeval.judge.question import Dialect, Question, make_question
from geoeval.judge.settings import JudgeSettings
from geoeval.judge.store import CallStore, StoredCall

if TYPE_CHECKING:
    from tenacity import RetryCallState

_LONGEST_BACKOFF, _LONGEST_WAIT = 60.0, 300.0
_HOPELESS = 20  # A judge that fails at random does not come near it.
_ADJUSTABLE = (400, 415, 422, 501)


class Caller:
    """The calls of one run. To be used inside one event loop.

    Args:
        settings: Of the judge.
        store: Of all calls.
        meter: Counts calls and cost.
        brake: Stops the run.
    """

    def __init__(self, settings: JudgeSettings, store: CallStore, meter: Meter, brake: Brake) -> None:
        self.settings, self.store, self.meter, self.brake = settings, store, meter, brake
        self.dialect = Dialect(schema=settings.structured != "text")
        self._client: Client | None = None
        self._limits = Limits(settings)
        self._failures = 0
        self._sent: set[str] = set()
        self._under_way: dict[str, asyncio.Future[tuple[StoredCall, Answer]]] = {}

    def question(self, ask: Ask, attempt: int = 0) -> Question:
        """The call that asks one thing."""
        return make_question(ask, self.settings, self.dialect, attempt)

    async def call(self, question: Question) -> StoredCall | None:
        """The stored call, which is made first where it is not in the store.

        Returns:
            A failed call where all repetitions failed; None for a call that is not in the store of a replay.

        Raises:
            Stopped: The run was stopped before the call was answered.
            JudgeError: No call of this run can succeed.
        """
        found = self.store.get(question.key)
        if found is not None:
            self.meter.found += question.key not in self._sent
            return found
        if self.settings.replay != "off":
            return self.store.last_failure(question.key)
        if question.key in self._under_way:  # the same answer to the same question
            return (await self._under_way[question.key])[0]
        future = self._under_way[question.key] = asyncio.ensure_future(self._patiently(question))
        try:
            return (await future)[0]
        finally:
            del self._under_way[question.key]

    async def prepare(self, asks: Sequence[Ask], probe: Ask) -> StoredCall | None:
        """Find the dialect, with a call if one is to be made: the first of the run.

        Args:
            asks: All that will be asked.
            probe: What is asked first where the dialect is not known.

        Returns:
            That call.

        Raises:
            Stopped, JudgeError: See `call`.
        """
        known = self.remembered()
        if self.settings.replay != "off":
            self.dialect = max(known, key=lambda dialect: self._found(asks, dialect), default=self.dialect)
            return None
        if not known:
            return await self._adjust(probe, None) if asks else None
        self.dialect = known[0]
        first = next((ask for ask in asks if self.store.get(self.question(ask).key) is None), None)
        return await self._adjust(first, known[0]) if first else None

    def remembered(self) -> list[Dialect]:
        """The dialects of the judge that the store knows for these settings, the last first."""
        stored = self.store.dialects(self.settings.endpoint, self.settings.model)
        return [Dialect.from_stored(one) for one in stored if one["structured"] == self.settings.structured]

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()

    def _endpoint(self) -> Client:
        self._client = self._client or Client(self.settings)
        return self._client

    def _found(self, asks: Sequence[Ask], dialect: Dialect) -> int:
        questions = (make_question(ask, self.settings, dialect) for ask in asks)
        return sum(self.store.get(question.key) is not None for question in questions)

    async def _adjust(self, ask: Ask, known: Dialect | None) -> StoredCall:
        """Ask once, leaving out what the endpoint refuses, until it answers.

        Args:
            ask: What.
            known: What worked before. None for a probe, which every endpoint that works will answer, now or a little
                later; with another question a failure may be due to that, and shows only that the key is right.
        """
        attempt = 0
        while True:
            question = self.question(ask, attempt)
            call = self.store.get(question.key)
            if call is None:
                call, answer = await (self._once(question) if known else self._patiently(question))
                if call.error is not None:
                    if self._leave_out(answer):
                        continue
                    if known is None:
                        raise self._cannot(call.error, answer)
                    return call
            if known is not None or not self.dialect.schema or _follows(ask.schema, call.reply):
                break
            attempt += 1  # once may be chance
            if attempt == 2:
                self._without_schema("its replies do not follow one")
                break
        if self.dialect != known:
            stored = self.dialect.stored(self.settings.structured)
            self.store.remember(self.settings.endpoint, self.settings.model, stored, _now())
        return call

    def _leave_out(self, answer: Answer) -> bool:
        """Whether there is something that the endpoint refuses, and that is left out from now on."""
        words = answer.error or ""
        other = self.dialect.without(words, answer.parameter) if answer.status in _ADJUSTABLE else None
        if other is None:
            return False
        if other.schema != self.dialect.schema:
            self._without_schema(words)
        else:
            print(f"geoeval: judge {self.settings.model}: {words}; asked {other.beside(self.dialect)}", file=sys.stderr)
            self.dialect = other
        return True

    def _without_schema(self, why: str) -> None:
        if self.settings.structured == "schema":
            raise JudgeError(
                f"judge {self.settings.model} at {self.settings.endpoint}: no replies by a JSON schema ({why}); "
                "set structured: text"
            )
        self.dialect = replace(self.dialect, schema=False)
        print(
            f"geoeval: judge {self.settings.model}: asked for marks as lines of text, not JSON: {why}", file=sys.stderr
        )

    async def _patiently(self, question: Question) -> tuple[StoredCall, Answer]:
        """Ask until there is an answer, at most ``retries`` times more."""
        self._endpoint()  # says what is not installed
        from tenacity import AsyncRetrying, retry_if_result, stop_after_attempt

        retrying = AsyncRetrying(
            retry=retry_if_result(lambda done: done[1].may_pass),
            stop=stop_after_attempt(self.settings.retries + 1),
            wait=self._wait,
            sleep=self.brake.pause,
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )
        done: tuple[StoredCall, Answer] = await retrying(self._once, question)
        # A refusal may be due to one answer, but not where none was ever answered: the judge may see no pictures.
        never = done[1].error is not None and not self.meter.answered and not self.meter.found
        self._failures = self._failures + 1 if done[1].may_pass or never else 0
        if self._failures >= _HOPELESS:
            raise self._cannot(f"{self._failures} calls in a row failed, the last with: {done[1].error}", done[1])
        return done

    def _wait(self, state: RetryCallState) -> float:
        """Random, its upper end doubling; not less than the endpoint asks for."""
        from tenacity import wait_random_exponential

        backoff = wait_random_exponential(multiplier=self.settings.backoff, max=_LONGEST_BACKOFF)(state)
        asked = state.outcome.result()[1].wait if state.outcome else None
        return float(backoff + (asked or 0.0))

    async def _once(self, question: Question) -> tuple[StoredCall, Answer]:
        """One request, stored whatever comes of it."""
        tokens = self.meter.tokens(question)
        await self.brake.pause(self._limits.take(tokens))
        self.meter.begin(question, self.brake)
        self._sent.add(question.key)
        sent = _now()
        answer = await self._endpoint().ask(question.body)
        call = self.store.add(_stored(question, answer, self.settings, sent))
        self.meter.end(question, answer.usage, answer.error is None)
        self._limits.correct(answer.usage.get("total_tokens", tokens) - tokens)
        if answer.stops_all:
            raise self._cannot(answer.error or "", answer)
        if answer.wait and answer.may_pass:
            if answer.wait > _LONGEST_WAIT:
                raise self._cannot(f"{answer.error}; it asks to wait {answer.wait:.0f} s", answer)
            self._limits.hold(answer.wait)
        return call, answer

    def _cannot(self, words: str, answer: Answer) -> JudgeError:
        hints = {
            401: f"check the key in {self.settings.api_key_env}",
            403: f"check the key in {self.settings.api_key_env}, and what it may do",
            404: "check model and base_url",
        }
        hint = hints.get(answer.status or 0, "what is stored stays; the same command goes on from there")
        return JudgeError(f"judge {self.settings.model} at {self.settings.endpoint}: {words} -> {hint}")


def _follows(schema: Mapping[str, Any], reply: str | None) -> bool:
    try:
        told = json.loads(reply or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and {*schema["required"]} <= {*told}


def _stored(question: Question, answer: Answer, settings: JudgeSettings, sent: str) -> StoredCall:
    return StoredCall(
        key=question.key,
        prompt_sha256=question.prompt_sha256,
        model=settings.model,
        endpoint=settings.endpoint,
        parameters=question.parameters,
        reply=answer.reply,
        refusal=answer.refusal,
        reported=answer.reported,
        usage=answer.usage,
        finish_reason=answer.finish_reason,
        time=sent,
        latency=answer.latency,
        status=answer.status,
        error=answer.error,
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
