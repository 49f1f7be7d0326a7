import math
import random

import pytest

from geoeval.metrics.classification import confusion_cells
from geoeval.metrics.intervals import cluster_bootstrap, wilson
from geoeval.metrics.refusal import VERDICTS, refusal_from_counts, refusal_rates, refusal_summary

np = pytest.importorskip("numpy")
ANSWER, FALSE_PREMISE, AMBIGUOUS, GRANULARITY, NONFACTUAL, INFO_MISSING = VERDICTS

# GeoRefusalBench has 295 answerable items of 587; how the other 292 divide is not published.
GOLD = [ANSWER] * 295 + [FALSE_PREMISE] * 70 + [AMBIGUOUS] * 60 + [GRANULARITY] * 50 + [NONFACTUAL] * 40
GOLD += [INFO_MISSING] * 72


def test_the_benchmark_and_its_metrics_agree_on_the_verdicts():
    from geoeval.benchmarks import georefusal

    assert georefusal.VERDICTS == VERDICTS


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            ANSWER,
            {
                "accuracy": 295 / 587,
                "parse_rate": 1.0,
                "balanced_accuracy": 1 / 6,
                "mcc": 0.0,
                "answer_accuracy": 1.0,
                "refusal_accuracy": 0.0,
                "false_refusal_rate": 0.0,
                "missed_refusal_rate": 1.0,
                "detection_precision": math.nan,
                "detection_recall": 0.0,
                "detection_f1": 0.0,
                "category_accuracy": math.nan,
                "hierarchical": math.nan,
                "crs": 0.5,
            },
        ),
        (
            INFO_MISSING,
            {
                "accuracy": 72 / 587,
                "balanced_accuracy": 1 / 6,
                "mcc": 0.0,
                "answer_accuracy": 0.0,
                "refusal_accuracy": 72 / 292,
                "false_refusal_rate": 1.0,
                "missed_refusal_rate": 0.0,
                "detection_precision": 292 / 587,
                "detection_recall": 1.0,
                "detection_f1": 2 * 292 / (2 * 292 + 295),
                "category_accuracy": 72 / 292,
                "hierarchical": 2 * 292 / (2 * 292 + 295) * 72 / 292,
                "crs": 0.5 * 72 / 292,
            },
        ),
        (
            None,  # neither an answer nor a refusal
            {
                "accuracy": 0.0,
                "accuracy_valid": math.nan,
                "parse_rate": 0.0,
                "macro_f1": 0.0,
                "balanced_accuracy": 0.0,
                "mcc": 0.0,
                "answer_accuracy": 0.0,
                "refusal_accuracy": 0.0,
                "false_refusal_rate": 0.0,
                "missed_refusal_rate": 0.0,
                "detection_precision": math.nan,
                "detection_recall": 0.0,
                "detection_f1": 0.0,
                "crs": 0.0,
            },
        ),
    ],
)
def test_replies_that_never_change(reply, expected):
    summary = refusal_summary([[verdict] for verdict in GOLD], [reply] * 587)
    assert {name: summary[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def test_the_published_figures_of_the_baselines():
    always_answer = refusal_summary(GOLD, [ANSWER] * 587)
    assert f"{always_answer['accuracy']:.1%}" == "50.3%"
    assert [f"{end:.1%}" for end in wilson(295, 587)] == ["46.2%", "54.3%"]
    assert f"{refusal_summary(GOLD, [INFO_MISSING] * 587)['detection_f1']:.3f}" == "0.664"


def test_by_hand():
    gold = [ANSWER] * 5 + [AMBIGUOUS] * 4 + [GRANULARITY] * 2 + [[AMBIGUOUS, NONFACTUAL]]
    read = [ANSWER, ANSWER, ANSWER, AMBIGUOUS, None]
    read += [AMBIGUOUS, AMBIGUOUS, GRANULARITY, ANSWER]
    read += [GRANULARITY, None]
    read += [NONFACTUAL]
    summary = refusal_summary(gold, read)
    # of 7 unanswerable items 5 are refused, 4 of them for the right reason; 1 of 5 answerable ones is refused
    f1 = 2 * 5 / (6 + 7)
    assert dict(summary) == pytest.approx(
        {
            "accuracy": 7 / 12,
            "accuracy_valid": 7 / 10,
            "parse_rate": 10 / 12,
            "macro_f1": (2 * 3 / (5 + 4) + 2 * 2 / (4 + 3) + 2 * 1 / (2 + 2) + 1) / 4,
            "balanced_accuracy": (3 / 5 + 2 / 4 + 1 / 2 + 1 / 1) / 4,
            # 7*12 - (5*4 + 4*3 + 2*2 + 1*1) = 47; 144 - (25 + 16 + 4 + 1) = 98; 144 - (16 + 9 + 4 + 1 + 4) = 110
            "mcc": 47 / math.sqrt(98 * 110),
            "answer_accuracy": 3 / 5,
            "refusal_accuracy": 4 / 7,
            "false_refusal_rate": 1 / 5,
            "missed_refusal_rate": 1 / 7,
            "detection_precision": 5 / 6,
            "detection_recall": 5 / 7,
            "detection_f1": f1,
            "category_accuracy": 4 / 5,
            "hierarchical": f1 * 4 / 5,
            "crs": (3 / 5 + 4 / 7) / 2,
        }
    )
    denominators = {"accuracy": 12, "accuracy_valid": 10, "false_refusal_rate": 5, "missed_refusal_rate": 7}
    denominators |= {"detection_precision": 6, "detection_recall": 7, "category_accuracy": 5, "crs": 12}
    assert {name: summary.n[name] for name in denominators} == denominators
    assert summary.confusion[AMBIGUOUS] == {
        **dict.fromkeys(VERDICTS, 0),
        AMBIGUOUS: 2,
        GRANULARITY: 1,
        ANSWER: 1,
        "unread": 0,
    }
    assert summary.confusion[ANSWER]["unread"] == 1
    assert list(summary.confusion) == list(VERDICTS)
    assert summary.classes[NONFACTUAL].support == 1


@pytest.mark.parametrize(
    ("accepted", "read", "correct", "row"),
    [
        ([INFO_MISSING, FALSE_PREMISE], INFO_MISSING, 1.0, INFO_MISSING),
        ([INFO_MISSING, FALSE_PREMISE], AMBIGUOUS, 0.0, FALSE_PREMISE),  # precedence, not the item's own order
        ([NONFACTUAL, INFO_MISSING], None, 0.0, NONFACTUAL),
        ([GRANULARITY, AMBIGUOUS], ANSWER, 0.0, AMBIGUOUS),
    ],
)
def test_items_that_accept_several_refusals(accepted, read, correct, row):
    summary = refusal_summary([accepted], [read])
    assert summary["accuracy"] == correct
    assert summary.confusion[row][read or "unread"] == 1


def test_equals_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(0)
    read = [draw.choice([verdict, verdict, draw.choice(VERDICTS), None]) for verdict in GOLD]
    summary = refusal_summary(GOLD, read)
    words = [verdict or "unread" for verdict in read]
    unanswerable = [verdict != ANSWER for verdict in GOLD]
    refused = [verdict not in (ANSWER, "unread") for verdict in words]
    expected = {
        "mcc": metrics.matthews_corrcoef(GOLD, words),
        "macro_f1": metrics.f1_score(GOLD, words, labels=VERDICTS, average="macro"),
        "balanced_accuracy": metrics.recall_score(GOLD, words, labels=VERDICTS, average="macro"),
        "detection_precision": metrics.precision_score(unanswerable, refused),
        "detection_recall": metrics.recall_score(unanswerable, refused),
        "detection_f1": metrics.f1_score(unanswerable, refused),
    }
    assert {name: summary[name] for name in expected} == pytest.approx(expected)


def test_nothing_to_refuse_and_nothing_to_answer():
    answerable, unanswerable = refusal_summary([ANSWER], [ANSWER]), refusal_summary([AMBIGUOUS], [AMBIGUOUS])
    for summary, names in [
        (answerable, ["refusal_accuracy", "missed_refusal_rate", "detection_recall", "detection_f1", "crs"]),
        (unanswerable, ["answer_accuracy", "false_refusal_rate", "crs"]),
        (refusal_summary([], []), list(answerable)),
    ]:
        assert {name: summary[name] for name in names} == pytest.approx(dict.fromkeys(names, math.nan), nan_ok=True)


def test_other_label_spaces():
    summary = refusal_summary(["yes", "no-1", "no-2"], ["yes", "no-2", "no-2"], labels=["yes", "no-1", "no-2"])
    assert (summary["category_accuracy"], summary["detection_f1"]) == (0.5, 1.0)
    with pytest.raises(ValueError, match="not among the labels"):
        refusal_summary(["yes"], ["yes"])


def test_bootstrap_gives_every_metric_and_holds_its_point_value():
    draw = random.Random(4)
    read = [draw.choice([verdict, verdict, draw.choice(VERDICTS), None]) for verdict in GOLD]
    cells = confusion_cells(GOLD, read, VERDICTS)
    summary = refusal_summary(GOLD, read)
    result = cluster_bootstrap(cells, [position // 2 for position in range(587)], refusal_from_counts)
    assert list(result) == list(summary)
    assert all(low < summary[name] < high for name, (low, high) in result.items())
    together = refusal_from_counts(np.stack([cells.sum(axis=0), cells[::2].sum(axis=0)]))
    assert {name: value[0] for name, value in together.items()} == pytest.approx(dict(summary))
    assert set(refusal_rates(cells.sum(axis=0))) < set(summary)
