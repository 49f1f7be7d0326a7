"""Reading a SURFINSP reply: one table per rule. What a row expects follows from the rules the docs state."""

import json
import random
from pathlib import Path

import pytest

from geoeval.extraction.inspection import extract_inspection

SHARED = Path(__file__).resolve().parents[3] / "shared" / "corpora"

READ = {
    "statement": [
        ("Front: Yes. Side: Yes. Top: Yes.", "NORMAL"),
        ("Front view: Yes\nSide view: Yes\nTop view: No, D) Dent", "D"),
        ("View 1: No, B. View 2: No, B. View 3: No, B.", "B"),
        ("No, there is a crack along the rim.", "A"),
        ("No, the nut is cut on one side.", "B"),
        ("No - it is deformed.", "C"),
        ("No, dented.", "D"),
        ("No. (A) Crack", "A"),
        ("No (B) Cut", "B"),
        ("No, C", "C"),
        ("No C", "C"),
        ("No; D) Dent.", "D"),
        ("Is it normal? No. Among A) Crack, B) Cut, C) Deformation, and D) Dent, I choose D.", "D"),
        ("The part is normal.", "NORMAL"),
        ("Normal", "NORMAL"),
        ("It looks completely normal.", "NORMAL"),
        ("NORMAL.", "NORMAL"),
        ("<answer>No, B</answer>", "B"),
        ("$\\boxed{C}$", "C"),
        ("\\boxed{\\text{Yes}}", "NORMAL"),
        ("<think>Yes?</think>No, A", "A"),
        ("<think>dent</think>\nYes", "NORMAL"),
        ("No defects are visible. The part is normal.", "NORMAL"),
        ("No defect found.", "NORMAL"),
        ("No cracks or dents were detected.", "NORMAL"),
        ("There is no defect.", "NORMAL"),
        ("No, there are no defects; the part is normal.", "NORMAL"),
        ("The surface is free of cracks, cuts and dents.", "NORMAL"),
        ("No damage, the part is normal.", "NORMAL"),
        ("Ｙｅｓ", "NORMAL"),
        ("Yes", "NORMAL"),
        ("No, B", "B"),
        ("No, C) Cut", "C"),
        ("D) Crack", "D"),
        ("no, b", "B"),
        ("b", "B"),
        ("(c)", "C"),
        ("no. d) dent", "D"),
        ("Yes, there is a dent: D", "D"),
        ("Yes, the part has a cut (B).", "B"),
        ("Yes, a defect is visible: C) Deformation", "C"),
        ("Yes, it is normal.", "NORMAL"),
        ("Yes, the part is defective: D.", "D"),
        ("否，裂纹", "A"),
        ("零件正常。", "NORMAL"),
        ("不正常，类型是C", "C"),
        ("没有缺陷", "NORMAL"),
        ("是", "NORMAL"),
        ("是正常的", "NORMAL"),
        ("A", "A"),
        ("(B)", "B"),
        ("D.", "D"),
        ("Answer: B", "B"),
        ("No, A. Wait, actually no, C.", "C"),
        ("Yes. Actually, no: it has a dent (D).", "D"),
        ("No. A crack runs through the middle.", "A"),
        ("No. A cut is visible.", "B"),
        ("No, I see a deformation.", "C"),
        ("No. A deformed edge.", "C"),
        ("The part is abnormal. The defect type is D.", "D"),
        ("The part is abnormal; the defect is a crack.", "A"),
        ("No\nB", "B"),
        ("No\n\nA) Crack", "A"),
        ("No; the correct option is (A).", "A"),
        ("No, option B.", "B"),
        ("I select A.", "A"),
        ("The defect type is (C) Deformation.", "C"),
        ("The part is normal in view 1 but has a dent in view 2.", "D"),
        ("The component is not normal. It shows a crack.", "A"),
        ("No, this is B) Cut rather than A) Crack.", "B"),
        ("No, B (not A)", "B"),
        ("The bolt head is dented.", "D"),
        ("The connector shows a cut on the sleeve.", "B"),
        ("I would say no: type C.", "C"),
        ("Not normal, D.", "D"),
        ("Defective: (B) Cut", "B"),
        ("Abnormal (A)", "A"),
        ("No, D. The mark is round, so C is unlikely.", "D"),
        ("Yes. The dark line is a shadow, not a crack.", "NORMAL"),
        ("All views: normal.", "NORMAL"),
        ("Normal in all three views, so Yes.", "NORMAL"),
        ("The part isn't normal: C", "C"),
        ("The surface is smooth and undamaged, so: Yes", "NORMAL"),
        ("Final answer: No, C", "C"),
        ("The mark could be a dent (D) or a deformation (C). Final answer: No, C", "C"),
        ("否。B", "B"),
        ("该零件有凹痕，选D", "D"),
        ("无裂纹、切口、变形或凹痕，零件正常。", "NORMAL"),
        ("不是正常的，有裂纹", "A"),
        ("No: option A best describes it.", "A"),
        ("Yes, this is a normal part.", "NORMAL"),
        ("No, the defect type is B.", "B"),
        ("No, it has defect type D.", "D"),
        ("The part is not normal because a crack (A) runs across it.", "A"),
        ("Not normal. The nut has been cut.", "B"),
        ("There is a dent.", "D"),
    ],
    "parts": [
        ("Part 1: No\nPart 2: C) Deformation\nReason: unlike a dent (D) it spans the edge.", "C"),
        ("Part 1: No\nPart 2: A\n\nExplanation: the line is thin; a cut (B) would be wider.", "A"),
        ("Options: A) Crack B) Cut C) Deformation D) Dent.\nPart 1: No\nPart 2: B", "B"),
        ("1. No\n2. A) Crack", "A"),
        ("1) No 2) B", "B"),
        ("(1) No (2) (C)", "C"),
        ("1: Yes\n2: N/A", "NORMAL"),
        ("1. Yes", "NORMAL"),
        ("Part 1: No. Part 2: <answer>B</answer>", "B"),
        ("Part 1: No\nPart 2: \\boxed{\\text{D}}", "D"),
        ("Part 1:Ｎｏ\nPart 2:（Ｄ）", "D"),
        ("Part 1：Ｙｅｓ", "NORMAL"),
        ("Part 1: Yes, Part 2: -", "NORMAL"),
        ("Part 1: No\nPart 2: A) Dent", "A"),
        ("The rim is bent in view 3, with a smooth profile.\nPart 1: No\nPart 2: C", "C"),
        ("The slit has clean walls.\n\nPart 1: No\nPart 2: B) Cut", "B"),
        ("**Part 1: No**\n**Part 2: A) Crack**", "A"),
        ("**Part 1**: Yes", "NORMAL"),
        ("### Part 1\nNo\n### Part 2\nB) Cut", "B"),
        ("**Part 1:** Yes\n**Part 2:** Not applicable", "NORMAL"),
        ("part 1: no\npart 2: c", "C"),
        ("第一部分：否\n第二部分：B", "B"),
        ("第一部分：否（不正常）\n第二部分：D）凹痕", "D"),
        ("Part 1: No\nPart 2: A) Crack\nCorrection: Part 2: B) Cut", "B"),
        ("Part 1: No\nPart 2: D\nOn closer look the mark is a reflection.\nPart 1: Yes", "NORMAL"),
        ("Part 1: No\nPart 2: A dent", "D"),
        ("Part 1: No, it is not normal. Part 2: (B)", "B"),
        ("Part 1: Abnormal\nPart 2: A", "A"),
        ("Part 1: Normal", "NORMAL"),
        ("Part 1: Yes, it is normal.\nPart 2: No defect.", "NORMAL"),
        ("Part 1: No. The defect is a dent, not a crack.\nPart 2: D", "D"),
        ("Part 1: No\nPart 2: not a crack but a cut, so B", "B"),
        ("Part 1: Is it normal? No\nPart 2: Defect type: C) Deformation", "C"),
        ("Part 1: Is it normal? (Yes/No) Yes", "NORMAL"),
        ("Normal: No\nDefect type: B) Cut", "B"),
        ("Normal: Yes", "NORMAL"),
        ("Part 1 - No, Part 2 - D", "D"),
        ("Part 1 No Part 2 C", "C"),
        ("Part I: No\nPart II: B", "B"),
        ("Part one: No. Part two: A.", "A"),
        ("Part 2: B", "B"),
        ("Part 1: No\nPart 2: I would choose C", "C"),
        ("Part 1: No\nPart 2: The answer is D", "D"),
        ("Part 1: No\nPart 2: Option A", "A"),
        ("Part 1: No\nPart 2: A - Crack", "A"),
        ("Part 1: No\nPart 2: Crack.", "A"),
        ("Part 1: no\nPart 2: deformation", "C"),
        ("Part 1: No\nPart 2: D) Dent.\nThe dent sits at the rim; it is not a deformation (C) or crack (A).", "D"),
        ("Part 1: Yes\nReason: the line that looks like a crack (A) is a shadow.", "NORMAL"),
        ("The options are:\nA) Crack\nB) Cut\nC) Deformation\nD) Dent\n\nPart 1: No\nPart 2: A", "A"),
        ("Part 1: Yes. Part 2: None.", "NORMAL"),
        ("Part 1: Yes; Part 2: no defect type applies.", "NORMAL"),
        ("1) Yes 2) none", "NORMAL"),
        ("Part 1: no, b", "B"),
        ("Part 1: Unclear\nPart 2: B", "B"),
        ("As an AI model I cannot inspect parts. Part 1: No. Part 2: B", "B"),
        ("<answer>Part 1: No\nPart 2: C</answer>", "C"),
        ("Part 1: No, Part 2: **B**", "B"),
        ("Part 1: No | Part 2: B", "B"),
        ("第1部分：不正常 第2部分：C", "C"),
        ("第一部分：否\n第二部分：变形", "C"),
        ("第一部分：否，第二部分：A", "A"),
        ("Part 1: No\nPart 2: Option B fits best", "B"),
        ("Part 1: No\nPart 2: C\n\nPart 1: No\nPart 2: D", "D"),
        ("Part 1: No\nPart 2: A) Crack\nWait, I should check again. The line is clean,", "A"),
        ("Part 1: No\nPart 2: D) Dent and also a scratch", "D"),
    ],
    "json": [
        ('{"part1": "Yes", "part2": null}', "NORMAL"),
        ('```json\n{"Part 1": "No", "Part 2": "D) Dent"}\n```', "D"),
        ('{"is_normal": false, "defect_type": "B"}', "B"),
        ('{"normal": true, "defect": null}', "NORMAL"),
        ('{"normal": "No", "defect_type": "Crack"}', "A"),
        ('{"has_defect": true, "type": "C"}', "C"),
        ('{"answer": "No, B"}', "B"),
        ('{"part1": {"answer": "No"}, "part2": {"answer": "C"}}', "C"),
        ("{'part1': 'No', 'part2': 'A'}", "A"),
    ],
}
UNREAD = {
    "empty": [
        "",
    ],
    "only_reasoning": [
        "<think>No, A",
    ],
    "no_type": [
        "No.",
        "The part is not normal.",
        "Part 1: No\nPart 2: None",
        "No. None of the above.",
        "Part 1: No\nPart 2: no defect",
        "Part 1: No\nPart 2: The",
        "Part 1: No\nPart 2: The defect type is",
        '{"part_1": "No", "part_2": "none"}',
        "Part 1: No\nPart 2: Scratch",
        "No, it is scratched.",
        "no",
        "否",
        "No, it isn't normal.",
        "Part 1: No\nPart 2: A) Crack, B) Cut, C) Deformation, or D) Dent",
        '{"Part 1": "No"}',
        "No (scratch).",
        "No, there is rust.",
    ],
    "several_types": [
        "Part 1: No\nPart 2: A, B",
        "No, A or C.",
        "No: a crack and a dent.",
        "Part 1: No\nPart 2: A) Crack and D) Dent",
        "Part 1: No\nPart 2: B/C",
        "It could be a crack (A) or a cut (B), I cannot tell.",
        "The part has a crack, a cut, a deformation or a dent.",
        "Part 1: (Yes/No)\nPart 2: A/B/C/D",
        '{"part1": "No", "part2": ["A", "B"]}',
    ],
    "not_offered": [
        "No, E",
        "No, F) Corrosion",
        "Part 1: No\nPart 2: E",
        '{"Part 1": "No", "Part 2": "E"}',
    ],
    "contradiction": [
        "View 1: Yes. View 2: No. View 3: Yes.",
        '{"is_normal": true, "defect_type": "A"}',
        "Part 1: Yes\nPart 2: A) Crack",
        "Yes. B",
        "Yes (D) Dent",
        '{"part1": "Yes", "part2": "B"}',
    ],
    "no_declaration": [
        "Part 1:",
        "Part",
        "I cannot determine whether the part is normal from these views.",
        "I can't tell.",
        "Sorry, I am unable to inspect images.",
        "The image is too dark to say if it is normal.",
        "There is a problem.",
        "A) Crack\nB) Cut\nC) Deformation\nD) Dent",
        "Part 1: Yes/No",
        "Part 1: I am not sure.\nPart 2: cannot tell",
        '{"part1": {"answer": [[1]]}, "part2": 3}',
        "I am sorry, but I can't help with that.",
        "The image shows a bolt with three views.",
        "Yes and no.",
    ],
}


