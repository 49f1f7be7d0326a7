"""The mean over parts: every part counts alike, and a part without items makes it undefined."""

import math
import statistics

import numpy as np
import pytest

from geoeval.metrics.parts import mean_of_parts, part_sums

NAMES = ("x", "y", "z")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ({"x": [1], "y": [0], "z": [0]}, 1 / 3),
        ({"x": [1] * 98 + [0] * 2, "y": [0], "z": [1, 0]}, (0.98 + 0 + 0.5) / 3),  # pooled it would be 99 of 103
        ({"x": [1, 1], "y": [1], "z": [1, 1, 1]}, 1),
        ({"x": [0, 0], "y": [0], "z": [0]}, 0),
        ({"x": [1], "y": [1]}, math.nan),
        ({}, math.nan),
    ],
)
def test_every_part_counts_alike(items, expected):
    values = [value for part in items.values() for value in part]
    parts = [name for name, part in items.items() for _ in part]
    assert mean_of_parts(part_sums(values, parts, NAMES).sum(axis=0)) == pytest.approx(expected, nan_ok=True)


def test_many_at_once_is_each_alone():
    rng = np.random.RandomState(0)
    counts = rng.randint(1, 9, size=(50, 4))
    sums = np.stack([rng.randint(0, counts + 1), counts], axis=-1)
    sums[7, 2] = 0
    expected = [
        statistics.fmean(s / n for s, n in row) if all(n for _, n in row) else math.nan for row in sums.tolist()
    ]
    assert mean_of_parts(sums) == pytest.approx(expected, nan_ok=True)


def test_an_unknown_part_is_an_error_of_the_caller():
    with pytest.raises(ValueError, match=r"\['id'\] not among the parts"):
        part_sums([1], ["id"], NAMES)
    with pytest.raises(ValueError, match="zip"):
        part_sums([1, 0], ["x"], NAMES)
