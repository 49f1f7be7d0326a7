"""The built-in strategies come out at values known beforehand, through the whole harness."""

import json
from collections import Counter

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

from runs import TASKS, evaluate

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, read_items

MAXIMUM = {"lithobench_open": "open_score", "georefusal": "accuracy", "forge_workveri": "accuracy"}


def items(task):
    return list(read_items(locate(task, "sample"), get_benchmark(task).strata))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    cache = {}

    def get(strategy):
        if strategy not in cache:
            cache[strategy] = evaluate(tmp_path_factory.mktemp(strategy), f"strategy={strategy}")
            assert cache[strategy].status == 0, cache[strategy].output
        return cache[strategy]

    return get


def test_gold_reaches_the_maximum_everywhere(runs):
    expected = {
        "lithobench_open": {"open_score": 10, "rouge_l": 1, "bleu_4": 1, "coverage": 1},
        "forge_workveri": {
            **dict.fromkeys(("accuracy", "accuracy_valid", "parse_rate", "macro_f1", "coverage"), 1),
            "random_baseline": 0.25,
        },
        "georefusal": {
            **dict.fromkeys(("accuracy", "parse_rate", "strict_json_rate", "balanced_accuracy", "macro_f1", "mcc"), 1),
            **dict.fromkeys(("detection_precision", "detection_recall", "detection_f1", "category_accuracy"), 1),
            **dict.fromkeys(("refusal_accuracy", "hierarchical", "crs", "coverage"), 1),
            "false_refusal_rate": 0,
            "missed_refusal_rate": 0,
        },
    }
    for task, metrics in expected.items():
        for metric, value in metrics.items():
            assert runs("gold").value(task, metric) == pytest.approx(value, abs=1e-12), (task, metric)


def test_always_answer_scores_the_share_of_answerable_items(runs):
    golds = [item.gold for item in items("georefusal")]
    share = sum("ANSWER" in gold for gold in golds) / len(golds)
    assert runs("always_answer").value("georefusal", "accuracy") == share
    assert runs("always_answer").value("georefusal", "balanced_accuracy") == pytest.approx(1 / 6)
    assert runs("always_answer").value("georefusal", "mcc") == 0
    assert runs("always_answer").value("georefusal", "accuracy_minus_always_answer") == 0


def test_majority_and_first_score_their_share(runs):
    golds = Counter(item.gold[0] for item in items("forge_workveri"))
    n = sum(golds.values())
    assert runs("first").value("forge_workveri", "accuracy") == golds["A"] / n
    assert runs("majority").value("forge_workveri", "accuracy") == max(golds.values()) / n


def test_random_stays_inside_its_interval(runs):
    """Chance is 1/4 and 1/6 of single-label items; the 95 % interval of the run has to hold it (seed 0)."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in runs("random").folder.rglob("*.geoeval.json")]
    metrics = {(record["task"], metric["name"]): metric for record in records for metric in record["metrics"]}
    accuracy = metrics["forge_workveri", "accuracy"]
    assert accuracy["low"] <= 0.25 <= accuracy["high"]
    golds = [item.gold for item in items("georefusal")]
    chance = sum(len(gold) for gold in golds) / 6 / len(golds)
    accuracy = metrics["georefusal", "accuracy"]
    assert accuracy["low"] <= chance <= accuracy["high"]


@pytest.mark.parametrize("task", TASKS)
def test_log_lines_carry_what_the_harness_drops(runs, task):
    by_id = {item.id: item for item in items(task)}
    samples = runs("gold").samples(task)
    assert {sample["coverage"]["id"] for sample in samples} == by_id.keys()
    for sample in samples:
        record, item = sample["coverage"], by_id[sample["coverage"]["id"]]
        assert record["gold"] == list(item.gold)
        assert record["strata"] == item.strata
        assert record["cluster"] == item.cluster
        assert record["extracted"] == item.gold[0]
        assert record["outcome"] == "read"
        assert record["method"] not in ("", "none")
        assert record["reason"] is None
        assert sample[MAXIMUM[task]]["cluster"] == item.cluster


def test_clustered_standard_error_is_the_harness_own(runs):
    """lmms-eval's own formula and ours give the same; it needs cluster_key and dict values."""
    from geoeval.metrics.intervals import clustered_mean

    samples = runs("random").samples("lithobench_open")
    values = [sample["rouge_l"]["score"] for sample in samples]
    clusters = [sample["rouge_l"]["cluster"] for sample in samples]
    theirs = runs("random").results["lithobench_open"]["rouge_l_stderr_clustered,none"]
    assert theirs == pytest.approx(clustered_mean(values, clusters).stderr, rel=1e-9)


def test_replay_gives_the_saved_scores_again(runs, tmp_path):
    """A sample log of ours is a file of replies: scored again inside the harness, nothing changes."""
    (log,) = runs("random").folder.rglob("*_samples_georefusal.jsonl")
    again = evaluate(tmp_path, f"strategy=replay,path={log}", tasks=("georefusal",))
    assert again.status == 0, again.output
    assert again.results["georefusal"] == runs("random").results["georefusal"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"id": "a", "reply": "x"}\n{"id": "a", "reply": "y"}\n', "replies.jsonl:2: the id 'a' occurs twice"),
        ('{"id": "a"}\n', "replies.jsonl:1: needs an object with 'id' and 'reply'"),
        ("not json\n", "replies.jsonl:1: needs an object"),
    ],
)
def test_bad_files_of_replies_are_named(tmp_path, content, says):
    from geoeval.data import DataError
    from geoeval.harness.lmms_eval.baseline import load_replies

    path = tmp_path / "replies.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as error:
        load_replies(path)
    assert says in str(error.value)


def test_replies_of_several_tasks_in_one_file(tmp_path):
    from geoeval.harness.lmms_eval.baseline import load_replies

    path = tmp_path / "replies.jsonl"
    path.write_text('{"task": "a", "id": "1", "reply": "x"}\n\n{"id": "1", "reply": null}\n', encoding="utf-8")
    assert load_replies(path) == {("a", "1"): "x", ("", "1"): None}
