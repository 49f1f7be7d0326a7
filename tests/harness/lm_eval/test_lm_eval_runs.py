"""lm-eval run by its command line: prompts as ours, the same scores and numbers, failures told where it can be done."""

import json

import pytest
from answering import Answers, answering, keys
from lm_eval_runs import evaluate, lm_eval_python

from geoeval.benchmarks import get_benchmark
from geoeval.data import DataError, locate, task_items
from geoeval.harness.lm_eval.adapter import PLACEHOLDER
from geoeval.runs.lm_eval import NULL_REPLY, read, recognises

TASKS = ("georefusal", "lithobench_open_id", "forge_grounding_cross_letter")
RIGHT = object()
# What the endpoint sends -> what our rules see of it; None is a failed request. RIGHT is a right answer.
SENT = [
    (RIGHT, RIGHT),
    ("<think>Maybe A, maybe ANSWER.</think>I cannot tell.", "<think>Maybe A, maybe ANSWER.</think>I cannot tell."),
    ("", ""),
    (None, None),
    ("First.\n\nAnswer: B", "First.\n\nAnswer: B"),
    ("Answer: B \ud83d", "Answer: B \ufffd"),
    ("The scene is wide. " * 2500 + "\n\nAnswer: B", "The scene is wide. " * 2500 + "\n\nAnswer: B"),
]


@pytest.fixture(scope="module")
def asked():
    replies, seen = {}, {}
    for task in TASKS:
        benchmark = get_benchmark(task)
        items = {item.id: item for item in task_items(task, locate(benchmark.dataset, "sample"))}
        for number, (id_, key) in enumerate(keys(task, flat=True).items()):
            sent, visible = SENT[number % len(SENT)]
            if sent is RIGHT:
                sent = visible = benchmark.format_reply(items[id_], items[id_].gold[0])
            if key not in replies:
                replies[key] = sent, visible
            seen[task, id_] = benchmark.score(items[id_], replies[key][1]), replies[key][1]
    return Answers({key: sent for key, (sent, _) in replies.items()}), seen


@pytest.fixture(scope="module")
def run(asked, tmp_path_factory):
    lm_eval_python()
    with answering(asked[0]) as url:
        done = evaluate(tmp_path_factory.mktemp("lm_eval"), url, *TASKS)
    assert done.status == 0, done.output[-3000:]
    return done


@pytest.mark.parametrize("task", TASKS)
def test_every_item_is_scored_as_we_do(run, asked, task):
    saved = run.scores(task)
    for (name, id_), (ours, _) in asked[1].items():
        if name == task:
            parts = ("outcome", "values", "extracted", "gold", "method", "cluster", "strata")
            assert all(getattr(saved[id_], part) == getattr(ours, part) for part in parts), (saved[id_], ours)
    assert len(saved) == len([1 for name, _ in asked[1] if name == task])


@pytest.mark.parametrize("task", TASKS)
def test_numbers_are_our_summary(run, asked, task):
    numbers = run.numbers(task)
    summary = get_benchmark(task).summarise(score for (name, _), (score, _) in asked[1].items() if name == task)
    for metric in summary.metrics:
        if metric.n:  # lm-eval leaves out what no item takes part in
            assert numbers[metric.name] == pytest.approx(metric.value, abs=1e-12, nan_ok=True), metric.name
    coverage = summary.coverage
    assert numbers["coverage"] == (coverage.items - coverage.failed) / coverage.items


def test_every_prompt_is_ours(run, asked):
    """Every prompt was known to the endpoint by its text and pixels, and asked as often as there are items."""
    answers, seen = asked
    assert not answers.unknown
    assert sum(map(len, answers.asked.values())) == len(seen)
    for requests in answers.asked.values():
        for request in requests:
            assert request.order == ["image_url"] * len(request.pictures) + ["text"]
            assert request.body["temperature"] == 0
            assert request.body["max_tokens"] in (1024, 2048)
            assert not any(request.body["stop"])


@pytest.mark.parametrize("task", TASKS)
def test_sample_log_holds_no_picture_and_is_read(run, asked, task):
    log = run.sample_log(task)
    assert log.stat().st_size < 3_000_000
    assert recognises(log)
    (saved,) = read(log)
    assert (saved.task, saved.data) == (task, "SAMPLE")
    assert saved.data_sha256 == locate(get_benchmark(task).dataset, "sample").sha256
    assert saved.facts["model"] == "stand-in"
    assert saved.facts["generation_kwargs"]["max_gen_toks"] == get_benchmark(task).max_new_tokens
    assert {reply.id: reply.text for reply in saved.read()} == {
        id_: visible for (name, id_), (_, visible) in asked[1].items() if name == task
    }


def test_pictures_that_would_be_dropped_stop_the_run(tmp_path):
    answers = Answers({})
    with answering(answers) as url:
        done = evaluate(tmp_path, url, "forge_grounding_cross_letter", max_images=1)
    assert done.status != 0
    assert "add max_images=2 to --model_args" in done.output
    assert not answers.asked


def test_null_replies_that_cannot_be_told_are_warned_of(tmp_path):
    replies = dict.fromkeys(keys("forge_grounding_letter_to_coordinate", flat=True).values())
    with answering(Answers(replies)) as url:
        done = evaluate(tmp_path, url, "forge_grounding_letter_to_coordinate", **{PLACEHOLDER: ""})
    assert done.status == 0, done.output[-2000:]
    assert f"{PLACEHOLDER} is not set to {NULL_REPLY}" in done.output
    outcomes = {score.outcome.value for score in done.scores("forge_grounding_letter_to_coordinate").values()}
    assert outcomes == {"empty"}


def test_a_sample_log_alone_is_read(tmp_path):
    log = tmp_path / "samples_georefusal_2026-11-30T10-00-00.000001.jsonl"
    lines = [
        {"coverage": {"id": "a"}, "filtered_resps": ["x"]},
        {"coverage": {"id": "b"}, "filtered_resps": [NULL_REPLY]},
    ]
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert recognises(log)
    (saved,) = read(log)
    assert saved.facts == {"harness": "lm-eval"}
    assert [(reply.id, reply.text, reply.failure) for reply in saved.read()] == [
        ("a", "x", ""),
        ("b", None, "null_reply"),
    ]


@pytest.mark.parametrize("name", ["samples_hellaswag_2026-11-30T10-00-00.0.jsonl", "20261130_samples_georefusal.jsonl"])
def test_other_sample_logs_are_not_ours(tmp_path, name):
    log = tmp_path / name
    log.write_text('{"coverage": {"id": "a"}, "filtered_resps": ["x"]}\n', encoding="utf-8")
    assert not recognises(log)


def test_a_damaged_sample_log_is_an_error(tmp_path):
    log = tmp_path / "samples_georefusal_2026-11-30T10-00-00.000001.jsonl"
    log.write_text('{"coverage": {"id": "a"}, "filtered_resps": ["x", "y"]}\n', encoding="utf-8")
    (saved,) = read(log)
    with pytest.raises(DataError, match=r"jsonl:1"):
        list(saved.read())
