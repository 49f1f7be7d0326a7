"""One run of a judge inside its event loop: what is asked when, and what the calls say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from geoeval.judge.caller import Caller
from geoeval.judge.cost import Meter
from geoeval.judge.errors import JudgeError, OwnJudgeError
from geoeval.judge.limits import Brake, Stopped
from geoeval.judge.prompt import Ask
from geoeval.judge.settings import JudgeSettings, same_model
from geoeval.judge.store import CallStore, StoredCall

NOT_STORED = "no_stored_call"
"""Reason where a replay has no call."""
UNREADABLE = "unreadable"
"""Begins the reason of what an `Ask` cannot read."""
# Calls that begin at the same moment end at the same moment and are then handled one after the other, again and again;
# begun one after the other they do not wait for each other. It also spares the endpoint a burst.
_APART = 0.003


@dataclass(frozen=True)
class Told:
    """What a judge says to one question.

    Attributes:
        said: What `Ask.read` made of the reply; None where there is no reply to read.
        reason: Why there is none; None where there is one.
        calls: Keys of the stored calls that it rests on.
    """

    said: Any
    reason: str | None = None
    calls: tuple[str, ...] = ()


class Run:
    """One run. `judge` is to be awaited in one event loop, once.

    Args:
        asks: The questions.
        probe: A question for an endpoint that is not known.
        settings: Of the judge.
        store: Of all calls.
        tested: The model under test, which must not be the judge.
        advance: Called after each question, with the cost so far.

    Attributes:
        told: What the judge says to each question, in their order; filled by `judge`.
        calls: The calls that this rests on.
        caller: How they were made.
        meter: What they cost.
        brake: Stops the run between two calls.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a run
        self,
        asks: Sequence[Ask],
        probe: Ask,
        settings: JudgeSettings,
        store: CallStore,
        tested: str | None,
        advance: Callable[[str], None],
    ) -> None:
        self.asks, self.probe, self.settings, self.tested, self.advance = asks, probe, settings, tested, advance
        self.meter, self.brake = Meter(settings, store), Brake()
        self.caller = Caller(settings, store, self.meter, self.brake)
        self.told: list[Told] = []
        self.calls: dict[str, StoredCall] = {}

    async def judge(self) -> None:
        """Ask all, as far as it goes.

        Raises:
            JudgeError: The judge cannot be used.
        """
        told: list[Told | None] = [None] * len(self.asks)
        turns = iter(range(len(self.asks)))
        try:
            first = await self.caller.prepare(self.asks, self.probe)
            self._check_reported([first] if first else [])
            workers = [self._work(turns, told, number) for number in range(min(self.settings.concurrency, len(told)))]
            errors = [error for error in await asyncio.gather(*workers, return_exceptions=True) if error is not None]
            if errors:
                raise errors[0]
        except Stopped:
            pass
        finally:
            await self.caller.close()
        self._check_reported(self.calls.values())
        stopped = Told(None, f"budget: {self.brake.reason}")
        self.told = [one or stopped for one in told]

    @property
    def reported(self) -> list[str]:
        """The models that the endpoint says it asked."""
        return sorted({call.reported for call in self.calls.values() if call.reported})

    def is_tested(self, name: str) -> bool:
        """Whether a name is that of the model under test."""
        return self.tested is not None and same_model(name, self.tested)

    async def _work(self, turns: Iterator[int], told: list[Told | None], number: int) -> None:
        """Take questions until there are none, or the run is stopped."""
        try:
            if self.settings.replay == "off":
                await self.brake.pause(number * _APART)
            for index in turns:
                told[index] = await self._tell(self.asks[index])
                self.advance(self.meter.cost_so_far)
        except Stopped:
            pass
        except BaseException:
            self.brake.stop("an error")
            raise

    async def _tell(self, ask: Ask) -> Told:
        """Ask, and ask again what cannot be read."""
        keys: list[str] = []
        said = None
        for attempt in range(self.settings.retries + 1):
            self.brake.check()
            call = await self.caller.call(self.caller.question(ask, attempt))
            if call is None:
                return Told(None, NOT_STORED, tuple(keys))
            keys.append(call.key)
            self.calls[call.key] = call
            reason = _useless(call)
            if reason:
                return Told(None, reason, tuple(keys))
            said = ask.read(call.reply)
            if not (said.reason or "").startswith(UNREADABLE):
                break
        return Told(said, None, tuple(keys))

    def _check_reported(self, calls: Iterable[StoredCall]) -> None:
        """The judge may be the model under test under another name."""
        for call in calls:
            if not self.settings.allow_self and self.is_tested(call.reported or ""):
                raise own_judge(f"{self.settings.model}, which is {call.reported},")


def own_judge(who: str) -> JudgeError:
    """The error of a judge that is the model under test."""
    return OwnJudgeError(
        f"judge: {who} is the model under test; take another judge, or set allow_self: true, which the signature tells"
    )


def _useless(call: StoredCall) -> str:
    """Why a reply need not be read, nor asked for again."""
    if call.error is not None:
        filtered = "(content_filter)" in call.error
        return f"{'content_filter' if filtered else 'failed'}: {call.error}"
    if call.finish_reason == "length":
        return "length: the judge's reply was cut off; max_tokens is too small"
    if call.finish_reason == "content_filter":
        return "content_filter: the endpoint filtered the judge's reply"
    return f"refusal: {call.refusal[:200]}" if call.refusal else ""
