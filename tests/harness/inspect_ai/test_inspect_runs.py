"""inspect-ai run by its command line: prompts as ours, replies told from failures, numbers those of our summary."""

import math
import subprocess
import sys

import pytest
from answering import BROKEN, Answers, answering, key_of, keys
from inspect_runs import command, dump, evaluate, inspect_python, saved_numbers

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import locate, task_items
from geoeval.metrics.intervals import clustered_mean
from geoeval.runs import inspect_ai as reader
from geoeval.types import Outcome

TASKS = ("georefusal_a", "forge_surfinsp_icd", "lithobench_mcq_id")
RIGHT = object()
THOUGHT = "<think>Maybe A, maybe ANSWER.</think>I cannot tell."
LONG = "I cannot tell. " + "The scene is wide and calm. " * 1500
TWICE = "<think>First.</think>Answer: A\n<think>Again.</think>Answer: B"
# What the endpoint sends -> what other harnesses see of it; None is a failed request. RIGHT is a right answer.
SENT = [
    (RIGHT, RIGHT),
    (THOUGHT, THOUGHT),
    ("<think>never closed", "<think>never closed"),
    ("", ""),
    (" \n", " \n"),
    (None, None),
    (BROKEN, None),
    ({"content": None, "refusal": "I cannot help with that."}, None),
    ({"content": "cut by a filter", "finish_reason": "content_filter"}, None),
    ({"content": "I cannot tell.", "reasoning_content": "The answer is B."}, "I cannot tell."),
    ({"content": "", "reasoning_content": "Answer: B"}, ""),
    (LONG, LONG),
    (TWICE, TWICE),
    ("Answer: B \ud83d", "Answer: B \ufffd"),
]


def items_of(task):
    return {item.id: item for item in task_items(task, locate(get_benchmark(task).dataset, "sample"))}


@pytest.fixture(scope="module")
def asked():
    """(what to answer, task and id -> what a harness should see)."""
    replies, seen = {}, {}
    for task in TASKS:
        benchmark, items = get_benchmark(task), items_of(task)
        for number, (id_, key) in enumerate(keys(task).items()):
            sent, visible = SENT[number % len(SENT)]
            if sent is RIGHT:
                sent = visible = benchmark.format_reply(items[id_], items[id_].gold[0])
            if key not in replies:
                replies[key] = sent, visible
            seen[task, id_] = replies[key][1]
    return Answers({key: sent for key, (sent, _) in replies.items()}), seen


@pytest.fixture(scope="module")
def run(asked, tmp_path_factory):
    inspect_python()
    with answering(asked[0]) as url:
        done = evaluate(tmp_path_factory.mktemp("inspect"), url, *TASKS)
    assert done.status == 0, done.output[-3000:]
    return done


@pytest.fixture(scope="module")
def expected(asked):
    scores = {task: {} for task in TASKS}
    for task in TASKS:
        items = items_of(task)
        for (name, id_), visible in asked[1].items():
            if name == task:
                scores[task][id_] = get_benchmark(task).score(items[id_], visible)
    return scores


@pytest.mark.parametrize("task", TASKS)
def test_every_item_is_scored_as_we_do(run, expected, task):
    saved = run.scores(task)
    assert saved.keys() == expected[task].keys()
    for id_, ours in expected[task].items():
        theirs = saved[id_]
        assert theirs.outcome is ours.outcome, id_
        parts = ("values", "extracted", "gold", "method", "cluster", "strata")
        assert all(getattr(theirs, part) == getattr(ours, part) for part in parts), (theirs, ours)
        if ours.outcome is not Outcome.FAILED:
            assert theirs.reason == ours.reason
    assert {"read", "unread", "empty", "failed"} >= {score.outcome.value for score in saved.values()}


def test_failed_requests_are_unscored_and_say_why(run, asked, expected):
    saved = run.items("georefusal_a")
    reasons = set()
    for id_, score in expected["georefusal_a"].items():
        if score.outcome is Outcome.FAILED:
            assert not isinstance(saved[id_]["value"], dict)
            assert saved[id_]["reason"] == "request_failed"
            reasons.add(saved[id_]["metadata"]["reason"])
    assert reasons == {
        "null_reply",
        "content_filter",
        "request_failed: Error code: 400 - the prompt is not known",
    }


@pytest.mark.parametrize("task", TASKS)
def test_numbers_are_our_summary(run, expected, task):
    numbers = run.numbers(task)
    benchmark, scores = get_benchmark(task), list(expected[task].values())
    summary = benchmark.summarise(scores)

    def same(name, value):
        found = numbers[name]
        assert found == value or (math.isnan(found) and math.isnan(value)), (name, found, value)

    for metric in summary.metrics:
        same(metric.name, metric.value)
        same(f"{metric.name}_n", metric.n)
        same(f"{metric.name}_low", metric.low)
        same(f"{metric.name}_high", metric.high)
    for name in (*benchmark.rates, *benchmark.means):
        part = sorted((s for s in scores if name in s.values), key=lambda s: s.id)
        same(f"{name}_stderr", clustered_mean([s.values[name] for s in part], [s.cluster for s in part]).stderr)
    for breakdown, parts in summary.strata.items():
        for value, metrics in parts.items():
            same(f"{breakdown}={value} {metrics[0].name}", metrics[0].value)
            same(f"{breakdown}={value} {metrics[0].name}_n", metrics[0].n)
    coverage = summary.coverage
    assert [numbers[f"replies_{part}"] for part in ("read", "unread", "empty")] == [
        coverage.read, coverage.unread, coverage.empty,
    ]  # fmt: skip
    assert numbers["unscored_samples"] == coverage.failed
    assert numbers["scored_samples"] == coverage.items - coverage.failed


