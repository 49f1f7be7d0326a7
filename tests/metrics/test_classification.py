import math
import random
import time

import pytest

from geoeval.metrics.classification import (
    class_table,
    classification_from_counts,
    classification_summary,
    confusion_cells,
    confusion_table,
    majority_baseline,
    random_baseline,
)
from geoeval.metrics.intervals import cluster_bootstrap

np = pytest.importorskip("numpy")
LETTERS = ("A", "B", "C", "D")


def replies(n=400, seed=0):
    draw = random.Random(seed)
    gold = [draw.choice("AABCCCD") for _ in range(n)]
    return gold, [draw.choice([letter, letter, draw.choice(LETTERS), None]) for letter in gold]


def test_by_hand():
    gold = ["A", "A", "A", "B", "B", "C"]
    read = ["A", "A", "B", "B", None, "A"]
    summary = classification_summary(gold, read, LETTERS, options=["ABCD"] * 3 + ["AB"] * 3)
    assert summary.confusion["A"] == {"A": 2, "B": 1, "C": 0, "D": 0, "unread": 0}
    assert summary.confusion["B"] == {"A": 0, "B": 1, "C": 0, "D": 0, "unread": 1}
    a, b, c, d = (summary.classes[letter] for letter in LETTERS)
    assert (a.precision, a.recall, a.f1, a.support, a.named) == pytest.approx((2 / 3, 2 / 3, 2 / 3, 3, 3))
    assert (b.precision, b.recall, b.f1, b.support, b.named) == pytest.approx((1 / 2, 1 / 2, 1 / 2, 2, 2))
    assert math.isnan(c.precision)
    assert (c.recall, c.f1, c.support, c.named) == (0, 0, 1, 0)
    assert all(map(math.isnan, (d.precision, d.recall, d.f1)))
    assert dict(summary) == pytest.approx(
        {
            "accuracy": 3 / 6,
            "accuracy_valid": 3 / 5,
            "parse_rate": 5 / 6,
            "macro_f1": (2 / 3 + 1 / 2 + 0) / 3,  # D has no items
            "balanced_accuracy": (2 / 3 + 1 / 2 + 0) / 3,
            # covariance 3*6 - (3*3 + 2*2 + 1*0) = 5, gold 36 - 14 = 22, replies 36 - (9 + 4 + 1) = 22
            "mcc": 5 / 22,
            "random_baseline": (3 / 4 + 3 / 2) / 6,
            "majority_baseline": 3 / 6,
        }
    )
    assert (summary.n["accuracy"], summary.n["accuracy_valid"], len(summary)) == (6, 5, 8)


def test_equals_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    gold, read = replies()
    summary = classification_summary(gold, read)
    words = [letter or "unread" for letter in read]
    assert summary["accuracy"] == pytest.approx(metrics.accuracy_score(gold, words))
    assert summary["mcc"] == pytest.approx(metrics.matthews_corrcoef(gold, words))
    assert summary["macro_f1"] == pytest.approx(metrics.f1_score(gold, words, labels=LETTERS, average="macro"))
    recall = metrics.recall_score(gold, words, labels=LETTERS, average="macro")
    assert summary["balanced_accuracy"] == pytest.approx(recall)
    for position, column in enumerate(metrics.precision_recall_fscore_support(gold, words, labels=LETTERS)):
        ours = [tuple(vars(summary.classes[letter]).values())[position] for letter in LETTERS]
        assert ours == pytest.approx(list(column))


