"""``geoeval report RESULTS... -o report.html``.

Exit status: 0 all well, 1 nothing could be read or written, 2 wrong arguments. With ``--json`` what was written is one
JSON object on standard output; messages and progress bars are on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_EXAMPLE = """\
example:
  geoeval report results/ -o report.html
  geoeval report a.geoeval.json b.geoeval.json -o report.html --no-images --plots plots --latex table.tex

exit status: 0 all well, 1 nothing could be read or written, 2 wrong arguments
"""


def add_report_command(commands: Any) -> None:
    """Add ``report`` to the subcommands of ``geoeval``."""
    report = commands.add_parser(
        "report",
        help="one HTML page of results: tables, plots, every item; also Markdown, CSV, LaTeX, SVG, PNG",
        description="Write one self-contained HTML page of results: headline tables with intervals and published rows, "
        "plots, and a browser of every item with picture, reply, gold and score. It works offline and loads nothing. "
        "Needs pip install 'geoeval[report]'.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    report.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="result records, saved runs of a harness, or folders"
    )
    report.add_argument("-o", "--output", type=Path, metavar="FILE", help="the HTML page")
    report.add_argument("--no-images", action="store_true", help="leave pictures out, to share the page")
    report.add_argument("--no-items", action="store_true", help="tables and plots only")
    report.add_argument("--pixels", type=_pixels, default=160, help="longest side of a picture (default: %(default)s)")
    report.add_argument(
        "--data", metavar="WHERE", help="data that was asked: sample or a folder (default: GEOEVAL_DATA)"
    )
    report.add_argument("--plots", type=Path, metavar="DIR", help="also write every plot as SVG and PNG")
    report.add_argument("--markdown", type=Path, metavar="FILE", help="also write the headline tables as Markdown")
    report.add_argument("--csv", type=Path, metavar="FILE", help="also write every number as CSV")
    report.add_argument("--latex", type=Path, metavar="FILE", help="also write the headline table as LaTeX (booktabs)")
    report.add_argument("--json", action="store_true", help="print what was written as JSON")
    report.set_defaults(run=_run, usage_error=report.error)


def _pixels(text: str) -> int:
    pixels = int(text)
    if not 16 <= pixels <= 4096:
        raise argparse.ArgumentTypeError("must be 16 to 4096")
    return pixels


def _run(parsed: argparse.Namespace) -> int:
    from geoeval.data.errors import DataError
    from geoeval.runs.load import load_results

    if not any((parsed.output, parsed.markdown, parsed.csv, parsed.latex)):
        parsed.usage_error("nothing to write: give -o FILE, --markdown, --csv or --latex")
    if parsed.plots and not parsed.output:
        parsed.usage_error("--plots needs -o FILE as well")
    try:
        results = load_results(parsed.results)
        tables = list(_tables(parsed, results))
        about: dict[str, Any] = {"tables": [str(path) for path in tables]}
        if parsed.output:
            about = {**_page(parsed, results), **about}
    except DataError as error:
        print(f"geoeval: {error}", file=sys.stderr)
        return 1
    if parsed.json:
        print(json.dumps(about, indent=2, ensure_ascii=False))
    else:
        for path in tables:
            print(path)
    return 0


def _tables(parsed: argparse.Namespace, results: Sequence[Any]) -> Sequence[Path]:
    """Write the tables that were asked for; gives their paths."""
    from geoeval.data.files import replacing
    from geoeval.report.export import to_csv, to_latex, to_markdown
    from geoeval.report.lines import entries

    wanted: list[tuple[Path | None, Callable[..., str]]] = [
        (parsed.markdown, to_markdown),
        (parsed.csv, to_csv),
        (parsed.latex, to_latex),
    ]
    found, written = entries(results), []
    for path, make in wanted:
        if path:
            with replacing(path) as part:
                part.write_text(make(found), encoding="utf-8", newline="")
            written.append(path)
    return written


def _page(parsed: argparse.Namespace, results: Sequence[Any]) -> dict[str, Any]:
    """Write the page and say how large it is; gives what ``--json`` prints."""
    from geoeval.report.html import as_json, summary_lines, write_report

    written = write_report(
        results,
        parsed.output,
        items=not parsed.no_items,
        images=not parsed.no_images,
        pixels=parsed.pixels,
        plots=parsed.plots,
        data=parsed.data,
    )
    for task, problem in written.problems.items():
        print(f"geoeval: {task}: {problem}", file=sys.stderr)
    if not parsed.json:
        print("\n".join(summary_lines(written)))
    return as_json(written)
