"""What the extractors measure on the labelled corpora beside the project, and that no reply upsets them."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from geoeval.extraction import extract_inspection, extract_letter, extract_verdict

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
pytestmark = pytest.mark.skipif(not CORPORA.is_dir(), reason="the reply corpora are not beside the project")

AD = ("A", "B", "C", "D")
EXTRACTORS = {
    "letter": lambda reply: extract_letter(reply, AD, ("Point A", "about the same", "3.5", "none of these")),
    "verdict": extract_verdict,
    "inspection": extract_inspection,
}
every_extractor = pytest.mark.parametrize("extract", EXTRACTORS.values(), ids=EXTRACTORS)


def lines(name):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(CORPORA / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def letters():
    """(row, letter read) of every labelled letter reply."""
    return [
        (row, extract_letter(row["reply"], row["choices"], row["options"]).value) for row in lines("letters_dev.jsonl")
    ]


def test_letters_right_wrong_and_invented(letters):
    labelled = [(row["label"], value) for row, value in letters if row["label"]]
    unlabelled = [value for row, value in letters if not row["label"]]
    right = sum(row["label"] == value for row, value in letters)
    assert right / len(letters) >= 0.98
    assert sum(value not in (None, label) for label, value in labelled) / len(labelled) <= 0.005
    assert sum(value is not None for value in unlabelled) / len(unlabelled) <= 0.03


def test_letters_on_traffic(letters):
    drawn = [(row["label"], value, row["weight"]) for row, value in letters if row["stratum"].startswith("random/")]
    total = sum(weight for _, _, weight in drawn)
    assert sum(weight for label, value, weight in drawn if label == value) / total >= 0.99
    assert sum(weight for label, value, weight in drawn if label and value not in (None, label)) / total <= 0.003


def test_first_letter_policy_is_far_worse(letters):
    first = [extract_letter(row["reply"], row["choices"], policy="first_letter").value for row, _ in letters]
    assert sum(row["label"] == value for (row, _), value in zip(letters, first, strict=True)) / len(letters) < 0.5


@every_extractor
def test_real_replies_are_read_or_refused_with_a_reason(extract):
    for row in lines("replies_raw.jsonl.gz"):
        extraction = extract(row["reply"])
        assert (extraction.value is None) == (extraction.reason is not None), row["id"]
        assert (extraction.value is None) == (extraction.method == "none"), row["id"]


def test_letter_is_always_one_of_the_choices_and_its_span_lies_in_the_reply():
    for row in lines("replies_raw.jsonl.gz"):
        extraction = extract_letter(row["reply"], row["choices"], row["options"])
        assert extraction.value in (None, *row["choices"])
        start, end = extraction.data.get("span", (0, 0))
        assert 0 <= start <= end <= len(row["reply"])


@every_extractor
@pytest.mark.parametrize("errors", ["surrogateescape", "replace"])
def test_json_test_suite_bytes(extract, errors):
    files = sorted(path for path in (CORPORA / "jsontestsuite").rglob("*.json"))
    assert len(files) > 300
    for path in files:
        extract(path.read_bytes().decode("utf-8", errors=errors))


@every_extractor
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("\ud800\udfff\ud800" * 10, id="lone surrogates"),
        pytest.param("\0" * 100, id="NUL"),
        pytest.param("(" * 100_000, id="opening brackets"),
        pytest.param("{" * 100_000, id="opening braces"),
        pytest.param("[" * 5_000_000, id="5 MB of brackets"),
        pytest.param("Answer: " * 200_000, id="200,000 answers"),
        pytest.param("Answer: " + "A, B, " * 800_000, id="one long answer"),
        pytest.param("(A) " * 1_250_000, id="5 MB of letters"),
        pytest.param("about the same " * 300_000, id="5 MB of an option"),
        pytest.param(":\n" * 2_500_000, id="5 MB of line ends"),
        pytest.param("\u0301\u0323" * 100_000, id="200,000 combining marks"),
        pytest.param("答案" * 2_500_000, id="5 MB of Chinese cues"),
        pytest.param("I cannot say. " * 350_000, id="5 MB of refusals"),
        pytest.param("\n\nQuestion:" * 400_000, id="5 MB of headings"),
        pytest.param("a" * 5_000_000, id="5 MB of one word"),
        pytest.param(" " * 5_000_000, id="5 MB of space"),
    ],
)
def test_time_is_linear(extract, reply):
    """A generous bound: each takes well under a second, what is quadratic takes hours."""
    begun = time.process_time()
    extract(reply)
    assert time.process_time() - begun < 10
