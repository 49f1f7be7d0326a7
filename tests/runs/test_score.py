"""A saved run scored by the rules of today: the numbers, and that there is no number for a part that nobody stated."""

import json
import random

import pytest
from saved_runs import gold_replies, items, saved

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import DataError, locate
from geoeval.runs.items import items_of, prompt_sha256
from geoeval.runs.model import Reply
from geoeval.runs.record import to_record
from geoeval.runs.score import score_run
from geoeval.types import Outcome

DATA = {dataset: locate(dataset, "sample") for dataset in ("georefusal", "forge_workveri", "lithobench_open")}


@pytest.mark.parametrize("task", benchmark_names())
def test_numbers_are_those_of_the_benchmark(task, tmp_path):
    benchmark, replies = get_benchmark(task), gold_replies(task, wrong=2)
    result = score_run(saved(task, replies, tmp_path))
    scores = {item.id: benchmark.score(item, reply.text) for item, reply in zip(items(task), replies, strict=True)}
    expected = benchmark.summarise(scores.values(), data=locate(benchmark.dataset, "sample").signature)
    assert repr(result.summary) == repr(expected)
    kept = list(result.items())
    assert [score.id for score, _ in kept] == sorted(scores)
    assert all(score == scores[score.id] for score, _ in kept)
    assert {score.id: reply for score, reply in kept} == {reply.id: reply.text for reply in replies}
    assert result.run["partial"] is None
    assert result.run["items_in_task"] == len(replies)


@pytest.mark.parametrize("task", ["georefusal_a", "lithobench_mcq_id", "forge_workveri_image"])
def test_a_part_of_a_dataset_is_a_whole_task(task, tmp_path):
    """Rows of other parts are no missing items, and their ids are unknown."""
    assert score_run(saved(task, gold_replies(task), tmp_path)).run["partial"] is None
    whole = get_benchmark(task).dataset
    others = [reply for reply in gold_replies(whole) if reply.id not in {r.id for r in gold_replies(task)}]
    with pytest.raises(DataError, match=f"{len(others)} ids are not of {task}"):
        score_run(saved(task, [*gold_replies(task), *others], tmp_path))


def test_the_order_of_replies_changes_nothing(tmp_path):
    replies = gold_replies("georefusal", wrong=9)
    shuffled = random.Random(1).sample(replies, len(replies))
    one, two = (
        score_run(saved("georefusal", each, tmp_path), items_to=tmp_path / f"{k}.jsonl")
        for k, each in enumerate((replies, shuffled))
    )
    assert {**to_record(one), "run": None} == {**to_record(two), "run": None}
    assert (tmp_path / "0.jsonl").read_bytes() == (tmp_path / "1.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda r: r[2:], "2 items have no reply: "),
        (lambda r: [*r, r[0]], "1 ids occur more than once: "),
        (lambda r: [*r, Reply("nobody", "A")], "1 ids are not of forge_workveri: 'nobody'"),
        (lambda r: [*r[1:], Reply("nobody", "A")], "no reply.*not of forge_workveri"),
        (lambda r: [], "48 items have no reply: .* and 43 more"),
    ],
    ids=["missing", "doubled", "unknown", "both", "all missing"],
)
def test_no_number_for_a_silent_part(change, says, tmp_path):
    run = saved("forge_workveri", change(gold_replies("forge_workveri")), tmp_path)
    with pytest.raises(DataError, match=says):
        score_run(run, items_to=tmp_path / "items.jsonl")
    assert not (tmp_path / "items.jsonl").exists()
    result = score_run(run, allow_partial=True)
    assert result.run["partial"]["stated_by"] == "allow_partial"
    n = result.run["partial"]["items"]
    assert f"|items:{n}/48" in result.summary.signature
    assert result.summary.coverage.items == n


def test_of_doubled_ids_those_that_agree_count_once_and_the_others_not_at_all(tmp_path):
    replies = gold_replies("forge_workveri")
    other = Reply(replies[1].id, "Answer: nothing of this")
    result = score_run(saved("forge_workveri", [*replies, replies[0], other], tmp_path), allow_partial=True)
    assert result.run["partial"]["doubled"] == 2
    assert result.run["partial"]["missing_ids"] == [replies[1].id]
    assert result.summary["accuracy"].n == 47
    assert result.summary["accuracy"].value == 1.0
    assert replies[1].id not in {score.id for score, _ in result.items()}
    (random_baseline,) = [m for m in result.baselines["random"] if m.name == "accuracy"]
    assert random_baseline.n == 47


def test_what_the_harness_states_needs_no_leave(tmp_path):
    """``--limit 5``: five of 48, and five replies."""
    five = gold_replies("forge_workveri")[:5]
    result = score_run(saved("forge_workveri", five, tmp_path, facts={"items_asked": 5}))
    assert result.run["partial"]["stated_by"] == "harness"
    assert result.summary.signature.endswith("|items:5/48")
    with pytest.raises(DataError, match="1 items have no reply of the 5 that were asked"):
        score_run(saved("forge_workveri", five[1:], tmp_path, facts={"items_asked": 5}))


def test_other_data_are_refused_with_both_hashes(tmp_path):
    asked = "ab" * 32
    run = saved("georefusal", gold_replies("georefusal"), tmp_path, data="SAMPLE", data_sha256=asked)
    with pytest.raises(DataError) as error:
        score_run(run)
    assert asked in str(error.value)
    assert DATA["georefusal"].sha256 in str(error.value)
    result = score_run(run, other_data=True)
    assert result.run["data_check"] == "different"
    assert result.run["data_sha256_asked"] == asked
    assert f"asked on SAMPLE@{asked[:12]}" in result.summary.signature


