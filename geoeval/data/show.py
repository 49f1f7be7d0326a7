"""``geoeval data show``: what is in a prepared dataset, with a contact sheet of its pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.data.errors import DataError
from geoeval.data.items import open_picture
from geoeval.data.readers import batches
from geoeval.data.schema import TYPES, columns_of
from geoeval.data.source import Source

if TYPE_CHECKING:
    from PIL import Image

_TILE, _COLUMNS, _CAPTION, _MARGIN = 224, 6, 30, 8


@dataclass(frozen=True)
class Overview:
    """What a dataset holds.

    Attributes:
        dataset, signature, path: Which it is.
        rows: How many.
        columns: Name -> type and meaning; further columns of the file have no meaning.
        counts: Column -> value -> rows, for columns with few values; "gold" by the first gold answer where it has few.
    """

    dataset: str
    signature: str
    path: str
    rows: int
    columns: Mapping[str, str]
    counts: Mapping[str, Mapping[str, int]]


def overview(source: Source) -> Overview:
    """Columns and counts of a dataset; pictures are not read.

    Raises:
        DataError: The file cannot be read.
    """
    with _opened(source) as file:
        known = {column.name: column for column in columns_of(source.task)}
        names = list(file.schema_arrow.names)
        table = file.read(columns=[n for n in names if not n.endswith("images")]).to_pylist()
    counted = [n for n in names if n in known and known[n].values] + [n for n in ("scenario",) if n in names]
    counts = {name: Counter(row[name] for row in table) for name in counted}
    gold = Counter(row["gold"][0] for row in table if row.get("gold"))
    if len(gold) <= 12:
        counts["gold"] = gold
    columns = {n: f"{TYPES[known[n].type]}: {known[n].meaning}" if n in known else "further column" for n in names}
    ordered = {name: dict(sorted(counter.items())) for name, counter in counts.items()}
    return Overview(source.task, source.signature, str(source.path), len(table), columns, ordered)


def contact_sheet(source: Source, to: Path, count: int = 24) -> Path:
    """Draw pictures from all over a dataset on one sheet, each with its id, and what it is when it cannot be opened.

    Args:
        source: From `geoeval.data.locate`.
        to: The PNG file to write.
        count: How many pictures.

    Raises:
        DataError: The file cannot be read or written.
    """
    from PIL import Image, ImageDraw

    rows = _spread(source, count)
    lines = -(-len(rows) // _COLUMNS)
    wide = _MARGIN + min(_COLUMNS, len(rows)) * (_TILE + _MARGIN)
    sheet = Image.new("RGB", (wide, _MARGIN + lines * (_TILE + _CAPTION + _MARGIN)), "white")
    draw = ImageDraw.Draw(sheet)
    for n, row in enumerate(rows):
        x = _MARGIN + n % _COLUMNS * (_TILE + _MARGIN)
        y = _MARGIN + n // _COLUMNS * (_TILE + _CAPTION + _MARGIN)
        try:
            tile = _thumbnail(row["images"][0])
            sheet.paste(tile, (x + (_TILE - tile.width) // 2, y + (_TILE - tile.height) // 2))
        except (DataError, IndexError):
            draw.rectangle((x, y, x + _TILE, y + _TILE), outline="red")
            draw.text((x + 8, y + 8), "no picture", fill="red")
        gold = ", ".join(row["gold"])
        draw.text((x, y + _TILE + 2), f"{row['id'][:36]}\n{gold[:34]}", fill="black")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        sheet.save(to)
    except OSError as error:
        raise DataError(f"{to}: cannot be written ({error})") from error
    return to


def _thumbnail(picture: Any) -> Image.Image:
    image = open_picture(picture)
    image.thumbnail((_TILE, _TILE))
    return image


def _spread(source: Source, count: int) -> Sequence[Mapping[str, Any]]:
    """Rows at equal distances, read without the others' pictures in memory."""
    with _opened(source) as file:
        total = file.metadata.num_rows
        wanted = sorted({n * total // min(count, total) for n in range(min(count, total))}) if total else []
        rows: list[Mapping[str, Any]] = []
        start = 0
        for batch in batches(file, ["id", "gold", "images"]):
            inside = [n - start for n in wanted if start <= n < start + batch.num_rows]
            rows += [batch.slice(n, 1).to_pylist()[0] for n in inside]
            start += batch.num_rows
    return rows


def _opened(source: Source) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(source.path)
    except (OSError, ValueError) as error:
        raise DataError(f"{source.path}: cannot be read ({error})") from error