@pytest.mark.parametrize("task", TASKS)
def test_prompt_is_ours_part_by_part(run, asked, task):
    """Texts and pictures in order, the pixels as shown, temperature 0 and the benchmark's limit."""
    benchmark = get_benchmark(task)
    for item in items_of(task).values():
        messages = benchmark.prompt(item)
        (request, *_) = asked[0].asked[key_of(messages)]
        assert request.order == [{"image": "image_url"}.get(part["type"], "text") for part in messages[0]["content"]]
        assert request.body["temperature"] == 0
        assert request.body["max_tokens"] == benchmark.max_new_tokens
        assert [message["role"] for message in request.body["messages"]] == ["user"]


def test_changed_pictures_are_shown_changed(tmp_path):
    (item, *_) = items_of("georefusal_jpeg95").values()
    key = keys("georefusal_jpeg95")[item.id]
    answers = Answers({key: "ANSWER"})
    with answering(answers) as url:
        evaluate(tmp_path, url, "georefusal_jpeg95", options=("--sample-id", item.id))
    assert [*answers.asked] == [key]
    assert key != keys("georefusal")[item.id]


@pytest.mark.parametrize("task", TASKS)
def test_log_says_version_and_data(run, task):
    spec = run.log(task)["eval"]
    source = locate(get_benchmark(task).dataset, "sample")
    assert spec["task_version"] == get_benchmark(task).version
    assert spec["metadata"]["data"] == "SAMPLE"
    assert spec["metadata"]["data_sha256"] == source.sha256
    assert spec["dataset"]["name"] == source.signature


@pytest.mark.parametrize("task", TASKS)
def test_reader_gives_the_replies_that_were_sent(run, asked, task):
    (log,) = [log for log in run.logs if f"_{task.replace('_', '-')}_" in log.name]
    assert reader.recognises(log)
    (saved,) = reader.read(log)
    assert saved.task == task
    assert saved.data == "SAMPLE"
    assert saved.data_sha256 == locate(get_benchmark(task).dataset, "sample").sha256
    assert saved.facts["harness"] == "inspect-ai"
    assert saved.facts["model"] == "openai-api/local/stand-in"
    assert saved.facts["generation_kwargs"]["max_tokens"] == get_benchmark(task).max_new_tokens
    assert {reply.id: reply.text for reply in saved.read()} == {
        id_: visible for (name, id_), visible in asked[1].items() if name == task
    }


def test_stored_log_is_scored_again_without_data_and_model(run, tmp_path):
    (log,) = [log for log in run.logs if "_georefusal-a_" in log.name]
    nowhere = {"GEOEVAL_DATA": "/nowhere", "LOCAL_BASE_URL": "http://127.0.0.1:9/v1", "LOCAL_API_KEY": "none"}
    again = tmp_path / "again.eval"
    scorer = ("--scorer", "geoeval/georefusal_a", "--action", "overwrite", "--output-file", str(again))
    done = command(tmp_path, "score", str(log), *scorer, **nowhere)
    assert done.status == 0, done.output[-2000:]
    old, new = run.numbers("georefusal_a"), saved_numbers(dump(again))
    assert old.keys() == new.keys()
    assert {name for name in old if old[name] != new[name] and not math.isnan(old[name])} == set()


def test_epochs_count_every_reply_and_share_the_cluster(tmp_path):
    task = "forge_grounding_letter_to_coordinate"
    benchmark, items = get_benchmark(task), items_of(task)
    replies = {key: benchmark.format_reply(items[id_], items[id_].gold[0]) for id_, key in keys(task).items()}
    with answering(Answers(replies)) as url:
        done = evaluate(tmp_path, url, task, options=("--epochs", "2"))
    numbers = done.numbers(task)
    assert numbers["accuracy"] == 1
    assert numbers["accuracy_n"] == 12
    runs = list(reader.read(done.logs[-1]))
    assert [saved.facts["epoch"] for saved in runs] == [1, 2]
    assert all(len(list(saved.read())) == 6 for saved in runs)


def test_run_stops_before_its_first_request_when_the_data_is_wrong(tmp_path):
    answers = Answers({})
    with answering(answers) as url:
        done = evaluate(tmp_path, url, "georefusal", GEOEVAL_DATA=str(tmp_path / "nothing"))
    assert done.status != 0
    assert "GEOEVAL_DATA" in done.output
    assert not answers.asked


def test_most_requests_failing_is_an_error(tmp_path):
    with answering(Answers({})) as url:
        done = evaluate(tmp_path, url, "forge_grounding_letter_to_coordinate")
    assert done.log("forge_grounding_letter_to_coordinate")["status"] == "error"


def test_entry_point_knows_every_task_without_a_warning(tmp_path):
    """inspect-ai only logs an error of an entry point, so that nobody would see it.

    Not in the checkout, whose egg-info may be older than the installation.
    """
    code = (
        "from inspect_ai._util.entrypoints import ensure_entry_points\n"
        "from inspect_ai._util.registry import registry_lookup\n"
        "ensure_entry_points('geoeval')\n"
        f"names = {benchmark_names()!r}\n"
        "print([n for n in names for kind in ('task', 'scorer') if registry_lookup(kind, 'geoeval/' + n) is None])\n"
    )
    done = subprocess.run([inspect_python(), "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert "Unexpected exception" not in done.stderr


def test_core_and_reader_do_not_import_the_harness():
    code = "import sys, geoeval.cli, geoeval.runs.inspect_ai, geoeval.harness.rows; print('inspect_ai' in sys.modules)"
    for python in (sys.executable, str(inspect_python())):
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"
