"""The command ``geoeval card``."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError

_EPILOG = """\
Without --into, --eval-results or --every-eval-ever the README is printed. The section stands between the lines
<!-- geoeval:start --> and <!-- geoeval:end -->; a later call replaces it and the results that an earlier one put into
the metadata, and changes nothing else. Everything is checked before anything is written; nothing is uploaded.
Exit status: 0 written, 1 refused (nothing was written), 2 wrong arguments."""


def add_card_command(commands: Any) -> None:
    """Add ``card`` to the subcommands of ``geoeval``."""
    card = commands.add_parser(
        "card",
        help="put results on a model card",
        description="Put the results of one model on its model card: a section, model-index metadata, "
        ".eval_results entries, an Every Eval Ever record.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    card.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="result records, or saved runs")
    card.add_argument("--into", type=Path, metavar="README", help="merge into this README.md; made if there is none")
    card.add_argument(
        "--eval-results",
        type=Path,
        metavar="DIR",
        help="write entries as *.yaml in DIR, to be .eval_results in the model's repository",
    )
    card.add_argument("--every-eval-ever", type=Path, metavar="DIR", help="write Every Eval Ever records below DIR")
    card.add_argument("--model", metavar="OWNER/NAME", help="the model's id, where the results say it otherwise")
    card.add_argument(
        "--dataset",
        action="append",
        default=[],
        type=dataset,
        metavar="BENCHMARK=OWNER/NAME[@COMMIT]",
        help="the dataset of lithobench, georefusal or forge on the Hub, where the results do not say it",
    )
    card.add_argument("--source-url", metavar="URL", help="where the logs or the paper are")
    card.add_argument("--source-name", metavar="NAME", help="what that is called; needs --source-url")
    card.add_argument("--organization", metavar="NAME", help="who ran it, for --every-eval-ever")
    card.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        help="theirs to the maker of the model, for --every-eval-ever (default: other)",
    )
    card.add_argument("--sample", action="store_true", help="write numbers of the bundled sample, marked as such")
    card.add_argument("--json", action="store_true", help="print everything as JSON")
    card.set_defaults(run=_run)


def dataset(text: str) -> tuple[str, str, str | None]:
    """``BENCHMARK=OWNER/NAME[@COMMIT]`` in its parts.

    Raises:
        argparse.ArgumentTypeError: It is not of that form.
    """
    from geoeval.report.card.entries import FAMILIES

    found = re.fullmatch(r"(\w+)=([\w.-]+/[\w.-]+)(?:@([0-9a-f]{7,40}))?", text)
    if not found or found[1] not in FAMILIES:
        raise argparse.ArgumentTypeError(f"{text!r} is not BENCHMARK=OWNER/NAME[@COMMIT], BENCHMARK one of {FAMILIES}")
    return found[1], found[2], found[3]


def _run(parsed: argparse.Namespace) -> int:
    from geoeval.runs.load import load_results

    if parsed.source_name and not parsed.source_url:
        print("geoeval: --source-name needs --source-url", file=sys.stderr)
        return 2
    try:
        made = make(load_results(parsed.results), parsed)
        written = list(write(made, parsed))
    except DataError as error:
        print(f"geoeval: {error}", file=sys.stderr)
        return 1
    if parsed.json:
        print(json.dumps({**made, "written": written}, indent=2, ensure_ascii=False))
    elif written:
        print("\n".join(f"written: {path}" for path in written))
    else:
        sys.stdout.write(made["readme"])
    for warning in made["warnings"]:
        print(f"geoeval: {warning}", file=sys.stderr)
    return 0


def make(results: Any, parsed: argparse.Namespace) -> dict[str, Any]:
    """Everything that is asked for, checked, nothing written.

    Raises:
        DataError: Something may not or cannot be written.
    """
    from geoeval.report.card import entries, eval_results, every_eval_ever, model_index, readme, section

    settings = entries.Settings(
        model=parsed.model,
        datasets={name: entries.Dataset(repo, commit) for name, repo, commit in parsed.dataset},
        sample=parsed.sample,
        source_url=parsed.source_url,
        source_name=parsed.source_name,
        organization=parsed.organization,
        relationship=parsed.relationship,
        command=entries.without_secrets(shlex.join(["geoeval", *_arguments(parsed)])),
    )
    found = entries.entries(results, settings)
    text = section.section(found)
    index = model_index.model_index(found, settings)
    old = _read(parsed.into)
    made: dict[str, Any] = {
        "section": text,
        "model_index": index,
        "readme": readme.merged(old, text, index, str(parsed.into or "README.md")).decode("utf-8"),
        "eval_results": {},
        "every_eval_ever": {},
        "warnings": list(_warnings(found, parsed)),
    }
    if parsed.eval_results:
        made["eval_results"] = eval_results.eval_results(found, settings)
        eval_results.check_files(parsed.eval_results, made["eval_results"])
    if parsed.every_eval_ever:
        made["every_eval_ever"] = every_eval_ever.records(found, settings)
    return made


def write(made: Mapping[str, Any], parsed: argparse.Namespace) -> Iterator[str]:
    """Write what was made; gives the path of each file.

    Raises:
        DataError: A folder cannot be written.
    """
    from geoeval.data.files import replacing, write_json
    from geoeval.report.card import every_eval_ever, model_index

    if parsed.into:
        with replacing(parsed.into) as part:
            part.write_bytes(made["readme"].encode("utf-8"))
        yield str(parsed.into)
    for name, entries in made["eval_results"].items():
        path = parsed.eval_results / name
        with replacing(path) as part:
            part.write_text(model_index.as_yaml(entries), encoding="utf-8")
        yield str(path)
    for name, record in made["every_eval_ever"].items():
        path = parsed.every_eval_ever / name
        write_json(path, every_eval_ever.with_old_date(record, path))
        yield str(path)


def _read(path: Path | None) -> bytes:
    if path is None or not path.exists():
        return b""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error})") from error


def _warnings(found: Any, parsed: argparse.Namespace) -> Iterator[str]:
    for entry in found:
        if entry.dataset is None:
            yield f"{entry.task}: the dataset's id on the Hub is not known; --dataset BENCHMARK=OWNER/NAME names it"
        if entry.reservations:
            yield f"{entry.title}: marked so on the card"
    if parsed.every_eval_ever and not parsed.organization:
        yield 'Every Eval Ever: the organization is written as "unknown"; --organization names it'


def _arguments(parsed: argparse.Namespace) -> Iterator[str]:
    """The arguments, in one order whatever order they were given in."""
    yield "card"
    yield from map(str, parsed.results)
    for name in ("into", "eval_results", "every_eval_ever", "model"):
        if getattr(parsed, name):
            yield from (f"--{name.replace('_', '-')}", str(getattr(parsed, name)))
    for name, repo, commit in parsed.dataset:
        yield from ("--dataset", f"{name}={repo}" + (f"@{commit}" if commit else ""))
    for name in ("source_url", "source_name"):
        if getattr(parsed, name):
            yield from (f"--{name.replace('_', '-')}", getattr(parsed, name))
    if parsed.sample:
        yield "--sample"
