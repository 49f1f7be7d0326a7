"""Markdown, CSV and LaTeX: the same numbers, and nothing in a name that could be taken for anything else."""

import csv
import io
import math
import re
import shutil
import subprocess

import pytest
from report_results import judged_result, make_result

from geoeval.report.export import CSV_COLUMNS, to_csv, to_latex, to_markdown
from geoeval.report.lines import entries
from geoeval.types import Metric

NAME = r"=org/a_b|c & 50% \input{x} <b>"


@pytest.fixture(scope="module")
def found():
    return entries(
        [
            make_result("georefusal", NAME, 0.8),
            make_result("georefusal", "b", 0.5),
            judged_result("b"),
            make_result("forge_workveri_three_view", "b", sample=False),
        ]
    )


@pytest.fixture(scope="module")
def lines(found):
    return list(csv.DictReader(io.StringIO(to_csv(found))))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"data_check": "different", "data_sha256_asked": "e" * 64}, "asked on OTHER DATA"),
        ({"policy": "first_letter"}, "policy first\\_letter"),
        ({"prompt_sha256": "e" * 64}, "no fair comparison, since these differ: prompt\\_sha256"),
        ({"data_sha256": "e" * 64}, "no fair comparison, since these differ: data\\_sha256"),
    ],
)
def test_what_does_not_compare_is_said(facts, said):
    same = {"policy": "declared", "prompt_sha256": "d" * 64, "data_sha256": "d" * 64}
    results = [make_result("georefusal", "a", **same), make_result("georefusal", "b", **{**same, **facts})]
    assert said in to_markdown(entries(results))
    assert said not in to_markdown(entries([make_result("georefusal", name, **same) for name in "ab"]))


def test_marks_of_different_judges_do_not_compare():
    one, other = judged_result("a"), judged_result("b")
    other.judge["model"] = "another"
    said = {
        line["metric"]: "no fair comparison, since these differ: judge model" in line["note"]
        for line in csv.DictReader(io.StringIO(to_csv(entries([one, other]))))
        if line["kind"] == "model"
    }
    assert said["judge_score"]
    assert not said["open_score"]


def test_csv_holds_every_number_in_full(found, lines):
    assert tuple(lines[0]) == CSV_COLUMNS
    for entry in found:
        for metric in entry.result.summary.metrics:
            (line,) = [
                one
                for one in lines
                if (one["kind"], one["task"], one["metric"]) == ("model", entry.result.task, metric.name)
                and one["model"].lstrip("'") == entry.label
            ]
            read = [float(line[name] or "nan") for name in ("value", "low", "high")]
            assert read == pytest.approx([metric.value, metric.low, metric.high], abs=0, nan_ok=True)
            assert int(line["n"]) == metric.n
            assert int(line["failed"]) == entry.result.summary.coverage.failed
            assert (line["sample"] == "SAMPLE") is entry.result.is_sample


def test_tables_have_the_same_headline_numbers(found, lines):
    text, tex = to_markdown(found), to_latex(found)
    headlines = {"georefusal": "accuracy", "lithobench_open": "open_score", "forge_workveri_three_view": "accuracy"}
    picked = [line for line in lines if headlines[line["task"]] == line["metric"]]
    assert len(picked) == 4 + 2 * 2 + 18  # models, two baselines of each closed task, published rows
    for line in picked:
        ends = [f"{float(line[end]):.4f}" for end in ("low", "high") if line[end]]
        counts = [line["n"], *(line[name] for name in ("read", "unread", "empty", "failed", "unscored"))]
        value = f"{float(line['value']):.4f}"
        assert f"| {' | '.join([value, ' to '.join(ends), *counts])} |" in text
        assert f" & {' & '.join([value, '--'.join(ends), *counts])} \\\\" in tex


def test_published_rows_and_conflicts_are_in_every_table(found, lines):
    (kimi,) = [line for line in lines if line["model"] == "Kimi-K2.5" and line["kind"] == "published"]
    assert (kimi["value"], kimi["conflict"], kimi["n"], kimi["low"]) == ("0.194", "yes", "", "")
    assert {line["task"] for line in lines if line["kind"] == "published"} == {"forge_workveri_three_view"}
    for text in (to_markdown(found), to_latex(found)):
        assert re.search(r"published: Kimi-K2\.5 \(zero\\_shot, sources disagree\)", text)


def test_names_are_harmless(found):
    assert r"| =org/a\_b\|c \& 50% \\input\{x\} \<b\> |" in to_markdown(found)
    assert r"=org/a\_b\textbar{}c \& 50\% \textbackslash{}input\{x\} \textless{}b\textgreater{} & " in to_latex(found)
    assert f"'{NAME}" in to_csv(found)


def test_sample_is_said_in_each(found):
    assert to_markdown(found).startswith("**SAMPLE numbers")
    assert r"\textbf{SAMPLE}" in to_latex(found)
    assert "SAMPLE numbers" in to_latex(found)
    alone = entries([make_result("forge_workveri_three_view", sample=False)])
    assert not any("SAMPLE" in text for text in (to_markdown(alone), to_latex(alone), to_csv(alone)))


def test_nan_is_no_number():
    result = make_result("georefusal")
    metrics = (Metric("accuracy", math.nan, 0, note="withheld: x"), *result.summary.metrics[1:])
    summary = type(result.summary)(**{**vars(result.summary), "metrics": metrics})
    found = entries([type(result)(**{**vars(result), "summary": summary})])
    assert "| model | n/a |  | 0 |" in to_markdown(found)
    assert "- model: withheld: x" in to_markdown(found)
    first = next(csv.DictReader(io.StringIO(to_csv(found))))
    assert (first["value"], first["n"]) == ("", "0")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_latex_compiles(found, tmp_path):
    head = "\\documentclass{article}\\usepackage{booktabs}\\usepackage[T1]{fontenc}\\usepackage{textcomp}"
    (tmp_path / "t.tex").write_text(f"{head}\\begin{{document}}\\tiny\n{to_latex(found)}\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
