"""Any local copy of a release -> tables, each a stream of rows as plain dictionaries.

Read are parquet, CSV and TSV, JSON (a list of objects, lists of objects by name, objects by id) and JSON lines,
folders that `datasets` wrote with ``save_to_disk``, and image folders with their metadata file. At no time are more
than a few rows of a table in memory, except of JSON that is no list.
"""

from __future__ import annotations

import csv
import fnmatch
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError
from geoeval.data.json_rows import json_lines, json_rows

Row = dict[str, Any]

FETCHED = "fetched.json"
"""What `geoeval.data.fetch` leaves in the folder of a release."""
_NO_TABLES = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", FETCHED)
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_BATCH_BYTES = 16 << 20


@dataclass(frozen=True)
class Table:
    """One file of rows.

    Attributes:
        path: The file.
        folder: The folder it was found under; what relative picture paths are relative to, beside its own folder.
        names: What it may be known by: the config that the dataset card puts it into, else its folders and its stem.
    """

    path: Path
    folder: Path
    names: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.path)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns, those of later rows included."""
        if self.path.suffix in _SCHEMAS:
            try:
                return tuple(_SCHEMAS[self.path.suffix](self.path))
            except (OSError, ValueError) as error:
                raise DataError(f"{self.path}: cannot be read ({error})") from error
        return tuple(dict.fromkeys(name for row in self.rows() for name in row))

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Stream the rows.

        Args:
            columns: Only these, where the format can skip the others.

        Raises:
            DataError: The file is broken; names it and, where possible, the row.
        """
        number = 0
        try:
            for number, row in enumerate(_READERS[self.path.suffix](self.path, columns), 1):
                if not isinstance(row, dict):
                    raise DataError(f"{self.path}: row {number} is no object but {type(row).__name__}")
                yield row
        except (OSError, ValueError, csv.Error) as error:  # pyarrow's errors are among them
            raise DataError(f"{self.path}: cannot be read after row {number} ({error})") from error

    def matches(self, patterns: Sequence[str]) -> bool:
        """Whether one of its names fits one of the patterns, without regard to case."""
        return any(fnmatch.fnmatch(name.lower(), pattern.lower()) for name in self.names for pattern in patterns)


def tables(source: Path) -> list[Table]:
    """All tables of a folder, or the one of a file, in the order of their paths.

    Raises:
        DataError: There is no such folder, or no table in it.
    """
    if not source.exists():
        raise DataError(f"no folder {source}")
    folder = source if source.is_dir() else source.parent
    files = sorted(path for path in (source.rglob("*") if source.is_dir() else [source]) if _is_table(path, folder))
    if not files:
        raise DataError(f"{source}: no table here; looked for {', '.join(sorted(_READERS))}")
    configs = _configs(folder)
    return [Table(path, folder, _names(path, folder, configs)) for path in files]


def _is_table(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    hidden = any(part.startswith((".", "_")) for part in parts)
    return (
        path.suffix in _READERS
        and not hidden
        and path.name not in _NO_TABLES
        and not path.name.endswith(".manifest.json")
        and path.is_file()
    )


def _names(path: Path, folder: Path, configs: dict[str, list[str]]) -> tuple[str, ...]:
    relative = path.relative_to(folder)
    declared = [name for name, patterns in configs.items() if any(_fits(relative, pattern) for pattern in patterns)]
    if declared:
        return tuple(declared)
    return (*relative.parts[:-1], _SHARD.sub("", path.stem))


def _fits(relative: Path, pattern: str) -> bool:
    return fnmatch.fnmatch(relative.as_posix(), pattern.removeprefix("./").replace("**/", "*"))


def _configs(folder: Path) -> dict[str, list[str]]:
    """Config -> patterns of its files, from the YAML head of the dataset card; empty without one."""
    import yaml

    card = folder / "README.md"
    head = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8"), re.S) if card.is_file() else None
    try:
        about = yaml.safe_load(head[1]) if head else {}
    except yaml.YAMLError:
        return {}
    found: dict[str, list[str]] = {}
    for config in (about or {}).get("configs") or [] if isinstance(about, dict) else []:
        files = config.get("data_files") or []
        for entry in [files] if isinstance(files, (str, dict)) else files:
            paths = entry.get("path", []) if isinstance(entry, dict) else entry
            found.setdefault(str(config.get("config_name")), []).extend([paths] if isinstance(paths, str) else paths)
    return found


def batches(file: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Record batches of about 16 MB of an open parquet file.

    Row group by row group: a reader of all groups keeps what it has read.
    """
    about = file.metadata
    size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    rows = max(1, min(256, _BATCH_BYTES * about.num_rows // max(size, 1)))
    for group in range(about.num_row_groups):
        yield from file.iter_batches(batch_size=rows, columns=columns, row_groups=[group])


def _parquet(path: Path, columns: Sequence[str] | None) -> Iterator[Row]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, buffer_size=1 << 20) as file:
        for batch in batches(file, columns):
            yield from batch.to_pylist()


def _parquet_columns(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    return list(pq.read_schema(path).names)


def _arrow(path: Path, columns: Sequence[str] | None) -> Iterator[Row]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        for batch in pa.ipc.open_stream(file):
            for start in range(0, batch.num_rows, 8):
                part = batch.slice(start, 8)
                yield from (part.select(columns) if columns is not None else part).to_pylist()


def _arrow_columns(path: Path) -> list[str]:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        return list(pa.ipc.open_stream(file).schema.names)


def _csv(path: Path, columns: Sequence[str] | None) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",", strict=True)
        for row in reader:
            if None in row or None in row.values():
                raise DataError(f"{path}: line {reader.line_num} has not as many fields as the header")
            yield row


_READERS: dict[str, Callable[[Path, Sequence[str] | None], Iterator[Any]]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".csv": _csv,
    ".tsv": _csv,
    ".json": json_rows,
    ".jsonl": json_lines,
    ".ndjson": json_lines,
}
_SCHEMAS: dict[str, Callable[[Path], list[str]]] = {".parquet": _parquet_columns, ".arrow": _arrow_columns}
