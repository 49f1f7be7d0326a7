"""Agreement and noise against scipy, scikit-learn and published figures; files of marks."""

import json
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from geoeval.judge.agreement import agreement, noise
from geoeval.judge.errors import JudgeError
from geoeval.judge.marks import read_marks_file
from geoeval.metrics.intervals import wilson
from geoeval.types import Judgement

# Shrout and Fleiss (1979), table 2: six targets, four judges; ICC(1,1) is given as .17 in table 4.
SHROUT_FLEISS = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]


def marks(values, **dimensions):
    rows = {name: list(given) for name, given in dimensions.items()}
    return {f"q{i:04}": Judgement(v, {n: r[i] for n, r in rows.items()}) for i, v in enumerate(values)}


def by_name(metrics):
    return {metric.name: metric for metric in metrics}


def correlated(n=300, seed=3, step=1.0):
    stream = np.random.RandomState(seed)
    a = stream.randint(0, 11, n)
    b = np.clip(a + stream.randint(-3, 3, n), 0, 10)
    return (a * step).tolist(), (b * step).tolist()


@pytest.mark.parametrize("step", [1.0, 0.5])
def test_values_are_those_of_scipy_and_scikit_learn(step):
    a, b = correlated(step=step)
    found = by_name(agreement(marks(a), marks(b)).metrics)
    steps = [round(x / step) for x in a], [round(x / step) for x in b]
    assert found["spearman"].value == pytest.approx(stats.spearmanr(a, b).statistic)
    assert found["weighted_kappa"].value == pytest.approx(cohen_kappa_score(*steps, weights="quadratic"))
    assert found["exact"].value == pytest.approx(np.mean(np.array(a) == b))
    assert found["within_1"].value == pytest.approx(np.mean(np.abs(np.subtract(a, b)) <= 1))
    assert found["mean_difference"].value == pytest.approx(np.mean(a) - np.mean(b))
    assert {metric.n for metric in found.values()} == {300}


