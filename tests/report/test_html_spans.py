"""The marked place in a reply is the answer, or there is none."""

import pytest
from report_results import make_result

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, task_items
from geoeval.report.spans import answer_span, item_of_score
from geoeval.types import Item

LETTERS = Item("i", "q", ("B",), "c", choices=("A", "B", "C", "D"), options=("sand", "water", "slate", "soil"))
VERDICT = Item("i", "q", ("ANSWER",), "c")
POINTS = Item("i", "q", ("[0.20, 0.80]",), "c", choices=("[0.20, 0.80]", "[0.50, 0.50]"))
REFUSE = "REFUSE_AMBIGUOUS_QUERY"


# The place is written as «...»; the reply is what is left without the marks.
@pytest.mark.parametrize(
    ("task", "item", "marked"),
    [
        ("lithobench_mcq", LETTERS, "«B»"),
        ("lithobench_mcq", LETTERS, "A or B? First A. Answer: «B»"),
        ("lithobench_mcq", LETTERS, "<think>Answer: A</think>\nThe answer is («C»)."),
        ("lithobench_mcq", LETTERS, "It shows «water»."),
        ("lithobench_mcq", LETTERS, "I cannot tell."),
        ("georefusal", VERDICT, f'{{"verdict": "«{REFUSE}»", "answer": null, "justification": "{REFUSE} it is"}}'),
        ("georefusal", VERDICT, '{"verdict": "«ANSWER»", "answer": "yes", "justification": "the answer is plain"}'),
        ("georefusal", VERDICT, f'<think>{REFUSE}?</think>{{"verdict": "«ambiguous query»"}}'),
        ("georefusal", VERDICT, f'{{"verdict": "{REFUSE}"}} so {{"verdict": "{REFUSE}"}}'),  # two, either would do
        ("georefusal", VERDICT, f'{{"verdict": "ANSWER"}} no: {{"verdict": "«{REFUSE}»"}}'),
        ("forge_surfinsp", VERDICT, "Part 1: No\nPart 2: «B»"),
        ("forge_surfinsp", VERDICT, "Part 1: «Yes»"),
        ("forge_surfinsp", VERDICT, "Part 1: No\nPart 2: «cut»"),
        ("forge_grounding_letter_to_coordinate", POINTS, "Not [0.50, 0.50]. Answer: «[0.20, 0.80]»"),
        ("forge_grounding_letter_to_coordinate", POINTS, "Answer: [.2, .8]"),  # spelled otherwise: not marked
        ("lithobench_open", VERDICT, "<think>hm</think> «Bare water.»"),
        ("lithobench_open", VERDICT, "Bare water."),  # the whole reply is the answer
        ("lithobench_open", VERDICT, "<think>Bare water.</think> Bare water."),  # twice
    ],
)
def test_place(task, item, marked):
    benchmark = get_benchmark(task)
    reply = marked.replace("«", "").replace("»", "")
    span = answer_span(benchmark, item, reply, benchmark.score(item, reply))
    assert (None if span is None else f"{reply[: span[0]]}«{reply[span[0] : span[1]]}»{reply[span[1] :]}") == (
        marked if "«" in marked else None
    )


def test_no_place_where_the_record_is_not_reproduced():
    benchmark = get_benchmark("lithobench_mcq")
    score = benchmark.score(LETTERS, "I choose (B) here.")
    assert score.method == "declared"
    assert answer_span(benchmark, LETTERS, "I choose (C) here.", score) is None
    assert answer_span(benchmark, LETTERS, "B", score) is None  # the same letter, read by another rule


@pytest.mark.parametrize("task", ["lithobench_mcq", "georefusal", "forge_workveri", "forge_surfinsp"])
def test_the_same_place_with_and_without_the_data(task):
    benchmark = get_benchmark(task)
    items = {item.id: item for item in task_items(task, locate(benchmark.dataset, "sample"), pictures=False)}
    places = [
        (answer_span(benchmark, items[s.id], reply, s), answer_span(benchmark, item_of_score(benchmark, s), reply, s))
        for s, reply in make_result(task).items()
        if s.extracted
    ]
    assert all(one == other for one, other in places)
    assert all(one for one, _ in places)


@pytest.mark.parametrize("filler", ["ANSWER ", '"', "{", "\ud800"])
def test_total_on_long_replies(filler):
    benchmark = get_benchmark("georefusal")
    reply = filler * 100_000 + '{"verdict": "ANSWER"}'
    answer_span(benchmark, VERDICT, reply, benchmark.score(VERDICT, reply))
