"""SAMPLE of FORGE WORKVERI: which of four parts has the wrong model number or does not belong to the batch?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from tools.make_sample.draw import digest, png_bytes, rng_for
from tools.make_sample.forge_context import Shown, in_context
from tools.make_sample.forge_layout import BENCHES, photo_of, three_view_of, tilt
from tools.make_sample.parts import Part, Prism, elbow, nut, pin, screw, tee, union, washer
from tools.make_sample.photo import Placed, photograph
from tools.make_sample.table import Row
from tools.make_sample.views import COLOURS, Posed, three_views

LETTERS = ("A", "B", "C", "D")
# (scenario, granularity) -> four pairs of (the batch, the odd part); sizes differ by a third or more to be visible
_BATCHES: dict[tuple[str, str], tuple[tuple[Part, Part], ...]] = {
    ("CHS", "model_number"): (
        (screw(6, 32), screw(6, 20)),
        (screw(6, 26), screw(9, 26)),
        (screw(8, 20), screw(8, 32)),
        (screw(8, 30), screw(5, 30)),
    ),
    ("CHS", "workpiece"): (
        (screw(6, 28), nut(10)),
        (screw(8, 25), washer(10)),
        (screw(6, 30), pin(7, 32)),
        (screw(8, 30), nut(11, sides=4)),
    ),
    ("NUTS", "model_number"): (
        (nut(8), nut(12)),
        (nut(10), nut(7)),
        (nut(12), nut(8)),
        (nut(10), nut(14)),
    ),
    ("NUTS", "workpiece"): (
        (nut(10), washer(10)),
        (nut(12), screw(6, 20)),
        (nut(10), nut(10, sides=4)),
        (nut(10), pin(8, 20)),
    ),
    ("PCS", "model_number"): (
        (union(6), union(8.5)),
        (union(8), union(5.5)),
        (union(6), union(6, 9)),
        (union(6, 9), union(9)),
    ),
    ("PCS", "workpiece"): (
        (union(6), elbow(6)),
        (union(8), screw(8, 28)),
        (union(7), tee(7)),
        (union(6), nut(12)),
    ),
}
# Scenario -> (granularity, the batch, the odd part) of the worked examples; their batches are those of no item
_EXAMPLES: dict[str, tuple[tuple[str, Part, Part], ...]] = {
    "CHS": (("model_number", screw(7, 24), screw(7, 36)), ("workpiece", screw(7, 34), pin(6, 24))),
    "NUTS": (("model_number", nut(9), nut(13)), ("workpiece", nut(14), nut(14, sides=4))),
    "PCS": (("model_number", union(7, 10), union(10)), ("workpiece", union(9), elbow(9))),
}
_TASK = {
    "workpiece": "does not belong to it",
    "model_number": "has the wrong model number",
}


def _lay_out(rng: np.random.Generator, parts: list[Part]) -> tuple[list[Placed], float]:
    """Put four parts at the corners of a jittered square without overlap; also the edge of the view in mm."""
    mm = 2.35 * max(part.extent for part in parts)
    placed = []
    for part, slot in zip(parts, rng.permutation(4), strict=True):
        slack = 0.5 * max(0.0, 0.46 - part.extent / mm)
        x, y = 0.27 + 0.46 * (slot % 2), 0.27 + 0.46 * (slot // 2)
        dx, dy = rng.uniform(-slack, slack, 2) * 0.8
        placed.append(Placed(part, round(float(x + dx), 2), round(float(y + dy), 2), float(rng.uniform(0, 360))))
    return placed, mm


def _pose(rng: np.random.Generator, parts: list[Part]) -> tuple[list[Posed], float]:
    """Spread parts so that no two share a slot along any axis; also the edge of the panels in mm."""
    size = max(part.extent for part in parts)
    mm = 2.6 * size
    slots = np.array([-0.27, -0.09, 0.09, 0.27]) * mm
    axes = np.stack([rng.permutation(slots) for _ in range(3)], axis=1) + rng.uniform(-0.02, 0.02, (4, 3)) * mm
    # A nut that is turned too far hides its hole.
    flat = sum(isinstance(solid, Prism) for part in parts for solid in part.solids) > 1
    yaw = float(rng.choice([-1, 1])) * (22 if flat else 38)
    colours = rng.permutation(len(COLOURS))
    posed = [
        Posed(part, letter, centre, tilt(rng, yaw), COLOURS[colour])
        for part, letter, centre, colour in zip(parts, LETTERS, axes, colours, strict=False)
    ]
    return posed, mm


def _photo(name: str, parts: list[Part], bench: str) -> tuple[str, bytes]:
    """Where the parts are, in words, and the picture."""
    rng = rng_for(name)
    placed, mm = _lay_out(rng, parts)
    centres = ", ".join(f"[{p.x:.2f}, {p.y:.2f}] ({letter})" for p, letter in zip(placed, LETTERS, strict=True))
    where = (
        f"The photo shows four parts on a bench. Their centres, as [x, y] in fractions of the picture's "
        f"width and height from the top left corner, are {centres}."
    )
    return where, png_bytes(photograph(rng, placed, bench, mm))


def _three_view(name: str, parts: list[Part]) -> tuple[str, bytes]:
    """What the picture is, in words, and the picture."""
    posed, mm = _pose(rng_for(name), parts)
    where = "The picture shows the front, side and top view of four parts, marked A, B, C and D in each view."
    return where, png_bytes(three_views(posed, mm))


class _Batch(NamedTuple):
    """Parts of one model number, and one that is not of it."""

    scenario: str
    granularity: str
    batch: Part
    odd: Part


def _row(modality: str, parts: _Batch, k: int | str, gold: int, bench: str) -> Row:
    """An item, or a worked example, which has no number ``k``."""
    name = f"{modality} {parts.scenario} {parts.granularity} {k}"
    shown = [parts.odd if i == gold else parts.batch for i in range(4)]
    where, png = _photo(name, shown, bench) if modality == "photo" else _three_view(name, shown)
    return Row(
        id=f"workveri-{digest(name)}",
        question=f"{where} Three of the parts belong to one batch. Which part {_TASK[parts.granularity]}?",
        png=png,
        gold=(LETTERS[gold],),
        cluster=f"{parts.scenario}-{parts.batch.name}".lower().replace(" ", "-"),
        modality=modality,
        choices=LETTERS,
        strata={"scenario": parts.scenario, "granularity": parts.granularity},
    )


def _examples(modality: str, scenario: str, n: int) -> list[Row]:
    """The worked examples of a scenario, one of each granularity."""
    return [
        _row(modality, _Batch(scenario, *parts), "example", (n + 2 * i + 1) % 4, BENCHES[n + i])
        for i, parts in enumerate(_EXAMPLES[scenario])
    ]


@cache
def _reference(modality: str, batch: Part) -> Shown:
    """Two pictures of one normal part of the batch, with their captions."""
    names = [f"reference {modality} {batch.name} {k}" for k in range(2)]
    pngs = tuple(
        photo_of(name, [batch], 128)[1] if modality == "photo" else three_view_of(name, [batch], False, 128)
        for name in names
    )
    captions = "\n\n".join(f"<image> A normal part: {batch.name}." for _ in pngs)
    return f"These are normal parts of the batch.\n\n{captions}", pngs


def rows() -> Iterator[Row]:
    """The 48 items: 2 modalities x 3 scenarios x 2 granularities x 4 letters."""
    examples = {
        (modality, scenario): _examples(modality, scenario, n)
        for modality in ("photo", "three_view")
        for n, scenario in enumerate(_EXAMPLES)
    }
    for n, ((scenario, granularity), pairs) in enumerate(_BATCHES.items()):
        for modality in ("photo", "three_view"):
            for k, (batch, odd) in enumerate(pairs):
                gold = (k + (modality == "photo") + len(granularity)) % 4
                row = _row(modality, _Batch(scenario, granularity, batch, odd), k, gold, BENCHES[(k + n) % 4])
                reference = _reference(modality, batch)
                yield in_context("forge_workveri", row, examples[modality, scenario], {"ref_cond": reference})
