"""What is printed: nan as n/a, and what needs attention never left out."""

import io

import pytest
from rich.console import Console

from geoeval.report.table import SAMPLE_NOTE, coverage_line, number, print_result, print_summary, printable
from geoeval.runs.model import ChanceTest, Result
from geoeval.types import Coverage, Metric, Summary

NAN = float("nan")


def summary(**changes):
    facts = {
        "benchmark": "b",
        "version": "1-A",
        "metrics": (Metric("accuracy", 0.5, 40, 0.35, 0.65), Metric("combined", NAN, 40, note="withheld: 9 of 40")),
        "strata": {"level": {"Cmp": (Metric("accuracy", 1.0, 9, 0.7, 1.0),), "ID": (Metric("accuracy", 0.4, 31),)}},
        "coverage": Coverage(40, 40, 0, 0, 0, 0),
        "confusion": {},
        "classes": {},
        "signature": "b:1-A|data:x",
    }
    return Summary(**{**facts, **changes})


def printed(result):
    out = io.StringIO()
    print_result(Console(file=out, width=160, markup=False, highlight=False), result)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def result(run=None, **more):
    facts = {"model": "m", "data": "release", "items_in_task": 40, "policy": "declared", "partial": None}
    return Result("t", summary(**more.pop("summary", {})), {**facts, **(run or {})}, lambda: iter(()), **more)


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.5000"), (NAN, "n/a"), (-0.00004, "-0.0000"), (10, "10.0000")])
def test_number(value, text):
    assert number(value) == text


def test_coverage_names_every_kind():
    line = coverage_line(Coverage(items=10, read=3, unread=2, empty=1, failed=3, unscored=1))
    assert "7 of 10 items scored" in line
    for part in ("3 read", "2 unreadable", "1 empty", "3 failed requests", "1 unscored"):
        assert part in line


@pytest.mark.parametrize("sample", [True, False])
def test_every_number_has_n_and_interval(sample):
    numbers = summary(
        metrics=(Metric("accuracy", 0.5, 4, 0.15, 0.85), Metric("mcc", NAN, 4)),
        strata={
            "level": {"[low] x[/y]": (Metric("accuracy", 1.0, 12, 0.3, 1.0),), "Cmp": (Metric("accuracy", NAN, 0),)}
        },
    )
    out = io.StringIO()
    print_summary(Console(file=out, width=120, markup=False), "b", numbers, sample=sample, items_in_task=9)
    text = " ".join(out.getvalue().split())
    assert "accuracy 0.5000 4 0.1500 to 0.8500" in text
    assert "mcc n/a 4 n/a" in text
    assert "[low] x[/y] 1.0000 0.30-1.00 n=12" in text
    assert "Cmp n/a n=0" in text
    assert "(the task has 9)" in text
    assert "signature: b:1-A|data:x" in text
    assert ("SAMPLE" in text) == sample
    assert "SAMPLE" in SAMPLE_NOTE


def test_notes_are_printed_beside_their_number():
    assert "combined n/a 40 n/a withheld: 9 of 40" in printed(result())


def test_baselines_stand_beside_the_metrics_they_are_of():
    baselines = {"random": (Metric("accuracy", 0.25, 40),), "always_answer": (Metric("accuracy", 0.5, 40),)}
    lines = printed(result(baselines=baselines))
    assert "metric value n 95 % interval random always answer note" in lines
    assert "accuracy 0.5000 40 0.3500 to 0.6500 0.2500 0.5000" in lines


def test_small_parts_are_marked_and_explained():
    lines = printed(result())
    assert "Cmp 1.0000 0.70-1.00 n=9!" in lines
    assert "ID 0.4000 n=31" in lines
    assert "! fewer than 10 items: says little" in lines
    large = {"strata": {"level": {"ID": (Metric("accuracy", 0.4, 10),), "Cmp": (Metric("accuracy", NAN, 0),)}}}
    assert not any("!" in line for line in printed(result(summary=large)))


def test_failed_requests_are_shown_where_they_are_even_if_nothing_else_is_there():
    lines = printed(result(failed={"level": {"ID": 3, "App": 2}}))
    assert "by level accuracy failed" in lines
    assert "App 2" in lines
    assert "Cmp 1.0000 0.70-1.00 n=9! 0" in lines
    assert "ID 0.4000 n=31 3" in lines


def test_tests_stand_beside_their_part():
    tests = (
        ChanceTest("level", "Cmp", "accuracy", 9, 0.75, 0.00001, 0.00002),
        ChanceTest("level", "ID", "accuracy", 31, 0.15, 0.04, 0.08),
    )
    lines = printed(result(tests=tests))
    assert "Cmp 1.0000 0.70-1.00 n=9! <0.001" in lines
    assert "ID 0.4000 n=31 0.080" in lines
    assert any("Holm-corrected" in line for line in lines)
    nothing = (ChanceTest("level", "ID", "accuracy", 31, 0.15, NAN, NAN),)
    assert "ID 0.4000 n=31" in printed(result(tests=nothing))


@pytest.mark.parametrize(
    ("run", "title", "on_every_line"),
    [
        ({}, "t m (version 1-A)", ""),
        ({"data": "SAMPLE"}, "t m (version 1-A, SAMPLE)", ""),
        ({"policy": "first_letter"}, "t m (version 1-A, policy first_letter)", ""),
        ({"data_check": "different"}, "t m (version 1-A, asked on OTHER DATA)", ""),
        ({"partial": {"items": 40, "of": 90, "stated_by": "harness"}}, "t m (version 1-A, PARTIAL 40/90)", ""),
        (
            {"partial": {"items": 40, "of": 90, "stated_by": "allow_partial"}},
            "t m (version 1-A, PARTIAL 40/90)",
            "PARTIAL 40/90",
        ),
        ({"model": "a\x1b[31m\nb"}, "t a\ufffd[31m\ufffdb (version 1-A)", ""),
    ],
)
def test_what_must_be_said_of_all_numbers(run, title, on_every_line):
    lines = printed(result(run=run))
    assert lines[0] == title
    numbers = [line for line in lines if "0.5000" in line or "n=" in line]
    assert len(numbers) == 3
    assert all(on_every_line in line for line in numbers)


def test_names_cannot_steer_a_terminal():
    assert printable("a\x1b]0;x\x07\r\u202eb é 岩") == "a\ufffd]0;x\ufffd\ufffd\ufffdb é 岩"
