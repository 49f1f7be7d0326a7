"""SAMPLE of LithoBench, multiple choice: five cognitive levels for each of twelve surfaces, four options each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.make_sample.draw import digest, rng_for
from tools.make_sample.lithobench_open import picture, tile_name
from tools.make_sample.table import Row

LETTERS = ("A", "B", "C", "D")
_TEXTS = Path(__file__).with_suffix(".txt")
_LEVELS = ("ID", "Cmp", "Exp", "App", "Rea")


def _texts() -> Iterator[tuple[str, str, str, list[str]]]:
    """Surface code, level, question and options of every item, the right option first."""
    with open(_TEXTS, encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n")[1:]:
            head, *options = block.split("\n")
            code, level, question = head.split(" ", 2)
            yield code, level, question, options


def rows() -> Iterator[Row]:
    """The 60 items, one per surface and level; each letter is right equally often in every level."""
    for number, (code, level, question, (right, *others)) in enumerate(_texts()):
        key = f"mcq {code} {level}"
        surface = number // len(_LEVELS)
        gold = (surface + _LEVELS.index(level)) % len(LETTERS)
        options = [others[k] for k in rng_for(key).permutation(len(others))]
        options.insert(gold, right)
        cluster = tile_name(code, level)
        yield Row(
            id=f"litho-{digest(key)}",
            question=question,
            png=picture(cluster, code),
            gold=(LETTERS[gold],),
            cluster=cluster,
            modality="tile",
            choices=LETTERS,
            options=tuple(options),
            strata={"level": level, "lithology": code},
        )
