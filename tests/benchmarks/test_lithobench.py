"""LithoBench: its tasks, the multiple-choice prompt, and the mean of the five levels."""

import csv
import math
import random
from pathlib import Path

import pytest

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.benchmarks.lithobench import LEVELS, LITHOLOGIES
from geoeval.data import locate, read_items
from geoeval.types import Item, Outcome

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT.parent / "shared" / "reference" / "lithobench_results.csv"
MCQ = "lithobench_mcq"
OPTIONS = ("slate", "granite", "water", "soil")


def item(level="ID", gold="B", id_="m-1", cluster=None, options=OPTIONS):
    strata = {"level": level, "lithology": "GT"}
    letters = tuple("ABCDEF"[: len(options)])
    return Item(id_, "What is it?", (gold,), cluster or id_, (), letters, options, "tile", strata)


def scores(replies):
    """Level -> replies to items whose answer is B."""
    benchmark = get_benchmark(MCQ)
    return [
        benchmark.score(item(level, id_=f"{level}-{k:03}"), reply)
        for level, texts in replies.items()
        for k, reply in enumerate(texts)
    ]


def test_one_task_for_all_levels_and_one_for_each():
    names = [name for name in benchmark_names() if name.startswith("lithobench")]
    assert names == [
        f"lithobench_{kind}{level}" for kind in ("mcq", "open") for level in ("", "_id", "_cmp", "_exp", "_app", "_rea")
    ]
    assert {get_benchmark(name).version for name in names} == {"1-A"}


@pytest.mark.parametrize("kind", ["mcq", "open"])
def test_levels_part_the_rows(kind):
    for level in LEVELS:
        rows = [{"level": level, "lithology": code} for code in LITHOLOGIES]
        own = f"lithobench_{kind}_{level.lower()}"
        for name in benchmark_names():
            if name.startswith(f"lithobench_{kind}"):
                assert [get_benchmark(name).includes(row) for row in rows] == [name in (own, f"lithobench_{kind}")] * 12


def test_prompt():
    assert get_benchmark(MCQ).prompt_text(item().prompt_view()) == (
        "The picture is a satellite image tile: natural colours, seen from straight above.\n\n"
        "Question: What is it?\nA) slate\nB) granite\nC) water\nD) soil\n\n"
        "Choose exactly one of A, B, C, D. "
        'You may reason first; end with a line "Answer: X", where X is the letter.'
    )


@pytest.mark.parametrize(
    ("reply", "outcome", "extracted", "values"),
    [
        ("Answer: B", "read", "B", {"accuracy": 1, "accuracy_valid": 1, "parse_rate": 1, "accuracy_first_letter": 0}),
        ("B) granite", "read", "B", {"accuracy": 1, "accuracy_first_letter": 1}),
        ("Pink, rounded blocks, so granite.\nAnswer: B", "read", "B", {"accuracy": 1, "accuracy_first_letter": 0}),
        ("<think>A or B?</think>Answer: C", "read", "C", {"accuracy": 0, "accuracy_valid": 0, "parse_rate": 1}),
        ("granite", "read", "B", {"accuracy": 1, "parse_rate": 1, "accuracy_first_letter": 0}),  # the option's text
        ("It could be any of them.", "unread", None, {"accuracy": 0, "parse_rate": 0}),
        ("Answer: E", "unread", None, {"accuracy": 0, "parse_rate": 0}),  # not offered
        ("", "empty", None, {"accuracy": 0, "parse_rate": 0}),
    ],
)
def test_marking(reply, outcome, extracted, values):
    score = get_benchmark(MCQ).score(item(), reply)
    assert (score.outcome, score.extracted) == (Outcome(outcome), extracted)
    assert {name: score.values[name] for name in values} == values
    assert ("accuracy_valid" in score.values) == (outcome == "read")
    assert score.values["random_baseline"] == 1 / 4


@pytest.mark.parametrize(("options", "baseline"), [(OPTIONS[:2], 1 / 2), ((*OPTIONS, "gravel", "slate rubble"), 1 / 6)])
def test_the_number_of_options_may_vary(options, baseline):
    benchmark = get_benchmark(MCQ)
    score = benchmark.score(item(options=options), "Answer: B")
    assert score.values["random_baseline"] == baseline
    assert benchmark.summarise([score])["accuracy"].value == 1
    assert f"one of {', '.join('ABCDEF'[: len(options)])}." in benchmark.prompt_text(
        item(options=options).prompt_view()
    )


