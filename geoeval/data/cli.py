"""``geoeval data fetch | prepare | show | check``.

Exit status: 0 all well, 1 something is wrong with the data or it cannot be had, 2 wrong arguments. With ``--json`` the
result is one JSON object on standard output; messages and progress bars are on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.data.errors import DataError
from geoeval.data.source import SAMPLE, Source, find, prepared_folder

if TYPE_CHECKING:
    from geoeval.data.checks import Check
    from geoeval.data.prepare import Prepared

_NAMES = ("lithobench", "georefusal", "forge")
_MARKS = {"ok": "[green]ok[/]", "info": "[dim]--[/]", "error": "[bold red]wrong[/]"}


def add_data_command(commands: Any) -> None:
    """Add ``data`` to the subcommands of ``geoeval``."""
    data = commands.add_parser("data", help="fetch, prepare, show and check the benchmarks' data")
    actions = data.add_subparsers(required=True, metavar="ACTION")

    fetch = actions.add_parser("fetch", help="from Hugging Face into a local folder, then prepare it")
    fetch.add_argument("name", choices=_NAMES)
    fetch.add_argument("--revision", help="branch, tag or commit (default: main); its commit is recorded")
    fetch.add_argument("--repo", metavar="OWNER/NAME", help="another repository than the published one")
    fetch.add_argument("--to", type=Path, metavar="FOLDER", help="fetch into this folder and do not prepare it")
    fetch.add_argument("--columns", type=Path, metavar="FILE", help="YAML with names of columns, see docs/data.md")
    fetch.add_argument("--json", action="store_true", help="print JSON")
    fetch.set_defaults(run=_guarded(_fetch))

    prepare = actions.add_parser("prepare", help="any local copy of a release into the canonical layout")
    prepare.add_argument("name", choices=_NAMES)
    prepare.add_argument("--from", dest="source", type=Path, required=True, metavar="FOLDER", help="folder or file")
    prepare.add_argument("--to", type=Path, metavar="FOLDER", help="default: the cache, where tasks look")
    prepare.add_argument("--columns", type=Path, metavar="FILE", help="YAML with names of columns, see docs/data.md")
    prepare.add_argument("--json", action="store_true", help="print JSON")
    prepare.set_defaults(run=_guarded(_prepare))

    show = actions.add_parser("show", help="columns, counts and a contact sheet of pictures")
    show.add_argument("name", help="a benchmark or a dataset of it, e.g. forge or forge_workveri")
    show.add_argument("--data", metavar="WHERE", help="sample or a folder (default: GEOEVAL_DATA)")
    show.add_argument("--sheet", type=Path, metavar="FOLDER", default=Path(), help="for the PNG files (default: .)")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=_guarded(_show))

    check = actions.add_parser("check", help="compare with the published counts, open every picture, find duplicates")
    check.add_argument("name", help="a benchmark or a dataset of it, e.g. forge or forge_workveri")
    check.add_argument("--data", metavar="WHERE", help="sample or a folder (default: GEOEVAL_DATA)")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(run=_guarded(_check))


def _guarded(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """A command whose data errors are messages."""

    def guarded(parsed: argparse.Namespace) -> int:
        try:
            return run(parsed)
        except DataError as error:
            print(f"geoeval: {error}", file=sys.stderr)
            return 1

    return guarded


def _fetch(parsed: argparse.Namespace) -> int:
    from geoeval.data.fetch import fetch
    from geoeval.data.prepare import prepare

    fetched = fetch(parsed.name, parsed.revision, parsed.repo, parsed.to)
    print(f"geoeval: {fetched.repo} at {fetched.commit} is in {fetched.folder}", file=sys.stderr)
    about = {key: str(value) for key, value in asdict(fetched).items()}
    if parsed.to:
        if parsed.json:
            print(json.dumps({"fetched": about}, indent=2))
        return 0
    written, problems = prepare(parsed.name, fetched.folder, prepared_folder(), parsed.columns)
    if problems:
        problems.append(f"the release stays in {fetched.folder}: geoeval data prepare {parsed.name} --from it")
    return _report(written, problems, parsed.json, {"fetched": about})


def _prepare(parsed: argparse.Namespace) -> int:
    from geoeval.data.prepare import prepare

    written, problems = prepare(parsed.name, parsed.source, parsed.to or prepared_folder(), parsed.columns)
    return _report(written, problems, parsed.json, {})


def _report(written: Sequence[Prepared], problems: Sequence[str], as_json: bool, further: dict[str, Any]) -> int:
    if as_json:
        manifests = [{**p.manifest, "path": str(p.path)} for p in written]
        print(json.dumps({**further, "prepared": manifests, "problems": list(problems)}, indent=2, ensure_ascii=False))
    else:
        for prepared in written:
            print(f"{prepared.dataset}: {prepared.manifest['output']['rows']:,} rows in {prepared.path}")
            for note in prepared.manifest["notes"]:
                print(f"  note: {note}")
    for problem in problems:
        print(f"geoeval: {problem}", file=sys.stderr)
    return int(bool(problems))


def _sources(parsed: argparse.Namespace) -> list[Source]:
    """The prepared datasets that a name stands for; nothing is fetched for a look.

    Raises:
        DataError: There are none.
    """
    from geoeval.data.schema import BENCHMARKS, LAYOUT

    datasets = BENCHMARKS.get(parsed.name) or ((parsed.name,) if parsed.name in LAYOUT else ())
    if not datasets:
        raise DataError(f"no dataset {parsed.name!r}; there are {', '.join((*BENCHMARKS, *LAYOUT))}")
    found: list[Source] = []
    missing = []
    for dataset in datasets:
        try:
            source = find(dataset, parsed.data)
        except DataError as error:
            missing.append(str(error))
            continue
        if source is None:
            missing.append(f"{dataset}: not prepared yet: geoeval data fetch {parsed.name.split('_')[0]}")
        else:
            found.append(source)
    for reason in missing if found else ():
        print(f"geoeval: {reason}", file=sys.stderr)
    if not found:
        raise DataError("\n".join(missing))
    return found


def _show(parsed: argparse.Namespace) -> int:
    from geoeval.data.show import contact_sheet, overview

    shown = []
    for source in _sources(parsed):
        about = overview(source)
        sheet = contact_sheet(source, parsed.sheet / f"{source.task}.png")
        shown.append({**asdict(about), "contact_sheet": str(sheet)})
        if not parsed.json:
            print(f"{about.dataset}  {about.signature}  {about.rows:,} rows  {about.path}")
            print("\n".join(f"  {name:16} {meaning}" for name, meaning in about.columns.items()))
            for column, counts in about.counts.items():
                print(f"  by {column}: " + ", ".join(f"{value} {count:,}" for value, count in counts.items()))
            print(f"  contact sheet: {sheet}")
    if parsed.json:
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    return 0


def _check(parsed: argparse.Namespace) -> int:
    from geoeval.data.checks import check

    results = [(source, check(source)) for source in _sources(parsed)]
    if parsed.json:
        print(json.dumps([_as_json(*result) for result in results], indent=2, ensure_ascii=False))
    else:
        for result in results:
            _print(*result)
    return int(any(c.level == "error" for _, checks in results for c in checks))


def _as_json(source: Source, checks: Sequence[Check]) -> dict[str, Any]:
    good = all(c.level != "error" for c in checks)
    return {"dataset": source.task, "data": source.signature, "ok": good, "checks": [asdict(c) for c in checks]}


def _print(source: Source, checks: Sequence[Check]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    wrong = sum(c.level == "error" for c in checks)
    verdict = f"{wrong} things are wrong" if wrong else "all is as it should be"
    if source.label == SAMPLE:
        verdict += " (SAMPLE: not the published data, so not compared with published counts)"
    table = Table(title=f"{source.task}  {source.signature}: {verdict}", title_justify="left")
    for name in ("", "what", "found"):
        table.add_column(name, overflow="fold")
    for c in checks:
        table.add_row(_MARKS[c.level], c.name, escape(c.finding))
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table)
