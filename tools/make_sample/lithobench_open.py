"""SAMPLE of LithoBench, open questions: five cognitive levels for each of twelve surfaces."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tools.make_sample.draw import digest, png_bytes, rng_for
from tools.make_sample.surfaces import tile
from tools.make_sample.table import Row

_TEXTS = Path(__file__).with_suffix(".txt")
# Two tiles of each surface are shared by its questions.
_TILE_OF_LEVEL = {"ID": 1, "Cmp": 2, "Exp": 1, "App": 2, "Rea": 1}


def _texts() -> Iterator[tuple[str, str, str, str]]:
    """Surface code, level, question and reference answer of every item."""
    with open(_TEXTS, encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n")[1:]:
            head, *reference = block.split("\n")
            code, level, question = head.split(" ", 2)
            yield code, level, question, " ".join(reference)


def tile_name(code: str, level: str) -> str:
    """The tile that a surface's question of a level is about."""
    return f"tile-{code.lower()}-{_TILE_OF_LEVEL[level]}"


@lru_cache
def picture(name: str, code: str) -> bytes:
    """A tile as PNG bytes."""
    return png_bytes(tile(rng_for(name), code))


def rows() -> Iterator[Row]:
    """The 60 items, one per surface and level."""
    for code, level, question, reference in _texts():
        cluster = tile_name(code, level)
        yield Row(
            id=f"litho-{digest(f'{code} {level}')}",
            question=question,
            png=picture(cluster, code),
            gold=(reference,),
            cluster=cluster,
            modality="tile",
            strata={"level": level, "lithology": code},
        )
