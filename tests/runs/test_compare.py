"""Comparing results: what is paired with what, what forbids it, and what is printed."""

import csv
import dataclasses
import json
import math
import sys
from types import ModuleType

import pytest

from geoeval import cli
from geoeval.benchmarks import get_benchmark
from geoeval.benchmarks.lithobench import JudgedLithoBenchOpen
from geoeval.data import locate, read_items
from geoeval.metrics.intervals import mcnemar
from geoeval.metrics.multiple import holm
from geoeval.runs.compare import Incomparable, compare
from geoeval.runs.model import Result
from geoeval.runs.record import from_line, summary_from_record, to_line, to_record
from geoeval.types import Judgement

pytest.importorskip("numpy")
REFUSE = "REFUSE_AMBIGUOUS_QUERY"
FACTS = {"data_sha256": "d", "prompt_sha256": "p", "policy": "declared", "data": "SAMPLE"}


def result(task, reply, model="m", *, benchmark=None, **facts):
    """A result of the bundled sample; `reply` takes the number of an item and the item."""
    benchmark = benchmark or get_benchmark(task)
    items = list(read_items(locate(benchmark.dataset, "sample"), benchmark.strata))
    replies = [reply(k, item) for k, item in enumerate(items)]
    scored = [(benchmark.score(item, text), text) for item, text in zip(items, replies, strict=True) if text != "left"]
    return as_result(task, benchmark, scored, model, **facts)


def as_result(task, benchmark, scored, model="m", judge=None, **facts):
    summary = benchmark.summarise(score for score, _ in scored)
    return Result(task, summary, {**FACTS, "model": model, **facts}, lambda: iter(scored), judge=judge or {})


def answer(item, right=True):
    if right:
        return f"Answer: {item.gold[0]}"
    return f"Answer: {next(choice for choice in item.choices if choice not in item.gold)}"


def verdict(word):
    return json.dumps({"verdict": word, "answer": None, "justification": "x"})


def rows(comparison):
    return {row.metric: row for row in comparison.pairs[0].metrics}


def scores_of(comparison_input):
    return {score.id: score for score, _ in comparison_input.items()}


@pytest.fixture(scope="module")
def letters():
    """Two models: a is right on even items, b on all but every fifth."""
    a = result("lithobench_mcq", lambda k, item: answer(item, k % 2 == 0), "base")
    b = result("lithobench_mcq", lambda k, item: answer(item, k % 5 != 0), "tuned")
    return a, b


def test_rate_over_the_same_items(letters):
    row = rows(compare(letters))["accuracy"]
    n = row.n_a
    only_a = sum(k % 2 == 0 and k % 5 == 0 for k in range(n))
    only_b = sum(k % 2 == 1 and k % 5 != 0 for k in range(n))
    assert (row.a_better, row.b_better, row.ties) == (only_a, only_b, n - only_a - only_b)
    assert row.mcnemar == mcnemar(only_a, only_b)
    assert row.difference == pytest.approx((only_b - only_a) / n)
    assert row.low < row.difference < row.high
    assert row.test == "randomization"  # the sample's items share clusters
    assert row.p_value != row.mcnemar
    assert 0 < row.detectable < 1


def test_mcnemar_where_no_item_shares_a_cluster(letters):
    apart = []
    for one in letters:
        scored = [(dataclasses.replace(score, cluster=score.id), reply) for score, reply in one.items()]
        apart.append(as_result(one.task, get_benchmark(one.task), scored))
    row = rows(compare(apart))["accuracy"]
    assert row.test == "mcnemar"
    assert row.p_value == row.mcnemar == mcnemar(row.a_better, row.b_better)
    assert row.n_clusters == row.n_a


def test_composites_and_means_of_levels(letters):
    found = rows(compare(letters))
    for name in ("macro_f1", "accuracy_mean_of_levels"):
        own = [one.summary[name].value for one in letters]
        assert (found[name].a, found[name].b) == pytest.approx(own)
        assert found[name].low < own[1] - own[0] < found[name].high
        assert found[name].a_better is None
    assert "random_baseline" not in found


def test_swapping_the_models_changes_signs_only(letters):
    one, two = rows(compare(letters)), rows(compare(letters[::-1]))
    for name, row in one.items():
        other = two[name]
        assert (other.difference, other.a_better, other.b_better) == pytest.approx(
            (-row.difference, row.b_better, row.a_better)
        )
        assert (other.low, other.high) == pytest.approx((-row.high, -row.low), nan_ok=True)
        assert (other.p_value, other.detectable) == pytest.approx((row.p_value, row.detectable), nan_ok=True)


def test_order_of_items_changes_nothing(letters):
    again = [dataclasses.replace(one, items=lambda one=one: reversed(list(one.items()))) for one in letters]
    assert repr(compare(again)) == repr(compare(letters))


