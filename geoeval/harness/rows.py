"""The rows of a task, for harnesses that bring no way of their own to hold pictures back (inspect-ai, lm-eval).

All rows are checked before the first request. Their text is kept, their pictures are not: they are read from the file
again when the item is asked, for a release holds gigabytes of them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from geoeval.benchmarks import get_benchmark
from geoeval.data import DataError, item_from_row, locate
from geoeval.harness.lmms_eval.adapter import item_problems
from geoeval.types import Item

_GROUPS_KEPT = 4
"""Row groups in memory, about 16 MiB of pictures each: items are asked nearly in order."""


class Rows:
    """The rows of a task.

    Args:
        task: Its name.
        data: "sample", a folder, or None for what GEOEVAL_DATA says; see `geoeval.data.locate`.

    Attributes:
        source: The file of rows.
        by_id: The items by id, without pictures and context, in the order of the file.

    Raises:
        DataError: The data cannot be found or used; names the items.
    """

    def __init__(self, task: str, data: str | None = None) -> None:
        import pyarrow.parquet as pq

        self.benchmark = get_benchmark(task)
        self.source = locate(self.benchmark.dataset, data)
        self.by_id: dict[str, Item] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()
        try:
            self._file = pq.ParquetFile(self.source.path)
        except (OSError, ValueError) as error:  # pyarrow's errors are among them
            raise DataError(f"{self.source.path}: cannot be read as parquet ({error})") from error
        self._group = lru_cache(maxsize=_GROUPS_KEPT)(self._read_group)
        self._index()

    @property
    def items(self) -> list[Item]:
        """The items, without pictures and context, in the order of the file."""
        return list(self.by_id.values())

    def item(self, id_: str) -> Item:
        """An item as it is asked, with pictures and context.

        Raises:
            KeyError: There is no such item.
        """
        group, place = self._places[id_]
        with self._lock:  # pyarrow's file is not safe to read from several threads
            row = self._group(group).slice(place, 1).to_pylist()[0]
        return item_from_row(row, self.benchmark.strata, self.benchmark.setting)

    def _read_group(self, group: int) -> Any:
        return self._file.read_row_group(group)

    def _index(self) -> None:
        problems: list[str] = []
        ids: Counter[str] = Counter()
        for group in range(self._file.num_row_groups):
            for place, row in enumerate(self._group(group).to_pylist()):
                if not self.benchmark.includes(row):
                    continue
                ids[row["id"]] += 1
                found = list(item_problems(self.benchmark, row))
                problems += found
                if not found:
                    self._places[row["id"]] = group, place
                    self.by_id[row["id"]] = item_from_row(_without_pictures(row), self.benchmark.strata)
        problems += [f"row {id_!r}: the id occurs more than once" for id_, count in ids.items() if count > 1]
        task = self.benchmark.name
        if problems:
            raise DataError(
                f"{task}: {len(problems)} things to mend before any request is made, e.g. {'; '.join(problems[:5])}. "
                f"An item without its picture, or whose reply cannot be marked, must not be asked."
            )
        if not self.by_id:
            raise DataError(f"{task}: no row with {self.benchmark.subset}; see the columns of {self.source.path}")


def _without_pictures(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not name.endswith("images")}
