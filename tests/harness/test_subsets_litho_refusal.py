"""All tasks of LithoBench and GeoRefusalBench in one run: the harness and our summary say the same of each."""

import json
import math
from collections import Counter

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

from datasets import load_dataset
from runs import ALL_TASKS, evaluate

from geoeval.benchmarks import get_benchmark
from geoeval.data import open_picture
from geoeval.harness.lmms_eval import adapter
from geoeval.types import AsJpeg

TASKS = tuple(task for task in ALL_TASKS if task.startswith(("lithobench", "georefusal")))
GROUPS = {
    "lithobench": ["lithobench_mcq", "lithobench_open"],
    "georefusal_all": ["georefusal", "georefusal_a", "georefusal_b", "georefusal_c", "georefusal_jpeg95"],
}
MEMBERS = [task for members in GROUPS.values() for task in members]
LEVELS = ("_id", "_cmp", "_exp", "_app", "_rea")
PARTS = {
    "lithobench_mcq": [f"lithobench_mcq{level}" for level in LEVELS],
    "lithobench_open": [f"lithobench_open{level}" for level in LEVELS],
    "georefusal": ["georefusal_a", "georefusal_b", "georefusal_c"],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    cache = {}

    def get(strategy):
        if strategy not in cache:
            asked = (*GROUPS, *(task for task in TASKS if task not in MEMBERS))
            cache[strategy] = evaluate(tmp_path_factory.mktemp(strategy), f"strategy={strategy}", tasks=asked)
            assert cache[strategy].status == 0, cache[strategy].output
        return cache[strategy]

    return get


def records(run):
    every = [json.loads(path.read_text(encoding="utf-8")) for path in run.folder.rglob("*.geoeval.json")]
    return {record["task"]: record for record in every}


@pytest.mark.parametrize("task", TASKS)
def test_gold_reaches_the_maximum(runs, task):
    benchmark = get_benchmark(task)
    best = {name: 10 if "score" in name else 1 for name in benchmark.metric_names}
    best.update(dict.fromkeys(benchmark.lower_is_better, 0))
    # Replies that read "Answer: B" begin with an A, and the others are no marks of the model.
    for name in ("accuracy_first_letter", "random_baseline", "accuracy_minus_always_answer"):
        best.pop(name, None)
    for name, value in best.items():
        assert runs("gold").value(task, name) == pytest.approx(value, abs=1e-12), name
    assert runs("gold").value(task, "coverage") == 1
    if "_mcq" in task:
        assert runs("gold").value(task, "random_baseline") == 0.25


@pytest.mark.parametrize("strategy", ["gold", "random"])
@pytest.mark.parametrize("task", TASKS)
def test_the_harness_and_our_summary_agree(runs, task, strategy):
    record = records(runs(strategy))[task]
    assert [metric["name"] for metric in record["metrics"]] == list(get_benchmark(task).metric_names)
    for metric in record["metrics"]:
        theirs = runs(strategy).value(task, metric["name"])
        if metric["value"] is None:
            assert math.isnan(theirs), metric
        else:
            assert theirs == pytest.approx(metric["value"], abs=1e-12), metric
            if metric["low"] is not None:  # a bootstrap of replies that are all right gives none
                assert metric["low"] <= metric["value"] <= metric["high"]


def test_random_stays_inside_its_interval(runs):
    """Chance is 1/4 in every level; seed 0."""
    metrics = {metric["name"]: metric for metric in records(runs("random"))["lithobench_mcq"]["metrics"]}
    for name in ("accuracy_mean_of_levels", "accuracy"):
        assert metrics[name]["low"] <= 0.25 <= metrics[name]["high"]
        assert metrics[name]["n"] == 60


def test_headline_is_the_mean_of_the_level_tasks(runs):
    """Two ways to the published number: one task with all items, and five tasks of one level each."""
    run = runs("random")
    levels = [run.value(task, "accuracy") for task in PARTS["lithobench_mcq"]]
    assert len(set(levels)) > 1
    assert run.value("lithobench_mcq", "accuracy_mean_of_levels") == pytest.approx(sum(levels) / 5, abs=1e-12)


@pytest.mark.parametrize("whole", PARTS)
def test_parts_share_out_the_items(runs, whole):
    def ids(task):
        return Counter(sample["coverage"]["id"] for sample in runs("gold").samples(task))

    parts = [ids(task) for task in PARTS[whole]]
    assert all(parts)
    assert sum(parts, Counter()) == ids(whole)
    assert set(ids(whole).values()) == {1}


def test_groups_have_rows_and_no_invented_number(runs):
    content = json.loads(runs("gold").results_file.read_text(encoding="utf-8"))
    assert {name: content["group_subtasks"][name] for name in GROUPS} == GROUPS
    for group in GROUPS:
        assert group in content["results"]
        assert not [name for name in content["results"][group] if name.endswith(",none") and "stderr" not in name]


@pytest.mark.parametrize("task", ["lithobench_mcq"])
@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ([["ID", 1.0], ["Cmp", 0.0], ["Exp", 1.0], ["App", 1.0], ["Rea", 1.0], ["ID", 0.0]], 0.7),
        ([["ID", 1.0], ["Cmp", 0.0]], math.nan),
        ([], math.nan),
    ],
)
def test_aggregation_of_the_headline(task, pairs, value):
    (metric,) = [metric for metric in adapter.metric_list(task) if metric["metric"] == "accuracy_mean_of_levels"]
    assert metric["aggregation"](pairs) == pytest.approx(value, nan_ok=True)


@pytest.fixture
def documents(monkeypatch, tmp_path):
    """The rows of a task, as the harness gets them."""
    monkeypatch.setenv("GEOEVAL_DATA", "sample")

    def get(task, change=None):
        data = load_dataset(
            "parquet", **adapter.dataset_kwargs(get_benchmark(task).dataset), split="test", cache_dir=str(tmp_path)
        )
        return adapter.process_docs(task, data.map(change) if change else data)

    return get


def test_jpeg_pictures_on_both_ways_to_a_model(documents):
    plain, jpeg = documents("georefusal"), documents("georefusal_jpeg95")
    assert jpeg["id"][:] == plain["id"][:]
    for before, doc in zip(plain.select(range(12)), jpeg.select(range(12)), strict=True):
        (visual,) = adapter.doc_to_visual(doc)
        (message,) = adapter.doc_to_messages(doc)
        (original,) = adapter.doc_to_visual(before)
        assert message["content"][0]["url"].tobytes() == visual.tobytes()
        assert visual.tobytes() == open_picture(AsJpeg(doc["images"][0], 95)).tobytes()
        assert visual.tobytes() != original.tobytes()
        assert visual.size == original.size
        assert adapter.doc_to_text(doc) == adapter.doc_to_text(before)


@pytest.mark.parametrize(
    ("task", "change", "says"),
    [
        ("lithobench_mcq", {"level": "identification"}, "'level' has 'identification'; allowed: ID, Cmp"),
        ("lithobench_mcq_rea", {"gold": ["H"]}, r"12 things to mend .*\['H'\] is not among the choices"),
        ("lithobench_mcq_rea", {"choices": [*"ABCH"]}, r"\['H'\] not among the labels"),
        ("georefusal_b", {"gold": ["REFUSE"]}, r"28 things to mend .*\['REFUSE'\] holds an unknown verdict"),
        ("georefusal_b", {"set": "b"}, r"no row with \{'set': 'B'\}"),
    ],
)
def test_rows_that_could_not_be_marked_stop_the_run_beforehand(documents, task, change, says):
    from geoeval.data import DataError

    with pytest.raises(DataError, match=says):
        documents(task, lambda row: change)
