"""The page in a real Chromium: ten thousand items, a hostile reply set, keys, filters, a phone, both colour schemes."""

import json
import re
import shutil
from itertools import pairwise

import pytest
from report_results import HOSTILE, chance, judged_result, make_result
from report_thousands import thousands

from geoeval.report.html import write_report
from geoeval.report.palette import contrast

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("jinja2", reason="geoeval[report] is not installed")
pytest.importorskip("matplotlib", reason="geoeval[report] is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path")

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
)
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    hostile = lambda item: HOSTILE[int(chance(item.id) * len(HOSTILE))]  # noqa: E731
    name = '"><img src=x onerror="window.pwned=1">\u202e<script>window.pwned=1</script>'
    results = {
        "small": [
            make_result("georefusal", "a", 0.8),
            make_result("georefusal", "b", 0.4),
            make_result("lithobench_mcq", "a"),
            judged_result("a"),
            make_result("forge_workveri_three_view", "a", sample=False),
        ],
        "hostile": [make_result("georefusal", name, replies=hostile), make_result("georefusal", "b", 0.5)],
        "large": thousands(10_000),
    }
    for kind, found in results.items():
        write_report(found, folder / f"{kind}.html")
    return folder


@pytest.fixture
def load(chromium, pages):
    """Opens a page; afterwards nothing may have been said on the console or asked of anyone."""
    contexts, said = [], []

    def opened(name, viewport=DESKTOP, **settings):
        context = chromium.new_context(viewport=viewport, reduced_motion="reduce", **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or said.append(request.url))
        page.goto((pages / f"{name}.html").as_uri())
        page.wait_for_selector("#browser:not([hidden])")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def count(page):
    return page.inner_text("#count")


def shows(page, text):
    sync_api.expect(page.locator("#count")).to_have_text(text)


def selected(page):
    return page.get_attribute("#list", "aria-activedescendant")


def test_ten_thousand_items_are_in_the_list_but_few_in_the_page(load):
    page = load("large")
    assert count(page) == "10,000 of 10,000 items"
    assert page.locator(".row").count() < 60
    page.focus("#list")
    page.keyboard.press("End")
    page.wait_for_selector("#row-9999")
    assert selected(page) == "row-9999"
    page.fill("#f-text", "needle-4321")
    shows(page, re.compile("^1 of "))
    assert "needle-4321" in page.inner_text("#detail")


def test_hostile_replies_stay_text(load):
    page = load("hostile")
    for _ in range(int(count(page).split()[0])):
        page.keyboard.press("j")
    assert page.evaluate("window.pwned") is None
    assert page.locator("script:not([type='application/json'])").count() == 1
    foreign = "[onerror],[onload],[style*='display'],iframe,object,embed,base,link,#detail script,#detail svg,#detail a"
    assert page.locator(foreign).count() == 0
    assert page.locator("img:not([src^='data:image/webp;base64,'])").count() == 0
    assert "<img src=x onerror" in page.inner_text("thead >> nth=0")


@pytest.mark.parametrize(
    ("search", "shown"),
    [
        ("window.pwned=1</script>", "<script>window.pwned=1</script>"),
        ("7*7", "{{ 7*7 }} {% raw %}"),
        ("rewsn", "[U+202E]}B :rewsnA{ [U+2066]x[U+2069] zero[U+200B][U+200D]width[U+FEFF] [U+E0041][U+E0042]"),
        ("red", "[U+001B][31mred[U+001B][0m [U+0007][U+0008][U+009B]2J"),
        ("and\u2029there", "nul [U+0000] here[U+2028]and[U+2029]there"),
        ("half", "half \ufffd an emoji"),
        ("&lt;b&gt;", "]]> &lt;b&gt; &amp; &#60;script&#62; \\u003cscript\\u003e <\\/script>"),
        ("xxxxx", f"{len(HOSTILE[-1]) - 20_000:,} characters are left out of this page"),
    ],
)
def test_hostile_replies_are_shown_as_they_are(load, search, shown):
    page = load("hostile")
    page.fill("#f-text", search)
    shows(page, re.compile("^(?!83 )"))
    assert shown in page.inner_text(".reply .raw >> nth=0")


def test_keys(load):
    page = load("small")
    page.select_option("#f-task", "georefusal")
    steps = [("j", 1), ("j", 2), ("k", 1), ("ArrowDown", 2), ("ArrowUp", 1)]
    steps += [("End", 82), ("j", 82), ("k", 81), ("Home", 0), ("k", 0)]
    page.focus("#list")
    for key, place in steps:
        page.keyboard.press(key)
        assert selected(page) == f"row-{place}", key
        assert page.locator(".row[aria-selected=true]").get_attribute("id") == f"row-{place}"
    page.keyboard.press("PageDown")
    assert int(selected(page)[4:]) > 3
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "detail"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "list"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "f-text"
    page.keyboard.type("jk")  # letters of a search are no commands
    assert page.input_value("#f-text") == "jk"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "list"


def test_focus_is_seen(load):
    page = load("small")
    page.keyboard.press("Tab")
    for _ in range(25):
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        page.keyboard.press("Tab")


def _right(score):
    return score.values.get("accuracy") == 1


