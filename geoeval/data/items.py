"""Rows of the canonical layout -> `Item`.

Every task has the columns of `COLUMNS`; all others are strata or facts for the record.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.data.source import DataError, Source
from geoeval.types import Item

if TYPE_CHECKING:
    from PIL import Image

COLUMNS = ("id", "question", "images", "choices", "options", "gold", "cluster", "modality")


def item_from_row(row: Mapping[str, Any], strata: Sequence[str]) -> Item:
    """Turn one row into an item.

    Args:
        row: A row of the canonical layout. ``images`` may be missing (harnesses drop pictures before scoring).
        strata: Names of the columns that become `Item.strata`.

    Raises:
        DataError: A column is missing, or the row has no gold answer.
    """
    missing = [name for name in (*COLUMNS, *strata) if name not in row and name != "images"]
    if missing:
        raise DataError(f"row {row.get('id', '?')!r}: no column {missing}; there are {sorted(row)}")
    if not row["gold"]:
        raise DataError(f"row {row['id']!r}: the column 'gold' is empty, so the item cannot be marked")
    return Item(
        id=row["id"],
        question=row["question"],
        gold=tuple(row["gold"]),
        cluster=row["cluster"],
        images=tuple(row.get("images") or ()),
        choices=tuple(row["choices"]),
        options=tuple(row["options"]),
        modality=row["modality"],
        strata={name: str(row[name]) for name in strata},
    )


def read_items(source: Source, strata: Sequence[str]) -> Iterator[Item]:
    """Stream the items of a task; pictures stay compressed.

    Args:
        source: From `locate`.
        strata: See `item_from_row`.

    Raises:
        DataError: The file is no parquet file of the canonical layout.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(source.path).iter_batches(batch_size=64)
    except pa.ArrowInvalid as error:
        raise DataError(f"{source.path}: not a parquet file ({error})") from error
    for batch in batches:
        for row in batch.to_pylist():
            yield item_from_row(row, strata)


def open_picture(picture: Any) -> Image.Image:
    """Decode a picture to RGB.

    Args:
        picture: ``{"bytes": ..., "path": ...}`` as Hugging Face stores it, bytes, a path, or a PIL image.

    Raises:
        DataError: The picture cannot be opened.
    """
    from PIL import Image

    if isinstance(picture, Image.Image):
        return picture.convert("RGB")
    name = picture
    if isinstance(picture, Mapping):
        name = picture.get("path") or "embedded picture"
        picture = picture.get("bytes") or picture.get("path")
    try:
        with Image.open(io.BytesIO(picture) if isinstance(picture, bytes) else Path(picture)) as image:
            return image.convert("RGB")
    except (OSError, TypeError, ValueError) as error:
        label = "picture" if isinstance(name, bytes) else name
        raise DataError(f"{label}: cannot be opened as a picture ({error})") from error
