"""Fingerprints: the same for the same pictures and question, and only then."""

import pytest

from geoeval.data.fingerprint import fingerprint

QUESTION = "Is there a bridge?"


def test_known_value():
    """printf '\\0\\0\\0\\0\\0\\0\\0\\1a\\0\\0\\0\\0\\0\\0\\0\\1b' | sha256sum"""
    assert fingerprint([b"a"], "b") == "3c9d591045bc8876f9d0399bbfb05c6a412096e906f73278f98406cd5dca86df"


@pytest.mark.parametrize(
    ("pictures", "question"),
    [
        ([b"one", b"twp"], QUESTION),
        ([b"two", b"one"], QUESTION),
        ([b"onet", b"wo"], QUESTION),
        ([b"onetwo"], QUESTION),
        ([b"one", b"two", b""], QUESTION),
        ([b"one"], "two" + QUESTION),
        ([b"one", b"two"], QUESTION + " "),
        ([b"one", b"two"], "Is there a bridge\uff1f"),
        ([b"one", b"two", QUESTION.encode()], ""),
        ([], QUESTION),
    ],
)
def test_any_difference_gives_another(pictures, question):
    assert fingerprint([b"one", b"two"], QUESTION) == fingerprint((b"one", b"two"), QUESTION)
    assert fingerprint(pictures, question) != fingerprint([b"one", b"two"], QUESTION)


def test_total_on_any_text():
    assert len(fingerprint([b"\x00" * 10_000_000], "lone surrogate \ud800, 岩石")) == 64
