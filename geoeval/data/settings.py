"""FORGE: the columns of the settings beside zero-shot, drawn from the other rows where the release does not fix them.

A reference picture stands before many questions, so it is stored once, as a file beside the parquet file, named by what
is in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError
from geoeval.data.files import replacing
from geoeval.data.readers import Row
from geoeval.data.schema import settings_of


def with_settings(dataset: str, rows: Callable[[], Iterator[Row]], folder: Path, notes: list[str]) -> Iterator[Row]:
    """The rows with their settings filled.

    Args:
        dataset: E.g. "forge_workveri".
        rows: Gives the same rows each time; it is called twice, so that no picture need be kept.
        folder: Where pictures are written.
        notes: What could not be done is appended.
    """
    from geoeval.data.demonstrations import demonstrations

    light = [{**row, "images": [_handle(picture, folder) for picture in row["images"]]} for row in rows()]
    shown: dict[tuple[str, str], Any] = {}
    for setting in settings_of(dataset):
        failures = []
        for query in light:
            if not query[setting]:
                try:
                    shown[query["id"], setting] = demonstrations(dataset, setting, light, query)
                except DataError as error:
                    failures.append(str(error))
        if failures:
            notes.append(f"{setting}: empty in {len(failures)} of {len(light)} rows, e.g. {failures[0]}")
    used = {picture["path"] for part in shown.values() for picture in part.images}
    handles = [row["images"] for row in light]
    del light
    for row, own in zip(rows(), handles, strict=True):
        for picture, handle in zip(row["images"], own, strict=True):
            if handle["path"] in used:
                used.discard(handle["path"])
                with replacing(Path(handle["path"])) as part:
                    part.write_bytes(picture["bytes"])
        drawn = {setting: shown.get((row["id"], setting)) for setting in settings_of(dataset)}
        texts = {setting: part.text for setting, part in drawn.items() if part}
        images = {f"{setting}_images": list(part.images) for setting, part in drawn.items() if part}
        yield {**row, **texts, **images}


def _handle(picture: Row, folder: Path) -> Row:
    name = f"{hashlib.sha256(picture['bytes']).hexdigest()[:20]}{Path(picture['path']).suffix}"
    return {"bytes": None, "path": str(folder / name)}
