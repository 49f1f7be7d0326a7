"""How quick a report is: writing it, first paint, each filter; with ten thousand items of two models, in Chromium.

Run with ``python benchmarks/report.py [ITEMS]``; needs geoeval[report], playwright and chromium. First paint is
compared with that of the same page without items, in the same browser.
"""

from __future__ import annotations

import io
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "report"))
from report_thousands import thousands

from geoeval.data import locate
from geoeval.report.html import summary_lines, write_report

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
)
RUNS = 5
PAINT = """() => new Promise((done) => {
  const at = (name) => performance.getEntriesByName(name)[0]?.startTime ?? null;
  const look = () => {
    const first = at("first-contentful-paint");
    return first === null ? setTimeout(look, 20) : done([first, at("ready")]);
  };
  look();
})"""
TASK = "lithobench_mcq"
# What a user does -> the field and its value.
ACTIONS = {
    "search, first time": ("f-text", "needle-77"),
    "search, again": ("f-text", "needle-9"),
    "search, no match": ("f-text", "nothing like it"),
    "clear the search": ("f-text", ""),
    "wrong replies": ("f-mark", "wrong"),
    "models disagree": ("f-agree", "split"),
    "all again": ("f-mark", ""),
    "longest reply first": ("f-order", "long"),
    "worst first": ("f-order", "worst"),
}
# Until the next frame has been drawn; the 60 ms that a search waits for further keys are taken off.
ACT = """([field, value]) => new Promise((done) => {
  const element = document.getElementById(field), begun = performance.now();
  const wait = field === "f-text" ? 60 : 0;
  element.value = value;
  element.dispatchEvent(new Event(field === "f-text" ? "input" : "change", { bubbles: true }));
  setTimeout(() => requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun - wait))), wait + 1);
})"""


def data_of(folder: Path, items: int) -> str:
    """A dataset with a different picture for every item; returns its hash."""
    table = pq.read_table(locate(TASK, "sample").path)
    tiles = [Image.open(io.BytesIO(row[0]["bytes"])).convert("RGB") for row in table.column("images").to_pylist()]
    rows = []
    for k in range(items):
        out = io.BytesIO()
        tile = tiles[k % len(tiles)].rotate(360 * k / items).resize((224 + k % 7, 224))
        tile.save(out, "JPEG", quality=90)
        like = table.slice(k % table.num_rows, 1).to_pylist()[0]
        rows.append({**like, "id": f"item-{k:06}", "images": [{"bytes": out.getvalue(), "path": None}]})
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / f"{TASK}.parquet", row_group_size=200)
    return locate(TASK, str(folder)).sha256


def paint(page: Page, path: Path) -> tuple[float, float]:
    """Milliseconds until the first content is seen, and until the items can be used (nan without items)."""
    page.goto(path.as_uri())
    first, ready = page.evaluate(PAINT)
    return first, ready if ready is not None else math.nan


def main() -> None:
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    results = thousands(items, words=60)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        digest = data_of(folder, items)
        for result in results:
            result.run["data_sha256"] = digest
        pages = {"with pictures": {}, "without pictures": {"images": False}, "without items": {"items": False}}
        for kind, settings in pages.items():
            begun = time.perf_counter()
            written = write_report(results, folder / f"{kind}.html", data=str(folder), **settings)
            print(f"{kind}: written in {time.perf_counter() - begun:.1f} s")
            print("  " + "\n  ".join(line.replace(f"{folder}{os.sep}", "") for line in summary_lines(written)))
        measure(folder, [*pages])


def measure(folder: Path, kinds: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        said: list[str] = []
        firsts = {}
        print(f"\n{'milliseconds, median of ' + str(RUNS):34}{'first paint':>12}{'usable':>10}")
        for kind in kinds:
            times = []
            for _ in range(RUNS):
                page = browser.new_context().new_page()
                page.on("console", lambda message: said.append(message.text))
                page.on("pageerror", lambda error: said.append(str(error)))
                times.append(paint(page, folder / f"{kind}.html"))
                page.context.close()
            first, ready = (statistics.median(column) for column in zip(*times, strict=True))
            firsts[kind] = first
            usable = "-" if math.isnan(ready) else f"{ready:.0f}"
            print(f"{kind:34}{first:12.0f}{usable:>10}")
        print(f"first paint against the page without items: {firsts[kinds[0]] / firsts[kinds[-1]]:.2f} times\n")
        page = browser.new_page()
        page.goto((folder / f"{kinds[0]}.html").as_uri())
        page.wait_for_selector("#browser:not([hidden])")
        print(f"{'milliseconds until drawn':34}{'first':>12}{'median':>10}")
        for name, action in ACTIONS.items():
            times = [page.evaluate(ACT, list(action)) for _ in range(1 if "first" in name else RUNS)]
            print(f"{name:34}{times[0]:12.0f}{statistics.median(times):10.0f}   {page.inner_text('#count')}")
        print(f"console messages: {said or 'none'}")
        browser.close()


if __name__ == "__main__":
    main()
