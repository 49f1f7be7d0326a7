"""The adapter by itself: no harness needed."""

import math

import pytest

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, read_items
from geoeval.harness.lmms_eval import adapter, hooks


@pytest.mark.parametrize(
    ("reply", "expected", "reason"),
    [
        ("B", "B", ""),
        ("", "", ""),
        (None, None, "null_reply"),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error.", None, "[LMMS_EVAL_REQUEST_FAILED after 5"),
        ("[LMMS_EVAL_REQUEST_FAILED] null reply", None, "[LMMS_EVAL_REQUEST_FAILED] null reply"),
        ("  [LMMS_EVAL_BUDGET_EXCEEDED]", None, "[LMMS_EVAL_BUDGET_EXCEEDED]"),
        ("The log says [LMMS_EVAL_REQUEST_FAILED], so B", "The log says [LMMS_EVAL_REQUEST_FAILED], so B", ""),
    ],
)
def test_failed_requests_are_told_from_replies(reply, expected, reason):
    found, why = adapter.reply_or_failure(reply)
    assert found == expected
    assert why.startswith(reason)
    assert bool(why) == (found is None)


def test_null_is_marked_before_the_harness_loses_it():
    logged = [["B"], [None], ["", None]]
    adapter.ReplyFilter().apply(logged, docs=None)
    assert [[adapter.reply_or_failure(reply)[0] for reply in each] for each in logged] == [["B"], [None], ["", None]]


def test_half_an_emoji_does_not_lose_the_log():
    logged = [["Fine \ud83d"], ["\U0001f600 whole"]]
    adapter.ReplyFilter().apply(logged, docs=None)
    assert logged == [["Fine \ufffd"], ["\U0001f600 whole"]]
    "".join(reply for each in logged for reply in each).encode("utf-8")


def document(task):
    item = next(read_items(locate(task, "sample"), get_benchmark(task).strata))
    row = {"id": item.id, "question": item.question, "gold": list(item.gold), "cluster": item.cluster}
    return {**row, "choices": [*item.choices], "options": [], "modality": item.modality, "task": task, **item.strata}


@pytest.mark.parametrize("task", ["lithobench_open", "georefusal", "forge_workveri"])
@pytest.mark.parametrize("reply", ["gold", "I cannot say", "", "[LMMS_EVAL_BUDGET_EXCEEDED]"])
def test_a_logged_sample_holds_the_whole_score(task, reply):
    benchmark, doc = get_benchmark(task), document(task)
    item = adapter.item_from_row(doc, benchmark.strata)
    text = benchmark.format_reply(item, item.gold[0]) if reply == "gold" else reply
    sample = adapter.process_results(doc, [text])
    assert adapter.score_from_sample(sample) == benchmark.score(item, *adapter.reply_or_failure(text))
    declared = {metric["metric"] for metric in adapter.metric_list(task)}
    assert sample.keys() <= declared


@pytest.mark.parametrize("values", [[], [0.1] * 10, [1e16, 1.0, -1e16]])
def test_mean_does_not_depend_on_the_order(values):
    samples = [{"score": value} for value in values]
    forward, backward = adapter.mean(samples), adapter.mean(samples[::-1])
    assert forward == backward or (math.isnan(forward) and not values)


@pytest.mark.parametrize("name", ["data_", "docs", "georefusal", "other_georefusal"])
def test_unknown_hooks_are_named(name):
    with pytest.raises(AttributeError, match="hooks are named"):
        getattr(hooks, name)
