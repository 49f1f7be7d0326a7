"""The command ``geoeval upstream``."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError

PROJECTS = ("lmms-eval", "vlmevalkit", "inspect-evals")


def add_upstream_command(commands: Any) -> None:
    """Add ``upstream`` to the subcommands of ``geoeval``."""
    upstream = commands.add_parser(
        "upstream",
        help="write a contribution to another project",
        description="Write a contribution of the three benchmarks to another project, in its conventions and without "
        "an import of geoeval: one folder a benchmark, with tests and the text of the pull request.",
    )
    upstream.add_argument("project", choices=PROJECTS)
    upstream.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder; must be new or empty")
    upstream.add_argument("--force", action="store_true", help="empty the folder first, if a contribution is in it")
    upstream.add_argument(
        "--dataset",
        action="append",
        default=[],
        type=_dataset,
        metavar="BENCHMARK=OWNER/NAME[@COMMIT]",
        help="the dataset of the Hub that holds the files of rows of a benchmark",
    )
    upstream.add_argument("--repository", metavar="URL", help="inspect-evals: where the repository is published")
    upstream.add_argument("--commit", type=_commit, metavar="SHA", help="inspect-evals: its commit, 40 hex digits")
    upstream.add_argument(
        "--results", nargs="+", type=Path, default=[], metavar="RESULTS", help="results to quote, see geoeval card"
    )
    upstream.add_argument("--json", action="store_true", help="print JSON")
    upstream.set_defaults(run=_run)


def _dataset(text: str) -> tuple[str, str, str | None]:
    from geoeval.report.card.cli import dataset

    return dataset(text)


def _commit(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{40}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a commit of 40 hex digits")
    return text


def _run(parsed: argparse.Namespace) -> int:
    if bool(parsed.repository) != bool(parsed.commit):
        print("geoeval: --repository and --commit go together", file=sys.stderr)
        return 2
    try:
        written = list(write(parsed.project, parsed.out, _settings(parsed), force=parsed.force))
    except DataError as error:
        print(f"geoeval: {error}", file=sys.stderr)
        return 1
    if parsed.json:
        print(json.dumps({"project": parsed.project, "files": [str(path) for path in written]}, indent=2))
    else:
        print(f"{len(written)} files in {parsed.out}; begin with */PR.md")
    return 0


def _settings(parsed: argparse.Namespace) -> Any:
    from geoeval.report.card.entries import Dataset
    from geoeval.upstream.settings import Settings

    results: list[Any] = []
    if parsed.results:
        from geoeval.runs.load import load_results

        results = load_results(parsed.results)
    datasets = {name: Dataset(repo, commit) for name, repo, commit in parsed.dataset}
    return Settings(datasets, results, parsed.repository, parsed.commit)


def generator(project: str) -> Callable[..., Mapping[str, str]]:
    """What makes a project's contribution of a benchmark: path -> text."""
    from importlib import import_module

    made: Callable[..., Mapping[str, str]]
    made = import_module(f"geoeval.upstream.{project.replace('-', '_')}").contribution
    return made


def write(project: str, out: Path, settings: Any, *, force: bool = False) -> Iterator[Path]:
    """Write a contribution of each benchmark; gives the path of each file.

    All is made before anything is written.

    Raises:
        DataError: The folder is not empty, or something cannot be made or written.
    """
    from geoeval.data.files import replacing
    from geoeval.data.source import locate
    from geoeval.upstream.families import FAMILIES

    ours = force and all((out / name / "PR.md").is_file() for name in FAMILIES)
    if out.exists() and not ours and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{out}: is not empty; give a new folder, or --force where it holds a contribution")
    contribution = generator(project)
    made = {name: contribution(family, settings) for name, family in FAMILIES.items()}
    for name, family in FAMILIES.items():
        if force:
            shutil.rmtree(out / name, ignore_errors=True)
        for path, text in made[name].items():
            with replacing(out / name / path) as part:
                part.write_text(text, encoding="utf-8")
            yield out / name / path
        for dataset in family.datasets:
            with replacing(out / name / "sample" / f"{dataset}.parquet") as part:
                shutil.copyfile(locate(dataset, "sample").path, part)
            yield out / name / "sample" / f"{dataset}.parquet"
