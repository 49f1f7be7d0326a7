"""Small pictures for the page, each once however many items show it."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from geoeval.data.errors import DataError

PIXELS = 160
_QUALITY = 62
_WAITING = 64


@dataclass
class Thumbnails:
    """Collects thumbnails.

    Attributes:
        pixels: Longest side.
        pictures: One entry a picture: a base64 WebP file, or None for one that cannot be opened.
    """

    pixels: int = PIXELS
    pictures: list[str | None] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)
    _pending: list[tuple[int, Future[str | None]]] = field(default_factory=list)
    _pool: ThreadPoolExecutor = field(default_factory=ThreadPoolExecutor)

    @property
    def size(self) -> int:
        """Bytes that the pictures take in the page."""
        return sum(len(picture) for picture in self.pictures if picture)

    def add(self, pictures: Iterable[Any]) -> list[int]:
        """Numbers of pictures, in their order; drawing goes on in the background until `finish`.

        Args:
            pictures: As an item holds them.
        """
        return [self._add(picture) for picture in pictures]

    def finish(self) -> None:
        """Wait for all that are being drawn."""
        self._settle(0)
        self._pool.shutdown()

    def chunks(self, length: int) -> Iterator[Sequence[str | None]]:
        """The pictures in runs of a length, so that a page need not decode all at once."""
        for start in range(0, len(self.pictures), length):
            yield self.pictures[start : start + length]

    def _add(self, picture: Any) -> int:
        digest = _digest(picture)
        if digest not in self._known:
            self._known[digest] = number = len(self.pictures)
            self.pictures.append(None)
            self._pending.append((number, self._pool.submit(_draw, picture, self.pixels)))
            if len(self._pending) > _WAITING:
                self._settle(_WAITING // 2)
        return self._known[digest]

    def _settle(self, left: int) -> None:
        while len(self._pending) > left:
            number, drawn = self._pending.pop(0)
            self.pictures[number] = drawn.result()


def _digest(picture: Any) -> str:
    content = picture.get("bytes") or picture.get("path") if isinstance(picture, dict) else picture
    return hashlib.sha256(content if isinstance(content, bytes) else str(content).encode()).hexdigest()


def _draw(picture: Any, pixels: int) -> str | None:
    from geoeval.data.items import open_picture

    try:
        image = open_picture(picture)
    except DataError:
        return None
    image.thumbnail((pixels, pixels))
    out = io.BytesIO()
    image.save(out, "WEBP", quality=_QUALITY, method=2)  # method 4 takes twice as long for 4 % less
    return base64.b64encode(out.getvalue()).decode()