@pytest.mark.parametrize(("digest", "check"), [(DATA["georefusal"].sha256, "same"), ("", "unknown")])
def test_what_is_known_of_the_data(digest, check, tmp_path):
    run = saved("georefusal", gold_replies("georefusal"), tmp_path, data_sha256=digest)
    assert score_run(run).run["data_check"] == check


def test_data_that_are_not_at_hand_are_not_fetched(tmp_path):
    run = saved("georefusal", gold_replies("georefusal"), tmp_path, data="release")
    with pytest.raises(DataError, match="geoeval data fetch georefusal"):
        score_run(run)
    assert score_run(run, data="sample").is_sample


def test_policy_first_letter(tmp_path):
    """A reply whose first letter is not the one it declares."""
    first = items("forge_workveri")[0]
    wrong = next(choice for choice in first.choices if choice not in first.gold)
    replies = gold_replies("forge_workveri")
    replies[0] = Reply(first.id, f"{wrong} might be thought of, but no. Answer: {first.gold[0]}")
    declared, naive = (
        score_run(saved("forge_workveri", replies, tmp_path), policy=p) for p in ("declared", "first_letter")
    )
    assert declared.summary["accuracy"].value == 1.0
    assert naive.summary["accuracy"].value == naive.summary["accuracy_first_letter"].value
    assert naive.summary["accuracy"].value == declared.summary["accuracy_first_letter"].value < 1
    assert "letters:first_letter" in naive.summary.signature
    assert naive.run["policy"] == "first_letter"
    assert "letters:declared" in score_run(saved("forge_workveri", replies, tmp_path)).summary.signature


@pytest.mark.parametrize(
    ("task", "settings", "says"),
    [
        ("georefusal", {"policy": "first_letter"}, "leave it out"),
        ("forge_surfinsp", {"policy": "first_letter"}, "leave it out"),
        ("forge_workveri", {"policy": "last_letter"}, "there are declared, first_letter"),
        ("georefusal", {"rules": "0-B"}, "marks by rules 1-A, not 0-B"),
        ("no_task", {}, "no task 'no_task'"),
        ("", {}, "give --task"),
    ],
)
def test_rules_that_there_are_not(task, settings, says, tmp_path):
    with pytest.raises(DataError, match=says):
        score_run(saved(task, [], tmp_path), **settings)


def test_rules_by_their_name(tmp_path):
    run = saved("georefusal", gold_replies("georefusal"), tmp_path)
    assert score_run(run, rules="1-A").run["rules"] == "1-A"


def test_failed_requests_are_counted_where_they_are(tmp_path):
    replies = [
        Reply(item.id, None, "http_500") if item.strata["set"] == "B" else reply
        for item, reply in zip(items("georefusal"), gold_replies("georefusal"), strict=True)
    ]
    result = score_run(saved("georefusal", replies, tmp_path))
    n = sum(item.strata["set"] == "B" for item in items("georefusal"))
    assert result.failed["set"] == {"B": n}
    assert sum(result.failed["verdict"].values()) == n
    assert result.summary.coverage.failed == n
    failed = [(score, reply) for score, reply in result.items() if score.outcome is Outcome.FAILED]
    assert {(score.reason, reply) for score, reply in failed} == {("http_500", None)}
    assert {metric.n for metric in result.baselines["random"] if metric.name == "accuracy"} == {83 - n}


def test_each_part_is_tested_against_guessing(tmp_path):
    result = score_run(saved("forge_workveri", gold_replies("forge_workveri"), tmp_path))
    tests = {(test.breakdown, test.part): test for test in result.tests}
    assert {name for name, _ in tests} == {"modality", "scenario", "granularity"}
    assert {test.difference for test in result.tests} == {0.75}
    for test in result.tests:
        parts = [other for other in result.tests if other.breakdown == test.breakdown]
        assert test.n == result.summary.strata[test.breakdown][test.part][0].n
        assert test.p_value <= test.p_holm <= min(1, len(parts) * test.p_value)
    assert score_run(saved("lithobench_open", gold_replies("lithobench_open"), tmp_path)).tests == ()


def test_prompts_have_one_hash(tmp_path):
    source = DATA["forge_workveri"]
    with_pictures = prompt_sha256(get_benchmark("forge_workveri_icd"), items_with_pictures("forge_workveri_icd"))
    assert items_of("forge_workveri_icd", source).prompt_sha256 == with_pictures
    assert items_of("forge_workveri", source).prompt_sha256 != with_pictures
    run = saved("forge_workveri", gold_replies("forge_workveri"), tmp_path, facts={"version": "1-B"})
    assert score_run(run).run["prompt_sha256"] == items_of("forge_workveri", source).prompt_sha256
    older = saved("forge_workveri", gold_replies("forge_workveri"), tmp_path, facts={"version": "0-A"})
    assert score_run(older).run["prompt_sha256"] is None


def items_with_pictures(task):
    from geoeval.data import task_items

    return task_items(task, locate(get_benchmark(task).dataset, "sample"))


@pytest.mark.parametrize("text", ["\ud83d", "a\u2028b\x00\n", "答案 B", "\\ud83d"])
def test_any_reply_is_kept_as_it_is(text, tmp_path):
    replies = gold_replies("georefusal")
    replies[3] = Reply(replies[3].id, text)
    result = score_run(saved("georefusal", replies, tmp_path), items_to=tmp_path / "items.jsonl")
    assert {score.id: reply for score, reply in result.items()}[replies[3].id] == text
    for line in (tmp_path / "items.jsonl").read_text(encoding="utf-8").split("\n")[:-1]:
        json.loads(line)


def test_temporary_items_go_with_the_result(tmp_path):
    result = score_run(saved("georefusal", gold_replies("georefusal"), tmp_path))
    path = result.items.path
    assert path.is_file()
    del result
    assert not path.parent.exists()
