"""Marking and summaries of the three benchmarks on cases worked out by hand."""

import json
import math
import random
from dataclasses import replace

import pytest

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.types import Item, Outcome, Score

MISSING, FALSE_PREMISE = "REFUSE_INFO_MISSING_IN_CONTEXT", "REFUSE_FALSE_PREMISE_IN_QUERY"


def refusal_item(*gold: str, id_: str = "A-1", cluster: str | None = None) -> Item:
    strata = {"verdict": gold[0], "category": "NONE", "intensity": "low", "set": "A"}
    return Item(id_, "Is there a bridge?", gold, cluster or id_, strata=strata)


def letter_item(gold: str, id_: str = "w-1") -> Item:
    strata = {"modality": "photo", "scenario": "PCS", "granularity": "workpiece"}
    return Item(id_, "Which part?", (gold,), id_, choices=tuple("ABCD"), modality="photo", strata=strata)


def open_item(*gold: str, id_: str = "t-1") -> Item:
    return Item(id_, "What is it?", gold, id_, modality="tile", strata={"level": "ID", "lithology": "GT"})


def verdict(code: str) -> str:
    return json.dumps({"verdict": code, "answer": None, "justification": "seen"})


def test_names():
    assert {"lithobench_mcq", "lithobench_open", "georefusal", "forge_workveri"} <= set(benchmark_names())
    assert len(benchmark_names()) == len(set(benchmark_names()))
    with pytest.raises(KeyError, match="lithobench_open"):
        get_benchmark("litho")


@pytest.mark.parametrize(
    ("gold", "reply", "outcome", "values"),
    [
        (("ANSWER",), verdict("ANSWER"), "read", {"accuracy": 1, "false_refusal_rate": 0, "parse_rate": 1}),
        (("ANSWER",), verdict(MISSING), "read", {"accuracy": 0, "false_refusal_rate": 1, "parse_rate": 1}),
        ((MISSING,), verdict("ANSWER"), "read", {"accuracy": 0, "missed_refusal_rate": 1, "parse_rate": 1}),
        (
            (FALSE_PREMISE, MISSING),
            verdict(MISSING),
            "read",
            {"accuracy": 1, "missed_refusal_rate": 0, "parse_rate": 1},
        ),
        # Neither an answer nor a refusal: it counts in neither rate but is wrong.
        (("ANSWER",), "Sure.", "unread", {"accuracy": 0, "false_refusal_rate": 0, "parse_rate": 0}),
        ((MISSING,), "Sure.", "unread", {"accuracy": 0, "missed_refusal_rate": 0, "parse_rate": 0}),
        ((MISSING,), " \n", "empty", {"accuracy": 0, "missed_refusal_rate": 0, "parse_rate": 0}),
        ((MISSING,), None, "failed", {}),
    ],
)
def test_refusal_marking(gold, reply, outcome, values):
    score = get_benchmark("georefusal").score(refusal_item(*gold), reply)
    assert score.outcome is Outcome(outcome)
    assert {name: score.values[name] for name in values} == values
    rates = {"false_refusal_rate", "missed_refusal_rate"} & score.values.keys()
    assert len(rates) == (0 if reply is None else 1)


@pytest.mark.parametrize(
    ("reply", "outcome", "values"),
    [
        ("Answer: B", "read", {"accuracy": 1, "accuracy_valid": 1, "parse_rate": 1, "accuracy_first_letter": 0}),
        ("B", "read", {"accuracy": 1, "accuracy_valid": 1, "parse_rate": 1, "accuracy_first_letter": 1}),
        ("Answer: C", "read", {"accuracy": 0, "accuracy_valid": 0, "parse_rate": 1}),
        ("I will select option B as an example. Answer: B", "read", {"accuracy": 1, "accuracy_first_letter": 0}),
        ("All parts look alike to me.", "unread", {"accuracy": 0, "parse_rate": 0}),
        ("", "empty", {"accuracy": 0, "parse_rate": 0}),
    ],
)
def test_letter_marking(reply, outcome, values):
    score = get_benchmark("forge_workveri").score(letter_item("B"), reply)
    assert score.outcome is Outcome(outcome)
    assert {name: score.values[name] for name in values} == values
    assert ("accuracy_valid" in score.values) == (outcome == "read")
    assert score.values["random_baseline"] == 0.25


