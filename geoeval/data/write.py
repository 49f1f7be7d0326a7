"""Rows -> one parquet file, streamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError
from geoeval.data.schema import arrow_schema

_GROUP_BYTES = 16 << 20
_GROUP_ROWS = 1000


def write_rows(path: Path, dataset: str, rows: Iterable[Mapping[str, Any]], about: Mapping[str, Any]) -> int:
    """Stream rows of the canonical layout into a parquet file.

    Args:
        path: Where to.
        dataset: Gives the schema.
        rows: In the order wanted.
        about: Facts for the file's metadata.

    Returns:
        The number of rows.

    Raises:
        DataError: An id occurs twice, or the file cannot be written; nothing is left behind.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(dataset, about)
    texts = [field.name for field in schema if not field.name.endswith("images")]
    ids: set[str] = set()
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=texts, write_statistics=texts) as writer:
        group: list[Mapping[str, Any]] = []
        size = 0

        def flush() -> None:
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            group.clear()

        for row in rows:
            if row["id"] in ids:
                raise DataError(f"{dataset}: the id {row['id']!r} occurs twice")
            ids.add(row["id"])
            group.append(row)
            size += sum(len(picture["bytes"] or b"") for picture in row["images"])
            if size >= _GROUP_BYTES or len(group) >= _GROUP_ROWS:
                flush()
                size = 0
        if group:
            flush()
    return len(ids)