def test_failed_and_missing_items_leave_the_pair_and_are_counted(letters):
    def some(k, item):
        return None if k < 3 else "left" if k < 5 else answer(item)

    def others(k, item):
        return None if k in (2, 7) else "left" if k == 9 else answer(item, k % 3 == 0)

    a, b = result("lithobench_mcq", some), result("lithobench_mcq", others)
    found = compare([a, b])
    items = found.pairs[0].items
    common = scores_of(a).keys() & scores_of(b).keys()
    assert (items.only_a, items.only_b, items.failed_a, items.failed_b) == (1, 2, 3, 2)
    assert items.compared == len(common) - 4  # item 2 failed in both
    assert rows(found)["accuracy"].n_a == items.compared
    assert rows(found)["accuracy"].a == 1


def test_rates_whose_denominator_depends_on_the_reply_are_over_each_models_own_items():
    a = result("georefusal", lambda k, item: verdict("ANSWER" if k % 3 else REFUSE))
    b = result("georefusal", lambda k, item: verdict("ANSWER" if k % 4 else REFUSE))
    row = rows(compare([a, b]))["detection_precision"]
    own = [one.summary["detection_precision"] for one in (a, b)]
    assert (row.a, row.b) == pytest.approx([metric.value for metric in own])
    assert (row.n_a, row.n_b) == tuple(metric.n for metric in own)
    assert math.isnan(row.mcnemar)
    assert row.test == "randomization"


def test_lower_is_better():
    refuses = result("georefusal", lambda k, item: verdict(REFUSE))
    answers = result("georefusal", lambda k, item: verdict("ANSWER"))
    found = rows(compare([refuses, answers]))
    row = found["false_refusal_rate"]
    assert (row.a, row.b, row.difference) == (1, 0, -1)
    assert (row.a_better, row.b_better) == (0, row.n_a)
    assert found["missed_refusal_rate"].a_better == found["missed_refusal_rate"].n_a


def test_open_scores():
    a = result("lithobench_open", lambda k, item: " ".join(item.gold[0].split()[: 4 + k % 5]))
    b = result("lithobench_open", lambda k, item: item.gold[0])
    row = rows(compare([a, b]))["open_score"]
    values = [[score.values["open_score"] for score, _ in one.items()] for one in (a, b)]
    assert row.difference == pytest.approx(sum(values[1]) / len(values[1]) - sum(values[0]) / len(values[0]))
    assert row.b_better == sum(y > x for x, y in zip(*values, strict=True))
    assert row.p_value < 0.01
    assert row.low < row.difference < row.high


def judged(marks, weight=0.5, **judge):
    benchmark = JudgedLithoBenchOpen(
        get_benchmark("lithobench_open"), weight=weight, dimensions=(), max_unscored=0.2, signature="judge"
    )
    plain = result("lithobench_open", lambda k, item: item.gold[0])
    scored = [
        (benchmark.judged(score, Judgement(mark, reason=None if mark is not None else "unreadable")), reply)
        for (score, reply), mark in zip(plain.items(), map(marks, range(1000)), strict=False)
    ]
    facts = {"model": "j", "rubric": "lithology-1", "rubric_sha256": "r", "picture": False, "weight": weight, **judge}
    return as_result("lithobench_open", benchmark, scored, judge=facts)


def test_items_without_a_mark_in_either_leave_the_judged_metrics_only():
    a, b = judged(lambda k: None if k < 3 else 4.0), judged(lambda k: 0.0 if k < 3 else None if k == 5 else 6.0)
    found = rows(compare([a, b]))
    n = found["open_score"].n_a
    assert found["judge_score"].n_a == n - 4
    assert (found["judge_score"].a, found["judge_score"].b) == (4, 6)
    assert found["open_with_judge_w0.5"].difference == pytest.approx(1)
    assert "judge_score" not in rows(compare([a, result("lithobench_open", lambda k, item: "x")]))


def test_what_is_withheld_is_not_compared():
    a, b = judged(lambda k: None if k % 2 else 4.0), judged(lambda k: 6.0)
    row = rows(compare([a, b]))["open_with_judge_w0.5"]
    assert math.isnan(row.difference)
    assert row.note.startswith("withheld")


def test_strata_are_adjusted_within_their_breakdown(letters):
    strata = compare(letters).pairs[0].strata
    assert set(strata) == {"level", "lithology"}
    for parts in strata.values():
        assert [row.p_holm for row in parts.values()] == holm([row.p_value for row in parts.values()])
        assert {row.metric for row in parts.values()} == {"accuracy"}
    scores = scores_of(letters[0]).values()
    assert strata["level"]["ID"].n_a == sum(score.strata["level"] == "ID" for score in scores)


