"""The items of a task as scoring needs them: by id, without pictures, and a hash of what is asked of them."""

from __future__ import annotations

import hashlib
import json.encoder
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVar

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.data import SAMPLE, DataError, Source, task_items
from geoeval.data.source import find
from geoeval.runs.model import SavedRun
from geoeval.types import Item

T = TypeVar("T", bound=Hashable)
_string = json.encoder.encode_basestring_ascii
_SHARED = 65_536  # values that occur in many items are few; a pool of unique ones would only cost memory


@dataclass(frozen=True)
class TaskItems:
    """All items of a task.

    Attributes:
        by_id: Without pictures and context; questions of open tasks only, where a judge is shown them.
        prompt_sha256: See `prompt_sha256`.
        source: The data they are from.
    """

    by_id: Mapping[str, Item]
    prompt_sha256: str
    source: Source


@lru_cache(maxsize=2)
def items_of(task: str, source: Source) -> TaskItems:
    """The items of a task.

    Raises:
        DataError: See `geoeval.data.task_items`; or an id occurs twice.
    """
    benchmark = get_benchmark(task)
    by_id: dict[str, Item] = {}
    digest, pool = hashlib.sha256(), Pool()
    for item in task_items(task, source, pictures=False):
        if item.id in by_id:
            raise DataError(f"{source.path}: the id {item.id!r} occurs more than once in {task}")
        digest.update(_prompt_line(benchmark, item))
        by_id[item.id] = _lean(item, pool, keep_question=not benchmark.answers(item))
    return TaskItems(MappingProxyType(by_id), digest.hexdigest(), source)


def prompt_sha256(benchmark: Benchmark, items: Iterable[Item]) -> str:
    """Hash of everything that is asked: a JSON line ``[id, text]`` of each item, in the order of the data.

    The text is `Benchmark.flat_prompt`: the same whether the pictures are at hand or not. They are part of the hash of
    the data.
    """
    digest = hashlib.sha256()
    for item in items:
        digest.update(_prompt_line(benchmark, item))
    return digest.hexdigest()


def source_of(run: SavedRun, dataset: str, data: str | None = None) -> Source:
    """The data that a run is scored with; nothing is fetched.

    Args:
        run: What says that it is of the bundled sample is scored with that.
        dataset: Name of the file of rows.
        data: "sample" or a folder, else what GEOEVAL_DATA says.

    Raises:
        DataError: It is not at hand.
    """
    if data is None and run.data == SAMPLE:
        data = "sample"
    source = find(dataset, data)
    if source is None:
        benchmark = dataset.partition("_")[0]
        raise DataError(
            f"{run.source}: needs the data of {dataset}, which are not here. "
            f'Run "geoeval data fetch {benchmark}", or give --data sample or --data FOLDER'
        )
    return source


class Pool:
    """Equal values of many items as one object."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Hashable] = {}

    def __call__(self, value: T) -> T:
        """The object that stands for all equal ones."""
        if len(self._values) < _SHARED:
            return self._values.setdefault(value, value)  # type: ignore[return-value]
        return self._values.get(value, value)  # type: ignore[return-value]


def ids(items: Iterable[str], shown: int = 5) -> str:
    """The first few of many ids, for a message."""
    first: list[str] = []
    rest = 0
    for id_ in items:
        if len(first) < shown:
            first.append(id_)
        else:
            rest += 1
    return ", ".join(map(repr, first)) + (f" and {rest} more" if rest else "")


def _prompt_line(benchmark: Benchmark, item: Item) -> bytes:
    return f"[{_string(item.id)}, {_string(benchmark.flat_prompt(item))}]\n".encode("ascii")


def _lean(item: Item, pool: Pool, keep_question: bool) -> Item:
    return Item(
        id=item.id,
        question=item.question if keep_question else "",
        gold=pool(item.gold),
        cluster=pool(item.cluster),
        choices=pool(item.choices),
        options=item.options,
        modality=item.modality,
        strata=_mapping(tuple(item.strata.items())),
    )


@lru_cache(maxsize=4096)
def _mapping(pairs: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return dict(pairs)
