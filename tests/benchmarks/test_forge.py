"""FORGE: what its tasks ask, how a setting comes before the question, how replies are marked."""

import hashlib
import math
from pathlib import Path

import pytest

from geoeval.benchmarks import get_benchmark
from geoeval.benchmarks.base import QUESTION_FOLLOWS
from geoeval.benchmarks.forge import TASKS
from geoeval.data import locate, read_items
from geoeval.types import Item

CENTRES = ("[0.21, 0.80]", "[0.63, 0.43]", "[0.12, 0.30]", "[0.88, 0.17]", "[0.40, 0.62]", "[0.70, 0.90]")
STRATA = {"modality": "photo", "scenario": "MES", "granularity": "workpiece"}
CONTEXT = (
    {"type": "text", "text": "Normal parts."},
    {"type": "image", "image": "reference"},
    {"type": "text", "text": "Part M6."},
)


def item(gold: str, choices: tuple[str, ...] = tuple("ABCDEF"), **facts) -> Item:
    return Item("x", "Which one?", (gold,), "x", ("picture",), choices, strata=STRATA, **{"modality": "photo", **facts})


def parts(task: str, asked: Item) -> list[str]:
    (message,) = get_benchmark(task).prompt(asked)
    return [part.get("image") or part["text"] for part in message["content"]]


def test_one_version_for_all():
    assert {task.version for task in TASKS} == {"1-A"}
    assert {task.max_new_tokens for task in TASKS} == {2048}


@pytest.mark.parametrize(
    ("task", "modality", "says"),
    [
        ("forge_assyveri", "photo", "a photo of parts"),
        ("forge_assyveri", "three_view", "three views (front, side, top); each part carries its letter."),
        ("forge_missing_part_image", "photo", "a photo of parts"),
        ("forge_missing_part_three_view", "three_view", "three views (front, side, top)."),
        ("forge_surfinsp", "three_view", "one part in three views (front, side, top)."),
        ("forge_surfinsp_text", "three_view", "There is no picture."),
    ],
)
def test_prompt_says_what_the_picture_is(task, modality, says):
    assert says in parts(task, item("A", modality=modality))[-1]


def test_inspection_asks_both_parts_once():
    asked = parts("forge_surfinsp", item("A"))[-1]
    assert "Part 1: Is it normal? (Yes/No)\nPart 2: if No, defect type A) Crack B) Cut C) Deformation D) Dent" in asked
    spelled = Item("x", "Part 1: Is it normal? (Yes/No)  Part 2: if No, defect type ...", ("A",), "x")
    assert "Is it normal?" in parts("forge_surfinsp", spelled)[-1]
    assert parts("forge_surfinsp", spelled)[-1].count("Part 2: if No") == 1


def test_coordinates_are_offered_as_a_list():
    asked = parts("forge_grounding_letter_to_coordinate", item(CENTRES[1], CENTRES))[-1]
    assert "\n".join(CENTRES) in asked
    assert 'end with a line "Answer: [x, y]"' in asked


def test_context_stands_before_the_picture_of_the_question():
    asked = item("A", context=CONTEXT)
    *before, question = parts("forge_workveri_ref_cond", asked)
    assert before == ["Normal parts.", "reference", "Part M6.", QUESTION_FOLLOWS, "picture"]
    assert question == parts("forge_workveri", item("A"))[-1]


def test_flat_prompt_numbers_the_pictures():
    """For models that take pictures and text apart: the text alone says which picture is which."""
    two = (*CONTEXT, {"type": "image", "image": None}, {"type": "text", "text": "Part M8."})
    flat = get_benchmark("forge_workveri_ref_cond").flat_prompt(item("A", context=two))
    assert flat.startswith(f"Normal parts.\n[picture 1]\nPart M6.\n[picture 2]\nPart M8.\n{QUESTION_FOLLOWS}\n")
    zero_shot = get_benchmark("forge_workveri")
    assert zero_shot.flat_prompt(item("A")) == zero_shot.prompt_text(item("A").prompt_view())


def test_text_control_shows_coordinates_and_no_picture():
    points = ({"type": "text", "text": "120 points: [0.1, 0.2, 0.3], ..."},)
    coordinates, question = parts("forge_surfinsp_text", item("A", context=points))
    assert coordinates == points[0]["text"]
    assert "picture" not in coordinates
    assert "Part 2" in question


