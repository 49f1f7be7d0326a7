"""The page: what it says, what it never says, and that nothing in it can run but its own script."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from report_results import HOSTILE, chance, judged_result, make_result

pytest.importorskip("jinja2", reason="geoeval[report] is not installed")
pytest.importorskip("matplotlib", reason="geoeval[report] is not installed")

from geoeval import cli
from geoeval.data import DataError, locate, task_items
from geoeval.report.browser import LONGEST, _shortened, json_block
from geoeval.report.html import write_report
from geoeval.report.lines import entries
from geoeval.report.palette import DARK, LIGHT, TEXT_PAIRS, contrast
from geoeval.report.text import csv_cell, html, latex, markdown, plain
from geoeval.types import Judgement


class Parts(HTMLParser):
    """Start tags with their attributes, the text of each script and style, and all other text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.raw, self.words, self._inside = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = (tag, dict(attrs)) if tag in ("script", "style") else self._inside
        if tag in ("script", "style"):
            self.raw.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        self._inside = None if tag in ("script", "style") else self._inside

    def handle_data(self, data):
        if self._inside:
            self.raw[-1][2] += data
        else:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def data(self, name):
        return json.loads(next(text for _, attrs, text in self.raw if attrs.get("id") == name))


@pytest.fixture
def page(tmp_path):
    """Writes a page; returns what was written and its parts."""

    def write(*results, **settings):
        written = write_report(results, tmp_path / "report.html", **settings)
        return written, Parts(written.path.read_text(encoding="utf-8"))

    return write


def test_headline_has_value_n_interval_coverage_and_baselines(page):
    result = make_result("georefusal", "some/model", skill=0.6)
    metric, coverage = result.summary["accuracy"], result.summary.coverage
    assert coverage.failed
    assert coverage.unread
    _, parts = page(result)
    row = f"some/model {metric.value:.4f} {metric.low:.4f} to {metric.high:.4f} {metric.n}"
    row += f" {coverage.read} {coverage.unread} {coverage.empty} {coverage.failed} {coverage.unscored}"
    assert row in parts.text
    assert "random 0.1667 n/a 83" in parts.text
    assert f"some/model: {coverage.failed} request" in parts.text


@pytest.mark.parametrize("sample", [True, False])
def test_published_rows_never_stand_beside_the_sample(page, sample):
    _, parts = page(make_result("lithobench_mcq", sample=sample))
    assert ("GPT-5.4" in parts.text) is not sample
    assert ("SAMPLE numbers" in parts.text) is sample
    assert ("arXiv 2605.07640" in parts.text) is not sample


def test_one_sample_result_of_a_task_keeps_published_rows_away(page):
    _, parts = page(make_result("lithobench_mcq"), make_result("lithobench_mcq", "other", sample=False))
    assert "GPT-5.4" not in parts.text


def test_conflicts_of_published_rows_are_marked(page):
    _, parts = page(make_result("forge_workveri_three_view", sample=False))
    assert re.search(r"Kimi-K2\.5 sources disagree 0\.1940", parts.text)
    assert "published: Kimi-K2.5 (zero_shot, sources disagree): project page 19.4" in parts.text
    assert parts.text.count("sources disagree 0.") == 1


def test_a_part_of_a_task_is_said_to_be_one(page):
    _, parts = page(make_result("lithobench_mcq", items_in_task=4000))
    assert "only 60 of the 4,000 items of the task" in parts.text


@pytest.mark.parametrize(("data", "said"), [("local", True), ("release", False)])
def test_local_data_are_not_taken_for_the_published(page, data, said):
    _, parts = page(make_result("lithobench_mcq", sample=False, data=data))
    assert ("not known to be the published items" in parts.text) is said


def test_nothing_runs_or_loads_but_our_own(page):
    hostile = make_result("georefusal", '"><script>window.pwned=1</script>', replies=lambda i: HOSTILE[_pick(i)])
    _, parts = page(hostile, make_result("lithobench_open", "javascript:alert(1)"))
    scripts = [(attrs, text) for tag, attrs, text in parts.raw if tag == "script"]
    (own,) = [text for attrs, text in scripts if "type" not in attrs]
    assert {attrs["type"] for attrs, _ in scripts if "type" in attrs} == {"application/json"}
    assert not [attrs for _, attrs in parts.tags if {"style", "src", "srcset", "srcdoc"} & {*attrs}]
    assert not [name for _, attrs in parts.tags for name in attrs if name.startswith("on")]
    assert {attrs["href"][0] for tag, attrs in parts.tags if "href" in attrs} == {"#"}
    assert {tag for tag, _ in parts.tags}.isdisjoint({"iframe", "object", "embed", "base", "link", "img"})
    policy = next(a["content"] for t, a in parts.tags if a.get("http-equiv") == "Content-Security-Policy")
    (style,) = [text for tag, _, text in parts.raw if tag == "style"]
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src '{_sha(own)}'" in policy
    assert f"style-src '{_sha(style)}'" in policy
    assert "unsafe" not in policy


