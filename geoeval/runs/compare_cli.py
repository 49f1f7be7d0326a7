"""``geoeval compare A B [...]``.

Exit status: 0 compared, 1 the results cannot be read or must not be compared, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geoeval.runs.compare import Comparison
    from geoeval.runs.model import Result


def add_compare_command(commands: Any) -> None:
    """Add ``compare`` to the subcommands of ``geoeval``."""
    compare = commands.add_parser(
        "compare",
        help="say how results of two or more models differ, item by item",
        description="Compare results of the same task on the items they share: differences with 95 % interval and "
        "p-value, wins and losses, the smallest difference that could be shown; a matrix for more than two. "
        "Results of different task versions, data, prompts or reading policies are not compared.",
        epilog="Example: geoeval compare results/base results/tuned --csv differences.csv. Exit status: 0 compared, "
        "1 the results cannot be read or must not be compared, 2 wrong arguments.",
    )
    compare.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULT",
        help="a record (*.geoeval.json), saved run, or folder of them",
    )
    compare.add_argument("--anyway", action="store_true", help="compare although the conditions differ; it is printed")
    compare.add_argument("--similarity", action="store_true", help="also say how alike the replies are")
    compare.add_argument("--csv", type=Path, metavar="FILE", help="also write the differences as CSV")
    compare.add_argument("--json", action="store_true", help="print JSON")
    compare.set_defaults(run=_compare)


def _compare(parsed: argparse.Namespace) -> int:
    from geoeval.data.errors import DataError
    from geoeval.runs.compare import compare
    from geoeval.runs.load import load_results

    try:
        tasks = _by_task(load_results(parsed.results))
        alone = [task for task, results in tasks.items() if len(results) == 1]
        if alone:
            print(f"geoeval: only one result of {', '.join(alone)}: nothing to compare it with", file=sys.stderr)
        comparisons, problems = [], []
        for task, results in tasks.items():
            if task not in alone:
                try:
                    comparisons.append(compare(results, anyway=parsed.anyway, similarity=parsed.similarity))
                except DataError as error:
                    problems.append(str(error))
        if parsed.csv and comparisons:
            _write_csv(parsed.csv, comparisons)
    except (DataError, ValueError) as error:
        print(f"geoeval: {error}", file=sys.stderr)
        return 1
    if parsed.json:
        print(json.dumps([_plain(comparison) for comparison in comparisons], indent=2, ensure_ascii=False))
    else:
        from geoeval.report.comparison import print_comparison
        from geoeval.report.table import plain_console

        for comparison in comparisons:
            print_comparison(plain_console(), comparison)
    for problem in problems:
        print(f"geoeval: {problem}", file=sys.stderr)
    return int(bool(problems) or not comparisons)


def _by_task(results: Sequence[Result]) -> dict[str, list[Result]]:
    tasks: dict[str, list[Result]] = {}
    for result in results:
        tasks.setdefault(result.task, []).append(result)
    return tasks


def _plain(comparison: Comparison) -> Any:
    """As JSON values; nan becomes null."""
    values = {**asdict(comparison), "conditions": comparison.conditions._asdict()}
    for pair in values["pairs"]:
        pair["items"] = pair["items"]._asdict()
    return json.loads(json.dumps(values), parse_constant=lambda _: None)


def _write_csv(path: Path, comparisons: Sequence[Comparison]) -> None:
    from geoeval.data.files import replacing

    rows = [row for comparison in comparisons for row in _rows(comparison)]
    with replacing(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One for each difference; empty where a number cannot be given."""
    for pair in comparison.pairs:
        models = {"model_a": comparison.models[pair.a], "model_b": comparison.models[pair.b]}
        parts = [("", "", row) for row in pair.metrics]
        parts += [(name, part, row) for name, rows in pair.strata.items() for part, row in rows.items()]
        for name, part, row in parts:
            where = {"task": comparison.task, **models, "breakdown": name, "part": part}
            partial = "; ".join(f"{letter} {n} of {of}" for letter, (n, of) in comparison.partial.items())
            differ = "; ".join(comparison.conditions.differing)
            conditions = {"sample": comparison.sample, "partial": partial, "conditions_differ": differ}
            yield {key: _cell(value) for key, value in {**where, **asdict(row), **conditions}.items()}


def _cell(value: Any) -> Any:
    from geoeval.report.text import csv_cell

    if isinstance(value, str):
        return csv_cell(value)
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value