@pytest.mark.parametrize(
    ("gold", "reply", "values"),
    [
        ("NORMAL", "Part 1: Yes", {"accuracy": 1, "accuracy_normal": 1, "accuracy_valid": 1, "parse_rate": 1}),
        ("B", "Part 1: No\nPart 2: B", {"accuracy": 1, "accuracy_normal": 1, "accuracy_valid": 1}),
        ("B", "Part 1: No\nPart 2: D", {"accuracy": 0, "accuracy_normal": 1, "accuracy_valid": 0}),
        ("B", "Part 1: Yes", {"accuracy": 0, "accuracy_normal": 0}),
        ("NORMAL", "Part 1: No\nPart 2: A", {"accuracy": 0, "accuracy_normal": 0}),
        # Nothing can be read: wrong in both, whatever the gold class is.
        ("B", "The part is blue.", {"accuracy": 0, "accuracy_normal": 0, "parse_rate": 0}),
        ("NORMAL", "", {"accuracy": 0, "accuracy_normal": 0, "parse_rate": 0}),
    ],
)
def test_inspection_marking(gold, reply, values):
    score = get_benchmark("forge_surfinsp").score(item(gold, tuple("ABCD")), reply)
    assert {name: score.values[name] for name in values} == values
    assert ("accuracy_valid" in score.values) == (score.values["parse_rate"] == 1)
    assert score.values["random_baseline"] == 0.2


def test_normal_is_an_answer_beside_the_letters_offered():
    """Else a random baseline would never name it."""
    assert get_benchmark("forge_surfinsp").answers(item("A", tuple("ABCD"))) == ("NORMAL", "A", "B", "C", "D")


def test_f1_of_each_defect():
    """Worked out by hand: cracks 2 TP, 1 missed, 1 false; cuts 0 TP; dents do not occur."""
    benchmark = get_benchmark("forge_surfinsp")
    pairs = [("A", "A"), ("A", "A"), ("A", "B"), ("B", "A"), ("NORMAL", "NORMAL")]
    scores = [
        benchmark.score(Item(f"{k}", "?", (gold,), f"{k}", strata=STRATA), benchmark.format_reply(item(gold), said))
        for k, (gold, said) in enumerate(pairs)
    ]
    summary = benchmark.summarise(scores)
    assert summary["f1_crack"].value == pytest.approx(2 * 2 / (3 + 3))
    assert summary["f1_cut"].value == 0
    assert summary["f1_normal"].value == 1
    assert math.isnan(summary["f1_dent"].value)
    assert summary["macro_f1"].value == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert summary.classes["A"].f1 == summary["f1_crack"].value


@pytest.mark.parametrize(
    ("task", "choices", "baseline"),
    [
        ("forge_missing_part_image", "ABCDEF", 1 / 6),
        ("forge_missing_part_image", "ABC", 1 / 3),
        ("forge_missing_part_three_view", "ABCDE", 1 / 5),
        ("forge_assyveri_icd", "ABCD", 1 / 4),
        ("forge_grounding_cross_letter", "ABCDEF", 1 / 6),
        ("forge_grounding_cross_coordinate", CENTRES, 1 / 6),
    ],
)
def test_random_baseline_is_one_over_the_options(task, choices, baseline):
    asked = item(choices[0], tuple(choices))
    assert get_benchmark(task).score(asked, f"Answer: {choices[0]}").values["random_baseline"] == baseline


@pytest.mark.parametrize(
    ("reply", "outcome", "values"),
    [
        ("Answer: [0.63, 0.43]", "read", {"accuracy": 1, "accuracy_valid": 1, "parse_rate": 1}),
        ("Answer: (0.632, 0.43)", "read", {"accuracy": 1}),
        ("Answer: [0.12, 0.30]", "read", {"accuracy": 0, "accuracy_valid": 0, "parse_rate": 1}),
        ("Answer: B", "unread", {"accuracy": 0, "parse_rate": 0}),
        ("", "empty", {"accuracy": 0, "parse_rate": 0}),
    ],
)
def test_coordinate_marking(reply, outcome, values):
    benchmark = get_benchmark("forge_grounding_letter_to_coordinate")
    score = benchmark.score(item(CENTRES[1], CENTRES), reply)
    assert score.outcome == outcome
    assert {name: score.values[name] for name in values} == values
    assert ("accuracy_valid" in score.values) == (outcome == "read")


