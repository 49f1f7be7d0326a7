import math
import random

import pytest

from geoeval.metrics import intervals
from geoeval.metrics.intervals import (
    cluster_bootstrap,
    clustered_mean,
    clustered_rate,
    mcnemar,
    paired_bootstrap,
    wilson,
)

np = pytest.importorskip("numpy")


def mean_of(sums):
    return {"mean": sums[..., 0] / sums[..., 1]}


def items_of(values):
    return np.column_stack([values, np.ones(len(values))])


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # the four rows of Newcombe (1998), table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (295, 587, 0.4622, 0.5429),  # always-answer on GeoRefusalBench
        (20, 20, 0.8389, 1.0000),
    ],
)
def test_wilson(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_equals_scipy():
    stats = pytest.importorskip("scipy.stats")
    for successes, n, confidence in [(0, 1, 0.95), (1, 1, 0.9), (3, 10, 0.99), (500, 1000, 0.5), (7, 100_000, 0.95)]:
        expected = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
        assert wilson(successes, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_at_the_edges():
    assert all(map(math.isnan, wilson(0, 0)))
    assert {wilson(0, n).low for n in range(1, 50)} == {0.0}  # rounding would give -3e-17 at 9 and 6e-17 at 5
    assert {wilson(n, n).high for n in range(1, 50)} == {1.0}
    for successes, n in [(-1, 5), (6, 5)]:
        with pytest.raises(ValueError, match="of 5"):
            wilson(successes, n)


def equation_4(values, clusters):
    """Miller (2024), equation 4, read off the paper with its triple sum."""
    n, mean = len(values), sum(values) / len(values)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j and clusters[i] == clusters[j]]
    cross = sum((values[i] - mean) * (values[j] - mean) for i, j in pairs)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n + cross / n**2)


def test_clustered_mean_by_hand():
    result = clustered_mean([1, 1, 0, 0], ["a", "a", "b", "b"])
    # squares 4 * 0.25 = 1, cluster sums +1 and -1: sqrt(1 / 3 + 2) / 4
    assert result[:2] == pytest.approx((0.5, math.sqrt(7 / 3) / 4))
    assert (result.n, result.n_clusters) == (4, 2)
    assert (result.low, result.high) == pytest.approx((0.5 - 1.959964 * result.stderr, 0.5 + 1.959964 * result.stderr))
    # opposite deviations within a cluster cancel: sqrt(1 / 3) / 4
    assert clustered_mean([1, 0, 1, 0], ["a", "a", "b", "b"]).stderr == pytest.approx(math.sqrt(1 / 3) / 4)
    # without clusters: the textbook standard error, sqrt(variance / n)
    assert clustered_mean([1, 1, 0, 0]).stderr == pytest.approx(math.sqrt(1 / 3 / 4))


def test_clustered_mean_is_equation_4():
    draw = random.Random(0)
    values = [draw.random() for _ in range(60)]
    clusters = [draw.randrange(20) for _ in values]
    assert clustered_mean(values, clusters).stderr == pytest.approx(equation_4(values, clusters), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "clusters", "mean"), [([], [], math.nan), ([0.25], ["a"], 0.25), ([0, 1, 1, 0], ["a"] * 4, 0.5)]
)
def test_no_standard_error_from_fewer_than_two_clusters(values, clusters, mean):
    result = clustered_mean(values, clusters)
    assert result.mean == pytest.approx(mean, nan_ok=True)
    assert all(map(math.isnan, (result.stderr, result.low, result.high)))


def test_the_bootstrap_equals_drawing_items_one_by_one():
    draw = random.Random(1)
    values = [draw.random() for _ in range(40)]
    clusters = [draw.randrange(15) for _ in values]
    names = list(dict.fromkeys(clusters))
    stream, means = np.random.RandomState(7), []
    for _ in range(300):
        drawn = [names[k] for k in stream.randint(len(names), size=len(names), dtype=np.int64)]
        resample = [value for name in drawn for value, cluster in zip(values, clusters, strict=True) if cluster == name]
        means.append(sum(resample) / len(resample))
    expected = np.quantile(means, [0.05, 0.95])
    result = cluster_bootstrap(items_of(values), clusters, mean_of, resamples=300, seed=7, confidence=0.9)
    assert result["mean"] == pytest.approx(tuple(expected), abs=1e-12)


