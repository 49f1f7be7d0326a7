"""Rows -> one parquet file and a manifest beside it: streamed, under another name until whole, never half there."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError
from geoeval.data.schema import arrow_schema

_GROUP_BYTES = 16 << 20
_GROUP_ROWS = 1000


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file that takes the place of another when all went well, and is gone otherwise.

    Raises:
        DataError: The disk is full, or the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error})") from error
    part = Path(name)
    try:
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error}); nothing was changed") from error
    finally:
        part.unlink(missing_ok=True)


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


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    with replacing(path) as part:
        part.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def sha256_of(path: Path) -> str:
    """Hash of a file, 64 hex digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _blocks(file)


def _blocks(file: Any) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
