"""Reading a verdict: one table per rule. What a row expects follows from the rules the docs state."""
# ruff: noqa: E501  (a reply is clearer on one line)

import json
import random
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from geoeval.extraction.verdict import VERDICTS, extract_verdict

ANSWER, PREMISE, AMBIGUOUS, GRANULARITY, NONFACTUAL, MISSING = VERDICTS
SHARED = Path(__file__).resolve().parents[3] / "shared" / "corpora"

READ = {
    "whole_json": [
        ('{"VERDICT": "REFUSE_AMBIGUOUS_QUERY", "ANSWER": null, "JUSTIFICATION": "x"}', AMBIGUOUS),
        ('{"Final Verdict": "ANSWER", "answer": "x"}', ANSWER),
        ('{"finalVerdict": "ANSWER", "answer": "x"}', ANSWER),
        ('{"decision": "REFUSE_NONFACTUAL_QUERY", "answer": null, "justification": "x"}', NONFACTUAL),
        ('{"name": "submit", "arguments": {"verdict": "ANSWER", "answer": "x", "justification": "y"}}', ANSWER),
        ('{"name": "submit", "arguments": "{\\"verdict\\": \\"ANSWER\\", \\"answer\\": \\"x\\"}"}', ANSWER),
        (
            '[{"type": "function", "function": {"name": "submit", "arguments": "{\\"verdict\\": \\"ANSWER\\"}"}}]',
            ANSWER,
        ),
        (
            '{"verdict": "ANSWER", "answer": "x", "justification": "not REFUSE_AMBIGUOUS_QUERY; {\\"verdict\\": \\"REFUSE_AMBIGUOUS_QUERY\\"}"}',
            ANSWER,
        ),
        ('{"verdict": "ANSWER", "answer": "REFUSE_AMBIGUOUS_QUERY", "justification": ""}', ANSWER),
        ('{"verdict": "ＡＮＳＷＥＲ", "answer": "x"}', ANSWER),
        ('{"verdict": "refuse-false-premise-in-query"}', PREMISE),
        ('{"verdict": " REFUSE FALSE_PREMISE IN-QUERY "}', PREMISE),
        ('{"verdict": "INFO_MISSING_IN_CONTEXT"}', MISSING),
        ('{"verdict": "false premise in query"}', PREMISE),
        ('{"verdict": "ANSWER", "verdict": "ANSWER"}', ANSWER),
        ('{"verdict": "ANSWER", "verdict": "answer"}', ANSWER),
        ('```json\n{"verdict": "ANSWER", "answer": "x", "justification": "sign says <think> here"}\n```', ANSWER),
        ('```json\n{"justification": "sign says <think> here", "verdict": "ANSWER", "answer": "x"}\n```', ANSWER),
        ('{"justification": "sign says </think>", "verdict": "ANSWER", "answer": "x"}', ANSWER),
        ('[{"verdict": "ANSWER"}, {"verdict": "ANSWER"}]', ANSWER),
        ('{"verdict": ["ANSWER"]}', ANSWER),
        ('{"verdict": "ANSWER\x00", "answer": "x", "justification": "y"}', ANSWER),
        ('{"verdict": "ANSWER", "answer": "x", "justification": "line\nnext\ttab"}', ANSWER),
        ('"{\\"verdict\\": \\"ANSWER\\", \\"answer\\": null}"', ANSWER),
        ('"```json\\n{\\"verdict\\": \\"ANSWER\\"}\\n```"', ANSWER),
        ('"\\"{\\\\\\"verdict\\\\\\": \\\\\\"ANSWER\\\\\\"}\\""', ANSWER),
        ('```json\n"{\\"verdict\\": \\"ANSWER\\"}"\n```', ANSWER),
        ('{"justification": "sign </think>\n", "verdict": "ANSWER"}', ANSWER),
        ('{"verdict": "ANSWER", "answer": NaN, "justification": "y"}', ANSWER),
        (
            '{"verdict": "ANSWER", "answer": "x", "justification": "y", "confidence": 0.9, "evidence": [{"tile": 1}]}',
            ANSWER,
        ),
        ('{"reasoning": "I might say ANSWER", "verdict": "REFUSE_AMBIGUOUS_QUERY"}', AMBIGUOUS),
        ('{"analysis": {"verdict": "ANSWER"}, "final": {"verdict": "REFUSE_AMBIGUOUS_QUERY"}}', AMBIGUOUS),
        ('{"thought": "x", "output": {"verdict": "ANSWER", "answer": "x"}}', ANSWER),
    ],
    "object": [
        ('<answer>{"verdict": "ANSWER", "answer": "x", "justification": "y"}</answer>', ANSWER),
        ('<final_answer>\n{"verdict": "ANSWER", "answer": "x", "justification": "y"}\n</final_answer>', ANSWER),
        (
            '<tool_call>\n{"name": "submit", "arguments": {"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": null}}\n</tool_call>',
            AMBIGUOUS,
        ),
        ('[TOOL_CALLS]submit{"verdict": "ANSWER", "answer": "x"}', ANSWER),
        (
            '<think>{"verdict": "ANSWER", "answer": "a"}</think>\n```json\n{"verdict": "REFUSE_AMBIGUOUS_QUERY"}\n```',
            AMBIGUOUS,
        ),
        ('{"verdict": "ANSWER", "answer": "1", "justification": "x"}\n{"verdict": "REFUSE_AMBIG', ANSWER),
        ('{"verdict": "ANSWER", "answer": "1", "justification": "x"} {"verdict": "MAYBE"}', ANSWER),
        (
            '{"verdict": "ANSWER", "answer": "1", "justification": "x"}\n{"error": null, "usage": {"tokens": 34}}',
            ANSWER,
        ),
        ('{"verdict": "ANSWER", "answer": "1", "justification": "x"}\n{"verdict": "REFUSE_X | REFUSE_Y"}', ANSWER),
        (
            '{"verdict": "<code>", "answer": "<string or null>", "justification": "<text>"}\n{"verdict": "ANSWER", "answer": "1", "justification": "x"}',
            ANSWER,
        ),
        ('{{"verdict": "ANSWER", "answer": "x", "justification": "y"}}', ANSWER),
        ('{ {"verdict": "ANSWER"} }', ANSWER),
        (
            '结果如下：\n```json\n{"verdict": "REFUSE_GRANULARITY_MISMATCH", "answer": null, "justification": "分辨率不足。"}\n```\n希望有帮助。',
            GRANULARITY,
        ),
        (
            'Final: <|begin_of_box|>```json\n{"verdict": "ANSWER", "answer": "x", "justification": "y"}\n```<|end_of_box|>',
            ANSWER,
        ),
        ('{"verdict": "ANSWER", "answer": "x", "justification": "y"},', ANSWER),
        ("｛＂verdict＂：＂ANSWER＂，＂answer＂：＂三＂，＂justification＂：＂清楚＂｝", ANSWER),
        ('{"verdict"："REFUSE_AMBIGUOUS_QUERY"，"answer"：null，"justification"："不清楚"}', AMBIGUOUS),
        ('<reasoning>x {"verdict": "ANSWER"}</reasoning>{"verdict": "REFUSE_AMBIGUOUS_QUERY"}', AMBIGUOUS),
        ('\ufeff{"verdict": "ANSWER", "answer": "x", "justification": "y"}', ANSWER),
        ('{\x00"verdict": "ANSWER", "answer": "x\x01", "justification": "y"}', ANSWER),
        ('{\u200b"verdict": "ANSWER",\xa0"answer": "x"}', ANSWER),
        ("{&quot;verdict&quot;: &quot;ANSWER&quot;, &quot;answer&quot;: null}", ANSWER),
        ('{\\n  \\"verdict\\": \\"ANSWER\\",\\n  \\"answer\\": null\\n}', ANSWER),
        ('Answer: "{\\"verdict\\": \\"ANSWER\\", \\"answer\\": \\"x\\"}"', ANSWER),
        (
            '```python\nresult = {"verdict": "ANSWER", "answer": "x"}\n```\n```json\n{"verdict": "REFUSE_AMBIGUOUS_QUERY"}\n```',
            AMBIGUOUS,
        ),
        (
            '```json\n{"verdict": "REFUSE_AMBIGUOUS_QUERY"}\n```\nUse:\n```python\nr = {"verdict": "ANSWER"}\n```',
            AMBIGUOUS,
        ),
        ('Where {x} > 3 and {y: 2}, {"verdict": "ANSWER", "answer": "x", "justification": "y"} {z}', ANSWER),
        ('{"verdict": "ANSWER", "answer": "x", "justification": "y"}}', ANSWER),
        (
            '{"verdict": "ANSWER", "answer": "x", "justification": "y"}{"verdict": "ANSWER", "answer": "x", "justification": "y"}',
            ANSWER,
        ),
        (
            '{"answer": null, "verdict": "REFUSE_AMB\n\nI was cut off, again:\n{"verdict": "ANSWER", "answer": "x", "justification": "y"}',
            ANSWER,
        ),
        (
            '{"justification": "The dune\n```\n```json\n{"verdict": "ANSWER", "answer": "x", "justification": "y"}\n```',
            ANSWER,
        ),
        ('"verdict": "ANSWER", "answer": "x", "justification": "y"}', ANSWER),
        ('"verdict": "ANSWER",\n"answer": "x",\n"justification": "y"\n}', ANSWER),
        ('{"verdict": "REFUSE_OTHER"}\n{"verdict": "ANSWER"}', ANSWER),
        ('{"verdict":"ANSWER","answer":"1","justification":"x"}<|endoftext|>Human: next {"foo": 1}', ANSWER),
        ('json\n{"verdict": "ANSWER", "answer": "x", "justification": "y"}', ANSWER),
        ('~~~json\n{"verdict": "ANSWER", "answer": "x", "justification": "y"}\n~~~', ANSWER),
        ('// my reply\n{"verdict": "ANSWER"}', ANSWER),
    ],
    "repaired": [
        ('{"verdict": "ANSWER"', ANSWER),
        ('{"verdict": "ANSWER",', ANSWER),
        ('{"verdict": "ANSWER", "an', ANSWER),
        ('{"verdict": "ANSWER", "answer": ', ANSWER),
        ("{verdict: ANSWER, answer: yes}", ANSWER),
        ("{verdict: refuse_ambiguous_query, answer: null, justification: two roads}", AMBIGUOUS),
        ("{verdict: 'ANSWER', answer: 'yes', justification: 'It is there'}", ANSWER),
        ('submit(verdict="ANSWER", answer="yes", justification="It\'s there (left).")', ANSWER),
        ("[submit(verdict='REFUSE_AMBIGUOUS_QUERY', answer=None, justification=\"x\")]", AMBIGUOUS),
        (
            '{"verdict": "ANSWER", "answer": "1", "justification": "x"}\nOn reflection that was wrong.\n```json\n{"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": null, "justification": "y",}\n```',
            AMBIGUOUS,
        ),
        (
            '{"verdict": "ANSWER", "answer": "1", "justification": "x"}\nNo:\n{\'verdict\': \'REFUSE_AMBIGUOUS_QUERY\', \'answer\': None}',
            AMBIGUOUS,
        ),
        (
            '{"verdict": "ANSWER", "answer": "1", "justification": "x"}\n{"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": null, "justif',
            AMBIGUOUS,
        ),
        ("{{'verdict': 'ANSWER', 'answer': 'x'}}", ANSWER),
        ('{"verdict": "ANSWER", "answer": "x", "justification": "y",}', ANSWER),
        ('[{"verdict": "ANSWER", "answer": "x", "justification": "y",},]', ANSWER),
        ('{"verdict": "ANSWER", "answer": "x", "justification": "y"\n', ANSWER),
        ('{"result": {"verdict": "ANSWER", "answer": "x", "justification": "y"}', ANSWER),
        ('Here: {"response": {"verdict": "ANSWER", "answer": "x", "justification": "y"', ANSWER),
        ('{"verdict": "REFUSE\\_AMBIGUOUS\\_QUERY", "answer": null, "justification": ""}', AMBIGUOUS),
        (
            '{\n/* block REFUSE_AMBIGUOUS_QUERY */\n"verdict": "ANSWER", /* "verdict": "REFUSE_AMBIGUOUS_QUERY" */\n"answer": null # none\n}',
            ANSWER,
        ),
        ('{\n  # "verdict": "REFUSE_AMBIGUOUS_QUERY",\n  "verdict": "ANSWER",\n}', ANSWER),
        ('{"verdict": "ANSWER", "answer": None, "justification": "x"}', ANSWER),
        ("```python\n{'verdict': 'ANSWER', 'answer': True}\n```", ANSWER),
        ("{'verdict': 'ANSWER', 'justification': 'The cranes' tops aren't seen, it's clear'}", ANSWER),
        ('Sure!\n```json\n{"verdict": "ANSWER", "answer": "x", "justification": "y"', ANSWER),
        ('{"verdict": "ANSWER" "answer": "x" "justification": "y"}', ANSWER),
        ('{"verdict": "ANSWER"\n"answer": "x"\n"justification": "y"}', ANSWER),
        ('{"verdict": "ANSWER"; "answer": "x"; "justification": "y"}', ANSWER),
        ('{"verdict": "ANSWER", "answer": "x", "justification": "He wrote "no, stop", then left."}', ANSWER),
        ('{"justification": "The sign "A" and "B": fine", "verdict": "ANSWER", "answer": "x"}', ANSWER),
        ("{“verdict”: “REFUSE_AMBIGUOUS_QUERY”, “answer”: null, “justification”: “It’s two “old” roads.”}", AMBIGUOUS),
        ("{‘verdict’: ‘ANSWER’, ‘answer’: ‘x’}", ANSWER),
        ('{"verdict": “ANSWER”, "answer": “x”}', ANSWER),
        ("{`verdict`: `ANSWER`}", ANSWER),
        ('{"evidence": {"tile": 3}, "verdict": "ANSWER",}', ANSWER),
        ('{"verdict": "ANSWER", "evidence": {"tile": 3},}', ANSWER),
        ('{"verdict" => "ANSWER", "answer" => nil}', ANSWER),
        ('{"verdict": "ANSWER", "answer": "C:\\path", "justification": "y"}', ANSWER),
        ('{"verdict": "ANSWER", "answer": "x", "justification": """y "z" w"""}', ANSWER),
        ("{\"verdict\": 'ANSWER', \"answer\": 'x'}", ANSWER),
        ('{"verdict: "ANSWER", "answer": null}', ANSWER),
        ('{verdict": "ANSWER", "answer": null}', ANSWER),
        ('```json\n[{"verdict": "ANSWER", "answer": "x"', ANSWER),
        ('```json\n[{"verdict": "ANSWER", "answer": "x"}\n```', ANSWER),
    ],
    "bare_code": [
        ("<response><verdict>REFUSE_NONFACTUAL_QUERY</verdict></response>", NONFACTUAL),
        ("ANSWER", ANSWER),
        ("`ANSWER`", ANSWER),
        ('"REFUSE_AMBIGUOUS_QUERY"', AMBIGUOUS),
        ("'ANSWER'.", ANSWER),
        ("```\nANSWER\n```", ANSWER),
        ("**ANSWER**", ANSWER),
        ("refuse_ambiguous_query", AMBIGUOUS),
        ("<|begin_of_box|>ANSWER<|end_of_box|>", ANSWER),
        ("ANSWER<|im_end|>", ANSWER),
        ("ANSWER</s>", ANSWER),
        ("Answer", ANSWER),
        ("Answer.", ANSWER),
        ("AMBIGUOUS_QUERY", AMBIGUOUS),
        ("\ufeffANSWER", ANSWER),
        ("thinking...</think>\n\nANSWER", ANSWER),
    ],
    "parameter": [
        (
            "<function=submit>\n<parameter=verdict>\nREFUSE_AMBIGUOUS_QUERY\n</parameter>\n<parameter=answer>\nnull\n</parameter>\n</function>",
            AMBIGUOUS,
        ),
        (
            "<tool_call>submit\n<arg_key>verdict</arg_key>\n<arg_value>ANSWER</arg_value>\n<arg_key>answer</arg_key>\n<arg_value>x</arg_value></tool_call>",
            ANSWER,
        ),
        ("<verdict>ANSWER</verdict><answer>x</answer><justification>y</justification>", ANSWER),
    ],
    "key_line": [
        ("verdict: REFUSE_AMBIGUOUS_QUERY", AMBIGUOUS),
        ("Verdict: ANSWER\nAnswer: 3\nJustification: Three.", ANSWER),
        ('---\nverdict: "ANSWER"\nanswer: 3\n', ANSWER),
        ("verdict: ANSWER # clear enough", ANSWER),
        ("**Verdict:** REFUSE_AMBIGUOUS_QUERY\n\n**Answer:** null", AMBIGUOUS),
        ("**Verdict**: ANSWER", ANSWER),
        ("## Verdict\n\nANSWER\n\n## Justification\nfoo", ANSWER),
        ("* **verdict**: `ANSWER`", ANSWER),
        ("1. **Verdict:** ANSWER\n2. **Answer:** x", ANSWER),
        ("### Verdict: ANSWER", ANSWER),
    ],
}
UNREAD = {
    "empty": [
        "   \n",
    ],
    "only_reasoning": [
        '<|channel|>analysis<|message|>{"verdict": "ANSWER"}<|end|>',
    ],
    "contradiction": [
        '{"verdict": "ANSWER", "Verdict": "REFUSE_AMBIGUOUS_QUERY"}',
        '{"verdict": "ANSWER", "verdict": "REFUSE_AMBIGUOUS_QUERY",}',
        '```json\n{"verdict": "ANSWER", "answer": "x", "verdict": "REFUSE_AMBIGUOUS_QUERY"}\n```',
        '[{"verdict": "ANSWER"}, {"verdict": "REFUSE_AMBIGUOUS_QUERY"}]',
        '```json\n[{"verdict": "ANSWER"}, {"verdict": "REFUSE_AMBIGUOUS_QUERY"}]\n```',
        '[{"verdict": "ANSWER"},\n {"verdict": "REFUSE_AMBIGUOUS_QUERY",}]',
        '{"verdicts": [{"verdict": "ANSWER"}, {"verdict": "REFUSE_AMBIGUOUS_QUERY"}]}',
        '{"verdict": ["ANSWER"',
    ],
    "cut_off": [
        '{"verdict": "',
        '{"verdict": "A',
        '{"verdict": "ANSWER',
        '{"verdict": "REFUSE_AMBIGUOUS_QUERY',
        '```json\n{\n  "verdict": "REFUSE_AMBIGUOUS_QUERY',
        '```json\n{\n  "verdict": "REFUSE_AMBIGUOUS_QUE\n```',
        '{\n"verdict": ANSWER',
        "{&quot;verdict&quot;: &quot;REFUSE_AMB",
    ],
    "unknown_code": [
        '{"verdict": "ANSWER | REFUSE_INFO_MISSING_IN_CONTEXT", "answer": null, "justification": ""}',
        '{"verdict": "ANSWER/REFUSE_INFO_MISSING_IN_CONTEXT"}',
        '{"verdict": "ANSWER, REFUSE_INFO_MISSING_IN_CONTEXT"}',
        '{"verdict": "ANSWER or REFUSE_INFO_MISSING_IN_CONTEXT"}',
        '{"verdict": true, "answer": null, "justification": ""}',
        '{"verdict": 1}',
        '{"verdict": null, "answer": "x"}',
        '{"verdict": ""}',
        '{"verdict": []}',
        '{\n  "verdict": "ANSWER" | "REFUSE_AMBIGUOUS_QUERY",\n  "answer": string | null\n}',
        '{"verdict": "REFUSE_AMBIGUOUS", "answer": null}',
        '{"verdict": "ANSWERABLE"}',
        '{"verdict": "REFUSED"}',
        '{"verdict": "REFUSE_"}',
        '{"verdict": "\ud800"}',
        '{"verdict": "ANSWER, "answer": null, "justification": "y"}',
    ],
    "no_verdict": [
        '{"answer": null, "justification": "The',
        '{"ver',
        "{",
        '{"verdict"',
        '{"verdict":',
        '{"verdict": ',
        '<parameter name="verdict">REFUSE_NONFACTUAL',
        '<parameter name="answer">REFUSE_NONFACTUAL_QUERY</parameter>',
        "ANSWER: yes",
        "ANSWER - 3 tanks",
        "REFUSE",
        "判断：REFUSE_AMBIGUOUS_QUERY。",
        '{"verdict": {}}',
        '{"verdict": {"code": "ANSWER"}}',
        '{"$schema": "x", "type": "object", "properties": {"verdict": {"enum": ["ANSWER"]}}, "examples": [{"verdict": "ANSWER"}]}',
        '{"type": "object", "properties": {"verdict": {"type": "string", "enum": ["ANSWER", "REFUSE_NONFACTUAL_QUERY"',
        "{「verdict」: 「ANSWER」}",
        "The verdict is ANSWER.",
        "Verdict is REFUSE_AMBIGUOUS_QUERY",
        "**REFUSE_AMBIGUOUS_QUERY** because two roads",
        "I choose `REFUSE_AMBIGUOUS_QUERY`.",
        "ANSWER is wrong; REFUSE_AMBIGUOUS_QUERY is right",
        "\ud800",
        '{"answer": "ANSWER", "justification": "x"}',
        '{"code": "ANSWER"}',
        '{"status": "REFUSE_AMBIGUOUS_QUERY"}',
        "verdict: ANSWER because it is clear",
        "Verdict: ANSWER or REFUSE_AMBIGUOUS_QUERY",
        "answer: ANSWER",
        "The verdict: ANSWER",
        "Verdict\nAnswer\nJustification",
        "| Verdict | Answer |\n|---|---|",
        "Verdict:\nAnswer:\nJustification:",
        "- Verdict: REFUSE_AMBIG",
        '```python\nverdict = "ANSWER"\nprint(verdict)\n```\nSo I cannot say.',
        "Error: 500 Internal Server Error",
        '{"error": {"message": "rate limit", "code": 429}}',
    ],
}


