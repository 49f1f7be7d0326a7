"""The few records everything passes around. All are immutable and hold plain data only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Outcome(str, Enum):
    """What became of one reply: the rule of whose fault it is.

    Attributes:
        READ: An answer was read from the reply; it may be right or wrong.
        UNREAD: The model answered but no answer can be read: scored wrong.
        EMPTY: The model returned nothing: scored wrong.
        FAILED: The machinery lost the request: not scored, counted.
    """

    READ = "read"
    UNREAD = "unread"
    EMPTY = "empty"
    FAILED = "failed"

    @property
    def scored(self) -> bool:
        """Whether the item stays in the denominator."""
        return self is not Outcome.FAILED


@dataclass(frozen=True)
class Extraction:
    """What a reader found in a reply.

    Attributes:
        value: The answer the reply commits to, or None when it commits to none.
        method: Name of the rule that read it; "none" when nothing was read.
        reason: Why nothing was read (a short code such as "no_declaration"); None when something was.
        data: Further facts a reader gives, e.g. ``strict_valid`` of a verdict.
    """

    value: str | None
    method: str
    reason: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AsJpeg:
    """A picture that is shown as what JPEG leaves of it.

    A prompt holds it in place of the picture, so that a harness either opens it with `geoeval.data.open_picture`, which
    knows it, or fails; it cannot show the untouched picture by oversight.

    Attributes:
        picture: The picture, as the item holds it.
        quality: Pillow's JPEG quality, 1 to 95.
    """

    picture: Any
    quality: int


@dataclass(frozen=True)
class PromptView:
    """The part of an item that a prompt may use. Nothing that hints at the answer is reachable from it.

    Attributes:
        question: The question as the benchmark states it.
        images: The pictures, in the order they are shown (whatever the harness hands over, e.g. PIL images).
        choices: The letters offered, empty for open questions.
        options: The text of each choice, in the same order; empty when only letters are offered.
        modality: What kind of picture it is, e.g. "photo" or "three_view".
        context: What is shown before the question, in reading order, as content parts ``{"type": "text", "text"}`` and
            ``{"type": "image", "image"}``: reference pictures or worked examples of other items.
    """

    question: str
    images: Sequence[Any] = ()
    choices: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    modality: str = ""
    context: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Item:
    """One question of a benchmark.

    Attributes:
        id: Unique within the benchmark.
        gold: What counts as right: accepted letters or verdicts, or the reference answers.
        cluster: Items that share it are not independent (same picture, base question or part).
        strata: Breakdown name -> value, e.g. ``{"level": "ID"}``.
        question, images, choices, options, modality, context: See `PromptView`.
    """

    id: str
    question: str
    gold: tuple[str, ...]
    cluster: str
    images: Sequence[Any] = ()
    choices: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    modality: str = ""
    strata: Mapping[str, str] = field(default_factory=dict)
    context: Sequence[Mapping[str, Any]] = ()

    def prompt_view(self) -> PromptView:
        """Everything prompt code can see of this item: no id, gold, cluster or strata."""
        return PromptView(self.question, self.images, self.choices, self.options, self.modality, self.context)


@dataclass(frozen=True)
class Judgement:
    """What a judge says of one answer. A judge that fails gives no score and a reason, never 0.

    Attributes:
        score: Overall mark, 0-10; None when there is no usable one.
        dimensions: Dimension of the rubric -> mark, 0-10; empty when there is no score.
        comment: The judge's reasoning, as it wrote it; untrusted text.
        reason: Why there is no score (a short code, details after a colon); "empty_answer" where 0 was given without a
            call; None otherwise.
        calls: Keys of the stored calls that it rests on, see `geoeval.judge.store`.
    """

    score: float | None
    dimensions: Mapping[str, float] = field(default_factory=dict)
    comment: str = ""
    reason: str | None = None
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class Score:
    """The marking of one reply.

    Attributes:
        id: The item's id.
        outcome: What became of the reply.
        values: Metric name -> value of this item. Rates are 0 or 1, overlaps 0-1; a 0-10 value has "score" in its name.
            Empty when the item is not scored. A metric an item does not take part in is absent.
        extracted: The value read from the reply, or None.
        gold: The item's accepted values.
        method: The rule that read the reply.
        reason: Why nothing was read or nothing was scored.
        cluster: The item's cluster.
        strata: The item's strata.
        judgement: What the judge says, where one was asked.
    """

    id: str
    outcome: Outcome
    values: Mapping[str, float]
    extracted: str | None
    gold: tuple[str, ...]
    method: str
    reason: str | None
    cluster: str
    strata: Mapping[str, str]
    judgement: Judgement | None = None


@dataclass(frozen=True)
class Metric:
    """One number that may be printed.

    Attributes:
        name: E.g. "accuracy_valid".
        value: The number; nan when its denominator is empty.
        n: Size of the denominator, in items.
        low, high: 95 % interval; nan when none can be given.
        note: What must be printed beside it, e.g. why the value is withheld; "" if nothing.
    """

    name: str
    value: float
    n: int
    low: float = float("nan")
    high: float = float("nan")
    note: str = ""


@dataclass(frozen=True)
class Coverage:
    """How many replies there were and what became of them (see `Outcome`).

    ``unscored`` are the replies that a judge was asked to mark and gave no usable mark; they are among the others.
    """

    items: int
    read: int
    unread: int
    empty: int
    failed: int
    unscored: int


@dataclass(frozen=True)
class ClassScores:
    """How one class fares.

    Attributes:
        precision: Right among the replies that name the class; nan when none does.
        recall: Right among the items of the class; nan when there is none.
        f1: ``2 TP / (support + named)``; nan when the class occurs on neither side.
        support: Number of items of the class.
        named: Number of replies that name the class.
    """

    precision: float
    recall: float
    f1: float
    support: int
    named: int


@dataclass(frozen=True)
class Summary:
    """All numbers of one task run.

    Attributes:
        benchmark: E.g. "georefusal".
        version: The benchmark's version ``N-X``.
        metrics: The headline numbers, in printing order.
        strata: Breakdown name -> value -> numbers of that part.
        coverage: What became of the replies.
        confusion: Gold label -> read label (or "unread") -> count; empty for open questions.
        classes: Label -> its precision, recall and F1; empty for open questions.
        signature: One line that says how the numbers were computed.
    """

    benchmark: str
    version: str
    metrics: tuple[Metric, ...]
    strata: Mapping[str, Mapping[str, tuple[Metric, ...]]]
    coverage: Coverage
    confusion: Mapping[str, Mapping[str, int]]
    classes: Mapping[str, ClassScores]
    signature: str

    def __getitem__(self, name: str) -> Metric:
        """The headline number of that name.

        Raises:
            KeyError: No such metric.
        """
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise KeyError(f"{self.benchmark} has no metric {name!r}; it has {[m.name for m in self.metrics]}")
