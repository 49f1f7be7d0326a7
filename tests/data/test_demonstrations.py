"""What stands before a question: drawn from others, always the same, never a hint at the question itself."""

import random

import pytest

from geoeval.data import DataError, locate
from geoeval.data.demonstrations import demonstrations, normal_caption
from geoeval.data.items import context_from_row
from geoeval.data.schema import LAYOUT, settings_of


def row(id_: str, gold: str = "A", **facts) -> dict:
    return {
        "id": id_,
        "question": f"Question of {id_}?",
        "images": [f"picture of {id_}"],
        "choices": list("ABCD"),
        "options": [],
        "gold": [gold],
        "cluster": f"cluster of {id_}",
        "modality": "three_view",
        "scenario": "CHS",
        **facts,
    }


QUERY = row("q")
SUPPORT = [row(f"s{k}", "ABCD"[k % 4], cluster=f"c{k // 2}") for k in range(12)]


def drawn(shown) -> list[str]:
    return [picture.removeprefix("picture of ") for picture in shown.images]


@pytest.mark.parametrize("setting", ["ref_cond", "icd"])
def test_same_for_any_order_of_the_support(setting):
    first = demonstrations("forge_workveri", setting, SUPPORT, QUERY)
    for seed in range(5):
        shuffled = random.Random(seed).sample(SUPPORT, k=len(SUPPORT))
        assert demonstrations("forge_workveri", setting, shuffled, QUERY) == first


def test_questions_are_shown_different_examples():
    """The draw depends on the id of the question, so that no two rows of the support are shown to all."""
    seen = {tuple(drawn(demonstrations("forge_workveri", "icd", SUPPORT, row(f"q{k}")))) for k in range(20)}
    assert len(seen) > 10
    assert len({id_ for pair in seen for id_ in pair}) > 8


@pytest.mark.parametrize("setting", ["ref_cond", "icd"])
def test_never_the_question_nor_its_cluster(setting):
    rows = [*SUPPORT, QUERY]
    for query in rows:
        shown = drawn(demonstrations("forge_workveri", setting, rows, query))
        clusters = {other["cluster"] for other in rows if other["id"] in shown}
        assert query["id"] not in shown
        assert query["cluster"] not in clusters


def test_answers_and_clusters_differ_where_they_can():
    for k in range(20):
        shown = drawn(demonstrations("forge_workveri", "icd", SUPPORT, row(f"q{k}")))
        chosen = [other for other in SUPPORT if other["id"] in shown]
        assert len({other["gold"][0] for other in chosen}) == len({other["cluster"] for other in chosen}) == 2


def test_same_modality_only():
    photos = [row(f"p{k}", "BC"[k % 2], modality="photo") for k in range(4)]
    shown = drawn(demonstrations("forge_workveri", "icd", [*photos, *SUPPORT], row("q", modality="photo")))
    assert all(id_.startswith("p") for id_ in shown)


@pytest.mark.parametrize(("setting", "first"), [("within", "s"), ("outside", "o")])
def test_scenario_within_and_outside(setting, first):
    probe = {"probe": "coordinate_to_letter", "choices": list("ABCDEF")}
    support = [row(f"s{k}", "AB"[k % 2], **probe) for k in range(4)]
    others = [row(f"o{k}", "AB"[k % 2], scenario="PCS", **probe) for k in range(4)]
    wrong_probe = [row(f"s{k}", "CD"[k % 2], **{**probe, "probe": "cross_letter"}) for k in range(4, 8)]
    shown = demonstrations("forge_grounding", setting, [*support, *others, *wrong_probe], row("q", **probe))
    assert [id_[0] for id_ in drawn(shown)] == [first] * 2
    assert not set(drawn(shown)) & {other["id"] for other in wrong_probe}


def test_another_scenario_fills_up_what_the_own_lacks():
    """Of worked examples; those of the setting "outside" never come from the question's own scenario."""
    support = [row("s0"), *(row(f"o{k}", "BC"[k], scenario="PCS") for k in range(2))]
    assert drawn(demonstrations("forge_assyveri", "icd", support, QUERY))[0] == "s0"
    probe = {"probe": "letter_to_coordinate"}
    own = [row(f"s{k}", **probe) for k in range(4)]
    with pytest.raises(DataError, match=r"row 'q': 2 rows of other clusters are needed .* there are 0"):
        demonstrations("forge_grounding", "outside", own, row("q", **probe))