@pytest.mark.parametrize(
    ("reply", "code", "method"), [(reply, code, method) for method, rows in READ.items() for reply, code in rows]
)
def test_verdict_is_read(reply, code, method):
    found = extract_verdict(reply)
    assert (found.value, found.method, found.reason) == (code, method, None)


@pytest.mark.parametrize(("reply", "reason"), [(reply, reason) for reason, rows in UNREAD.items() for reply in rows])
def test_no_verdict_is_invented(reply, reason):
    found = extract_verdict(reply)
    assert (found.value, found.method, found.reason) == (None, "none", reason)


@pytest.mark.parametrize(
    ("reply", "answer", "justification"),
    [
        ('{"verdict": "ANSWER", "answer": "two", "justification": "Counted."}', "two", "Counted."),
        ('{"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": null, "justification": "Which?"}', None, "Which?"),
        ('{"verdict": "ANSWER", "answer": 3}', "3", None),
        ("{'verdict': 'ANSWER', 'answer': None, 'justification': 'It\\'s there'}", None, "It's there"),
        ('Here: {"verdict": "ANSWER", "answer": "x", "justification": "says "B" here",}', "x", 'says "B" here'),
        ('{"result": {"verdict": "ANSWER", "answer": "x", "justification": "y"}}', "x", "y"),
        ("verdict: ANSWER\nanswer: 3\njustification: Counted.", "3", "Counted."),
        ("<verdict>ANSWER</verdict><answer>x</answer><justification>y</justification>", "x", "y"),
        ("ANSWER", None, None),
        ("I cannot say.", None, None),
    ],
)
def test_answer_and_justification(reply, answer, justification):
    data = extract_verdict(reply).data
    assert (data["answer"], data["justification"]) == (answer, justification)