FILTERS = {
    "wrong of b": ({"f-model": "1", "f-mark": "wrong"}, lambda a, b: b.outcome.scored and not _right(b)),
    "unreadable": ({"f-outcome": "unread"}, lambda a, b: "unread" in (a.outcome.value, b.outcome.value)),
    "failed": ({"f-outcome": "failed"}, lambda a, b: "failed" in (a.outcome.value, b.outcome.value)),
    "empty of b": ({"f-model": "1", "f-outcome": "empty"}, lambda a, b: b.outcome.value == "empty"),
    "not scored": ({"f-mark": "unscored"}, lambda a, b: not (a.outcome.scored and b.outcome.scored)),
    "split": ({"f-agree": "split"}, lambda a, b: a.outcome.scored and b.outcome.scored and _right(a) != _right(b)),
    "differ": ({"f-agree": "differ"}, lambda a, b: a.extracted != b.extracted),
    "all right": ({"f-agree": "right"}, lambda a, b: _right(a) and _right(b)),
    "set A": ({"stratum-3": "0"}, lambda a, b: a.strata["set"] == "A"),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters(load, name):
    wish, keep = FILTERS[name]
    results = make_result("georefusal", "a", 0.8), make_result("georefusal", "b", 0.4)
    first, second = ({score.id: score for score, _ in result.items()} for result in results)
    expected = sorted(id_ for id_ in first if keep(first[id_], second[id_]))
    page = load("small")
    page.select_option("#f-task", "georefusal")
    for field, value in wish.items():
        place = f"[data-stratum='{field[-1]}']" if field.startswith("stratum") else f"#{field}"
        page.select_option(place, value)
    assert count(page) == f"{len(expected)} of 83 items"
    assert expected
    assert page.inner_text("#detail h3") == expected[0]
    page.click("button[type=reset]")
    shows(page, "83 of 83 items")


def test_order(load):
    page = load("small")
    page.select_option("#f-task", "lithobench_open")
    values = []
    page.select_option("#f-order", "worst")
    page.focus("#list")
    for _ in range(20):
        values.append(float(re.search(r"open_score ([\d.]+)", page.inner_text(".reply .verdict")).group(1)))
        page.keyboard.press("j")
    assert values == sorted(values)
    assert len({*values}) > 10


def test_an_item_shows_all_there_is(load):
    page = load("small")
    detail = page.locator("#detail")
    page.select_option("#f-task", "lithobench_mcq")
    assert detail.locator(".pics img").count() == 1
    assert detail.locator(".pics img").evaluate("image => image.naturalWidth") == 160
    assert detail.locator(".options li").count() == 4
    assert detail.locator(".options .gold").count() == 1
    page.select_option("#f-mark", "right")
    read = re.search(r"read: (\w)", detail.inner_text()).group(1)
    assert detail.locator("mark").inner_text() == read
    page.select_option("#f-task", "lithobench_open")
    assert "judge, overall" in detail.inner_text()
    assert "<b>evidence</b> is thin" in detail.locator(".comment").inner_text()
    page.select_option("#f-outcome", "unscored")
    assert "The judge gave no mark: unreadable: no mark for evidence" in detail.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(load, scheme):
    page = load("small", PHONE, color_scheme=scheme, has_touch=True)
    for details in page.query_selector_all("details"):
        details.evaluate("element => element.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.tap("#row-1")
    assert page.is_visible("#detail")
    assert not page.is_visible("#list")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.tap(".back")
    assert page.is_visible("#list")
    page.evaluate("document.querySelector('#georefusal').scrollIntoView()")


def test_hostile_names_do_not_widen_a_phone(load):
    page = load("hostile", PHONE)
    page.fill("#f-text", "xxxxx")
    page.click("#row-0")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shown_text_has_enough_contrast(load, scheme):
    """Computed by the browser, so that it also sees what a rule forgot."""
    page = load("small", color_scheme=scheme)
    found = json.loads(page.evaluate(CONTRASTS))
    assert len(found) > 10
    low = [entry for entry in found if contrast(_hex(entry[0]), _hex(entry[1])) < 4.5]
    assert low == []


def test_structure(load):
    page = load("small")
    assert page.evaluate("document.documentElement.lang") == "en"
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for what, lacks in LACKING.items():
        assert (
            page.evaluate(f"[...document.querySelectorAll({what!r})].filter(e => {lacks}).map(e => e.outerHTML)") == []
        )
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert sorted({id_ for id_ in ids if ids.count(id_) > 1}) == []


LACKING = {
    "input,select": "!e.labels.length",
    "img": "!e.hasAttribute('alt')",
    "svg": "!e.ariaHidden && !e.ariaLabel",
    "table": "!e.querySelector('th[scope]')",
    "button,a,[role=region],[role=listbox]": "!(e.ariaLabel || e.textContent.trim())",
    "[role=option]": "!e.closest('[role=listbox]')",
    "[aria-labelledby]": "!document.getElementById(e.getAttribute('aria-labelledby'))",
}
CONTRASTS = """() => {
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  const found = new Map();
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('svg,script,style,:disabled,select') || !element.checkVisibility()) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const pair = [getComputedStyle(element).color, ground(element)];
    found.set(pair.join(), [...pair, element.outerHTML.slice(0, 80)]);
  }
  for (const text of document.querySelectorAll('figure svg text, figure svg g text')) {
    const pair = [getComputedStyle(text).fill, ground(text)];
    found.set(pair.join(), [...pair, text.outerHTML.slice(0, 80)]);
  }
  return JSON.stringify([...found.values()]);
}"""


def _hex(colour):
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])