def test_several_models_give_a_matrix(letters):
    third = result("lithobench_mcq", lambda k, item: answer(item, k % 3 == 0), "third")
    found = compare([*letters, third])
    assert [(pair.a, pair.b) for pair in found.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert {len(pair.metrics) for pair in found.pairs} == {1}
    assert {pair.metrics[0].metric for pair in found.pairs} == {"accuracy_mean_of_levels"}
    headline = [pair.metrics[0] for pair in found.pairs]
    assert [row.p_holm for row in headline] == holm([row.p_value for row in headline])


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"data_sha256": "other"}, "data_sha256: A d, B other"),
        ({"prompt_sha256": "q" * 64}, f"prompt_sha256: A p, B {'q' * 24}…"),
        ({"policy": "first_letter"}, "policy: A declared, B first_letter"),
        ({"data": "release"}, "data: A SAMPLE, B release"),
        ({"data_check": "different", "data_sha256_asked": "e"}, "data_sha256 asked: A d, B e"),
    ],
)
def test_different_conditions_are_refused_and_named(letters, facts, said):
    other = dataclasses.replace(letters[1], run={**letters[1].run, **facts})
    with pytest.raises(Incomparable, match="--anyway") as refused:
        compare([letters[0], other])
    assert said in str(refused.value)
    assert compare([letters[0], other], anyway=True).conditions.differing == (said,)


def test_different_versions_judges_and_gold_answers_are_refused(letters):
    older = dataclasses.replace(letters[1], summary=dataclasses.replace(letters[1].summary, version="0-A"))
    with pytest.raises(Incomparable, match="task version: A 1-A, B 0-A"):
        compare([letters[0], older])
    for facts in ({"weight": 0.4}, {"model": "k"}, {"rubric_sha256": "s"}, {"picture": True}):
        other = dataclasses.replace(judged(lambda k: 5.0), judge={**judged(lambda k: 5.0).judge, **facts})
        with pytest.raises(Incomparable, match=f"judge {next(iter(facts))}"):
            compare([judged(lambda k: 5.0), other])
    scored = list(letters[1].items())
    scored[0] = (dataclasses.replace(scored[0][0], gold=("F",)), "x")
    with pytest.raises(Incomparable, match="gold answer, cluster or strata of 1 items"):
        compare([letters[0], dataclasses.replace(letters[1], items=lambda: iter(scored))])


def test_what_is_not_stated_is_said_and_no_hindrance(letters):
    silent = dataclasses.replace(letters[1], run={"model": "x", "harness": "vlmevalkit"})
    met = compare([letters[0], silent]).conditions
    assert "prompt_sha256: not stated by B" in met.unstated
    assert met.differing == ()
    half = compare([judged(lambda k: 5.0), result("lithobench_open", lambda k, item: "x")])
    assert any("only A was marked by a judge" in line for line in half.conditions.unstated)
    assert "judge_score" in half.left_out


def test_similarity(letters):
    alike = {metric.name: metric for metric in compare(letters, similarity=True).pairs[0].similarity}
    texts = [[reply for _, reply in one.items()] for one in letters]
    assert alike["same_answer"].value == sum(x == y for x, y in zip(*texts, strict=True)) / len(texts[0])
    assert alike["rouge_l_between_replies"].n == len(texts[0])
    assert alike["same_answer_both_wrong"].note.startswith("evenly spread mistakes: 0.3")
    assert "cohen_kappa" in alike
    open_ = result("lithobench_open", lambda k, item: "<think>a b c</think>red rock")
    alike = {metric.name: metric for metric in compare([open_, open_], similarity=True).pairs[0].similarity}
    assert set(alike) == {"rouge_l_between_replies"}
    assert alike["rouge_l_between_replies"].value == 1


@pytest.mark.parametrize(
    "task", ["georefusal", "forge_surfinsp", "forge_workveri", "forge_grounding_letter_to_coordinate"]
)
def test_every_kind_of_task_compares(task):
    benchmark = get_benchmark(task)
    items = list(read_items(locate(benchmark.dataset, "sample"), benchmark.strata))
    results = []
    for step in (2, 3):
        scored = []
        for k, item in enumerate(items):
            answers = benchmark.answers(item)
            reply = benchmark.format_reply(item, item.gold[0] if k % step else answers[k % len(answers)])
            if set(item.gold) <= set(answers):
                scored.append((benchmark.score(item, reply), reply))
        results.append(as_result(task, benchmark, scored))
    found = compare(results, similarity=True)
    assert len(found.pairs[0].metrics) > 2
    assert all(0 <= row.p_value <= 1 for row in found.pairs[0].metrics)


def test_models_of_one_name_are_told_apart(letters):
    same = [
        dataclasses.replace(one, run={**one.run, "model": "m", "model_args": args, "date": "2026-01-01"})
        for one, args in zip(letters, ("checkpoint=1", "checkpoint=2"), strict=True)
    ]
    assert list(compare(same).models.values()) == ["m (checkpoint=1)", "m (checkpoint=2)"]
    assert list(compare(letters).models.values()) == ["base", "tuned"]