STRICT = [
    ('{"verdict": "ANSWER", "answer": "x", "justification": "y"}', True),
    (' \n{"justification": "", "answer": null, "verdict": "REFUSE_NONFACTUAL_QUERY"}\t', True),
    ('{"verdict": "ANSWER", "answer": null, "justification": "\ud83d"}', True),
    ('{"verdict": "ANSWER", "answer": "<think>", "justification": "</think>"}', True),
    ('{"verdict": "answer", "answer": "x", "justification": "y"}', False),
    ('{"verdict": "AMBIGUOUS_QUERY", "answer": null, "justification": "y"}', False),
    ('{"verdict": "ANSWER", "answer": 3, "justification": "y"}', False),
    ('{"verdict": "ANSWER", "answer": NaN, "justification": "y"}', False),
    ('{"verdict": "ANSWER", "answer": true, "justification": "y"}', False),
    ('{"verdict": "ANSWER", "answer": "x", "justification": null}', False),
    ('{"verdict": "ANSWER", "answer": "x"}', False),
    ('{"verdict": "ANSWER", "answer": "x", "justification": "y", "confidence": 1}', False),
    ('{"Verdict": "ANSWER", "answer": "x", "justification": "y"}', False),
    ('[{"verdict": "ANSWER", "answer": "x", "justification": "y"}]', False),
    ('"ANSWER"', False),
]


