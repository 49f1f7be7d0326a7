"""Prompts: what they must say, that labels cannot leak, and that they change only with the version."""

import hashlib
from dataclasses import fields

import pytest

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.benchmarks.georefusal import MEANINGS
from geoeval.data import locate, task_items
from geoeval.types import AsJpeg, Item, PromptView

SECRET = "never-to-be-seen"


def item(**changes) -> Item:
    facts = {
        "id": f"{SECRET}-id",
        "question": "Which one is it?",
        "gold": (f"{SECRET}-gold",),
        "cluster": f"{SECRET}-cluster",
        "images": ("picture 1", "picture 2"),
        "choices": ("A", "B", "C", "D"),
        "modality": "photo",
        "strata": {"level": f"{SECRET}-stratum"},
    }
    return Item(**{**facts, **changes})


@pytest.mark.parametrize("name", benchmark_names())
def test_nothing_but_the_question_reaches_the_prompt(name):
    (message,) = get_benchmark(name).prompt(item())
    assert SECRET not in str(message)
    *pictures, text = message["content"]
    shown = [picture["image"] for picture in pictures]
    expected = [] if name == "forge_surfinsp_text" else ["picture 1", "picture 2"]  # the control without a picture
    assert [picture.picture if isinstance(picture, AsJpeg) else picture for picture in shown] == expected
    assert "Which one is it?" in text["text"]


def test_prompt_view_has_no_field_that_hints_at_the_answer():
    assert {field.name for field in fields(PromptView)} == {
        "question",
        "images",
        "choices",
        "options",
        "modality",
        "context",
    }


def test_refusal_prompt_states_verdicts_meanings_precedence_and_json():
    text = get_benchmark("georefusal").prompt_text(item().prompt_view())
    for verdict, meaning in MEANINGS.items():
        assert f"- {verdict}: {meaning}" in text
    assert (
        "REFUSE_FALSE_PREMISE_IN_QUERY > REFUSE_AMBIGUOUS_QUERY > REFUSE_GRANULARITY_MISMATCH > "
        "REFUSE_NONFACTUAL_QUERY > REFUSE_INFO_MISSING_IN_CONTEXT"
    ) in text
    for key in ("verdict", "answer", "justification"):
        assert f'"{key}"' in text


@pytest.mark.parametrize(
    ("modality", "options", "says"),
    [
        ("photo", (), "a photo of parts"),
        ("three_view", (), "three views (front, side, top)"),
        ("photo", ("nut", "screw", "bolt", "pin"), "\nA) nut\nB) screw\nC) bolt\nD) pin"),
    ],
)
def test_workveri_prompt(modality, options, says):
    text = get_benchmark("forge_workveri").prompt_text(item(modality=modality, options=options).prompt_view())
    assert says in text
    assert "one of A, B, C, D" in text


@pytest.mark.parametrize(
    ("name", "version", "digest"),
    [
        ("lithobench_mcq", "1-A", "e1a3760300a72260"),
        ("lithobench_open", "1-A", "28af343a4c17264f"),
        ("georefusal", "1-A", "4a702b4f7e3db01b"),
        ("georefusal_jpeg95", "1-A", "4a702b4f7e3db01b"),
        ("forge_workveri", "1-A", "ff3fc08050eb9091"),
    ],
)
def test_prompt_changes_only_with_the_version(name, version, digest):
    """A changed prompt makes results incomparable: raise the version, note it in the changelog, then this hash."""
    benchmark = get_benchmark(name)
    text = benchmark.prompt_text(item().prompt_view())
    assert (benchmark.version, hashlib.sha256(text.encode()).hexdigest()[:16]) == (version, digest)


