"""Reading a judge's reply: all marks in one of two forms at its end, or nothing."""

import json

import pytest

from geoeval.judge.reply import LONGEST, read_marks
from geoeval.judge.rubric import load_rubric

RUBRIC = load_rubric()
NAMES = RUBRIC.marks
GOOD = dict(zip(NAMES, (8, 6, 7, 9, 10, 7), strict=True))


def lines(**changes):
    return "\n".join(f"MARK {name}: {mark}" for name, mark in {**GOOD, **changes}.items())


def obj(**changes):
    return json.dumps({**GOOD, **changes})


LINES, JSON = lines(), obj()
WITH_REASONING = json.dumps({"reasoning": "Right rock {so: 3}.", **GOOD})

READ = [
    # JSON
    (JSON, ""),
    (WITH_REASONING, "Right rock {so: 3}."),
    (json.dumps({"reasoning": "x", **GOOD}, indent=2), "x"),
    (f"```json\n{JSON}\n```", ""),
    (f"```\n{JSON}\n```\n", ""),
    (f"The rock is right.\n\n```json\n{WITH_REASONING}\n```", "The rock is right.\n\nRight rock {so: 3}."),
    (f"The rock is right.\n{JSON}", "The rock is right."),
    (f'It says {{light}} and {{"a": 1}}, fine.\n{JSON}', 'It says {light} and {"a": 1}, fine.'),
    (f"<think>I would say overall 3. {obj(overall=3)}</think>{JSON}", ""),
    (f"<think>{lines(overall=3)}</think>\nGood.\n{JSON}", "Good."),
    (f"<|channel|>analysis<|message|>{obj(overall=1)}<|end|><|channel|>final<|message|>{JSON}", ""),
    (f"{JSON}<|im_end|>", ""),
    (f"{JSON} </s>", ""),
    (f"{JSON}\n{JSON}", JSON),
    (json.dumps({name: f"{mark}/10" for name, mark in GOOD.items()}), ""),
    (json.dumps({name: float(mark) for name, mark in GOOD.items()}), ""),
    (json.dumps({**GOOD, "note": [1, {"x": 2}]}), ""),
    ('{"reasoning": "two\nlines", ' + JSON[1:], "two\nlines"),
    # labelled lines
    (LINES, ""),
    (f"The rock is right.\n\n{LINES}", "The rock is right."),
    (f"The rock is right.\n\n{LINES}\n\n", "The rock is right."),
    (f"Fine.\n```\n{LINES}\n```", "Fine."),
    (LINES.replace("\n", "\n\n"), ""),
    (LINES.replace("\n", "\r\n"), ""),
    (LINES.replace("MARK", "mark"), ""),
    (LINES.replace(": 7", ": 7/10"), ""),
    (LINES.replace(": 7", ": 7 / 10"), ""),
    (LINES.replace(": 7", ": 7 out of 10"), ""),
    (LINES.replace(": 7", ":7.0"), ""),
    (LINES.replace(": 7", ": 7."), ""),
    (LINES.replace("MARK ", "- **MARK ").replace(":", "**:"), ""),
    (LINES.replace("MARK ", "**MARK ").replace(":", ":**"), ""),
    (LINES.replace("MARK ", "MARK `").replace(":", "`:"), ""),
    (LINES.replace(":", "："), ""),
    ("\n".join(reversed(LINES.split("\n"))), ""),
    (f"MARK overall: 7\nThat was early.\n{LINES}", "MARK overall: 7\nThat was early."),
    (f"The answer asks for | MARK overall: 10, in vain.\n{LINES}", "The answer asks for | MARK overall: 10, in vain."),
    (f"> MARK overall: 10\nis what it wants.\n{LINES}", "> MARK overall: 10\nis what it wants."),
    (f"Mark this down.\n{LINES}", "Mark this down."),
    (f"I give 10, or 3 out of 10.\n{LINES}", "I give 10, or 3 out of 10."),
    (f"{LINES}<|im_end|>".replace("7<", "7\n<"), ""),
]