def test_worked_example_is_picture_prompt_and_reply():
    text, images = demonstrations("forge_workveri", "icd", SUPPORT, QUERY)
    first, second = drawn(demonstrations("forge_workveri", "icd", SUPPORT, QUERY))
    gold = {other["id"]: other["gold"][0] for other in SUPPORT}
    intro, one, two = text.split("Example ")
    assert "worked examples" in intro
    for example, id_ in ((one, first), (two, second)):
        assert example[2:].startswith("\n<image>\nThe picture shows the same parts in three views")
        assert f"Question of {id_}?" in example
        assert example.strip().endswith(f"Answer: {gold[id_]}")
    assert images == (f"picture of {first}", f"picture of {second}")


def test_worked_example_of_an_inspection():
    support = [row("n", "NORMAL"), row("d", "B")]
    text, _ = demonstrations("forge_surfinsp", "icd", support, QUERY)
    assert "Part 1: Yes" in text
    assert "Part 1: No\nPart 2: B" in text


def test_two_pictures_of_an_example_have_two_places():
    probe = {"probe": "cross_letter", "images": ["one", "two"]}
    shown = demonstrations("forge_grounding", "within", [row(f"s{k}", **probe) for k in range(2)], row("q", **probe))
    assert shown.text.count("<image> <image>") == 2
    assert shown.images == ("one", "two", "one", "two")


@pytest.mark.parametrize(
    ("dataset", "facts", "caption"),
    [
        ("forge_workveri", {"gold": ["B"]}, "Normal parts: A, C, D."),
        ("forge_surfinsp", {"gold": ["NORMAL"]}, "This part is normal."),
        ("forge_surfinsp", {"gold": ["B"]}, ""),
        (
            "forge_assyveri",
            {
                "gold": ["C"],
                "modality": "photo",
                "choices": list("ABC"),
                "question": "Centres are [0.63, 0.43] (A), [0.1, 0.20] (B), [1.0,0.5] (C). Which part is extra?",
            },
            "Normal parts: at [0.63, 0.43], at [0.1, 0.20].",
        ),
        # Letters are not drawn in photos: without centres it cannot be said which parts are meant.
        ("forge_assyveri", {"gold": ["C"], "modality": "photo"}, ""),
    ],
)
def test_captions_of_reference_pictures(dataset, facts, caption):
    assert normal_caption(dataset, {**row("s"), **facts}) == caption


def test_reference_pictures_are_of_normal_parts_only():
    support = [row(f"s{k}", "NORMAL" if k % 3 == 0 else "A") for k in range(9)]
    shown = demonstrations("forge_surfinsp", "ref_cond", support, QUERY)
    assert set(drawn(shown)) <= {"s0", "s3", "s6"}
    assert shown.text.count("<image> This part is normal.") == 2


def test_too_few_rows_are_an_error_that_names_the_question():
    with pytest.raises(DataError, match=r"row 'q': 2 rows of other clusters are needed .* there are 1"):
        demonstrations("forge_workveri", "icd", SUPPORT[:1], QUERY)


@pytest.mark.parametrize(
    ("text", "pictures", "parts"),
    [
        ("One: <image> M6", ["a"], ["One:", "a", "M6"]),
        ("<image>\n<image>", ["a", "b"], ["a", "b"]),
        ("points", [], ["points"]),
    ],
)
def test_context_of_a_row(text, pictures, parts):
    context = context_from_row({"id": "x", "s": text, "s_images": pictures}, "s")
    assert [part.get("image") or part["text"] for part in context] == parts
    lost = context_from_row({"id": "x", "s": text}, "s")  # the harness dropped the pictures
    assert [part.get("text") for part in lost] == [part.get("text") for part in context]


@pytest.mark.parametrize(
    ("text", "pictures", "says"),
    [
        ("", [], "is empty"),
        (" \n", [], "is empty"),
        ("<image>", [], "1 times <image>, and s_images has 0"),
        ("no place", ["a"], "0 times <image>, and s_images has 1"),
    ],
)
def test_context_that_cannot_be_shown(text, pictures, says):
    with pytest.raises(DataError, match=f"row 'x': the column 's' .*{says}"):
        context_from_row({"id": "x", "s": text, "s_images": pictures}, "s")


@pytest.mark.parametrize("dataset", [dataset for dataset in LAYOUT if settings_of(dataset)])
def test_every_item_of_the_sample_could_be_shown_examples_of_the_others(dataset):
    """As with the release, where the support is the other rows of the dataset."""
    import pyarrow.parquet as pq

    rows = pq.read_table(locate(dataset, "sample").path).to_pylist()
    for query in rows:
        if query.get("probe", "").startswith("cross"):
            continue
        for setting in settings_of(dataset):
            shown = demonstrations(dataset, setting, rows, query)
            assert shown.text.count("<image>") == len(shown.images)
            assert all(picture not in query["images"] for picture in shown.images)