def test_nothing_in_common(letters):
    half = list(letters[0].items())
    a = dataclasses.replace(letters[0], items=lambda: iter(half[:9]))
    b = dataclasses.replace(letters[1], items=lambda: iter(half[9:]))
    row = rows(compare([a, b]))["accuracy"]
    assert row.n_a == 0
    assert math.isnan(row.difference)
    assert math.isnan(row.p_value)
    with pytest.raises(ValueError, match="2 to 26"):
        compare([letters[0]])


@pytest.fixture
def command(monkeypatch, capsys):
    """``geoeval compare`` on given results; gives exit status, output and messages."""

    def run(results, *arguments):
        load = ModuleType("geoeval.runs.load")
        load.load_results = lambda paths: results
        monkeypatch.setitem(sys.modules, "geoeval.runs.load", load)
        with pytest.raises(SystemExit) as end:
            cli.main(["compare", "A", "B", *arguments])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return run


def test_command(letters, command, tmp_path):
    status, out, err = command(letters, "--similarity", "--csv", str(tmp_path / "differences.csv"))
    assert (status, err) == (0, "")
    for expected in ("A = base", "B = tuned", "SAMPLE", "B - A", "shows from", "p (Holm)", "macro_f1", "cohen_kappa"):
        assert expected in out
    with open(tmp_path / "differences.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    headline = lines[0]
    assert (headline["model_a"], headline["metric"], headline["part"]) == ("base", "accuracy_mean_of_levels", "")
    assert float(headline["difference"]) == rows(compare(letters))["accuracy_mean_of_levels"].difference
    assert {line["breakdown"] for line in lines} == {"", "level", "lithology"}


def test_command_prints_json_without_nan(letters, command):
    status, out, _ = command([*letters, letters[0]], "--json")
    (found,) = json.loads(out, parse_constant=pytest.fail)
    assert status == 0
    assert found["pairs"][0]["items"]["compared"] == letters[0].summary.coverage.items
    assert found["models"] == {"A": "base", "B": "tuned", "C": "base"}


def test_command_refuses_and_says_what_differs(letters, command):
    other = dataclasses.replace(letters[1], run={**letters[1].run, "policy": "first_letter"})
    status, out, err = command([letters[0], other])
    assert (status, out) == (1, "")
    assert "policy: A declared, B first_letter" in err
    status, out, err = command([letters[0], other], "--anyway")
    assert (status, err) == (0, "")
    assert "WARNING: conditions differ, so that this is no fair comparison: policy: A declared, B first_letter" in out


def test_command_with_nothing_to_compare(letters, command):
    status, _, err = command([letters[0]])
    assert status == 1
    assert "only one result of lithobench_mcq" in err


def test_hostile_names_are_printed_as_they_are(letters, command, tmp_path):
    hostile = [dataclasses.replace(one, run={**one.run, "model": "=cmd|'[red]x'!A1"}) for one in letters]
    status, out, _ = command(hostile, "--csv", str(tmp_path / "x.csv"))
    assert status == 0
    assert "A = =cmd|'[red]x'!A1" in out
    with open(tmp_path / "x.csv", newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["model_a"].startswith("'=")


def test_nothing_in_a_name_is_obeyed_by_a_terminal(letters, command):
    name = "\x1b[31mred\ngeoeval: all well"
    hostile = [
        dataclasses.replace(one, run={**one.run, "model": name, "date": str(k)}) for k, one in enumerate(letters)
    ]
    other = dataclasses.replace(hostile[1], run={**hostile[1].run, "policy": "\x1b[2Jnone"})
    for results in (hostile, [hostile[0], other]):
        said = "".join(command(results)[1:])
        assert "\ufffd[31mred\ufffdgeoeval" in said
        assert "\x1b" not in said


def test_results_of_a_part_are_called_so(letters, command, tmp_path):
    part = {"items": 80, "of": 99}
    partial = [dataclasses.replace(one, run={**one.run, "partial": part}) for one in letters]
    _, out, _ = command([letters[0], partial[1]], "--csv", str(tmp_path / "x.csv"))
    assert out.count("(PARTIAL 80/99)") == 1
    with open(tmp_path / "x.csv", newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["partial"] == "B 80 of 99"


def test_records_compare_like_the_results_they_were_written_from(letters):
    again = []
    for one in letters:
        record = json.loads(json.dumps(to_record(one)))
        lines = [json.loads(json.dumps(to_line(score, reply))) for score, reply in one.items()]
        again.append(
            Result(
                record["task"],
                summary_from_record(record),
                record["run"],
                lambda lines=lines: map(from_line, lines),
                judge=record["judge"],
            )
        )
    assert repr(compare(again)) == repr(compare(letters))
