"""What a run will cost, before it begins, and what it has cost so far.

Tokens are estimated, for no tokenizer fits every judge: a quarter of the UTF-8 bytes of a prompt (English has about
four letters a token, Chinese three bytes a character), 1,000 for a picture; for a reply the mean of this judge's stored
ones, else 300.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from geoeval.judge.errors import JudgeError
from geoeval.judge.keys import canonical
from geoeval.judge.limits import Brake
from geoeval.judge.prices import load_prices
from geoeval.judge.question import Question
from geoeval.judge.settings import JudgeSettings
from geoeval.judge.store import CallStore

_BYTES_A_TOKEN, _TOKENS_A_PICTURE, _TOKENS_A_REPLY = 4, 1000, 300.0


@dataclass(frozen=True)
class Estimate:
    """What a run would take.

    Attributes:
        model: The judge.
        answers: To be marked.
        empty: Of those, empty ones: marked without a call.
        stored: Those whose call is in the store.
        calls: To be made, failures and unreadable replies apart.
        prompt_tokens, completion_tokens: Of those calls.
        basis: How the length of the replies was estimated.
        cost, most: USD, as estimated and with the longest replies; None without a price.
        prices: Which table, and of when.
        repeats: How often each answer is to be marked.
    """

    model: str
    answers: int
    empty: int
    stored: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    basis: str
    cost: float | None
    most: float | None
    prices: str
    repeats: int = 1

    def lines(self) -> Iterator[str]:
        """What ``--dry-run`` prints."""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        yield f"judge {self.model}: {self.answers} answers{times}, {self.empty} of them empty (marked 0 without a call)"
        yield f"calls    {self.calls:,} to make, {self.stored:,} in the store"
        yield (
            f"tokens   about {self.prompt_tokens:,} of prompts (bytes / {_BYTES_A_TOKEN}) and "
            f"{self.completion_tokens:,} of replies ({self.basis})"
        )
        if self.cost is None or self.most is None:
            yield f"cost     n/a: no price of {self.model} in {self.prices}; add one there or in your own (prices)"
        else:
            yield f"cost     about ${self.cost:,.2f}, at most ${self.most:,.2f} if no call fails ({self.prices})"


class Meter:
    """Counts the calls and the cost of one run, and stops it at its limits.

    Args:
        settings: With max_calls, max_cost and prices.
        store: Of all calls.

    Raises:
        JudgeError: max_cost is set and the model has no price.
    """

    def __init__(self, settings: JudgeSettings, store: CallStore) -> None:
        self.settings = settings
        self.prices = load_prices(settings.prices)
        self.price = self.prices.of(settings.model)
        if settings.max_cost is not None and self.price is None:
            raise JudgeError(
                f"judge: max_cost needs a price of {settings.model}; add it to a copy of {self.prices.path} and name "
                "that in the setting prices"
            )
        self.reply_tokens, self.basis = _reply_tokens(settings, store)
        self.sent = self.answered = self.found = 0
        self.spent = 0.0
        self._under_way = 0

    def tokens(self, question: Question) -> float:
        """Estimate for a call, prompt and reply; 0 where there is no limit for them."""
        if self.settings.tokens_per_minute is None:
            return 0.0
        return prompt_tokens(question.body) + self.reply_tokens

    def begin(self, question: Question, brake: Brake) -> None:
        """Count a request that is about to be sent.

        Raises:
            Stopped: A limit is reached. Calls under way are taken to cost as much as the mean so far; by what they cost
                more, max_cost may be passed.
        """
        limit, most = self.settings.max_calls, self.settings.max_cost
        if limit is not None and self.sent >= limit:
            brake.stop(f"max_calls: {limit}")
        if most is not None:
            each = self.spent / self.answered if self.answered else self._guess(question)
            if self.spent + (self._under_way + 1) * each > most:
                brake.stop(f"max_cost: ${most:g}, spent ${self.spent:.4f}")
        brake.check()
        self.sent += 1
        self._under_way += 1

    def end(self, question: Question, usage: Mapping[str, Any], answered: bool) -> None:
        """Count what became of it.

        Args:
            question: What was asked.
            usage: The endpoint's counts.
            answered: Whether there is a reply to pay for.
        """
        self._under_way -= 1
        if answered:
            self.answered += 1
            cost = self.price.of(usage) if self.price else math.nan
            self.spent += self._guess(question) if math.isnan(cost) else cost

    @property
    def cost_so_far(self) -> str:
        """For people; "" when the model has no price."""
        return f"${self.spent:.2f}" if self.price else ""

    def cost(self, usages: Sequence[Mapping[str, Any]]) -> float | None:
        """Cost of calls, USD; None when it is not known of each."""
        if self.price is None:
            return None
        total = math.fsum(self.price.of(usage) for usage in usages)
        return None if math.isnan(total) else total

    def _guess(self, question: Question) -> float:
        if self.price is None:
            return 0.0
        return self.price.of(
            {"prompt_tokens": prompt_tokens(question.body), "completion_tokens": round(self.reply_tokens)}
        )


def estimate(  # noqa: PLR0913 - each is a line of what is printed
    settings: JudgeSettings,
    store: CallStore,
    missing: Sequence[Question],
    *,
    answers: int,
    empty: int,
    stored: int,
    repeats: int = 1,
) -> Estimate:
    """What a run would take.

    Args:
        settings: Of the judge.
        store: Of all calls.
        missing: The calls that are not in the store.
        answers: How many are to be marked.
        empty: How many of them are empty.
        stored: How many of them have a call in the store.
        repeats: How often each is marked.
    """
    prices = load_prices(settings.prices)
    price, (each, basis) = prices.of(settings.model), _reply_tokens(settings, store)
    prompts = sum(prompt_tokens(question.body) for question in missing)

    def cost(tokens_each: float) -> float | None:
        usage = {"prompt_tokens": prompts, "completion_tokens": tokens_each * len(missing)}
        return price.of(usage) if price else None

    return Estimate(
        model=settings.model,
        answers=answers,
        empty=empty,
        stored=stored,
        calls=len(missing),
        prompt_tokens=prompts,
        completion_tokens=round(each * len(missing)),
        basis=basis,
        cost=cost(each),
        most=cost(settings.max_tokens),
        prices=prices.label,
        repeats=repeats,
    )


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Estimate of the prompt of one call."""
    size = pictures = 0
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        size += sum(len(part["text"].encode()) for part in parts if part["type"] == "text")
        pictures += sum(part["type"] == "image_url" for part in parts)
    size += len(canonical(body["response_format"])) if "response_format" in body else 0
    return math.ceil(size / _BYTES_A_TOKEN) + _TOKENS_A_PICTURE * pictures


def _reply_tokens(settings: JudgeSettings, store: CallStore) -> tuple[float, str]:
    mean, n = store.completion_tokens(settings.endpoint, settings.model)
    if n:
        return mean, f"{mean:.0f} each, the mean of {n} stored ones"
    return _TOKENS_A_REPLY, f"{_TOKENS_A_REPLY:.0f} each, assumed"