@pytest.mark.parametrize(
    ("gold", "read", "expected"),
    [
        # one class replied throughout: no correlation, as scikit-learn has it
        (["A", "B", "C"], ["A", "A", "A"], {"accuracy": 1 / 3, "balanced_accuracy": 1 / 3, "mcc": 0.0}),
        (["A", "B"], [None, None], {"accuracy": 0.0, "accuracy_valid": math.nan, "parse_rate": 0.0, "mcc": 0.0}),
        (["A", "B"], ["A", "B"], {"accuracy": 1.0, "macro_f1": 1.0, "mcc": 1.0}),
        (["A", "B"], ["B", "A"], {"accuracy": 0.0, "macro_f1": 0.0, "mcc": -1.0}),
        # nothing to correlate with when all items are of one class
        (["A", "A"], ["A", "B"], {"accuracy": 0.5, "macro_f1": 2 / 3, "balanced_accuracy": 0.5, "mcc": math.nan}),
        # B has no items: that it is named costs A's recall, and no zero of its own
        (["A", "C"], ["B", "C"], {"macro_f1": 0.5}),
        ([], [], dict.fromkeys(["accuracy", "parse_rate", "macro_f1", "balanced_accuracy", "mcc"], math.nan)),
        ([], [], {"random_baseline": math.nan, "majority_baseline": math.nan}),
    ],
)
def test_edges(gold, read, expected):
    summary = classification_summary(gold, read, ["A", "B", "C"])
    assert {name: summary[name] for name in expected} == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("accepted", "read", "row"),
    [
        (("B", "C"), "C", "C"),  # an accepted reply decides: it is no error of any class
        (("B", "C"), "B", "B"),
        (("B", "C"), "A", "B"),  # else the first in the order of labels ...
        (("C", "B"), "A", "B"),  # ... however the item lists them
        (("C", "B"), None, "B"),
        ("C", "A", "C"),
    ],
)
def test_items_that_accept_several_labels(accepted, read, row):
    table = confusion_table(confusion_cells([accepted], [read], LETTERS).sum(axis=0), LETTERS)
    assert table[row][read or "unread"] == 1
    assert sum(sum(counts.values()) for counts in table.values()) == 1


@pytest.mark.parametrize(
    ("gold", "read", "message"),
    [
        (["A", "E"], ["A", "A"], r"item 1: \['E'\] not among"),
        (["A", "B"], ["E", "A"], r"item 0: \['E'\] not among"),
        (["A", ()], ["A", "A"], "at least one accepted"),
        (["A", "A"], ["A"], "zip"),
    ],
)
def test_mistakes_of_the_caller_raise(gold, read, message):
    with pytest.raises(ValueError, match=message):
        confusion_cells(gold, read, LETTERS)


def test_more_mistakes_of_the_caller_raise():
    with pytest.raises(ValueError, match="repeat"):
        confusion_cells(["A"], ["A"], ["A", "A"])
    with pytest.raises(ValueError, match="1 items but 0 lists"):
        classification_summary(["A"], ["A"], options=[])
    with pytest.raises(ValueError, match="no options"):
        random_baseline(["AB", ""])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["ABCD"] * 10, 0.25),
        (["ABCDEF", "ABC", "ABCDE"], 0.2333),  # FORGE's missing part: published as 23.3 %
        (["ABC", "ABCD"], 0.2917),  # not 1 / 3.5
    ],
)
def test_random_baseline(options, expected):
    assert random_baseline(options) == pytest.approx(expected, abs=5e-5)


def test_majority_baseline():
    assert majority_baseline(["A", "B", "B", "C"]) == 0.5
    assert majority_baseline([("A", "C"), ("B", "C"), "A", ("C",)]) == 0.75  # C is accepted by three
    assert majority_baseline([("A", "A"), "B"]) == 0.5


def test_many_matrices_at_once_equal_one_by_one():
    tables = [confusion_cells(*replies(30, seed), LETTERS).sum(axis=0) for seed in range(20)]
    together = classification_from_counts(np.array(tables).reshape(4, 5, 4, 5))
    for position, table in enumerate(tables):
        for name, value in classification_from_counts(table).items():
            assert together[name].reshape(-1)[position] == pytest.approx(float(value), nan_ok=True)


def test_bootstrap_equals_recomputing_each_resample_with_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    gold, read = replies(80, 3)
    words = np.array([letter or "unread" for letter in read])
    stream, expected = np.random.RandomState(5), []
    for _ in range(50):
        drawn = stream.randint(80, size=80, dtype=np.int64)
        score = metrics.f1_score(np.array(gold)[drawn], words[drawn], labels=LETTERS, average="macro", zero_division=0)
        expected.append(score)
    cells = confusion_cells(gold, read, LETTERS)
    result = cluster_bootstrap(cells, None, classification_from_counts, resamples=50, seed=5)
    assert result["macro_f1"] == pytest.approx(tuple(np.quantile(expected, [0.025, 0.975])))


def test_bootstrap_is_fast():
    cells = confusion_cells(*replies(3320), LETTERS)
    start = time.monotonic()
    cluster_bootstrap(cells, None, classification_from_counts)
    assert time.monotonic() - start < 10  # measured: 0.2 s; one resample at a time takes minutes


def test_class_table_holds_plain_numbers():
    scores = class_table(confusion_cells(["A"], ["A"], "AB").sum(axis=0), "AB")["A"]
    assert {type(value) for value in vars(scores).values()} == {float, int}
