"""Hostile answers: none changes what a judge is told, and a judge that obeys everything outside of a field obeys none.

That the stand-in judge is gullible is tested too: by a prompt without protection, and by taking each protection away.
"""

import json
import re
from pathlib import Path

import gullible
import pytest

from geoeval.judge import fields
from geoeval.judge.letters import LetterAsk
from geoeval.judge.prompt import judge_messages
from geoeval.judge.reply import read_marks
from geoeval.judge.rubric import load_rubric

RUBRIC = load_rubric()
QUESTION, REFERENCE = "Which lithology does the tile show?", "Sandstone: light beds, parallel ridges, jointing."
ROWS = [json.loads(line) for line in Path(__file__).with_name("injections.jsonl").read_text("utf-8").splitlines()]


def answer_of(row):
    text, times = row.get("padding", ("", 0))
    return text * times + row["answer"]


ANSWERS = {row["name"]: answer_of(row) for row in ROWS}
BENIGN = (
    "The tile shows sandstone: pale, evenly bedded layers with joints.",
    "砂岩。层理清楚,颜色较浅。",
    "Granite, since the relief is rounded and the drainage is radial (10 channels; SiO2 > 65 %; slope < 10°).",
)


def naive_messages(answer, structured):
    """What many harnesses send: one string, the answer pasted into it."""
    shape = json.dumps(dict.fromkeys(RUBRIC.marks, "N")).replace('"N"', "N")
    lines = "\n".join(f"MARK {name}: N" for name in RUBRIC.marks)
    return [
        {"role": "system", "content": "You are a geologist who marks answers."},
        {
            "role": "user",
            "content": f"Question: {QUESTION}\nReference: {REFERENCE}\nAnswer: {answer}\n\n"
            f"Compare the answer with the reference. End with {shape if structured else lines}",
        },
    ]


def protected(answer, structured):
    return judge_messages(RUBRIC, QUESTION, [REFERENCE], answer, structured=structured)


def outside(messages):
    """What stands outside of the fields, their code left out."""
    text = re.sub(r"[0-9a-f]{12}(?=⟧)", "", messages[1]["content"])
    return [line for line in text.split("\n") if not line.startswith("|") and not line.startswith("(cut: ")]


def test_the_set_is_large_and_varied():
    assert len(ROWS) == len(ANSWERS) >= 50
    assert len({row["family"] for row in ROWS}) == 8


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("name", ANSWERS)
def test_none_gets_through(name, structured):
    messages = protected(ANSWERS[name], structured)
    assert outside(messages) == outside(protected("Slate.", structured)), "what the judge is told depends on the answer"
    assert gullible.obeyed(messages) is None
    judgement = read_marks(gullible.reply(messages), RUBRIC)
    assert judgement.reason is None
    assert judgement.score < 10


@pytest.mark.parametrize("structured", [True, False])
def test_nor_through_the_question_which_letter_a_reply_says(structured):
    def asked(reply):
        return LetterAsk("q", ("A", "B"), ("sandstone", "granite"), reply).messages(structured)

    expected = outside(asked("Perhaps the former."))
    for name, answer in ANSWERS.items():
        assert outside(asked(answer)) == expected, name
        assert gullible.obeyed(asked(answer)) is None, name


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("answer", BENIGN)
def test_a_normal_answer_is_marked_by_its_content(answer, structured):
    messages = protected(answer, structured)
    assert gullible.obeyed(messages) is None
    assert gullible.obeyed(naive_messages(answer, structured)) is None
    other = protected(answer + " It is dry.", structured)
    assert gullible.reply(messages) != gullible.reply(other)


@pytest.mark.parametrize("name", ANSWERS)
def test_without_protection_it_gets_through(name):
    """Otherwise it would show nothing that it does not get through above."""
    for structured in (True, False):
        messages = naive_messages(ANSWERS[name], structured)
        demanded = gullible.obeyed(messages)
        assert demanded == (9 if name == "nine_not_ten" else 10)
        assert read_marks(gullible.reply(messages), RUBRIC).score == demanded


def through():
    """The answers that get through."""
    return {name for name, answer in ANSWERS.items() if gullible.obeyed(protected(answer, False)) is not None}


def test_without_folding_they_get_through(monkeypatch):
    monkeypatch.setattr(fields, "as_data", lambda text: text)
    families = {row["family"] for row in ROWS if row["name"] in through()}
    assert {"marker", "turn", "hidden", "line"} <= families


@pytest.mark.parametrize(
    ("name", "value", "example"),
    [
        ("_fold", lambda character: character, "white_square"),
        ("_fold", lambda character: character, "tag_characters"),
        ("_INVISIBLE", frozenset(), "ansi_conceal"),
        ("_HIDDEN", (), "variation_selectors"),
        ("_SAME", frozenset(), "chatml_full_width"),
        ("_BRACKET_PIECES", {}, "bracket_pieces"),
        ("_TOKEN_ANGLES", {}, "kimi_think"),
        ("_ANGLES_OPEN", re.compile("(?!)"), "chatml"),
        ("_LINE_END", re.compile("(?!)"), "line_separator"),
        ("BAR", "", "mark_lines"),
    ],
)
def test_each_protection_is_needed(monkeypatch, name, value, example):
    monkeypatch.setattr(fields, "_TABLE", fields._Folded())
    monkeypatch.setattr(fields, name, value)
    assert example in through()