def test_replies_come_through_unharmed(page):
    _, parts = page(make_result("georefusal", replies=lambda i: HOSTILE[_pick(i)]))
    content = parts.data("task-georefusal")
    ids = [item[0] for item in content["items"]]
    for item in task_items("georefusal", locate("georefusal", "sample"), pictures=False):
        said = HOSTILE[_pick(item)].replace("\ud83d", "\ufffd").replace("\udc00", "\ufffd")
        kept = content["replies"][0][ids.index(item.id)]
        half = LONGEST // 2
        assert kept[3] == (said if len(said) <= LONGEST else said[:half] + said[-half:])
        assert kept[5] == (None if len(said) <= LONGEST else [half, len(said) - LONGEST])


def test_no_block_can_end_its_element():
    text = json_block({"a": "</script><!--<script>\u2028\u2029&\x00\x7f\x85é漢"})
    assert not set("<>&\u2028\u2029\x00\x7f\x85") & set(text)
    assert json.loads(text) == {"a": "</script><!--<script>\u2028\u2029&\x00\x7f\x85é漢"}
    assert "é漢" in text


def test_half_a_character_in_a_name_or_a_comment_does_not_stop_the_page(page):
    result = judged_result("half \ud83d")
    comment = Judgement(3.0, {}, "half \udc00 " + "x" * LONGEST)
    pairs = [(replace(score, judgement=comment), reply) for score, reply in result.items()]
    _, parts = page(replace(result, items=lambda: iter(pairs)))
    content = parts.data("task-lithobench_open")
    assert content["models"] == [[1, "half \ud83d"]]
    assert content["replies"][0][0][9][2].endswith("x … 7 characters are left out of this page")
    assert "half [U+D83D]" in parts.text


@pytest.mark.parametrize(
    ("reply", "span", "kept"),
    [
        ("Answer: B", (8, 9), [8, 9]),
        ("😀 B", (2, 3), [3, 4]),  # JavaScript counts the emoji twice
        ("x" * 30_000 + "B", (30_000, 30_001), [19_999, 20_000]),
        ("B" + "x" * 30_000, (0, 1), [0, 1]),
        ("x" * 15_000 + "B" + "x" * 15_000, (15_000, 15_001), None),
        ("x" * 9_999 + "BB" + "x" * 20_000, (9_999, 10_001), None),
    ],
)
def test_places_in_shortened_replies(reply, span, kept):
    text, place, _ = _shortened(reply, span)
    assert place == kept
    if kept:
        units = text.encode("utf-16-le")[2 * kept[0] : 2 * kept[1]].decode("utf-16-le")
        assert units == reply[span[0] : span[1]]


def test_each_picture_is_in_the_page_once(page):
    items = task_items("lithobench_mcq", locate("lithobench_mcq", "sample"))
    tiles = {picture["bytes"] for item in items for picture in item.images}
    mcq, other, open_ = (
        make_result("lithobench_mcq"),
        make_result("lithobench_mcq", "b"),
        make_result("lithobench_open"),
    )
    written, parts = page(mcq, other, open_)
    assert written.pictures == len(tiles) < 120
    pictures = parts.data("pictures-0")
    assert base64.b64decode(pictures[0])[8:12] == b"WEBP"
    assert written.picture_size == sum(map(len, pictures))
    assert f"{written.pictures} pictures of at most 160 pixels take {written.picture_size / 1e6:.1f} MB" in parts.text
    shown = [item for task in ("mcq", "open") for item in parts.data(f"task-lithobench_{task}")["items"]]
    assert {number for item in shown for number in item[5]} == set(range(len(tiles)))


def test_size_is_said_and_is_less_without_pictures(page):
    whole, parts = page(make_result("lithobench_mcq"))
    assert whole.size == whole.path.stat().st_size
    assert f"This page is {whole.size / 1e6:.1f} MB, of which" in parts.text
    bare, parts = page(make_result("lithobench_mcq"), images=False)
    assert bare.size < whole.size - 0.9 * whole.picture_size
    assert "without pictures" in parts.text
    assert parts.data("task-lithobench_mcq")["items"][0][1]  # the question is still there


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"data_sha256": "0" * 64}, "not at hand"),
        ({"data_sha256": ""}, "do not say which data"),
    ],
)
def test_pictures_and_questions_only_of_the_very_data_that_was_asked(page, facts, said):
    written, parts = page(make_result("lithobench_mcq", **facts))
    content = parts.data("task-lithobench_mcq")
    assert said in content["problem"]
    assert said in written.problems["lithobench_mcq"]
    assert written.pictures == 0
    assert {(item[1], *item[5]) for item in content["items"]} == {("",)}


def test_the_same_results_give_the_same_bytes(page):
    results = make_result("georefusal"), judged_result()
    first = page(*results)[0].path.read_bytes()
    assert page(*results)[0].path.read_bytes() == first


def test_page_without_items_has_no_script(page):
    written, parts = page(make_result("georefusal"), items=False)
    assert written.replies == 0
    assert [tag for tag, _ in parts.tags if tag == "script"] == []
    assert "made without items" in parts.text


