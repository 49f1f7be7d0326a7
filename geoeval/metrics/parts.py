"""Unweighted mean over the parts of a data set, so that every part counts alike however many items it has.

One function of sums serves the point value and the bootstrap, as in `geoeval.metrics.classification`::

    sums = part_sums(values, parts, names)
    value = mean_of_parts(sums.sum(axis=0))
    intervals = cluster_bootstrap(sums, clusters, lambda total: {"mean": mean_of_parts(total)})
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from geoeval.metrics.classification import ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def part_sums(values: Sequence[float], parts: Sequence[str], names: Sequence[str]) -> NDArray[Any]:
    """What each item adds to the sums of the parts.

    Args:
        values: One value for each item.
        parts: For each item the part it belongs to.
        names: All K parts.

    Returns:
        Shape ``(n, K, 2)``: in the item's part its value and 1, elsewhere 0.

    Raises:
        ValueError: The lengths differ, or a part is not among the names.
    """
    import numpy as np

    index = {name: position for position, name in enumerate(names)}
    if unknown := sorted(set(parts) - index.keys()):
        raise ValueError(f"{unknown} not among the parts {list(names)}")
    sums = np.zeros((len(values), len(index), 2))
    for item, (value, part) in enumerate(zip(values, parts, strict=True)):
        sums[item, index[part]] = value, 1
    return sums


def mean_of_parts(sums: ArrayLike) -> NDArray[Any]:
    """The mean over the parts of each part's own mean.

    Args:
        sums: Shape ``(..., K, 2)``: sum of the values and number of items of each part.

    Returns:
        Shape ``(...)``; nan where a part has no items, since the mean of the others is another number.
    """
    import numpy as np

    totals = np.asarray(sums, dtype=float)
    mean: NDArray[Any] = ratio(totals[..., 0], totals[..., 1]).mean(axis=-1)
    return mean