@pytest.mark.parametrize(
    ("reply", "outcome", "score"),
    [
        ("granite with wide joints here", "read", 10),
        ("<think>basalt?</think>granite with wide joints here", "read", 10),
        ("<think>granite with wide joints here", "unread", 0),
        ("water", "read", 0),
        ("", "empty", 0),
    ],
)
def test_open_marking(reply, outcome, score):
    marked = get_benchmark("lithobench_open").score(open_item("sand", "granite with wide joints here"), reply)
    assert marked.outcome is Outcome(outcome)
    assert marked.values["open_score"] == pytest.approx(score)


@pytest.mark.parametrize("name", benchmark_names())
@pytest.mark.parametrize("item", [open_item("x"), refusal_item("ANSWER"), letter_item("A")], ids=lambda item: item.id)
def test_a_failed_request_keeps_its_reason_and_no_value(name, item):
    score = get_benchmark(name).score(item, None, failure="HTTP 500")
    assert (score.outcome, score.reason, score.values) == (Outcome.FAILED, "HTTP 500", {})


def always_answer_587() -> list[Score]:
    """GeoRefusalBench's distribution as published: 295 of 587 answerable. The classes of the others do not matter."""
    benchmark = get_benchmark("georefusal")
    gold = ["ANSWER"] * 295 + [benchmark.labels[1 + i % 5] for i in range(292)]
    return [benchmark.score(refusal_item(g, id_=f"A-{i:03}"), verdict("ANSWER")) for i, g in enumerate(gold)]


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("accuracy", 295 / 587),
        ("balanced_accuracy", 1 / 6),
        ("mcc", 0),
        ("false_refusal_rate", 0),
        ("missed_refusal_rate", 1),
        ("accuracy_minus_always_answer", 0),
        ("crs", 0.5),
        ("detection_recall", 0),
        ("detection_precision", math.nan),
        ("category_accuracy", math.nan),
        ("hierarchical", math.nan),
    ],
)
def test_always_answer_row(metric, value):
    summary = get_benchmark("georefusal").summarise(always_answer_587())
    assert summary[metric].value == pytest.approx(value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("metric", "n"),
    [
        ("accuracy", 587),
        ("macro_f1", 587),
        ("false_refusal_rate", 295),
        ("missed_refusal_rate", 292),
        ("refusal_accuracy", 292),
        ("detection_recall", 292),
        ("detection_precision", 0),
        ("category_accuracy", 0),
    ],
)
def test_n_is_the_denominator(metric, n):
    assert get_benchmark("georefusal").summarise(always_answer_587())[metric].n == n


def test_always_answer_interval_is_the_published_one():
    accuracy = get_benchmark("georefusal").summarise(always_answer_587())["accuracy"]
    assert (round(100 * accuracy.low, 1), round(100 * accuracy.high, 1), accuracy.n) == (46.2, 54.3, 587)


def test_failed_requests_leave_the_denominator_and_are_counted():
    benchmark = get_benchmark("forge_workveri")
    replies = ["Answer: A", "Answer: B", "no idea", "", None, None]
    scores = [benchmark.score(letter_item("A", f"w-{i}"), reply) for i, reply in enumerate(replies)]
    summary = benchmark.summarise(scores)
    coverage = summary.coverage
    assert (coverage.items, coverage.read, coverage.unread, coverage.empty, coverage.failed) == (6, 2, 1, 1, 2)
    assert (summary["accuracy"].value, summary["accuracy"].n) == (0.25, 4)
    assert (summary["accuracy_valid"].value, summary["accuracy_valid"].n) == (0.5, 2)
    assert summary["parse_rate"].value == 0.5
    assert summary.confusion["A"] == {"A": 1, "B": 1, "C": 0, "D": 0, "unread": 2}
    assert summary.strata["scenario"]["PCS"][0].value == 0.25


@pytest.mark.parametrize("name", benchmark_names())
def test_nothing_scored_is_nan_not_0(name):
    summary = get_benchmark(name).summarise([])
    assert summary.metrics
    assert all(math.isnan(metric.value) and math.isnan(metric.low) for metric in summary.metrics)


