import itertools
import math
import random
from math import nan, sqrt

import pytest

from geoeval.metrics.classification import classification_from_counts, confusion_cells, ratio
from geoeval.metrics.intervals import mcnemar
from geoeval.metrics.paired import (
    Measured,
    PairedCounts,
    detectable_difference,
    detectable_rate_difference,
    paired_differences,
    paired_rate_interval,
)

np = pytest.importorskip("numpy")
Z_ALPHA, Z_POWER = 1.959964, 0.841621


def mean(sums):
    return {"mean": ratio(sums[..., 0], sums[..., 1])}


def measured_means(a, b):
    return Measured(np.column_stack([a, np.ones(len(a))]), np.column_stack([b, np.ones(len(b))]), mean)


@pytest.mark.parametrize(
    ("discordant", "both", "neither", "low", "high"),
    [  # Newcombe (1998), method 10, first minus second, as an implementation that reproduces his table III gives them
        ((3, 0), 27, 0, -0.0310, 0.2562),
        ((0, 0), 27, 3, -0.1097, 0.1097),
        ((0, 15), 15, 0, -0.6685, -0.2969),
        ((0, 1), 0, 29, -0.1667, 0.0834),
        ((0, 20), 10, 0, -0.8077, -0.4548),
    ],
)
def test_interval_of_a_difference_of_paired_rates(discordant, both, neither, low, high):
    first, second = discordant
    counts = PairedCounts(both, only_a=second, only_b=first, neither=neither)
    assert paired_rate_interval(counts) == pytest.approx((low, high), abs=6e-5)
    swapped = PairedCounts(both, only_a=first, only_b=second, neither=neither)
    assert paired_rate_interval(swapped) == pytest.approx((-high, -low), abs=6e-5)


def test_interval_widens_with_clusters_and_needs_items():
    counts = PairedCounts(40, 5, 15, 20)
    plain, clustered = paired_rate_interval(counts), paired_rate_interval(counts, 40)
    assert clustered.low < plain.low < 0.125 < plain.high < clustered.high
    assert clustered == pytest.approx(paired_rate_interval(PairedCounts(20, 2.5, 7.5, 10)), abs=1e-12)
    assert all(map(math.isnan, paired_rate_interval(PairedCounts(0, 0, 0, 0))))


def test_intervals_cover():
    """Of 2,000 draws with a known difference about 95 % of the intervals hold it; the normal one fails here."""
    stream = random.Random(1)
    shares = (0.72, 0.02, 0.08, 0.18)  # both, only a, only b, neither
    held = 0
    for _ in range(2000):
        drawn = stream.choices(range(4), shares, k=50)
        low, high = paired_rate_interval(PairedCounts(*(drawn.count(k) for k in range(4))))
        held += low <= 0.06 <= high
    assert 0.94 <= held / 2000 <= 0.985


def connor(difference, discordance, n):
    """Zero where the difference is the one that n items show."""
    needed = (Z_ALPHA * sqrt(discordance) + Z_POWER * sqrt(discordance - difference**2)) ** 2 / difference**2
    return needed - n


@pytest.mark.parametrize(("discordance", "n"), [(0.2, 100), (0.1, 587), (0.5, 40), (0.3, 4000)])
def test_detectable_rate_difference_solves_connor(discordance, n):
    difference = detectable_rate_difference(discordance, n)
    assert difference <= discordance
    assert connor(difference, discordance, n) == pytest.approx(0, abs=1e-3 * n)


@pytest.mark.parametrize(("discordance", "n"), [(0.0, 50), (0.02, 50), (0.001, 1000)])
def test_detectable_rate_difference_where_few_items_differ(discordance, n):
    difference = detectable_rate_difference(discordance, n)
    assert difference > discordance
    assert connor(difference, difference, n) == pytest.approx(0, abs=1e-3 * n)


def test_detectable_rate_difference_has_the_power_it_claims():
    """By simulation of the exact test: about four of five are found, at half the difference far fewer."""
    stream, discordance, n = random.Random(2), 0.2, 400
    difference = detectable_rate_difference(discordance, n)

    def found(shown):
        only_b, only_a = (discordance + shown) / 2, (discordance - shown) / 2
        drawn = stream.choices((0, 1, 2), (only_b, only_a, 1 - discordance), k=n)
        return mcnemar(drawn.count(0), drawn.count(1)) < 0.05

    assert 0.72 <= sum(found(difference) for _ in range(1000)) / 1000 <= 0.85
    assert sum(found(difference / 2) for _ in range(1000)) / 1000 < 0.4


