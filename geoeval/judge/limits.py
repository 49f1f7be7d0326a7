"""How fast and how far a run may go: requests and tokens per minute, calls and money."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from geoeval.judge.settings import JudgeSettings


class Stopped(Exception):
    """The run is being stopped; what is not under way is not asked."""


class Brake:
    """Stops a run between two calls. To be used inside one event loop."""

    def __init__(self) -> None:
        self.reason = ""
        self._stopped = asyncio.Event()

    def stop(self, reason: str) -> None:
        """Let calls under way end and begin no other; the first reason is kept."""
        self.reason = self.reason or reason
        self._stopped.set()

    def check(self) -> None:
        """Go on, or not.

        Raises:
            Stopped: The run is being stopped.
        """
        if self._stopped.is_set():
            raise Stopped(self.reason)

    async def pause(self, seconds: float) -> None:
        """Wait, but no longer than the run goes on.

        Raises:
            Stopped: The run is being stopped.
        """
        if seconds > 0:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), seconds)
        self.check()


class Pace:
    """Evenly spaced turns: what is taken is spread over time, so that no minute ever holds more than the limit.

    Args:
        per_minute: The limit; None for none.
        clock: Seconds that only grow.
    """

    def __init__(self, per_minute: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._each = 60.0 / per_minute if per_minute else 0.0
        self._clock = clock
        self._free = 0.0

    def take(self, amount: float = 1.0) -> float:
        """Take a turn for so many requests or tokens.

        Returns:
            Seconds to wait for it.
        """
        begin = max(self._free, self._clock())
        self._free = begin + amount * self._each
        return begin - self._clock()

    def correct(self, amount: float) -> None:
        """Add what a turn took more than was said, or less, if negative."""
        self._free += amount * self._each

    def hold(self, seconds: float) -> None:
        """Give no turn for so long."""
        self._free = max(self._free, self._clock() + seconds)


class Limits:
    """The limits of an endpoint.

    Args:
        settings: With requests_per_minute and tokens_per_minute.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._requests = Pace(settings.requests_per_minute)
        self._tokens = Pace(settings.tokens_per_minute)

    def take(self, tokens: float) -> float:
        """Take a turn for one request of so many tokens, prompt and reply.

        Returns:
            Seconds to wait for it.
        """
        return max(self._requests.take(), self._tokens.take(tokens))

    def correct(self, tokens: float) -> None:
        """Add the tokens that a request took more than was said, or less, if negative."""
        self._tokens.correct(tokens)

    def hold(self, seconds: float) -> None:
        """Send nothing for so long: the endpoint asks for it."""
        self._requests.hold(seconds)
