"""Plots: the numbers in them, deterministic bytes, and SVG that the page's policy lets through."""

import math
import re
from xml.etree import ElementTree

import pytest
from report_results import judged_result, make_result

pytest.importorskip("matplotlib", reason="geoeval[report] is not installed")

from geoeval.report.lines import by_task, entries
from geoeval.report.palette import LIGHT
from geoeval.report.plots import plots_of
from geoeval.report.scatter import _bins, rank_correlation

HOSTILE_NAME = "$x^2_{$ <script>&\u202e\x00 漢字" + "n" * 100


def plots(*results):
    found = entries(results)
    drawn = {}
    for task in by_task(found).values():
        scored = [{score.id: (score, reply) for score, reply in entry.result.items()} for entry in task]
        drawn.update({plot.name: plot for plot in plots_of(task, scored)})
    return drawn


def words(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_refusal_task_has_its_plots():
    found = plots(make_result("georefusal", "a"), make_result("georefusal", "b"))
    strata = {f"by_{name}" for name in ("verdict", "category", "intensity", "set")}
    others = {"trade_off", "length", "confusion.1", "confusion.2"}
    assert {*found} == {f"georefusal.{name}" for name in strata | others}


def test_judged_answers_have_agreement():
    found = plots(judged_result(judge="one"), judged_result(judge="two"), judged_result("other"))
    assert {name for name in found if "judge" in name} == {f"lithobench_open.judge.{k}" for k in (1, 2, 3)} | {
        "lithobench_open.judges.1.2"
    }
    two = found["lithobench_open.judges.1.2"].caption
    assert re.search(r"n=\d\d; the same whole mark in \d+ of \d\d, within one in \d+", two)
    assert "how the paper marks is not published" in found["lithobench_open.judge.1"].caption


def test_bars_say_value_and_n_in_the_order_of_levels():
    result = make_result("lithobench_mcq", skill=0.6)
    said = words(plots(result)["lithobench_mcq.by_level"].inline())
    parts = result.summary.strata["level"]
    labels = [f"{level}  n={parts[level][0].n} †" for level in ("ID", "Cmp", "Exp", "App", "Rea")]
    assert [text for text in said if "n=" in text] == labels
    for level in parts:
        assert f"{parts[level][0].value:.2f}" in said


def test_trade_off_has_both_ends():
    said = words(plots(make_result("georefusal"))["georefusal.trade_off"].inline())
    assert {"always answer", "always refuse", "1"} <= {*said}


def test_confusion_counts_are_written():
    result = make_result("georefusal")
    said = words(plots(result)["georefusal.confusion.1"].inline())
    counts = sorted(str(n) for row in result.summary.confusion.values() for n in row.values() if n)
    assert sorted(text for text in said if text.isdigit()) == counts
    assert {"false premise", "unread"} <= {*said}


def test_inline_svg_needs_no_style_and_has_the_pages_colours():
    results = make_result("georefusal", HOSTILE_NAME), make_result("georefusal", "b"), judged_result()
    for name, plot in plots(*results).items():
        svg = plot.inline()
        root = ElementTree.fromstring(svg)
        for element in root.iter():
            assert "style" not in element.attrib
            assert not any(key.startswith("on") for key in element.attrib)
            assert element.tag.rpartition("}")[2] not in ("style", "script", "image", "metadata", "foreignObject", "a")
            assert element.attrib.get("href", "#").startswith("#")
            assert element.attrib.get("id", name).startswith(name)
        assert not {value for value in LIGHT.values() if value in svg}
        assert "var(--" in svg
        assert root.attrib["role"] == "img"
        assert "\u202e" not in svg
        references = {*re.findall(r"url\(#([^)]+)\)", svg), *re.findall(r'href="#([^"]+)"', svg)}
        assert references <= {element.attrib.get("id") for element in root.iter()}


def test_the_same_plot_gives_the_same_bytes(tmp_path):
    for folder in (tmp_path / "a", tmp_path / "b"):
        for plot in plots(make_result("georefusal")).values():
            plot.save(folder)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)
    assert (tmp_path / "a" / "georefusal.trade_off.png").read_bytes().startswith(b"\x89PNG")


def test_empty_results_draw_nothing_and_do_not_fail():
    assert [*plots(make_result("georefusal", replies=lambda item: None))] == ["georefusal.confusion.1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2, 3, 4], [4, 3, 2, 1]),
        ([1, 1, 2, 3, 3, 3], [2, 1, 2, 5, 4, 4]),
        ([0.1, 0.4, 0.2, 0.9, 0.9], [5, 5, 5, 6, 1]),
    ],
)
def test_rank_correlation_is_spearmans(one, other):
    scipy = pytest.importorskip("scipy.stats")
    assert rank_correlation(one, other) == pytest.approx(scipy.spearmanr(one, other).statistic, abs=1e-12)


@pytest.mark.parametrize(("one", "other"), [([1, 1, 1], [1, 2, 3]), ([], []), ([1, 2], [1, 2])])
def test_rank_correlation_without_ground_is_nan(one, other):
    assert math.isnan(rank_correlation(one, other))


def test_lengths_are_grouped_and_like_lengths_stay_together():
    points = _bins([(10, 1.0)] * 25 + [(20, 0.0)] * 5 + [(30, 1.0)] * 30, rate=True)
    assert [(length, mean) for length, mean, _, _ in points] == [(10, 1.0), (30, pytest.approx(30 / 35))]
    low, high = points[0][2:]
    assert (low, high) == (pytest.approx(0.8668, abs=1e-4), pytest.approx(1))  # Wilson, 25 of 25
    assert _bins([(10, 1.0)] * 9, rate=True) == []