def test_detectable_at_the_edges():
    assert math.isnan(detectable_rate_difference(0.5, 5))  # no five items have p < 0.05
    assert detectable_rate_difference(0.0, 6) == 1
    assert detectable_difference(0.1) == pytest.approx(0.1 * (Z_ALPHA + Z_POWER), abs=1e-6)
    assert math.isnan(detectable_difference(0.0))
    assert math.isnan(detectable_difference(nan))


def swaps_by_hand(a, b, clusters):
    """The p-value of the mean, from all swaps."""
    totals = {}
    for x, y, cluster in zip(a, b, clusters, strict=True):
        totals[cluster] = totals.get(cluster, 0) + y - x
    observed = abs(sum(totals.values()))
    signs = list(itertools.product((1, -1), repeat=len(totals)))
    large = sum(
        abs(sum(s * t for s, t in zip(sign, totals.values(), strict=True))) >= observed - 1e-9 for sign in signs
    )
    return large / len(signs)


def test_randomization_test_tries_all_swaps_of_clusters():
    stream = random.Random(3)
    a, b = [stream.random() for _ in range(24)], [stream.random() + 0.2 for _ in range(24)]
    clusters = [f"c{i % 9}" for i in range(24)]
    found = paired_differences([measured_means(a, b)], clusters)["mean"]
    assert found.p_value == pytest.approx(swaps_by_hand(a, b, clusters), abs=1e-12)
    assert found.b - found.a == pytest.approx(sum(y - x for x, y in zip(a, b, strict=True)) / 24)
    assert found.low < found.b - found.a < found.high
    assert found.n_clusters == 9


def test_randomization_test_of_independent_rates_is_mcnemar():
    a, b = [1] * 3 + [0] * 9 + [1] * 20, [0] * 3 + [1] * 9 + [1] * 20
    found = paired_differences([measured_means(a, b)], range(32))["mean"]
    assert found.p_value == pytest.approx(mcnemar(3, 9), abs=1e-12)


def test_drawn_swaps_agree_with_all_swaps():
    a, b = [1] * 6 + [0] * 18, [0] * 6 + [1] * 18  # 2^24 swaps: drawn
    found = paired_differences([measured_means(a, b)], range(24))["mean"]
    assert found.p_value == pytest.approx(mcnemar(6, 18), abs=0.005)


def test_permutation_test_of_scipy_agrees():
    stats = pytest.importorskip("scipy.stats")
    stream = random.Random(4)
    a = [stream.random() for _ in range(60)]
    b = [x + stream.gauss(0.03, 0.1) for x in a]
    expected = stats.permutation_test(
        (a, b), lambda x, y: np.mean(y) - np.mean(x), permutation_type="samples", n_resamples=9999, random_state=0
    )
    found = paired_differences([measured_means(a, b)], range(60))["mean"]
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.02)
    interval = stats.bootstrap(
        ([y - x for x, y in zip(a, b, strict=True)],), np.mean, method="percentile", random_state=0
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=0.002)


def test_composites_share_their_draws_and_equal_models_do_not_differ():
    stream = random.Random(5)
    gold = [stream.choice("ABC") for _ in range(60)]
    read = [g if stream.random() < 0.6 else stream.choice(["A", "B", "C", None]) for g in gold]
    cells = confusion_cells(gold, read, "ABC")
    same = paired_differences([Measured(cells, cells, classification_from_counts)], range(60))
    assert {d.p_value for d in same.values()} == {1.0}
    assert all(math.isnan(d.low) and math.isnan(d.stderr) for d in same.values())
    better = confusion_cells(gold, gold, "ABC")
    found = paired_differences([Measured(cells, better, classification_from_counts)], range(60))
    assert found["macro_f1"].b == found["accuracy"].b == 1
    assert found["macro_f1"].p_value < 0.001
    assert found["accuracy"].low > 0


def test_few_clusters_show_nothing():
    a, b = [0.0] * 5, [1.0, 0.9, 0.8, 0.7, 0.6]
    found = paired_differences([measured_means(a, b)], range(5))["mean"]
    assert found.p_value == pytest.approx(2 / 32)
    assert math.isnan(found.low)
    assert math.isnan(found.stderr)
    empty = paired_differences([measured_means([], [])], [])["mean"]
    assert math.isnan(empty.a)
    assert math.isnan(empty.p_value)
