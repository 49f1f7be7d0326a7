"""Rows of the canonical layout -> `Item`.

Every task has the columns of `COLUMNS`; all others are strata or facts for the record.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.data.source import DataError, Source
from geoeval.types import AsJpeg, Item

if TYPE_CHECKING:
    from PIL import Image

COLUMNS = ("id", "question", "images", "choices", "options", "gold", "cluster", "modality")
PLACEHOLDER = "<image>"
_DEEP_MODES = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")  # Pillow clips their values to 0-255 without a word.
_JPEG_END = b"\xff\xd9"


def item_from_row(row: Mapping[str, Any], strata: Sequence[str], setting: str = "") -> Item:
    """Turn one row into an item.

    Args:
        row: A row of the canonical layout. ``images`` may be missing (harnesses drop pictures before scoring).
        strata: Names of the columns that become `Item.strata`.
        setting: The column that becomes `Item.context`, e.g. "icd"; see `context_from_row`.

    Raises:
        DataError: A column is missing, the row has no gold answer, or nothing is there for the setting.
    """
    wanted = (*COLUMNS, *strata, *([setting] if setting else ()))
    missing = [name for name in wanted if name not in row and name != "images"]
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
        context=context_from_row(row, setting) if setting else (),
    )


def context_from_row(row: Mapping[str, Any], setting: str) -> tuple[dict[str, Any], ...]:
    """What a setting shows before the question: its text, cut at the places of its pictures.

    Args:
        row: With the text in the column of the setting, ``<image>`` where a picture stands, and the pictures in reading
            order in ``<setting>_images``. That column may be missing (harnesses drop pictures before scoring); the
            pictures are None then.
        setting: E.g. "ref_cond".

    Returns:
        Content parts, see `geoeval.types.PromptView`.

    Raises:
        DataError: The text is empty, or it has another number of places than there are pictures.
    """
    first, *texts = row[setting].split(PLACEHOLDER)
    pictures = row.get(f"{setting}_images", [None] * len(texts)) or ()
    if not row[setting].strip():
        raise DataError(f"row {row['id']!r}: the column {setting!r} is empty, so the setting has nothing to show")
    if len(pictures) != len(texts):
        raise DataError(
            f"row {row['id']!r}: the column {setting!r} has {len(texts)} times {PLACEHOLDER}, "
            f"and {setting}_images has {len(pictures)} pictures"
        )
    parts: list[dict[str, Any]] = [{"type": "text", "text": first.strip()}]
    for picture, text in zip(pictures, texts, strict=True):
        parts += [{"type": "image", "image": picture}, {"type": "text", "text": text.strip()}]
    return tuple(part for part in parts if part.get("text", "picture"))


def read_items(source: Source, strata: Sequence[str], setting: str = "") -> Iterator[Item]:
    """Stream the items of a dataset; pictures stay compressed.

    Args:
        source: From `locate`.
        strata: See `item_from_row`.
        setting: See `item_from_row`.

    Raises:
        DataError: The file is no parquet file of the canonical layout.
    """
    for row in _rows(source):
        yield item_from_row(row, strata, setting)


def task_items(task: str, source: Source, *, pictures: bool = True) -> Iterator[Item]:
    """Stream the items of a task: those rows of its dataset that belong to it, with its strata and setting.

    Args:
        task: Its name.
        source: Its dataset, from `locate`.
        pictures: Whether to read them; without them scoring a large release takes little time and memory.

    Raises:
        DataError: The file is no parquet file of the canonical layout, or no row belongs to the task.
        KeyError: There is no such task.
    """
    from geoeval.benchmarks import get_benchmark

    benchmark = get_benchmark(task)
    setting = [benchmark.setting] if benchmark.setting else []
    without = [*(c for c in COLUMNS if c != "images"), *benchmark.strata, *benchmark.subset, *setting]
    found = False
    for row in _rows(source, None if pictures else list(dict.fromkeys(without))):
        if missing := benchmark.subset.keys() - row.keys():
            raise DataError(f"{source.path}: no column {sorted(missing)}, which {task} is a part of")
        if benchmark.includes(row):
            found = True
            yield item_from_row(row, benchmark.strata, benchmark.setting)
    if not found:
        raise DataError(f"{source.path}: no row belongs to {task} {benchmark.subset or ''}".rstrip())


def _rows(source: Source, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from geoeval.data.readers import batches

    try:
        file = pq.ParquetFile(source.path)
    except pa.ArrowInvalid as error:
        raise DataError(f"{source.path}: not a parquet file ({error})") from error
    with file:
        for batch in batches(file, columns):
            yield from batch.to_pylist()


def open_picture(picture: Any) -> Image.Image:
    """Decode a picture to RGB; nothing but its pixels is kept.

    Args:
        picture: ``{"bytes": ..., "path": ...}`` as Hugging Face stores it, bytes, a path, or one of these in `AsJpeg`.

    Raises:
        DataError: The picture cannot be opened.
    """
    from PIL import Image

    if isinstance(picture, AsJpeg):
        jpeg = io.BytesIO()
        open_picture(picture.picture).save(jpeg, "JPEG", quality=picture.quality)
        return open_picture(jpeg.getvalue())
    try:
        with Image.open(_file(picture)) as image:
            if image.mode in _DEEP_MODES:
                raise ValueError(f"mode {image.mode}: convert it to 8 bits a channel, for its range is not known")
            rgb: Image.Image = image.convert("RGB")
            rgb.info = {}  # a comment or EXIF field may tell the answer, and a backend may send it along
            return rgb
    except Exception as error:  # Pillow's readers raise nearly anything on broken files
        path = picture.get("path") if isinstance(picture, Mapping) else picture
        name = path if isinstance(path, (str, Path)) else "embedded picture"
        raise DataError(f"{name}: cannot be opened as a picture ({error})") from error


def picture_problem(picture: Any) -> str:
    """Why a picture could not be shown whole, "" when it can; see `open_picture`.

    PNG is checked by its checksums and JPEG by its end mark, without decoding: lmms-eval lets Pillow fill the missing
    part of a truncated file with grey, so that decoding would tell nothing.
    """
    from PIL import Image

    try:
        source = _file(picture)
        with Image.open(source) as image:
            if image.mode in _DEEP_MODES:
                return f"mode {image.mode}, not 8 bits a channel"
            image.verify()
            if image.format == "JPEG":
                content = source.getvalue() if isinstance(source, io.BytesIO) else source.read_bytes()
                return "" if _JPEG_END in content[-1024:] else "truncated"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _file(picture: Any) -> io.BytesIO | Path:
    """What Pillow opens."""
    if isinstance(picture, Mapping):
        picture = picture.get("bytes") or picture.get("path")
    return io.BytesIO(picture) if isinstance(picture, bytes) else Path(picture)
