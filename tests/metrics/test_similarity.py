import math

import pytest

from geoeval.metrics.overlap import rouge_l
from geoeval.metrics.similarity import answer_similarity, text_similarity

np = pytest.importorskip("numpy")
A = ["A", "A", "B", "B", "C", None, "A", "C", "B"]
B = ["A", "B", "B", "C", "C", "A", None, "C", "A"]
GOLD = [("A",), ("C",), ("B",), ("A",), ("A",), ("A",), ("A",), ("A",), ("A",)]


def by_name(metrics):
    return {metric.name: metric for metric in metrics}


def test_answers():
    found = by_name(answer_similarity(A, B, GOLD, range(9), offered=[4] * 9, labels="ABC"))
    assert (found["same_answer"].value, found["same_answer"].n) == (4 / 7, 7)  # both read: items 0-4, 7 and 8
    wrong = found["same_answer_both_wrong"]  # items 1, 3, 4, 7
    assert (wrong.value, wrong.n, wrong.note) == (2 / 4, 4, "evenly spread mistakes: 0.333")
    assert wrong.low < 0.5 < wrong.high


def test_kappa_equals_scikit_learn():
    sklearn = pytest.importorskip("sklearn.metrics")
    found = by_name(answer_similarity(A, B, GOLD, range(9), offered=[4] * 9, labels="ABC"))["cohen_kappa"]
    read = [(x, y) for x, y in zip(A, B, strict=True) if x and y]
    assert found.value == pytest.approx(sklearn.cohen_kappa_score(*zip(*read, strict=True)))
    assert found.n == 7


def test_kappa_of_one_label_is_undefined():
    found = by_name(answer_similarity(["A"] * 9, ["A"] * 9, [("A",)] * 9, range(9), offered=[4] * 9, labels="AB"))
    assert math.isnan(found["cohen_kappa"].value)
    assert math.isnan(found["same_answer_both_wrong"].value)
    assert found["same_answer_both_wrong"].n == 0


def test_without_labels_there_is_no_kappa_and_without_options_no_chance():
    found = by_name(answer_similarity(A, B, GOLD, range(9), offered=[0] * 9))
    assert set(found) == {"same_answer", "same_answer_both_wrong"}
    assert found["same_answer_both_wrong"].note == ""


def test_texts():
    a, b = ["red sandstone layers", "granite", ""], ["red layers of sandstone", "slate", ""]
    found = text_similarity(a, b, range(3))
    assert found.value == pytest.approx(rouge_l(a[0], b[0]) / 3)
    assert found.value == text_similarity(b, a, range(3)).value
    assert text_similarity(["word " * 1_000_000], ["word " * 1_000_000], [0]).value == 1
