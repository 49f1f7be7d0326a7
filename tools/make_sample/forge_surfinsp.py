"""SAMPLE of FORGE SURFINSP: is the part normal, and if not, is it a crack, a cut, a deformation or a dent?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tools.make_sample.cloud import cloud_views, point_cloud
from tools.make_sample.draw import Array, digest, png_bytes, rng_for
from tools.make_sample.forge_context import in_context
from tools.make_sample.forge_layout import tilt
from tools.make_sample.parts import Part, Prism, clamp, elbow, nut, pin, screw, stud, tee, union
from tools.make_sample.table import Row

_CLASSES = {"normal": "NORMAL", "crack": "A", "cut": "B", "deformation": "C", "dent": "D"}
_DEFECTS = ("Crack", "Cut", "Deformation", "Dent")
# Scenario -> the parts of the items, and those of what stands before a question
_PARTS: dict[str, tuple[tuple[Part, ...], tuple[Part, ...]]] = {
    "CHS": ((screw(8, 26), nut(12)), (screw(10, 24), pin(10, 30))),
    "PCS": ((union(8), tee(8)), (union(6, 9), elbow(8))),
    "CNC": ((clamp(9), stud(12, 40)), (clamp(7), nut(11, sides=4))),
}
_LISTED = 120


def _coordinates(rng: np.random.Generator, points: Array) -> str:
    """Some of the drawn points as text, in fractions of a cube around the part."""
    some = points[rng.choice(len(points), _LISTED, replace=False)]
    unit = 0.5 + some / (2.16 * np.abs(points).max())
    listed = ", ".join(f"[{x:.2f}, {y:.2f}, {z:.2f}]" for x, y, z in unit)
    return f"{_LISTED} points of the surface of a part as [x, y, z], each from 0 to 1: {listed}"


def _row(scenario: str, part: Part, kind: str, edge: int = 212) -> Row:
    name = f"surfinsp {scenario} {part.name} {kind}"
    rng = rng_for(name)
    flat = isinstance(part.solids[0], Prism)
    points, normals = point_cloud(rng, part, tilt(rng, float(rng.choice([-1, 1])) * (20 if flat else 30)), kind)
    return Row(
        id=f"surfinsp-{digest(name)}",
        question="The points were measured on the surface of a part. What is its condition?",
        png=png_bytes(cloud_views(points, normals, edge), 32),
        gold=(_CLASSES[kind],),
        cluster=f"{scenario}-{part.name}".lower().replace(" ", "-"),
        modality="three_view",
        choices=tuple("ABCD"),
        options=_DEFECTS,
        strata={"scenario": scenario, "coordinates": _coordinates(rng, points)},
    )


def rows() -> Iterator[Row]:
    """The 30 items: 3 scenarios x 2 parts x 5 classes."""
    for scenario, (parts, others) in _PARTS.items():
        kinds = ("normal", "dent"), ("normal", "cut")
        examples = [_row(scenario, part, k, 168) for part, both in zip(others, kinds, strict=True) for k in both]
        for part in parts:
            for kind in _CLASSES:
                yield in_context("forge_surfinsp", _row(scenario, part, kind), examples)
