"""Scored items, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from geoeval.metrics.classification import confusion_cells
from geoeval.types import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Columns:
    """The scored items of a run: each of its many metrics and parts is a pass over all of them.

    Args:
        scored: The scores, in order of id.
    """

    def __init__(self, scored: Sequence[Score]) -> None:
        import numpy as np

        self._scored = scored
        index: dict[str, int] = {}
        numbers = (index.setdefault(score.cluster, len(index)) for score in scored)
        self._clusters = np.fromiter(numbers, dtype=np.int64, count=len(scored))
        self._columns: dict[str, NDArray[Any]] = {}

    def values(self, name: str, rows: NDArray[Any] | Sequence[int] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """The values of a metric and their clusters, of the items that take part in it.

        Args:
            name: The metric.
            rows: Of these items only.
        """
        import numpy as np

        if name not in self._columns:
            values = (score.values.get(name, nan) for score in self._scored)
            self._columns[name] = np.fromiter(values, dtype=float, count=len(self._scored))
        column, clusters = self._columns[name], self._clusters
        if rows is not None:
            column, clusters = column[rows], clusters[rows]
        there = ~np.isnan(column)
        return column[there], clusters[there]

    def parts(self, name: str) -> dict[str, NDArray[Any]]:
        """The items of each value of a breakdown."""
        import numpy as np

        index: dict[str, int] = {}
        numbers = (index.setdefault(score.strata[name], len(index)) for score in self._scored)
        values = np.fromiter(numbers, dtype=np.int64, count=len(self._scored))
        return {value: np.flatnonzero(values == number) for value, number in index.items()}

    def confusion_sums(self, labels: Sequence[str]) -> NDArray[Any]:
        """The confusion matrix of each cluster, shape ``(clusters, labels, labels + 1)``.

        Raises:
            ValueError: See `geoeval.metrics.classification.confusion_cells`.
        """
        import numpy as np

        index: dict[tuple[tuple[str, ...], str | None], int] = {}
        pairs = (index.setdefault((score.gold, score.extracted), len(index)) for score in self._scored)
        kinds = np.fromiter(pairs, dtype=np.int64, count=len(self._scored))
        cells = confusion_cells([gold for gold, _ in index], [read for _, read in index], labels)
        places = cells.reshape(len(index), -1).argmax(axis=1) if index else np.zeros(0, dtype=np.int64)
        n_clusters, size = int(self._clusters.max(initial=-1)) + 1, len(labels) * (len(labels) + 1)
        sums = np.zeros(n_clusters * size)
        np.add.at(sums, self._clusters * size + places[kinds], 1.0)
        return sums.reshape(n_clusters, len(labels), len(labels) + 1)