def test_a_failed_page_leaves_the_old_one(page, tmp_path):
    good = make_result("georefusal")
    old = page(good)[0].path.read_bytes()
    broken = type(good)(good.task, good.summary, good.run, items=lambda: iter([1 / 0 for _ in "x"]))
    with pytest.raises(ZeroDivisionError):
        page(broken)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_bytes() == old


def test_labels_say_what_tells_results_apart():
    two = [make_result("georefusal", "m", date=date) for date in ("2026-01-01", "2026-01-02")]
    same = [make_result("lithobench_mcq", "m"), make_result("lithobench_mcq", "m")]
    found = entries([*two, *same, make_result("forge_workveri", "m")])
    assert [entry.label for entry in found] == ["m #1", "m #2", "m (2026-01-01)", "m (2026-01-02)", "m"]
    assert len({entry.key for entry in found}) == 5


@pytest.mark.parametrize("results", [[], [make_result("georefusal").__class__("nope", None, {}, iter)]])
def test_nothing_to_report_is_an_error(results):
    with pytest.raises(DataError):
        entries(results)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_enough_contrast(scheme):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)  # WCAG's well-known near miss
    low = {pair: contrast(scheme[pair[0]], scheme[pair[1]]) for pair in TEXT_PAIRS}
    assert min(low.values()) >= 4.5, low
    assert min(contrast(scheme[f"s{k}"], scheme["card"]) for k in range(1, 7)) >= 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a[U+202E]b"),
        ("\x1b[31m", "[U+001B][31m"),
        ("a\r\n b\tc", "a b c"),
        ("a\rb", "a b"),
        ("\ud83d|\x00|\u200b|\ufeff", "[U+D83D]|[U+0000]|[U+200B]|[U+FEFF]"),
        ("\U000e0041", "[U+E0041]"),
        ("שלום 漢字 é 😀", "שלום 漢字 é 😀"),
    ],
)
def test_invisible_characters_are_shown(text, shown):
    assert plain(text) == shown


def test_escapes():
    assert html("<b>&\"'\u202e") == (
        '&lt;b&gt;&amp;&#34;&#39;<span class="odd" title="invisible character">[U+202E]</span>'
    )
    assert markdown("a|b_c`<d>[e](f)") == r"a\|b\_c\`\<d\>\[e\](f)"
    assert latex(r"50% \input{x} a_b & ~^#$") == (
        r"50\% \textbackslash{}input\{x\} a\_b \& \textasciitilde{}\textasciicircum{}\#\$"
    )
    assert [csv_cell(text) for text in ("=1+1", "@x", "+1", "-1", "a=1")] == ["'=1+1", "'@x", "'+1", "'-1", "a=1"]


@pytest.fixture
def report(monkeypatch, tmp_path):
    """Runs ``geoeval report`` on given results; returns the exit status."""

    def run(results, *arguments):
        loader = type("loader", (), {"load_results": staticmethod(lambda paths: list(results))})
        monkeypatch.setitem(__import__("sys").modules, "geoeval.runs.load", loader)
        monkeypatch.chdir(tmp_path)
        (tmp_path / "x").write_text("a file where a folder is wanted")
        with pytest.raises(SystemExit) as ended:
            cli.main(["report", "record.geoeval.json", *arguments])
        return ended.value.code

    return run


def test_command_writes_all_and_says_sizes(report, tmp_path, capsys):
    arguments = ("-o", "r.html", "--plots", "plots", "--markdown", "t.md", "--csv", "t.csv", "--latex", "t.tex")
    assert report([make_result("georefusal")], *arguments) == 0
    out = capsys.readouterr().out
    size = (tmp_path / "r.html").stat().st_size
    assert re.search(rf"^r\.html: {size / 1e6:.1f} MB, of which \d+ pictures \d\d kB$", out, re.MULTILINE)
    assert "  83 items, 83 replies" in out
    names = {path.name for path in (tmp_path / "plots").iterdir()}
    assert {"georefusal.trade_off.svg", "georefusal.trade_off.png", "georefusal.by_category.svg"} <= names
    assert {name.rpartition(".")[2] for name in names} == {"svg", "png"}
    assert all((tmp_path / name).stat().st_size for name in ("t.md", "t.csv", "t.tex"))


def test_command_prints_json(report, tmp_path, capsys):
    assert report([make_result("lithobench_mcq")], "-o", "r.html", "--json", "--no-images") == 0
    about = json.loads(capsys.readouterr().out)
    assert about["size"] == (tmp_path / "r.html").stat().st_size
    assert (about["items"], about["pictures"]) == (60, 0)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 2, "nothing to write"),
        (("--csv", "a", "--plots", "b"), 2, "--plots needs -o"),
        (("-o", "x/r.html"), 1, "x/r.html: cannot be written"),
        (("-o", "r.html", "--pixels", "9"), 2, "must be 16 to 4096"),
    ],
)
def test_command_refuses(report, capsys, arguments, status, said):
    assert report([make_result("lithobench_mcq")], *arguments) == status
    assert said in capsys.readouterr().err


def _pick(item):
    return int(chance(item.id) * len(HOSTILE))


def _sha(text):
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