def test_intervals():
    a, b = correlated()
    found = by_name(agreement(marks(a), marks(b)).metrics)
    exact = sum(x == y for x, y in zip(a, b, strict=True))
    assert (found["exact"].low, found["exact"].high) == pytest.approx(wilson(exact, 300))
    theirs = stats.bootstrap(
        (np.array(a), np.array(b)), lambda x, y: stats.spearmanr(x, y).statistic,
        paired=True, vectorized=False, n_resamples=600, method="percentile", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert (found["spearman"].low, found["spearman"].high) == pytest.approx(theirs, abs=0.02)
    sem = stats.sem(np.subtract(a, b))
    middle = found["mean_difference"]
    assert (middle.low, middle.high) == pytest.approx((middle.value - 1.96 * sem, middle.value + 1.96 * sem), abs=0.03)
    for name in ("spearman", "weighted_kappa", "mean_difference"):
        assert found[name].low < found[name].value < found[name].high


def test_marks_with_many_decimals_have_a_rank_correlation_without_interval():
    stream = np.random.RandomState(1)
    a, b = stream.rand(2, 2500) * 10
    found = by_name(agreement(marks(a.tolist()), marks(b.tolist())).metrics)
    assert found["spearman"].value == pytest.approx(stats.spearmanr(a, b).statistic)
    assert math.isnan(found["spearman"].low)
    assert "no interval" in found["spearman"].note
    assert found["weighted_kappa"].low < found["weighted_kappa"].value < found["weighted_kappa"].high


def test_clusters_widen_the_intervals():
    a, b = correlated(60)
    clusters = {f"q{i:04}": i // 5 for i in range(300)}
    alone = by_name(agreement(marks(a), marks(b)).metrics)
    fivefold = [value for value in a for _ in range(5)], [value for value in b for _ in range(5)]
    clustered = by_name(agreement(marks(fivefold[0]), marks(fivefold[1]), clusters=clusters).metrics)
    for name, metric in alone.items():
        assert clustered[name].value == pytest.approx(metric.value, abs=0.01)
        assert clustered[name].high - clustered[name].low == pytest.approx(metric.high - metric.low, rel=0.15)


def test_levels_dimensions_and_what_is_left_out():
    a = marks([1, 5, 9, 9], soundness=[1, 2, 3, 4])
    b = marks([1, 6, 5, 9])
    b["q0002"] = Judgement(None, reason="unreadable: no marks")
    b["extra"] = Judgement(5)
    found = agreement(a, b, levels={"q0000": "ID", "q0001": "Cmp", "q0003": "Cmp"})
    assert found.left_out == ("extra", "q0002")
    assert by_name(found.metrics)["exact"].n == 3
    assert list(found.levels) == ["Cmp", "ID"]
    assert by_name(found.levels["Cmp"])["exact"].value == 0.5
    assert by_name(found.levels["ID"])["exact"].n == 1
    assert found.dimensions == {}, "the other side gives none"
    assert by_name(agreement(a, a).dimensions["soundness"])["exact"].value == 1


def test_empty_answers_are_no_agreement():
    both = {"x": Judgement(0, reason="empty_answer"), **marks([1, 2])}
    found = agreement(both, both)
    assert found.left_out == ("x",)
    assert by_name(found.metrics)["exact"].n == 2


@pytest.mark.parametrize(
    ("a", "b", "undefined"),
    [
        ([], [], {"exact", "within_1", "spearman", "weighted_kappa", "mean_difference"}),
        ([7, 7, 7], [7, 7, 7], {"spearman", "weighted_kappa"}),
        ([7, 7, 7], [6, 7, 8], {"spearman"}),
        ([3], [4], {"spearman"}),
    ],
)
def test_undefined_values_are_nan(a, b, undefined):
    metrics = agreement(marks(a), marks(b)).metrics
    assert {metric.name for metric in metrics if math.isnan(metric.value)} == undefined


def test_no_interval_out_of_equal_resamples():
    for metric in agreement(marks([1, 5, 9]), marks([1, 5, 9])).metrics:
        if metric.name in ("weighted_kappa", "mean_difference", "spearman"):
            assert math.isnan(metric.low)


def test_the_order_of_items_changes_nothing():
    a, b = (marks(side) for side in correlated(50))
    turned = {id_: a[id_] for id_ in reversed(list(a))}
    assert agreement(a, b) == agreement(turned, b)


def test_icc_as_published():
    repeats = [marks(column) for column in zip(*SHROUT_FLEISS, strict=True)]
    found = by_name(noise(repeats).metrics)
    assert found["icc"].value == pytest.approx(0.17, abs=0.005)
    assert found["moved_more_than_1"].value == 1
    assert found["mean_within_item_sd"].value == pytest.approx(np.mean(np.std(SHROUT_FLEISS, axis=1, ddof=1)))


def test_icc_is_that_of_the_analysis_of_variance():
    stream = np.random.RandomState(5)
    rows = np.clip(stream.randint(0, 11, (200, 1)) + stream.randint(-1, 2, (200, 3)), 0, 10)
    found = by_name(noise([marks(column.tolist()) for column in rows.T]).metrics)
    f = stats.f_oneway(*rows).statistic
    assert found["icc"].value == pytest.approx((f - 1) / (f + 2))
    assert found["icc"].low < found["icc"].value < found["icc"].high
    assert found["moved_more_than_1"].value == pytest.approx(np.mean(np.ptp(rows, axis=1) > 1))


def test_a_judge_without_noise_and_one_that_is_always_the_same():
    steady = by_name(noise([marks([1, 5, 9])] * 3).metrics)
    assert (steady["icc"].value, steady["mean_within_item_sd"].value, steady["moved_more_than_1"].value) == (1, 0, 0)
    assert math.isnan(by_name(noise([marks([7, 7, 7])] * 2).metrics)["icc"].value)
    assert all(math.isnan(metric.value) for metric in noise([{}, {}]).metrics)
    with pytest.raises(ValueError, match="judged twice"):
        noise([marks([1])])


def test_noise_uses_items_marked_every_time():
    first, second = marks([1, 5, 9]), marks([2, 8, 9])
    second["q0002"] = Judgement(None, reason="unreadable: no reply")
    found = noise([first, second], levels=dict.fromkeys(first, "ID"))
    assert found.left_out == ("q0002",)
    assert by_name(found.metrics)["moved_more_than_1"].value == 0.5
    assert by_name(found.levels["ID"])["moved_more_than_1"].n == 2


def test_files_of_marks(tmp_path):
    csv = tmp_path / "people.csv"
    csv.write_text('\ufeffid, score,correctness\r\nq1,7.5,8\r\n"q,2",,\r\n', encoding="utf-8")
    assert read_marks_file(csv) == {"q1": Judgement(7.5, {"correctness": 8}), "q,2": Judgement(None)}
    jsonl = tmp_path / "people.jsonl"
    rows = [
        {"id": "q1", "score": 7, "dimensions": {"correctness": 8, "evidence": None}},
        {"id": "q2", "reply": "x", "judgement": {"score": 3, "dimensions": {}, "comment": "", "calls": []}},
        {"id": "q3", "reply": "x", "judgement": None},
    ]
    jsonl.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert read_marks_file(jsonl) == {"q1": Judgement(7, {"correctness": 8}), "q2": Judgement(3)}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("m.csv", "id,mark\nq1,7\n", "write id,score"),
        ("m.csv", "id,score\nq1,7,8\n", "line 2: not 2 cells"),
        ("m.csv", "id,score\nq1,11\n", "line 2: score is '11', not a number from 0 to 10"),
        ("m.csv", "id,score\nq1,nan\n", "not a number"),
        ("m.csv", "id,score\nq1,7\nq1,7\n", "occurs twice"),
        ("m.csv", "", "header"),
        ("m.jsonl", '{"id": 1, "score": 2}', "line 1: id is 1"),
        ("m.jsonl", '{"id": "q"}', "no score"),
        ("m.jsonl", '{"id": "q", "score": true}', "not a number"),
        ("m.jsonl", '{"id": "q", "score": 1, "dimensions": [1]}', "not a map"),
        ("m.jsonl", "[1]", "not an object"),
        ("m.jsonl", "{", "line 1: not JSON"),
        ("m.txt", "", "read from .csv and .jsonl"),
    ],
)
def test_broken_files_of_marks(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(JudgeError) as error:
        read_marks_file(path)
    assert words in str(error.value)
    assert str(path) in str(error.value)


def test_a_missing_file_of_marks(tmp_path):
    with pytest.raises(JudgeError, match="cannot be read"):
        read_marks_file(tmp_path / "none.csv")
