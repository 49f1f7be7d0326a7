"""Marking the replies of one run, one at a time: the lines of the items go to a file, what a summary needs is kept."""

from __future__ import annotations

import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from geoeval.benchmarks import Benchmark
from geoeval.data.files import replacing
from geoeval.data.progress import progress
from geoeval.runs.items import TaskItems
from geoeval.runs.model import SavedRun
from geoeval.runs.record import encode_line
from geoeval.types import Score

_STEP = 1000


@dataclass
class Few:
    """Many ids: how many, and the first of them for a message."""

    n: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, id_: str) -> None:
        """One more."""
        self.n += 1
        if len(self.first) < 5:
            self.first.append(id_)

    def __str__(self) -> str:
        return ", ".join(map(repr, self.first)) + (f" and {self.n - len(self.first)} more" if self.n > 5 else "")


@dataclass
class Marked:
    """The marked replies of a run.

    Attributes:
        scores: One for each item with a reply, in the order of the file; without the text of open answers.
        lines: The items' lines, in the same order.
        ends: Where each of them ends.
        unknown: Ids that are not of the task.
        doubled: Ids that occur more than once; `scores` has the first reply.
    """

    lines: IO[bytes]
    scores: list[Score] = field(default_factory=list)
    ends: array[int] = field(default_factory=lambda: array("Q", [0]))
    unknown: Few = field(default_factory=Few)
    doubled: dict[str, None] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write the lines in order of id."""
        with replacing(path) as part, open(part, "wb") as file:
            if self._is_ordered():
                self.lines.seek(0)
                shutil.copyfileobj(self.lines, file, 1 << 20)
            else:
                file.writelines(self.ordered())

    def ordered(self) -> Iterator[bytes]:
        """The lines in order of id."""
        order = range(len(self.scores))
        for k in order if self._is_ordered() else sorted(order, key=lambda k: self.scores[k].id):
            self.lines.seek(self.ends[k])
            yield self.lines.read(self.ends[k + 1] - self.ends[k])

    def _is_ordered(self) -> bool:
        return all(one.id < two.id for one, two in pairwise(self.scores))

    def change(self, changed: Callable[[int, bytes], tuple[Score, bytes] | None]) -> Marked:
        """The same with other scores and lines.

        Args:
            changed: From place and line of an item to what stands in its place; None to leave it out.
        """
        other = Marked(_spool(), unknown=self.unknown, doubled=self.doubled)
        self.lines.seek(0)
        for k, line in enumerate(self.lines):
            made = changed(k, line)
            if made is not None:
                other.add(*made)
        return other

    def add(self, score: Score, line: bytes) -> None:
        """One more item."""
        self.scores.append(score)
        self.lines.write(line)
        self.ends.append(self.ends[-1] + len(line))


def mark(run: SavedRun, benchmark: Benchmark, items: TaskItems) -> Marked:
    """Mark all replies of a run.

    Raises:
        DataError: The file cannot be read; what a reader raises.
    """
    marked, seen = Marked(_spool()), set[str]()
    shared: dict[Any, Any] = {}
    with progress(f"scoring {run.task}", len(items.by_id)) as advance:
        for number, reply in enumerate(run.read(), 1):
            item = items.by_id.get(reply.id)
            if item is None:
                marked.unknown.add(reply.id)
                continue
            if item.id in seen:
                marked.doubled[item.id] = None
                continue
            seen.add(item.id)
            score = benchmark.score(item, reply.text, reply.failure)
            line = encode_line(score, reply.text)
            marked.add(_lean(score, shared if benchmark.answers(item) else None), line)
            if not number % _STEP:
                advance(_STEP)
    return marked


def without_conflicts(run: SavedRun, marked: Marked) -> Marked:
    """Leave out doubled ids whose replies differ, since nobody knows which counts."""
    texts: dict[str, set[str | None]] = {id_: set() for id_ in marked.doubled}
    for reply in run.read():
        if reply.id in texts:
            texts[reply.id].add(reply.text)
    differing = {id_ for id_, each in texts.items() if len(each) > 1}
    if not differing:
        return marked
    scores = marked.scores
    return marked.change(lambda k, line: None if scores[k].id in differing else (scores[k], line))


def _spool() -> IO[Any]:
    return tempfile.TemporaryFile(prefix="geoeval-", suffix=".jsonl")


def _lean(score: Score, shared: dict[Any, Any] | None) -> Score:
    """A score that takes little memory.

    Args:
        score: The score.
        shared: Of closed questions equal values are shared, for few differ; None for open ones, whose text is left out.
    """
    if shared is None:
        return replace(score, extracted=None)
    return Score(
        score.id,
        score.outcome,
        shared.setdefault(tuple(score.values.items()), score.values),
        shared.setdefault(score.extracted, score.extracted),
        score.gold,
        score.method,
        score.reason,
        score.cluster,
        score.strata,
    )
