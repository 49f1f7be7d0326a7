"""The items of a task as VLMEvalKit shows them: messages of text and picture files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geoeval.data import open_picture
from geoeval.data.files import replacing
from geoeval.data.source import cache_folder
from geoeval.harness.rows import Rows
from geoeval.types import AsJpeg

_FORM = b"1 "
"""Of the files that `picture_file` writes: raised when `open_picture` makes other pixels of the same bytes."""


class Prompt(list[dict[str, str]]):
    """One item's message in the harness's form, ``{"type": "image" | "text", "value": path or text}`` in reading order.

    A class of its own, so that the guards of `geoeval.harness.vlmevalkit.hooks` touch no other dataset's messages.

    Attributes:
        max_new_tokens: The benchmark's generation limit.
    """

    max_new_tokens: int = 0

    @property
    def pictures(self) -> list[str]:
        """The picture files, in the order they are shown."""
        return [part["value"] for part in self if part["type"] == "image"]


@dataclass(frozen=True)
class Row:
    """One item as the harness keeps it.

    Attributes:
        id: The item's id.
        text: The prompt in one piece, for people who read the prediction file.
        prompt: What the model is shown.
    """

    id: str
    text: str
    prompt: Prompt


def read_rows(rows: Rows) -> Iterator[Row]:
    """All items of a task; their pictures are written to the cache on the way.

    Args:
        rows: The checked rows of the task.

    Raises:
        DataError: A picture cannot be written.
    """
    benchmark = rows.benchmark
    for id_ in rows.by_id:
        item = rows.item(id_)
        (message,) = benchmark.prompt(item)
        prompt = Prompt(_parts(message["content"]))
        prompt.max_new_tokens = benchmark.max_new_tokens
        yield Row(id_, benchmark.flat_prompt(item), prompt)


def picture_file(picture: Any, folder: Path | None = None) -> Path:
    """The picture as an RGB PNG without metadata, written once and named by what it was made of.

    Args:
        picture: As an item holds it, or in `AsJpeg`.
        folder: Where it is kept; the cache when None.

    Raises:
        DataError: It cannot be opened or written.
    """
    digest = hashlib.sha256(_FORM)
    for part in _made_of(picture):
        digest.update(part)
    path = (folder or cache_folder() / "pictures") / f"{digest.hexdigest()}.png"
    if not path.is_file():
        image = open_picture(picture)
        with replacing(path) as part_file:
            image.save(part_file, "PNG", compress_level=1)
    return path


def _made_of(picture: Any) -> Iterator[bytes]:
    if isinstance(picture, AsJpeg):
        yield f"jpeg {picture.quality} ".encode()
        picture = picture.picture
    if isinstance(picture, Mapping):
        picture = picture.get("bytes") or picture.get("path")
    yield picture if isinstance(picture, bytes) else Path(picture).read_bytes()


def _parts(content: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    for part in content:
        if part["type"] == "image":
            yield {"type": "image", "value": str(picture_file(part["image"]))}
        else:
            yield {"type": "text", "value": part["text"]}
