"""Scoring with a judge: who is asked what, and what becomes of the marks. The judge itself is tested in tests/judge."""

import math

import pytest
from saved_runs import gold_replies, items, saved

from geoeval.data import DataError
from geoeval.judge import engine
from geoeval.judge.rubric import load_rubric
from geoeval.judge.settings import JudgeSettings
from geoeval.runs.model import Reply
from geoeval.runs.saved import check, write_result
from geoeval.runs.score import score_run
from geoeval.types import Judgement

TASK = "lithobench_open"
SETTINGS = JudgeSettings(model="stern", base_url="http://127.0.0.1:9/v1", weight=0.25, max_unscored=0.1)


@pytest.fixture
def asked(monkeypatch):
    """What the judge is asked; it gives everything a 6, and no mark to answers that hold "unjudgeable"."""
    dimensions = {dimension.name: 5.0 for dimension in load_rubric(SETTINGS.rubric).dimensions}
    seen = []

    def judge_run(questions, settings, *, tested=None, **_):
        seen.extend(questions)
        judgements = [
            Judgement(None, reason="unreadable: x") if "unjudgeable" in one.answer else Judgement(6.0, dimensions, "ok")
            for one in questions
        ]
        return engine.Judged(judgements, f"judge:{settings.model}", {"model": settings.model, "tested": tested})

    monkeypatch.setattr(engine, "judge_run", judge_run)
    return seen


def test_marks_are_combined_and_written(asked, tmp_path):
    replies = gold_replies(TASK)
    replies[0] = Reply(replies[0].id, None)
    replies[1] = Reply(replies[1].id, "unjudgeable")
    replies[2] = Reply(replies[2].id, "<think>hm</think>a visible answer")
    replies[3] = Reply(replies[3].id, "")
    plain = score_run(saved(TASK, replies, tmp_path))
    result = score_run(saved(TASK, replies, tmp_path), judge=SETTINGS)
    assert [one.id for one in asked] == sorted(reply.id for reply in replies[1:])
    by_id = {item.id: item for item in items(TASK)}
    assert all((one.question, one.references) == (by_id[one.id].question, by_id[one.id].gold) for one in asked)
    answers = {one.id: one.answer for one in asked}
    assert (answers[replies[2].id], answers[replies[3].id]) == ("a visible answer", "")
    assert {one.picture for one in asked} == {None}
    summary = result.summary
    assert summary["open_score"] == plain.summary["open_score"]
    assert (summary["judge_score"].value, summary["judge_score"].n) == (6.0, 58)
    kept = {score.id: score for score, _ in result.items()}
    marked = [score for score in kept.values() if score.judgement and score.judgement.score is not None]
    combined = [0.75 * score.values["open_score"] + 0.25 * 6 for score in marked]
    assert summary["open_with_judge_w0.25"].value == pytest.approx(math.fsum(combined) / 58)
    assert kept[replies[0].id].judgement is None
    assert kept[replies[1].id].judgement.reason == "unreadable: x"
    assert kept[replies[2].id].extracted == "a visible answer"
    assert summary.coverage.unscored == 1
    assert "judge:stern" in summary.signature
    assert result.judge == {"model": "stern", "tested": "m", "max_unscored": 0.1}
    record, _ = write_result(result, tmp_path / "x")
    assert check(record) == 60


def test_too_many_without_a_mark(asked, tmp_path):
    replies = [Reply(r.id, "unjudgeable") if k < 7 else r for k, r in enumerate(gold_replies(TASK))]
    metric = score_run(saved(TASK, replies, tmp_path), judge=SETTINGS).summary["open_with_judge_w0.25"]
    assert math.isnan(metric.value)
    assert metric.note.startswith("withheld: 7 of 60")


def test_the_judge_sees_the_picture_where_it_should(asked, tmp_path):
    settings = JudgeSettings(**{**vars(SETTINGS), "picture": True})
    score_run(saved(TASK, gold_replies(TASK), tmp_path), judge=settings)
    assert all(one.picture["bytes"] for one in asked)


def test_only_open_answers_are_judged(asked, tmp_path):
    with pytest.raises(DataError, match="a judge marks open answers only"):
        score_run(saved("georefusal", gold_replies("georefusal"), tmp_path), judge=SETTINGS)
    assert not asked