@pytest.mark.parametrize(
    ("reply", "value", "method"), [(reply, value, method) for method, rows in READ.items() for reply, value in rows]
)
def test_answer_is_read(reply, value, method):
    found = extract_inspection(reply)
    assert (found.value, found.method, found.reason) == (value, method, None)


@pytest.mark.parametrize(("reply", "reason"), [(reply, reason) for reason, rows in UNREAD.items() for reply in rows])
def test_no_answer_is_invented(reply, reason):
    found = extract_inspection(reply)
    assert (found.value, found.method, found.reason) == (None, "none", reason)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("[" * 100_000, None),
        ('{"part1":' * 200_000, None),
        ("Part 1: No\n" * 200_000, None),
        ("no crack " * 300_000, "NORMAL"),
        ("Part 1: No\nPart 2: B\n" + "so " * 1_000_000, "B"),
        ("so " * 1_000_000 + "\nPart 1: No\nPart 2: B", "B"),
        (" " * 3_000_000 + "x", None),
    ],
    ids=range(7),
)
def test_any_length(reply, value):
    assert extract_inspection(reply).value == value


def test_no_reply_raises():
    pieces = [
        "Part 1:",
        "Part 2:",
        "Yes",
        "No",
        "A",
        "(b)",
        "dent",
        "not ",
        "normal",
        "\n",
        ". ",
        "{",
        '"',
        ":",
        "}",
        "\ud800",
        "否",
    ]
    draw = random.Random(7)
    for _ in range(3_000):
        extract_inspection("".join(draw.choices(pieces, k=draw.randrange(30))))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the labelled replies are not beside the repository")
def test_labelled_replies():
    with open(SHARED / "surfinsp_dev.jsonl", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [extract_inspection(row["reply"]).value for row in rows]
    assert [row["id"] for row, value in zip(rows, found, strict=True) if value not in (None, row["label"])] == []
    assert sum(value == row["label"] for row, value in zip(rows, found, strict=True)) / len(rows) >= 0.95
