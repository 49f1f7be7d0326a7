"""What is printed: nan as n/a, and what needs attention never left out."""

import io

import pytest
from rich.console import Console

from geoeval.report.table import SAMPLE_NOTE, coverage_line, number, print_summary
from geoeval.types import Coverage, Metric, Summary

NAN = float("nan")


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.5000"), (NAN, "n/a"), (-0.00004, "-0.0000"), (10, "10.0000")])
def test_number(value, text):
    assert number(value) == text


def test_coverage_names_every_kind():
    line = coverage_line(Coverage(items=10, read=3, unread=2, empty=1, failed=3, unscored=1))
    assert "6 of 10 items scored" in line
    for part in ("3 read", "2 unreadable", "1 empty", "3 failed requests", "1 unscored"):
        assert part in line


@pytest.mark.parametrize("sample", [True, False])
def test_every_number_has_n_and_interval(sample):
    summary = Summary(
        benchmark="b",
        version="1-A",
        metrics=(Metric("accuracy", 0.5, 4, 0.15, 0.85), Metric("mcc", NAN, 4)),
        strata={
            "level": {"[low] x[/y]": (Metric("accuracy", 1.0, 2, 0.3, 1.0),), "Cmp": (Metric("accuracy", NAN, 0),)}
        },
        coverage=Coverage(4, 4, 0, 0, 0, 0),
        confusion={},
        classes={},
        signature="b:1-A|data:x",
    )
    out = io.StringIO()
    print_summary(Console(file=out, width=120, markup=False), "b", summary, sample=sample, items_in_task=9)
    text = " ".join(out.getvalue().split())
    assert "accuracy 0.5000 4 0.1500 to 0.8500" in text
    assert "mcc n/a 4 n/a" in text
    assert "[low] x[/y] 1.0000 0.30-1.00 n=2" in text
    assert "Cmp n/a n=0" in text
    assert "(the task has 9)" in text
    assert "signature: b:1-A|data:x" in text
    assert ("SAMPLE" in text) == sample
    assert "SAMPLE" in SAMPLE_NOTE