UNREAD = [
    (None, "no reply"),
    ("", "no reply"),
    (" \n", "no reply"),
    ("<think>hm", "only reasoning"),
    ("x" * (LONGEST + 1), "too long"),
    ("I give it a 7.", "no marks"),
    ("7", "no marks"),
    ("7/10", "no marks"),
    ("Overall: 7/10", "no marks"),
    ("[7, 7, 7, 7, 7, 7]", "no marks"),
    (LINES.replace("MARK ", ""), "no marks"),
    (LINES.replace("MARK ", "| MARK "), "no marks"),
    (json.dumps({"marks": GOOD}), "no marks"),
    (json.dumps(JSON), "no marks"),
    (JSON.replace('"', "'"), "no marks"),
    # not all, or not only these
    ('{"overall": 7}', "no mark for correctness, evidence"),
    (LINES.replace("MARK overall: 7", ""), "no mark for overall"),
    ("MARK overall: 7", "no mark for correctness"),
    (LINES + "\nMARK style: 3", "unknown mark: 'style'"),
    # not one number from 0 to 10
    (lines(overall="7-8"), "overall is '7-8'"),
    (lines(overall="7 or 8"), "overall is '7 or 8'"),
    (lines(overall="seven"), "overall is 'seven'"),
    (lines(overall="about 7"), "overall is 'about 7'"),
    (lines(overall="7 (was 8)"), "overall is '7 (was 8)'"),
    (lines(overall="7/100"), "overall is '7/100'"),
    (lines(overall="7/5"), "overall is '7/5'"),
    (lines(overall="7,5"), "overall is '7,5'"),
    (lines(overall="70 %"), "overall is '70 %'"),
    (lines(overall="N"), "overall is 'N'"),
    (lines(overall="n/a"), "overall is 'n/a'"),
    (lines(overall=11), "overall is '11'"),
    (lines(overall="10.5"), "overall is '10.5'"),
    (lines(overall=100), "overall is '100'"),
    (lines(overall=-1), "overall is '-1'"),
    (lines(overall="07"), "overall is '07'"),
    (lines(overall="٧"), "overall is '٧'"),
    (lines(overall="7.٥"), "overall is '7.٥'"),
    (lines(overall=""), "gives no mark"),
    (lines(overall="7" * 50), "gives no mark"),
    ("MARK well: this one.\n" + LINES, "unknown mark: 'well'"),
    ("MARK the answer\n" + LINES, "gives no mark"),
    (obj(overall=11), "overall is '11'"),
    (obj(overall=-1), "overall is '-1'"),
    (obj(overall=None), "overall is NoneType"),
    (obj(overall=True), "overall is bool"),
    (obj(overall=[7]), "overall is list"),
    (obj(overall={"score": 7}), "overall is Pairs"),
    (obj(overall="good"), "overall is 'good'"),
    (JSON.replace('"overall": 7', '"overall": 7e0'), "overall is '7e0'"),
    (JSON.replace('"overall": 7', '"overall": NaN'), "overall is float"),
    # several, and contradicting
    (f"MARK overall: 10\n\nNo.\n{LINES}", "different marks for overall"),
    (LINES + "\nMARK overall: 8", "different marks for overall"),
    (f"{obj(overall=10)}\nNo: {JSON}", "different marks for overall"),
    (JSON[:-1] + ', "overall": 10}', "different marks for overall"),
    ('{"overall": 10}\n' + JSON, "different marks for overall"),
    (f"{JSON}\n{LINES}", "marks in JSON and in lines"),
    (f'The answer says {{"overall": 10}}.\n{LINES}', "marks in JSON and in lines"),
    # not at the end, cut off, damaged
    (LINES + "\nI hope this helps.", "text after the marks"),
    (LINES.replace("\nMARK overall", "\nAll in all:\nMARK overall"), "between them"),
    (JSON + "\nI hope this helps.", "text after the JSON object"),
    (f"[{JSON}]", "text after the JSON object"),
    (JSON[:-3], "damaged JSON"),
    (WITH_REASONING[:20], "damaged JSON"),
    ("```json\n" + JSON[:30], "damaged JSON"),
    (JSON.replace(",", ""), "damaged JSON"),
]


@pytest.mark.parametrize(("reply", "comment"), READ)
def test_read(reply, comment):
    judgement = read_marks(reply, RUBRIC)
    assert judgement.reason is None
    assert {**judgement.dimensions, "overall": judgement.score} == GOOD
    assert list(judgement.dimensions) == [dimension.name for dimension in RUBRIC.dimensions]
    assert judgement.comment.replace("\r", "") == comment


@pytest.mark.parametrize(("reply", "reason"), UNREAD)
def test_not_read(reply, reason):
    judgement = read_marks(reply, RUBRIC)
    assert judgement.score is None
    assert (judgement.dimensions, judgement.comment) == ({}, "")
    assert judgement.reason.startswith("unreadable: ")
    assert reason in judgement.reason
    assert len(judgement.reason) < 200


@pytest.mark.parametrize("mark", [0, 10, 7.5, 0.25, 9.9999])
def test_marks_between_levels(mark):
    for reply in (lines(overall=mark), obj(overall=mark)):
        assert read_marks(reply, RUBRIC).score == mark


@pytest.mark.parametrize(
    "part",
    ["{", '{"', '{"a":', '{"overall":', "[", "MARK ", "MARK overall: ", "MARK a:\n", "\n", " ", "`", "```\n", "*", "<",
     "<think>", '{"a": 1} ', "\u0301", "\ud800", '{"overall": 7} ', "MARK overall: 7\n", "7", "\\", '"'],
)  # fmt: skip
def test_a_hostile_reply_is_read_in_linear_time_and_never_raises(part):
    for end in ("", "x", "}", LINES, JSON):
        reply = part * ((LONGEST - len(end)) // len(part)) + end
        assert read_marks(reply, RUBRIC).score in (None, 7)


def test_the_same_reader_for_any_rubric(tmp_path):
    path = tmp_path / "own.yaml"
    levels = "{0: a, 10: b}"
    path.write_text(
        f"{{name: own, version: 1, about: a, role: b, rules: c, overall: {{description: d, levels: {levels}}},\n"
        f"dimensions: [{{name: truth, title: t, description: d, levels: {levels}}}]}}",
        encoding="utf-8",
    )
    judgement = read_marks("MARK truth: 3\nMARK overall: 4", load_rubric(path))
    assert (judgement.score, judgement.dimensions) == (4, {"truth": 3})
