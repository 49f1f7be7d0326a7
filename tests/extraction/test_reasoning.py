import pytest

from geoeval.extraction.reasoning import strip_reasoning

ROWS = [
    ("no tag", "  Answer: B \n", "Answer: B"),
    ("closed", "<think>A or B?</think>\n\nB", "B"),
    ("empty part", "<think>\n\n</think>\n\nB", "B"),
    ("closed after the answer", "B <think>or A?</think>", "B"),
    ("two parts", "<think>x</think>I see.<think>y</think> C", "I see. C"),
    ("unclosed", "<think>It is A, so", ""),
    ("unclosed after text", "B\n<think>or rather A", "B"),
    ("lone closing", "It may be A.</think>B", "B"),
    ("closing at the end", "It may be A.</think>", ""),
    ("nested", "<think>a<think>b</think>c</think>d", "d"),
    ("another tag inside", "<think><analysis>x</analysis> so A", ""),
    ("opening tag named in the reasoning", "<think>the <think> tag</think>B", "B"),
    ("attributes", '<think duration="3">A?</think>B', "B"),
    ("upper case", "<THINK>A?</Think>B", "B"),
    ("thinking", "<thinking>A?</thinking>B", "B"),
    ("mixed spellings", "<thinking>A?</think>B", "B"),
    ("thought", "<thought>A?</thought>B", "B"),
    ("analysis", "<analysis>A?</analysis>B", "B"),
    ("reasoning", "<REASONING>A?</REASONING><CONCLUSION>B</CONCLUSION>", "<CONCLUSION>B</CONCLUSION>"),
    ("scratchpad", "<scratchpad>A?</scratchpad>B", "B"),
    ("reflection", "<reflection>A?</reflection>B", "B"),
    ("inner monologue", "<inner_monologue>A?</inner_monologue>B", "B"),
    ("escaped", "&lt;think&gt;A?&lt;/think&gt;B", "B"),
    ("namespace", "<seed:think>A?</seed:think>B", "B"),
    ("square brackets", "[THINK]A?[/THINK]B", "B"),
    ("a heading in square brackets", "[Analysis] Thin. [Answer] B", "[Analysis] Thin. [Answer] B"),
    ("begin of thought", "<|begin_of_thought|>A?<|end_of_thought|>B", "B"),
    ("start thinking", "<|START_THINKING|>A?<|END_THINKING|>B", "B"),
    ("thought start", "<|thought_start|>A?<|thought_end|>B", "B"),
    ("token", "<|thinking|>A?<|/thinking|>B", "B"),
    ("full-width bars", "<｜begin▁of▁thinking｜>A?<｜end▁of▁thinking｜>B", "B"),
    ("triangles", "◁think▷A?◁/think▷B", "B"),
    ("unused tokens", "<unused94>thought\nA?<unused95>B", "B"),
    ("channel of the other kind", "<|channel>thought\nA?<channel|>B", "B"),
    ("similar tags", "<thinker>A</thinker> <thinkpad>", "<thinker>A</thinker> <thinkpad>"),
    (
        "channels",
        "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>",
        "B",
    ),
    (
        "constrained channel",
        "<|channel|>analysis<|message|>A?<|end|><|channel|>final <|constrain|>json<|message|>{}<|end|>",
        "{}",
    ),
    ("opening channel in the prompt", "A?<|end|><|start|>assistant<|channel|>final<|message|>B", "B"),
    ("no final channel", "<|channel|>analysis<|message|>A, because", ""),
    ("only commentary", "<|channel|>commentary to=functions.x<|message|>A<|call|>", ""),
    ("channels without tokens", "analysisWe need a letter: A?assistantfinalB", "B"),
    ("channels without tokens, cut off", "analysisWe need a letter: A?", ""),
    ("the word analysis", "analysis of the section: B", "analysis of the section: B"),
    ("empty", "", ""),
]


@pytest.mark.parametrize(("reply", "visible"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_strip_reasoning(reply, visible):
    assert strip_reasoning(reply) == visible


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<think",
        "<think ",
        "<think>",
        "</think>",
        "<think></think>",
        "&lt;",
        "[THINK",
        "<|channel|>final",
        "<|",
        "a:",
    ],
)
def test_linear_time(piece):
    strip_reasoning(piece * 200_000)
