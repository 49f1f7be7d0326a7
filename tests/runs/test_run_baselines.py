"""Baselines against the benchmark's own summary of constant replies, and against all guesses there are."""

import math
from collections import Counter

import pytest
from saved_runs import items

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.metrics.classification import majority_baseline, random_baseline
from geoeval.runs.baselines import Baselines, kind_of
from geoeval.types import Extraction, Item, Outcome, Score

OPEN = [task for task in benchmark_names() if task.startswith("lithobench_open")]
CLOSED = [task for task in benchmark_names() if task not in OPEN]
LABELLED = [task for task in CLOSED if get_benchmark(task).labels]


def baselines(task, some=None):
    benchmark = get_benchmark(task)
    kinds = Counter(kind_of(benchmark, item) for item in some or items(task))
    found = Baselines(benchmark).metrics(kinds)
    return {name: {metric.name: metric for metric in metrics} for name, metrics in found.items()}


def summary_of(task, answer):
    """The benchmark's own numbers of one answer to all items, however it is written."""
    benchmark = get_benchmark(task)
    scores = []
    for item in items(task):
        marks = benchmark.mark(item, benchmark.format_reply(item, answer), Extraction(answer, "test"))
        scores.append(Score(item.id, Outcome.READ, marks, answer, item.gold, "test", None, item.cluster, item.strata))
    return benchmark.summarise(scores)


@pytest.mark.parametrize("task", LABELLED)
def test_constant_answers_score_what_the_benchmark_says(task):
    constants = {"majority": Counter(item.gold[0] for item in items(task)).most_common(1)[0][0]}
    if "ANSWER" in get_benchmark(task).labels:
        constants["always_answer"] = "ANSWER"
    found = baselines(task)
    assert found.keys() == {"random", *constants}
    assert found["majority"]["accuracy"].value == majority_baseline([item.gold for item in items(task)])
    summary = summary_of(task, constants.get("always_answer", get_benchmark(task).labels[0]))
    if "always_answer" in constants:
        for name, metric in found["always_answer"].items():
            assert metric.value == pytest.approx(summary[name].value, nan_ok=True), name
            assert metric.n == summary[name].n, name


@pytest.mark.parametrize("task", CLOSED)
def test_guessing_is_the_mean_over_all_answers(task):
    benchmark = get_benchmark(task)
    random = baselines(task)["random"]
    offered = [benchmark.answers(item) for item in items(task)]
    single = all(len(item.gold) == 1 for item in items(task))
    if single:
        assert random["accuracy"].value == pytest.approx(random_baseline(offered))
    for name in benchmark.part_means:
        assert random[name].n == len(offered)
    chances = [Baselines(benchmark).chance(kind_of(benchmark, item)) for item in items(task)]
    assert math.fsum(chances) / len(chances) == pytest.approx(random["accuracy"].value)
    assert all(math.isnan(metric.low) for metric in random.values())


def test_guessing_verdicts_by_hand():
    """Two answerable items and one whose question accepts two refusals; six verdicts."""
    some = [
        Item(id=str(k), question="", gold=gold, cluster="", strata={})
        for k, gold in enumerate(
            [("ANSWER",), ("ANSWER",), ("REFUSE_AMBIGUOUS_QUERY", "REFUSE_FALSE_PREMISE_IN_QUERY")]
        )
    ]
    found = baselines("georefusal", some)
    random = {name: metric.value for name, metric in found["random"].items()}
    assert random == pytest.approx(
        {
            "accuracy": (1 / 6 + 1 / 6 + 2 / 6) / 3,
            "false_refusal_rate": 5 / 6,
            "missed_refusal_rate": 1 / 6,
            "detection_recall": 5 / 6,
            "refusal_accuracy": 2 / 6,
            "accuracy_minus_always_answer": (1 / 6 + 1 / 6 + 2 / 6 - 2) / 3,
        }
    )
    assert found["always_answer"]["accuracy"].value == pytest.approx(2 / 3)
    assert found["always_answer"]["balanced_accuracy"].value == 0.5
    assert repr(found["majority"]) == repr(found["always_answer"])


def test_levels_count_alike():
    """Three items of ID with two options, one of Rea with four; the other levels have none, so there is no mean."""

    def item(k, level, choices):
        return Item(id=str(k), question="", gold=("A",), cluster="", choices=choices, strata={"level": level})

    some = [item(k, "ID", ("A", "B")) for k in range(3)] + [item(3, "Rea", ("A", "B", "C", "D"))]
    assert math.isnan(baselines("lithobench_mcq", some)["random"]["accuracy_mean_of_levels"].value)
    some += [item(k, level, ("A", "B")) for k, level in enumerate(("Cmp", "Exp", "App"), 4)]
    found = baselines("lithobench_mcq", some)
    assert found["random"]["accuracy_mean_of_levels"].value == pytest.approx((4 * 0.5 + 0.25) / 5)
    assert found["random"]["accuracy"].value == pytest.approx((6 * 0.5 + 0.25) / 7)
    assert found["majority"]["accuracy_mean_of_levels"].value == 1


@pytest.mark.parametrize("task", OPEN)
def test_open_questions_have_none(task):
    assert baselines(task) == {}


def test_no_items_have_none():
    assert Baselines(get_benchmark("georefusal")).metrics({}) == {}