def test_every_level_counts_alike():
    """9 of 10, 0 of 1, 1 of 2, 1 of 1 and 0 of 2; a failed request leaves its level."""
    right, wrong = "Answer: B", "Answer: A"
    summary = get_benchmark(MCQ).summarise(
        scores(
            {
                "ID": [right] * 9 + [wrong],
                "Cmp": ["no idea"],
                "Exp": [right, wrong],
                "App": [right, None],
                "Rea": [wrong, ""],
            }
        )
    )
    headline = summary.metrics[0]
    assert (headline.name, headline.n) == ("accuracy_mean_of_levels", 16)
    assert headline.value == pytest.approx((0.9 + 0 + 0.5 + 1 + 0) / 5)
    assert (summary["accuracy"].value, summary["accuracy"].n) == (11 / 16, 16)
    assert summary["accuracy_valid"].value == 11 / 14
    assert summary["parse_rate"].value == 14 / 16
    assert {level: metrics[0].value for level, metrics in summary.strata["level"].items()} == {
        "ID": 0.9,
        "Cmp": 0,
        "Exp": 0.5,
        "App": 1,
        "Rea": 0,
    }


@pytest.mark.parametrize("lost", [None, []])
def test_a_level_without_a_scored_item_leaves_the_mean_undefined(lost):
    """The mean of the other four is another number than the published one."""
    replies = {level: ["Answer: B"] * 3 for level in LEVELS}
    replies["Rea"] = [] if lost == [] else [lost] * 3
    summary = get_benchmark(MCQ).summarise(scores(replies))
    assert math.isnan(summary["accuracy_mean_of_levels"].value)
    assert summary["accuracy"].value == 1


def test_interval_is_that_of_a_stratified_mean():
    """100 independent items a level: normal theory gives a half-width of 1.96 * sqrt(sum p(1-p)/n) / 5."""
    rng = random.Random(3)
    rates = {"ID": 0.6, "Cmp": 0.9, "Exp": 0.8, "App": 0.5, "Rea": 0.7}
    replies = {
        level: [f"Answer: {'B' if rng.random() < rate else 'C'}" for _ in range(100)] for level, rate in rates.items()
    }
    headline = get_benchmark(MCQ).summarise(scores(replies)).metrics[0]
    observed = [sum("B" in reply for reply in texts) / 100 for texts in replies.values()]
    half = 1.96 * math.sqrt(sum(p * (1 - p) / 100 for p in observed)) / 5
    assert headline.value == pytest.approx(sum(observed) / 5)
    assert headline.low == pytest.approx(headline.value - half, abs=0.006)
    assert headline.high == pytest.approx(headline.value + half, abs=0.006)


def test_shared_tiles_widen_the_interval():
    def width(cluster):
        benchmark = get_benchmark(MCQ)
        marked = [
            benchmark.score(item(level, id_=f"{level}-{k:03}", cluster=cluster(level, k)), f"Answer: {'BC'[k % 2]}")
            for level in LEVELS
            for k in range(60)
        ]
        headline = benchmark.summarise(marked).metrics[0]
        return headline.high - headline.low

    alone, shared = width(lambda level, k: f"{level}-{k}"), width(lambda level, k: f"tile-{k}")
    assert shared > 1.8 * alone  # a tile is right in all five levels or in none: sqrt(5) times as wide


def test_mean_of_levels_is_a_matter_of_the_whole():
    whole, level = get_benchmark(MCQ), get_benchmark("lithobench_mcq_id")
    assert whole.metric_names == ("accuracy_mean_of_levels", *level.metric_names)
    assert level.metric_names[0] == "accuracy"
    assert level.summarise(scores({"ID": ["Answer: B", "Answer: A"]}))["accuracy"].value == 0.5


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"gold": ["B"], "choices": list("ABCD"), "level": "ID"}, ""),
        ({"gold": ["B"], "choices": list("ABCD"), "level": "id"}, "level 'id' not among"),
        ({"gold": ["b"], "choices": list("ABCD"), "level": "ID"}, "['b'] not among the labels"),
        ({"gold": ["B"], "choices": list("ABCDEFG"), "level": "ID"}, "['G'] not among the labels"),
    ],
)
def test_rows_that_could_not_be_marked_are_told_beforehand(row, says):
    problem = get_benchmark(MCQ).unmarkable(row)
    assert problem.startswith(says)
    assert bool(problem) == bool(says)


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the published table is not beside the repository")
def test_published_overall_is_the_mean_of_levels():
    with open(PUBLISHED, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 14
    for row in rows:
        levels = [float(row[f"{level.lower()}_mcq"]) for level in LEVELS]
        value = get_benchmark(MCQ).part_mean("accuracy_mean_of_levels", list(LEVELS), levels)
        assert value == pytest.approx(float(row["mcq_all"]), abs=1e-4)


@pytest.mark.parametrize("task", [MCQ, "lithobench_open"])
def test_readme_shows_the_prompt_of_a_real_item(task):
    readme = (ROOT / "tasks" / "lithobench" / "README.md").read_text(encoding="utf-8")
    benchmark = get_benchmark(task)
    items = read_items(locate(benchmark.dataset, "sample"), benchmark.strata)
    (shown,) = [item for item in items if f"```text\n{benchmark.prompt_text(item.prompt_view())}\n```" in readme]
    assert (ROOT / "docs" / "pictures" / "lithobench_tile.png").read_bytes() == shown.images[0]["bytes"]
