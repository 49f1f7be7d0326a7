"""Prompts: what they must say, that labels cannot leak, and that they change only with the version."""

import hashlib
from dataclasses import fields

import pytest

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.benchmarks.georefusal import MEANINGS
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