def test_the_bootstrap_agrees_with_the_clustered_standard_error():
    draw = random.Random(2)
    values = [float(draw.random() < rate) for rate in (0.1, 0.5, 0.9) * 100 for _ in range(3)]
    clusters = [position // 3 for position in range(len(values))]
    clustered, plain = clustered_mean(values, clusters), clustered_mean(values)
    assert clustered.stderr > 1.2 * plain.stderr
    assert cluster_bootstrap(items_of(values), clusters, mean_of)["mean"] == pytest.approx(clustered[2:4], abs=0.006)
    assert cluster_bootstrap(items_of(values), None, mean_of)["mean"] == pytest.approx(plain[2:4], abs=0.006)


def test_the_bootstrap_does_not_depend_on_how_it_is_cut_up(monkeypatch):
    items, clusters = items_of(np.arange(30) % 7), np.arange(30) // 2
    whole = cluster_bootstrap(items, list(clusters), mean_of, resamples=500)
    assert whole != cluster_bootstrap(items, list(clusters), mean_of, resamples=500, seed=1)
    monkeypatch.setattr(intervals, "_CELLS_AT_ONCE", 100)
    assert whole == cluster_bootstrap(items, list(clusters), mean_of, resamples=500)


def test_undefined_resamples_are_left_out():
    def rate_of_rare(sums):
        with np.errstate(invalid="ignore"):
            return {"rate": sums[..., 0] / sums[..., 1], "never": sums[..., 0] * np.nan}

    result = cluster_bootstrap([[1, 1], [0, 0], [0, 0]], None, rate_of_rare)  # undefined when the first is not drawn
    assert result["rate"] == (1.0, 1.0)
    assert all(map(math.isnan, result["never"]))


@pytest.mark.parametrize(("items", "clusters"), [(np.zeros((0, 2)), []), ([[1, 1], [0, 1]], ["a", "a"])])
def test_no_interval_from_fewer_than_two_clusters(items, clusters):
    with np.errstate(invalid="ignore"):
        assert all(map(math.isnan, cluster_bootstrap(items, clusters, mean_of)["mean"]))


def test_paired_bootstrap():
    draw = random.Random(3)
    a = [float(draw.random() < 0.7) for _ in range(300)]
    b = [float(draw.random() < 0.5) for _ in range(300)]
    result = paired_bootstrap(a, b)
    assert result.difference == pytest.approx(sum(a) / 300 - sum(b) / 300)
    reference = clustered_mean([x - y for x, y in zip(a, b, strict=True)])
    assert (result.low, result.high) == pytest.approx((reference.low, reference.high), abs=0.008)
    assert result.p_value < 0.001
    assert (result.n, result.n_clusters) == (300, 300)
    assert result == paired_bootstrap(a, b)
    swapped = paired_bootstrap(b, a)
    assert (swapped.low, swapped.high, swapped.p_value) == pytest.approx((-result.high, -result.low, result.p_value))


def test_paired_bootstrap_resamples_clusters():
    a, b = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0] * 10, [0.0, 0.0, 1.0, 0.0, 1.0, 1.0] * 10
    once = paired_bootstrap(a, b)
    thrice = paired_bootstrap(a * 3, b * 3, list(range(60)) * 3)  # copies of an item are no new evidence
    assert thrice[:4] == pytest.approx(once[:4])
    assert (thrice.n, thrice.n_clusters) == (180, 60)


def test_paired_bootstrap_at_the_edges():
    same = paired_bootstrap([1, 0, 1], [1, 0, 1])
    assert same[:4] == (0.0, 0.0, 0.0, 1.0)
    sure = paired_bootstrap([1] * 50, [0] * 50, resamples=999)
    assert sure[:4] == (1.0, 1.0, 1.0, 2 / 1000)
    assert paired_bootstrap([1, 1], [0, 1], ["a", "a"]).difference == 0.5
    for nothing in (paired_bootstrap([], [])[:4], paired_bootstrap([1, 1], [0, 1], ["a", "a"])[1:4]):
        assert all(map(math.isnan, nothing))
    with pytest.raises(ValueError, match="zip"):
        paired_bootstrap([1], [1, 0])
    with pytest.raises(ValueError, match="2 items but 1 clusters"):
        paired_bootstrap([1, 0], [1, 0], ["a"])


@pytest.mark.parametrize(
    ("b", "c", "p_value"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 2 / 32),
        (0, 6, 2 / 64),
        (2, 10, 2 * (1 + 12 + 66) / 4096),
        (7, 7, 1.0),
        (3000, 2000, 0.0),  # whole numbers of 5,000 bits
    ],
)
def test_mcnemar(b, c, p_value):
    assert mcnemar(b, c) == pytest.approx(p_value, rel=1e-12, abs=1e-40)


def test_mcnemar_equals_scipy():
    stats = pytest.importorskip("scipy.stats")
    for b, c in [(3, 9), (40, 61), (121, 59), (900, 1000)]:
        assert mcnemar(b, c) == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 2)


@pytest.mark.parametrize(
    ("values", "clusters", "expected"),
    [
        ([1, 0, 1, 1], None, wilson(3, 4)),
        ([1, 0, 1, 1], list("abcd"), wilson(3, 4)),
        # Two copies of each. By hand: 16 SE^2 is 4/3 plain and 7/3 clustered, so the design effect is 7/4.
        ([1, 1, 0, 0], list("aabb"), wilson(8 / 7, 16 / 7)),
        # Nothing varies: one trial a cluster.
        ([1, 1, 1, 1], list("aabb"), wilson(2, 2)),
        ([0, 0, 0], list("aaa"), wilson(0, 1)),
        # Opposites within a cluster would narrow the interval; it is never narrower than the plain one.
        ([1, 0, 1, 0], list("aabb"), wilson(2, 4)),
    ],
)
def test_clustered_rate(values, clusters, expected):
    assert clustered_rate(values, clusters) == pytest.approx(expected)


def test_clustered_rate_of_nothing_is_nan():
    assert all(math.isnan(end) for end in clustered_rate([], []))
