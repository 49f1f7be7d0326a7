"""SAMPLE of the FORGE grounding probes: letters, coordinates and parts of a photo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from PIL import Image, ImageDraw

from tools.make_sample.draw import digest, font, png_bytes, rng_for
from tools.make_sample.forge_context import in_context
from tools.make_sample.forge_layout import BENCHES, LETTERS, centre, scatter
from tools.make_sample.parts import Part, elbow, nut, pin, screw, spring_washer, tee, union, washer
from tools.make_sample.photo import Placed, photograph
from tools.make_sample.table import Row

_SIZE = 240
# Scenario -> six parts that differ in looks: the cross probes ask for the same part in another picture.
_SETS: dict[str, tuple[Part, ...]] = {
    "CHS": (screw(6, 30), screw(10, 24), nut(10), washer(10), spring_washer(10), pin(6, 26)),
    "NUTS": (nut(6), nut(11), nut(10, sides=4), washer(7), washer(13), spring_washer(11)),
    "PCS": (union(6), union(5, 8), elbow(6), tee(5), nut(9), pin(5, 24)),
}
_LETTERED = "The photo shows six parts on a bench, each marked with its letter."
_AS = "as [x, y] in fractions of the picture's width and height from the top left corner"


@cache
def _photo(name: str, parts: tuple[Part, ...], lettered: bool) -> tuple[list[Placed], bytes]:
    """Where the parts lie, and the picture; the letters stand at their centres."""
    rng = rng_for(name)
    placed, mm = scatter(rng, parts)
    picture = photograph(rng, placed, BENCHES[int(rng.integers(4))], mm, _SIZE)
    if lettered:
        _mark(picture, placed)
    return placed, png_bytes(picture)


def _mark(picture: Image.Image, placed: Sequence[Placed]) -> None:
    ink = ImageDraw.Draw(picture)
    for part, letter in zip(placed, LETTERS, strict=True):
        x, y = part.x * _SIZE, part.y * _SIZE
        ink.rounded_rectangle((x - 8, y - 8, x + 8, y + 8), 3, fill=(250, 250, 250), outline=(60, 60, 60))
        ink.text((x, y), letter, fill=(0, 0, 0), font=font(14), anchor="mm")


def _shuffled(rng: np.random.Generator, values: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(value) for value in rng.permutation(list(values)))


def _single(probe: str, scenario: str, k: int) -> Row:
    """One picture: from a letter to its centre, or back. Both probes ask about the same pictures."""
    name = f"grounding {scenario} {k}"
    placed, png = _photo(name, _SETS[scenario], lettered=True)
    centres, asked = [centre(p) for p in placed], (k + len(scenario)) % 6
    if probe == "letter_to_coordinate":
        question = f"{_LETTERED} Where is the centre of part {LETTERS[asked]}, {_AS}?"
        gold, choices = centres[asked], _shuffled(rng_for(f"{name} order"), centres)
    else:
        question = f"{_LETTERED} Which letter has the part whose centre, {_AS}, is {centres[asked]}?"
        gold, choices = LETTERS[asked], LETTERS
    return Row(
        id=f"grounding-{digest(f'{probe} {name}')}",
        question=question,
        png=png,
        gold=(gold,),
        cluster=f"{scenario}-{k}".lower(),
        modality="photo",
        choices=choices,
        strata={"scenario": scenario, "probe": probe},
    )


def _cross(probe: str, scenario: str, k: int) -> Row:
    """Two pictures of the same parts: from a part of the first to the same part of the second."""
    name, lettered = f"grounding {probe} {scenario} {k}", probe == "cross_letter"
    order = rng_for(name).permutation(6)
    first, png = _photo(f"{name} first", _SETS[scenario], lettered)
    second, further = _photo(f"{name} second", tuple(_SETS[scenario][i] for i in order), lettered)
    asked = (k + 2 * len(scenario)) % 6
    found = [int(i) for i in order].index(asked)
    both = "The two photos show the same six parts, put on the bench twice"
    if lettered:
        question = (
            f"{both}; each photo has its own letters. "
            f"Which letter has, in the second photo, the part that is marked {LETTERS[asked]} in the first?"
        )
        gold, choices = LETTERS[found], LETTERS
    else:
        question = (
            f"{both}. Centres are given {_AS}. "
            f"Where is, in the second photo, the part whose centre in the first is {centre(first[asked])}?"
        )
        gold, choices = centre(second[found]), _shuffled(rng_for(f"{name} order"), [centre(p) for p in second])
    return Row(
        id=f"grounding-{digest(name)}",
        question=question,
        png=png,
        further=(further,),
        gold=(gold,),
        cluster=f"{probe}-{scenario}-{k}".lower(),
        modality="photo",
        choices=choices,
        strata={"scenario": scenario, "probe": probe},
    )


def rows() -> Iterator[Row]:
    """The 24 items: 4 probes x 3 scenarios x 2."""
    for probe in ("letter_to_coordinate", "coordinate_to_letter"):
        examples = [_single(probe, scenario, k) for scenario in _SETS for k in (2, 3)]
        for scenario in _SETS:
            for k in range(2):
                yield in_context("forge_grounding", _single(probe, scenario, k), examples)
    for probe in ("cross_letter", "cross_coordinate"):
        for scenario in _SETS:
            for k in range(2):
                yield replace(_cross(probe, scenario, k), context={"within": ("", ()), "outside": ("", ())})
