"""``geoeval data prepare``: any local copy of a release -> the canonical parquet files, each with a manifest.

Rows are streamed; pictures stay compressed. A dataset is written whole or not at all, whatever becomes of the others.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geoeval import __version__
from geoeval.data.columns import load_names
from geoeval.data.convert import WITHOUT
from geoeval.data.errors import DataError
from geoeval.data.files import replacing, sha256_of, write_json
from geoeval.data.plan import Plan, plans
from geoeval.data.progress import track
from geoeval.data.readers import FETCHED, Row, tables
from geoeval.data.schema import BENCHMARKS, columns_of, settings_of
from geoeval.data.settings import with_settings
from geoeval.data.write import write_rows


@dataclass(frozen=True)
class Prepared:
    """One dataset that was written.

    Attributes:
        dataset: E.g. "forge_workveri".
        path: The parquet file.
        manifest: What is in the manifest beside it.
    """

    dataset: str
    path: Path
    manifest: Mapping[str, Any]


def prepare(
    benchmark: str, source: Path, to: Path, columns: Path | None = None, only: Sequence[str] = ()
) -> tuple[list[Prepared], list[str]]:
    """Prepare the datasets of a benchmark.

    Args:
        benchmark: "lithobench", "georefusal" or "forge".
        source: The folder (or the one file) of the release.
        to: Folder of the parquet files.
        columns: A YAML file with the names of columns, see `geoeval.data.columns`.
        only: Only these datasets; all that the release has when empty.

    Returns:
        What was written, and what could not be, with the reasons: one dataset's trouble does not stop another's.

    Raises:
        DataError: Nothing can be read at all.
    """
    source, to = source.expanduser().absolute(), to.expanduser().absolute()
    names = load_names(benchmark, columns)
    planned, problems = plans(names, tables(source))
    written = []
    for dataset, plan in planned.items():
        if not only or dataset in only:
            try:
                written.append(_write(plan, source, to, columns))
            except DataError as error:
                problems[dataset] = str(error)
    absent = [name for name in only or BENCHMARKS[benchmark] if name not in planned and name not in problems]
    if absent and (only or not (written or problems)):
        problems["missing"] = f"nothing in {source} belongs to {' or '.join(absent)}"
    return written, list(problems.values())


def _write(plan: Plan, source: Path, to: Path, columns: Path | None) -> Prepared:
    path = to / f"{plan.dataset}.parquet"
    notes: list[str] = []
    counts: dict[str, Counter[str]] = {}
    rows = plan.rows()
    if settings_of(plan.dataset):
        rows = with_settings(plan.dataset, plan.rows, to / "pictures", notes)
    about = {"source": "local", "geoeval": __version__, **_origin(source)}
    with replacing(path) as part:
        count = write_rows(part, plan.dataset, _counted(plan.dataset, track(rows, plan.dataset), counts), about)
        if not count:
            raise DataError(f"{plan.dataset}: no rows in {', '.join(map(str, plan.tables))}")
        digest = sha256_of(part)
    for name, value in WITHOUT.items():
        if set(counts.get(name, ())) == {value}:
            notes.append(f"{name}: {value!r} in every row; the release may not have it")
    manifest = {
        "dataset": plan.dataset,
        "source": {"folder": str(source), **_origin(source)},
        "inputs": {str(t.path.relative_to(t.folder)): {"sha256": sha256_of(t.path)} for t in plan.tables},
        "columns": {name: dict(found) for name, found in plan.columns.items()},
        "own_columns": str(columns) if columns else None,
        "output": {"file": path.name, "sha256": digest, "bytes": path.stat().st_size, "rows": count},
        "counts": {name: dict(sorted(counter.items())) for name, counter in counts.items()},
        "notes": notes,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "geoeval": __version__,
    }
    write_json(manifest_of(path), manifest)
    return Prepared(plan.dataset, path, manifest)


def manifest_of(path: Path) -> Path:
    """Where the manifest of a parquet file is."""
    return path.with_name(f"{path.stem}.manifest.json")


def _origin(source: Path) -> dict[str, Any]:
    """Repository and commit of a folder that `geoeval.data.fetch` made; empty for others."""
    file = source / FETCHED
    if not file.is_file():
        return {}
    fetched = json.loads(file.read_text(encoding="utf-8"))
    return {name: fetched[name] for name in ("repo", "revision", "commit")}


def _counted(dataset: str, rows: Iterable[Row], counts: dict[str, Counter[str]]) -> Iterator[Row]:
    """The rows, counted by each column that has a fixed set of values."""
    names = [column.name for column in columns_of(dataset) if column.values] + ["scenario"]
    for row in rows:
        for name in names:
            if name in row:
                counts.setdefault(name, Counter())[row[name]] += 1
        yield row