@pytest.mark.parametrize(("reply", "strict"), STRICT)
def test_strict_valid_agrees_with_the_schema(reply, strict):
    schema = json.loads(files("geoeval.extraction").joinpath("verdict.schema.json").read_text(encoding="utf-8"))
    valid = jsonschema.Draft202012Validator(schema).is_valid(json.loads(reply))
    assert (extract_verdict(reply).data["strict_valid"], valid) == (strict, strict)


@pytest.mark.parametrize(
    "reply",
    [
        '{"verdict": "ANSWER", "answer": "x", "answer": "x", "justification": "y"}',
        '{"verdict": "ANSWER", "answer": "x", "justification": "y"}.',
        '```json\n{"verdict": "ANSWER", "answer": "x", "justification": "y"}\n```',
        '\ufeff{"verdict": "ANSWER", "answer": "x", "justification": "y"}',
        '{"verdict": "ANSWER", "answer": "x", "justification": "two\nlines"}',
        '"{\\"verdict\\": \\"ANSWER\\", \\"answer\\": \\"x\\", \\"justification\\": \\"y\\"}"',
    ],
)
def test_only_the_bare_object_is_strictly_valid(reply):
    found = extract_verdict(reply)
    assert (found.value, found.data["strict_valid"]) == (ANSWER, False)


