"""The role ``grader`` as judge of open answers: its failures are no marks, never 0; never the model under test."""

import math
import threading
from collections import Counter

import pytest
from answering import BROKEN, Answers, answering, keys
from inspect_runs import evaluate, inspect_python

from geoeval.benchmarks import get_benchmark
from geoeval.benchmarks.lithobench import JudgedLithoBenchOpen
from geoeval.data import locate, task_items
from geoeval.judge.rubric import load_rubric
from geoeval.types import Judgement

TASK = "lithobench_open_id"
GRADER = ("--model-role", "grader=openai-api/local/judge")
MARKS = load_rubric().marks
REPLIES = ("The tile shows granite.", "It is sandstone, in layers.", "", "Water covers the ground.")


N = [3, 3, 3, 3]
"""How many items get each of the replies."""


def marks(value):
    return "Plain words about the answer.\n" + "\n".join(f"MARK {name}: {value}" for name in MARKS)


class Judge:
    """Marks each answer 7; unreadable once for granite, always for sandstone; the endpoint fails for water."""

    def __init__(self):
        self.calls = Counter()
        self.bodies = []
        self.lock = threading.Lock()

    def __call__(self, body):
        asked = body["messages"][-1]["content"]
        (answer,) = [reply for reply in REPLIES if reply and reply in asked]
        with self.lock:
            self.bodies.append(body)
            self.calls[answer] += 1
            calls = self.calls[answer]
        if answer == REPLIES[0]:
            return marks(7) if calls > N[0] else "Seven, I would say."
        return "I would rather not." if answer == REPLIES[1] else BROKEN


@pytest.fixture(scope="module")
def ids():
    return list(keys(TASK))


@pytest.fixture(scope="module")
def judged(ids, tmp_path_factory):
    inspect_python()
    replies = {key: REPLIES[n % 4] for n, key in enumerate(keys(TASK).values())}
    assert len(replies) == len(ids) == sum(N)  # else two items ask the same
    judge = Judge()
    with answering(Answers(replies, other=judge)) as url:
        environment = {"GEOEVAL_JUDGE_WEIGHT": "0.25", "GEOEVAL_JUDGE_RETRIES": "2"}
        done = evaluate(tmp_path_factory.mktemp("judged"), url, TASK, options=GRADER, **environment)
    assert done.status == 0, done.output[-3000:]
    return done, judge


def test_marks_are_read_and_combined(judged, ids):
    benchmark = get_benchmark(TASK)
    items = {item.id: item for item in task_items(TASK, locate("lithobench_open", "sample"))}
    for id_ in ids[::4]:
        saved = judged[0].scores(TASK)[id_]
        plain = benchmark.score(items[id_], REPLIES[0])
        assert saved.values["judge_score"] == 7
        assert saved.values["open_with_judge_w0.25"] == 0.75 * plain.values["open_score"] + 0.25 * 7
        assert {name: saved.values[name] for name in plain.values} == dict(plain.values)
    explanation = judged[0].items(TASK)[ids[0]]["explanation"]
    assert "visible_text" in explanation
    assert "7 of 10" in explanation
    assert "Plain words about the answer." in explanation


def test_a_judge_that_fails_gives_no_mark(judged, ids):
    saved = judged[0].items(TASK)
    for id_, reason in ((ids[1], "unreadable"), (ids[3], "call_failed")):
        item = saved[id_]
        assert math.isnan(float(item["value"]["judge_score"]))
        assert math.isnan(float(item["value"]["open_with_judge_w0.25"]))
        assert item["value"]["open_score"] >= 0
        assert item["metadata"]["judgement"]["score"] is None
        assert item["metadata"]["judgement"]["reason"].startswith(reason)
        assert item["reason"] == "grader_failed"


def test_unreadable_replies_are_asked_for_again_and_an_empty_answer_is_not_asked(judged, ids):
    done, judge = judged
    assert judge.calls == {REPLIES[0]: 2 * N[0], REPLIES[1]: 3 * N[1], REPLIES[3]: N[3]}
    empty = done.items(TASK)[ids[2]]
    assert empty["value"]["judge_score"] == 0
    assert empty["metadata"]["judgement"]["reason"] == "empty_answer"
    assert {body["model"] for body in judge.bodies} == {"judge"}
    assert {body["temperature"] for body in judge.bodies} == {0}


def test_numbers_are_our_judged_summary(judged, ids):
    numbers, scores = judged[0].numbers(TASK), judged[0].scores(TASK)
    settings = judged[0].items(TASK)[ids[0]]["metadata"]["judge"]
    benchmark = JudgedLithoBenchOpen(get_benchmark(TASK), **settings)
    failed = Judgement(None, reason="x")
    ours = [benchmark.judged(s, failed) if "judge_score" not in s.values else s for s in scores.values()]
    summary = benchmark.summarise(ours)
    assert math.isnan(numbers["open_with_judge_w0.25"])  # half of the answers have no mark
    assert numbers["judge_score"] == summary["judge_score"].value
    assert numbers["judge_score_n"] == N[0] + N[2]
    assert numbers["open_score"] == summary["open_score"].value
    assert numbers["replies_without_mark"] == N[1] + N[3]


@pytest.mark.parametrize(
    ("options", "environment", "said"),
    [
        (("--model-role", "grader=openai-api/local/stand-in"), {}, "is the model under test"),
        ((), {"GEOEVAL_JUDGE_MODEL": "gpt-5.4"}, "--model-role grader=MODEL"),
        (GRADER, {"GEOEVAL_JUDGE_WEIGHT": "2"}, "weight"),
        (GRADER, {"GEOEVAL_JUDGE_RUBRIC": "nothing-1"}, "rubric"),
        (GRADER, {"GEOEVAL_JUDGE_STRUCTURED": "schema"}, "STRUCTURED"),
    ],
)
def test_a_judge_that_cannot_be_stops_the_run_before_its_first_request(tmp_path, options, environment, said):
    answers = Answers({}, other=lambda body: "ok")
    with answering(answers) as url:
        done = evaluate(tmp_path, url, TASK, options=(*options, "--limit", "1"), **environment)
    assert done.status != 0
    assert said in " ".join(done.output.split())
    assert not answers.asked
