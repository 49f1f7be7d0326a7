"""Holm's correction against a table worked by hand, and the test of a rate against the interval it belongs to."""

import math

import pytest

from geoeval.metrics.intervals import clustered_rate
from geoeval.metrics.multiple import holm, rate_test

NAN = float("nan")


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([], []),
        ([0.03], [0.03]),
        # Sorted 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04, and the last is raised to 0.06.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        # Of statsmodels' formula, maximum.accumulate(p * arange(m, 0, -1)) of the sorted p, cut at 1.
        ([0.5, 0.6, 0.9], [1.0, 1.0, 1.0]),
        ([0.02, 0.02], [0.04, 0.04]),
        ([0.2, NAN, 0.01], [0.2, NAN, 0.02]),
        ([0.0, 1.0], [0.0, 1.0]),
    ],
)
def test_holm(p_values, corrected):
    assert holm(p_values) == pytest.approx(corrected, nan_ok=True)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.inf])
def test_no_p_value(wrong):
    with pytest.raises(ValueError, match="no p-values"):
        holm([0.5, wrong])


def test_rate_test_by_hand():
    """60 of 100 against 0.5: z = 0.1 / sqrt(0.25 / 100) = 2, p = 0.0455."""
    difference, p_value = rate_test([1] * 60 + [0] * 40, [0.5] * 100)
    assert (difference, p_value) == (pytest.approx(0.1), pytest.approx(0.045500, abs=1e-6))


def test_items_with_different_chances():
    """Half with 1/2, half with 1/6: mean chance 1/3, variance of one item (1/4 + 5/36) / 2 = 7/36."""
    difference, p_value = rate_test([1] * 50 + [0] * 50, [1 / 2, 1 / 6] * 50)
    z = (1 / 2 - 1 / 3) / math.sqrt(7 / 36 / 100)
    assert difference == pytest.approx(1 / 6)
    assert p_value == pytest.approx(math.erfc(z / math.sqrt(2)))


@pytest.mark.parametrize("n_clusters", [40, 10, 4])
@pytest.mark.parametrize("right", range(0, 41, 3))
def test_significant_exactly_when_the_interval_leaves_chance_out(right, n_clusters):
    values = [1.0] * right + [0.0] * (40 - right)
    clusters = [k % n_clusters for k in range(40)]
    low, high = clustered_rate(values, clusters)
    _, p_value = rate_test(values, [0.25] * 40, clusters)
    assert (p_value < 0.05) == (not low <= 0.25 <= high)


def test_nothing_to_test():
    assert all(map(math.isnan, rate_test([], [])))
    assert math.isnan(rate_test([1, 1], [1.0, 1.0])[1])
    with pytest.raises(ValueError, match="2 values but 1 chances"):
        rate_test([1, 0], [0.5])
