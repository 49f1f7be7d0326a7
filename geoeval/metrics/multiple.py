"""Tests of rates against a known chance, and their correction where several are made at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import erfc, fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

from geoeval.metrics.intervals import effective_size

if TYPE_CHECKING:
    from numpy.typing import NDArray


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (Holm, 1979): the chance of one false alarm among all tests stays below the level.

    The k-th smallest of m p-values is multiplied by m - k + 1, and none may be smaller than one before it.

    Args:
        p_values: Of the tests of one family, 0-1. nan for a test that cannot be made: it stays nan and is not counted.

    Returns:
        The corrected p-values, in the same order, at most 1.

    Raises:
        ValueError: A p-value is not within 0-1.
    """
    if wrong := [p for p in p_values if not isnan(p) and not 0 <= p <= 1]:
        raise ValueError(f"no p-values: {wrong}")
    order = sorted((k for k, p in enumerate(p_values) if not isnan(p)), key=lambda k: p_values[k])
    corrected, largest = [nan] * len(p_values), 0.0
    for rank, k in enumerate(order):
        largest = max(largest, min(1.0, p_values[k] * (len(order) - rank)))
        corrected[k] = largest
    return corrected


def rate_test(
    values: Sequence[float], chances: Sequence[float], clusters: Sequence[Hashable] | NDArray[Any] | None = None
) -> tuple[float, float]:
    """Whether a rate differs from what chance gives on the same items: the score test, two-sided.

    It is the test that `geoeval.metrics.intervals.clustered_rate` inverts, at the same effective size: where all items
    have one chance, p is below 0.05 exactly when the 95 % interval leaves that chance out.

    Args:
        values: 0 or 1 for each item.
        chances: For each item the probability of a 1 by chance.
        clusters: One name for each item, or an array of their numbers; None when all items are independent.

    Returns:
        Difference of the rate to the mean chance, and the p-value; both nan without items, the latter where chance is
        0 or 1 everywhere.

    Raises:
        ValueError: The lengths differ.
    """
    if len(values) != len(chances):
        raise ValueError(f"{len(values)} values but {len(chances)} chances")
    n = len(values)
    if not n:
        return nan, nan
    difference = (fsum(values) - fsum(chances)) / n
    variance = fsum(chance * (1 - chance) for chance in chances) / n
    if variance <= 0:
        return difference, nan
    z = difference / sqrt(variance / effective_size(values, clusters))
    return difference, erfc(abs(z) / sqrt(2))