def test_no_code_before_it_is_complete():
    reply = '```json\n{\n  "answer": null,\n  "verdict": "REFUSE_GRANULARITY_MISMATCH",\n  "justification": "Coarse."\n}\n```'
    complete = reply.index('MISMATCH"') + len('MISMATCH"')
    for end in range(len(reply)):
        assert extract_verdict(reply[:end]).value == (GRANULARITY if end >= complete else None), reply[:end]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("[" * 100_000, None),
        ("{" * 100_000, None),
        ('{"verdict":' * 200_000, None),
        ('{"a":' * 5_000 + "1" + "}" * 5_000 + '{"verdict": "ANSWER"}', ANSWER),
        ('{"a": "b",}' * 50_000, None),
        ('{"a": "\n' * 50_000, None),
        ("{//" * 50_000, None),
        ("{/*" * 50_000, None),
        ('{"a": ' + " " * 1_000_000, None),
        ("{" + "\n" * 1_000_000, None),
        ("```json\n" + "\n" * 1_000_000, None),
        ("verdict:\n" * 50_000, None),
        ('<parameter name="verdict">' * 50_000, None),
        ("x {y} " * 500_000 + '{"verdict": "ANSWER"}', ANSWER),
        ("<think>" + "x {a: 1} " * 500_000 + '</think>{"verdict": "ANSWER"}', ANSWER),
        ('{"verdict": ' + "1" * 100_000 + "}", None),
    ],
    ids=range(16),
)
def test_any_length_and_depth(reply, code):
    assert extract_verdict(reply).value == code


