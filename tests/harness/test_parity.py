"""The same replies give the same per-item scores on every way through, in one process or two."""

import json
import random
import sys

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

from runs import TASKS, evaluate

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, read_items
from geoeval.harness.lmms_eval.adapter import score_from_sample

STYLES = (
    "{answer}",
    "<think>Let me look. Maybe A, maybe ANSWER.</think>{answer}",
    "```json\n{answer}\n```",
    "The picture shows a scene. {answer}\n\nI am fairly sure.",
    "<think>never closed {answer}",
    "I cannot tell. \ud83d",
    "{answer} \ud83d",
    "",
    None,
    "{answer}" + " and so on" * 4000,
)


def styled_replies(task, benchmark, items):
    """A right or a wrong answer in one of many styles, drawn with a fixed seed."""
    rng = random.Random(task)
    for item in items:
        labels = item.choices or benchmark.labels or [other.gold[0] for other in items]
        answer = benchmark.format_reply(item, rng.choice([item.gold[0], rng.choice(labels)]))
        style = rng.choice(STYLES)
        yield item, None if style is None else style.replace("{answer}", answer)


@pytest.fixture(scope="module")
def replies(tmp_path_factory):
    path = tmp_path_factory.mktemp("replies") / "replies.jsonl"
    expected = {}
    with open(path, "w", encoding="utf-8") as file:
        for task in TASKS:
            benchmark = get_benchmark(task)
            items = list(read_items(locate(task, "sample"), benchmark.strata))
            for item, reply in styled_replies(task, benchmark, items):
                file.write(json.dumps({"task": task, "id": item.id, "reply": reply}) + "\n")
                expected[task, item.id] = benchmark.score(item, reply)
    return path, expected


@pytest.fixture(scope="module")
def one_process(replies, tmp_path_factory):
    return evaluate(tmp_path_factory.mktemp("one"), f"strategy=replay,path={replies[0]}")


def same(score, expected):
    """Equal but for the reason of a failed request, which the harness words itself."""
    parts = ("id", "outcome", "values", "extracted", "gold", "method", "cluster", "strata")
    return all(getattr(score, part) == getattr(expected, part) for part in parts)


@pytest.mark.parametrize("task", TASKS)
def test_command_line_scores_as_we_do(one_process, replies, task):
    scores = [score_from_sample(sample) for sample in one_process.samples(task)]
    assert len(scores) == len([key for key in replies[1] if key[0] == task])
    for score in scores:
        assert same(score, replies[1][task, score.id]), score
    assert {score.outcome.value for score in scores} == {"read", "unread", "empty", "failed"}


@pytest.mark.parametrize("task", TASKS)
def test_harness_numbers_are_our_summary(one_process, replies, task):
    summary = get_benchmark(task).summarise([score for (t, _), score in replies[1].items() if t == task])
    for metric in summary.metrics:
        assert one_process.value(task, metric.name) == pytest.approx(metric.value, abs=1e-12, nan_ok=True), metric.name


def test_python_call_scores_as_the_command_line(one_process, replies, monkeypatch):
    from lmms_eval.evaluator import simple_evaluate

    monkeypatch.setenv("GEOEVAL_DATA", "sample")
    results = simple_evaluate(
        model="geoeval_baseline", model_args=f"strategy=replay,path={replies[0]}", tasks=list(TASKS), batch_size=1
    )
    for task in TASKS:
        for sample in results["samples"][task]:
            score = score_from_sample(sample)
            assert same(score, replies[1][task, score.id])
        for metric, value in one_process.results[task].items():
            if metric.endswith(",none") and isinstance(value, float):
                assert results["results"][task][metric] == pytest.approx(value, abs=1e-12, nan_ok=True), metric


@pytest.mark.parametrize("launcher", ["accelerate", "torchrun"])
def test_two_processes_give_the_numbers_of_one(one_process, replies, tmp_path, launcher):
    command = {
        "accelerate": "accelerate.commands.launch --num_processes 2 --cpu --num_cpu_threads_per_process 1 "
        "--main_process_port 0",
        "torchrun": "torch.distributed.run --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:0",
    }[launcher]
    two = evaluate(
        tmp_path,
        f"strategy=replay,path={replies[0]}",
        command=(sys.executable, "-m", *command.split(), "-m", "geoeval.harness.lmms_eval"),
    )
    assert two.status == 0, two.output
    for task in TASKS:
        assert two.results[task].keys() == one_process.results[task].keys()
        for name, value in one_process.results[task].items():
            # The harness's own standard errors are sums in the order the processes deliver.
            expected = pytest.approx(value, rel=1e-12, nan_ok=True) if "_stderr" in name and value != "N/A" else value
            assert two.results[task][name] == expected, (task, name)
        assert len(two.samples(task)) == len(one_process.samples(task))
        records = [next(run.folder.rglob(f"*_{task}.geoeval.json")) for run in (one_process, two)]
        ours, theirs = (json.loads(record.read_text(encoding="utf-8")) for record in records)
        assert ours["metrics"] == theirs["metrics"]
        assert ours["strata"] == theirs["strata"]