def test_order_of_scores_changes_nothing():
    benchmark = get_benchmark("georefusal")
    rng = random.Random(1)
    scores = [
        benchmark.score(refusal_item(rng.choice(["ANSWER", MISSING]), id_=f"{i}", cluster=f"c{i % 20}"), verdict(code))
        for i, code in enumerate(rng.choices(["ANSWER", MISSING, FALSE_PREMISE], k=100))
    ]
    first = repr(benchmark.summarise(scores))  # repr, since nan is not equal to itself
    assert repr(benchmark.summarise(reversed(scores))) == first
    assert repr(benchmark.summarise(rng.sample(scores, k=100))) == first


def test_doubled_ids_are_refused():
    benchmark = get_benchmark("georefusal")
    score = benchmark.score(refusal_item("ANSWER"), verdict("ANSWER"))
    with pytest.raises(ValueError, match=r"1 ids occur more than once, e\.g\. \['A-1'\]"):
        benchmark.summarise([score, score])


def test_shared_clusters_widen_the_interval_of_a_rate():
    """Four copies of each item say no more than one: the interval is that of a quarter of the items."""
    benchmark = get_benchmark("georefusal")
    codes = ["ANSWER", MISSING] * 25
    once = [benchmark.score(refusal_item("ANSWER", id_=f"{i}"), verdict(c)) for i, c in enumerate(codes)]
    copied = [
        benchmark.score(refusal_item("ANSWER", id_=f"{i}-{k}", cluster=f"{i}"), verdict(c))
        for i, c in enumerate(codes)
        for k in range(4)
    ]
    few, many = benchmark.summarise(once)["accuracy"], benchmark.summarise(copied)["accuracy"]
    assert many.value == few.value
    assert many.high - many.low == pytest.approx(few.high - few.low, rel=0.02)


@pytest.mark.parametrize("name", benchmark_names())
def test_signature_names_version_and_data(name):
    signature = get_benchmark(name).summarise([], data="SAMPLE@0123").signature
    assert signature.startswith(f"{name}:{get_benchmark(name).version}|data:SAMPLE@0123|")


def test_first_letter_policy_reads_what_the_declared_one_does_not():
    score = get_benchmark("forge_workveri").score(letter_item("C"), "Cannot say.")
    assert (score.outcome, score.values["accuracy_first_letter"]) == (Outcome.UNREAD, 1)


def test_interval_of_a_mean_is_the_normal_one_cut_at_its_range():
    """Two values 0 and 10, by hand: mean 5, standard error 5, 5 +- 9.8 is cut to 0-10. Of 4 and 6: 5 +- 1.96."""
    benchmark = get_benchmark("lithobench_open")
    wide, narrow = (
        [
            replace(benchmark.score(open_item("x", id_=f"{i}"), "x"), values={"open_score": v})
            for i, v in enumerate(pair)
        ]
        for pair in ((0, 10), (4, 6))
    )
    metric = benchmark.summarise(wide)["open_score"]
    assert (metric.value, metric.low, metric.high) == (5, 0, 10)
    metric = benchmark.summarise(narrow)["open_score"]
    assert (metric.low, metric.high) == pytest.approx((5 - 1.959964, 5 + 1.959964))


def test_composites_are_bootstrapped_by_cluster():
    """Ten copies of each item say no more than one: the interval must not shrink."""
    benchmark = get_benchmark("forge_workveri")
    replies = ["Answer: A", "Answer: B", "Answer: C"] * 8
    once, copied = (
        [
            replace(benchmark.score(letter_item("ABCD"[i % 4], f"{i}-{k}"), reply), cluster=f"{i}")
            for i, reply in enumerate(replies)
            for k in range(copies)
        ]
        for copies in (1, 10)
    )
    few, many = (benchmark.summarise(scores)["macro_f1"] for scores in (once, copied))
    assert many.high - many.low == pytest.approx(few.high - few.low, rel=0.01)


def test_all_right_has_no_bootstrap_interval():
    """All resamples are alike, which is no certainty; the rate has its Wilson interval."""
    benchmark = get_benchmark("forge_workveri")
    summary = benchmark.summarise([benchmark.score(letter_item("A", f"{i}"), "Answer: A") for i in range(5)])
    assert summary["macro_f1"].value == 1
    assert math.isnan(summary["macro_f1"].low)
    assert summary["accuracy"].low == pytest.approx(0.5655, abs=1e-4)