def test_no_reply_raises():
    pieces = [
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        ":",
        ",",
        "\\",
        "\n",
        "verdict",
        "ANSWER",
        "REFUSE_",
        "<think>",
        "//",
        "\ud800",
        "0",
    ]
    draw = random.Random(7)
    for _ in range(3_000):
        extract_verdict("".join(draw.choices(pieces, k=draw.randrange(30))))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the labelled replies are not beside the repository")
def test_labelled_replies():
    with open(SHARED / "verdicts_dev.jsonl", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [extract_verdict(row["reply"]) for row in rows]
    wrong = [row["id"] for row, f in zip(rows, found, strict=True) if f.value not in (None, row["label"])]
    right = sum(f.value == row["label"] for row, f in zip(rows, found, strict=True))
    assert wrong == []
    assert right / len(rows) >= 0.96
    assert [
        row["id"] for row, f in zip(rows, found, strict=True) if f.data["strict_valid"] != row["strict_valid"]
    ] == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the JSON test suite is not beside the repository")
@pytest.mark.parametrize("errors", ["replace", "surrogateescape"])
def test_json_test_suite(errors):
    for path in sorted((SHARED / "jsontestsuite" / "test_parsing").iterdir()):
        assert extract_verdict(path.read_bytes().decode("utf-8", errors)).value is None, path.name