SAMPLE_PROMPTS = {
    "lithobench_mcq": "1-A eac4f31fbe6e5fd2",
    "lithobench_mcq_id": "1-A 668d50241a1f21dd",
    "lithobench_mcq_cmp": "1-A 5640dc52d075b1af",
    "lithobench_mcq_exp": "1-A 907352e15ddad6b1",
    "lithobench_mcq_app": "1-A ecf062ed5b34ae31",
    "lithobench_mcq_rea": "1-A 622d0d4f7f496dd8",
    "lithobench_open": "1-A 647e5cf83e67d2a8",
    "lithobench_open_id": "1-A ee9e2abd387eae17",
    "lithobench_open_cmp": "1-A b6ca33b0da0c5f67",
    "lithobench_open_exp": "1-A 6fd012c9fc5fa289",
    "lithobench_open_app": "1-A bf8e4080dd67b29a",
    "lithobench_open_rea": "1-A 25ab2ec5c47c66a5",
    "georefusal": "1-A a72377187fb87b56",
    "georefusal_a": "1-A f96afb6c7c82e8f7",
    "georefusal_b": "1-A c56dd38141911070",
    "georefusal_c": "1-A 2254cf08b8929c61",
    "georefusal_jpeg95": "1-A a72377187fb87b56",
    "forge_workveri": "1-A c16cf8feba4f934d",
    "forge_workveri_ref_cond": "1-A cee170b81c87d640",
    "forge_workveri_icd": "1-A 62f9916361b3fb46",
    "forge_workveri_image": "1-A 9670fe9e9e09e08c",
    "forge_workveri_image_ref_cond": "1-A 8f807ee1217d73c8",
    "forge_workveri_image_icd": "1-A 6762c4f831413cf8",
    "forge_workveri_three_view": "1-A 628cc30c90b399c9",
    "forge_workveri_three_view_ref_cond": "1-A c3814e2f6ba41bf7",
    "forge_workveri_three_view_icd": "1-A d07d65009a6a82d5",
    "forge_assyveri": "1-A 54e3fac23fab2739",
    "forge_assyveri_ref_cond": "1-A 49819ea58061d441",
    "forge_assyveri_icd": "1-A c20b5c8625b4ba93",
    "forge_assyveri_image": "1-A 1dd0ae76c36c648e",
    "forge_assyveri_image_ref_cond": "1-A d8ce2949338eef58",
    "forge_assyveri_image_icd": "1-A 10eef7af147f2f90",
    "forge_assyveri_three_view": "1-A 6be834ebc628f00a",
    "forge_assyveri_three_view_ref_cond": "1-A 8e199d0a20a0f371",
    "forge_assyveri_three_view_icd": "1-A b54edd128ee6d179",
    "forge_surfinsp": "1-A 3c08e1d109adbc41",
    "forge_surfinsp_ref_cond": "1-A 12997076e905ceab",
    "forge_surfinsp_icd": "1-A ffd0bc33ce997330",
    "forge_surfinsp_three_view": "1-A 3c08e1d109adbc41",
    "forge_surfinsp_three_view_ref_cond": "1-A 12997076e905ceab",
    "forge_surfinsp_three_view_icd": "1-A ffd0bc33ce997330",
    "forge_surfinsp_text": "1-A 794b93d9f60ac649",
    "forge_missing_part_image": "1-A 8e9ae37a7f9a623b",
    "forge_missing_part_three_view": "1-A 6317b41264f7052f",
    "forge_grounding_letter_to_coordinate": "1-A 45f80d03fd19ec38",
    "forge_grounding_letter_to_coordinate_within": "1-A 5c24bf2600eaf4bf",
    "forge_grounding_letter_to_coordinate_outside": "1-A f3e21caeb6ac2fe6",
    "forge_grounding_coordinate_to_letter": "1-A f64cb6d754a2246f",
    "forge_grounding_coordinate_to_letter_within": "1-A 9cf2e4cdd49d394a",
    "forge_grounding_coordinate_to_letter_outside": "1-A edf084969b999d00",
    "forge_grounding_cross_letter": "1-A f7769bea47062536",
    "forge_grounding_cross_coordinate": "1-A e4aeebf35e37fa8f",
}
"""Task -> version and hash of every prompt of the sample. What harnesses send is compared with `Benchmark.prompt`."""


@pytest.mark.parametrize("name", benchmark_names())
def test_prompts_of_the_sample_are_those_of_the_version(name):
    """Texts and the places of the pictures, in every setting. A hash changes only with the version, or the sample."""
    benchmark, digest = get_benchmark(name), hashlib.sha256()
    for item in task_items(name, locate(benchmark.dataset, "sample")):
        for message in benchmark.prompt(item):
            for part in message["content"]:
                digest.update((part["text"] if part["type"] == "text" else "\0image\0").encode() + b"\1")
    assert f"{benchmark.version} {digest.hexdigest()[:16]}" == SAMPLE_PROMPTS[name]