@pytest.mark.parametrize(
    ("task", "row", "problem"),
    [
        ("forge_grounding_cross_coordinate", {"choices": CENTRES, "gold": [CENTRES[0]]}, ""),
        ("forge_grounding_cross_coordinate", {"choices": ["A", *CENTRES], "gold": [CENTRES[0]]}, "must be coordinates"),
        ("forge_grounding_cross_coordinate", {"choices": CENTRES, "gold": ["A"]}, "must be coordinates"),
        ("forge_surfinsp", {"choices": list("ABCD"), "gold": ["NORMAL"]}, ""),
        ("forge_surfinsp", {"choices": list("ABCD"), "gold": ["E"]}, "['E'] not among the labels"),
        ("forge_assyveri", {"choices": list("ABCDEFG"), "gold": ["A"]}, "['G'] not among the labels"),
    ],
)
def test_what_cannot_be_marked_is_told_before_the_first_request(task, row, problem):
    told = get_benchmark(task).unmarkable(row)
    assert problem in told
    assert bool(told) == bool(problem)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_right_reply_in_the_asked_form_is_right(task):
    choices = CENTRES if not task.labels else tuple(label for label in task.labels if label != "NORMAL")
    for answer in task.answers(item(choices[0], choices)):
        asked = item(answer, choices)
        assert task.score(asked, task.format_reply(asked, answer)).values["accuracy"] == 1


@pytest.mark.parametrize(
    ("task", "digest"),
    [
        ("forge_assyveri", "55d71fcc24e1473e"),
        ("forge_surfinsp", "13dc23574d2b28d1"),
        ("forge_surfinsp_text", "26e304978ed16317"),
        ("forge_missing_part_image", "55d71fcc24e1473e"),
        ("forge_grounding_cross_letter", "8e83c5f585eba607"),
        ("forge_grounding_cross_coordinate", "fa6adf10c6ba362d"),
    ],
)
def test_prompt_changes_only_with_the_version(task, digest):
    """See `tests/benchmarks/test_prompts.py`; the settings add what stands in the data and one sentence."""
    text = get_benchmark(task).prompt_text(item("A").prompt_view())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


def test_the_sentence_between_context_and_question():
    assert QUESTION_FOLLOWS == "Now the question. Its own picture comes last."


README = Path(__file__).parents[2] / "tasks" / "forge" / "README.md"


@pytest.mark.parametrize(
    ("task", "wanted"),
    [
        *((f"forge_workveri_image{s}", {"modality": "photo"}) for s in ("", "_ref_cond", "_icd")),
        *((f"forge_assyveri_three_view{s}", {"modality": "three_view"}) for s in ("", "_ref_cond", "_icd")),
        *((f"forge_surfinsp{s}", {}) for s in ("", "_ref_cond", "_icd")),
        ("forge_missing_part_image", {"modality": "photo"}),
        ("forge_missing_part_three_view", {"modality": "three_view"}),
        ("forge_grounding_letter_to_coordinate", {"probe": "letter_to_coordinate"}),
        *((f"forge_grounding_coordinate_to_letter{s}", {"probe": "coordinate_to_letter"})
          for s in ("", "_within", "_outside")),
        ("forge_grounding_cross_letter", {"probe": "cross_letter"}),
        ("forge_grounding_cross_coordinate", {"probe": "cross_coordinate"}),
    ],
)  # fmt: skip
def test_readme_shows_the_prompts_as_they_are(task, wanted):
    """Of the first such row of the sample: all of it zero-shot, else what stands before the question."""
    pytest.importorskip("pyarrow")
    benchmark = get_benchmark(task)
    items = read_items(locate(benchmark.dataset, "sample"), ("modality", *wanted), benchmark.setting)
    shown = next(item for item in items if all(item.strata[name] == value for name, value in wanted.items()))
    text = benchmark.flat_prompt(shown)
    if benchmark.setting:
        text = text.removesuffix(benchmark.prompt_text(shown.prompt_view()))
    assert f"```text\n{text.strip()}\n```" in README.read_text(encoding="utf-8")


def test_readme_names_every_task():
    readme = README.read_text(encoding="utf-8")
    for benchmark in TASKS:
        stem = benchmark.name.removesuffix(f"_{benchmark.setting}") if benchmark.setting else benchmark.name
        for modality in ("_image", "_three_view"):
            stem = stem if "missing_part" in stem else stem.removesuffix(modality)
        assert f"`{stem.removesuffix('_coordinates')}`" in readme
        assert not benchmark.setting or f"_{benchmark.setting}`" in readme or benchmark.setting == "coordinates"
