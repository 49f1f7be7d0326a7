"""The workpieces: screws, nuts, washers, pins and pneumatic connectors as simple solids, in millimetres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Segment:
    """A stretch of a turned part, from ``start`` to ``end`` along its axis.

    Attributes:
        r0, r1: Radius at the start and at the end.
        material: A key of the renderer's material table.
        pitch: Distance between thread crests; 0 for a smooth surface.
    """

    start: float
    end: float
    r0: float
    r1: float
    material: str = "steel"
    pitch: float = 0.0


@dataclass(frozen=True)
class Turned:
    """A solid of revolution lying on its side.

    Attributes:
        segments: From one end to the other, without gaps.
        heading: Where its axis points, in degrees from the part's x axis.
        origin: Where its zero lies in the part.
        bore: Radius of the hole through it; 0 for a full body.
    """

    segments: tuple[Segment, ...]
    heading: float = 0.0
    origin: tuple[float, float] = (0.0, 0.0)
    bore: float = 0.0


@dataclass(frozen=True)
class Prism:
    """A plate lying flat with a round hole: ``sides`` 6 for a hexagon, 4 for a square, 0 for a disc.

    Attributes:
        stretch: Length over width: > 1 makes a strap of a square.
        slit: Width of a cut from the hole to the rim; 0 for none.
    """

    sides: int
    across: float
    height: float
    hole: float
    material: str = "steel"
    stretch: float = 1.0
    slit: float = 0.0


@dataclass(frozen=True)
class Part:
    """A workpiece of one model number, e.g. ``screw 6x30``."""

    name: str
    solids: tuple[Turned | Prism, ...]

    @property
    def extent(self) -> float:
        """Diameter of a circle around the part's centre that holds it."""
        return max(_extent(solid) for solid in self.solids)


def _extent(solid: Turned | Prism) -> float:
    if isinstance(solid, Prism):
        corner = {4: math.hypot(solid.stretch, 1) if solid.stretch > 1 else 1.42, 6: 1.16}
        return solid.across * corner.get(solid.sides, 1.0)
    return 2 * max(max(abs(s.start), abs(s.end), s.r0, s.r1) for s in solid.segments)


def screw(d: float, length: float) -> Part:
    """Cup-head screw of nominal diameter ``d`` and shank ``length``."""
    r, head, left = d / 2, 0.8 * d, -(length + d) / 2
    shank = left + d
    end = shank + length
    segments = (
        Segment(left, left + 0.12 * d, head * 0.88, head),
        Segment(left + 0.12 * d, shank, head, head, "knurled"),
        Segment(shank, shank + 0.2 * length, r, r),
        Segment(shank + 0.2 * length, end - 0.15 * d, r, r, "steel", 0.3 * d),
        Segment(end - 0.15 * d, end, r, r * 0.75),
    )
    return Part(f"screw {d:g}x{length:g}", (Turned(segments),))


def pin(d: float, length: float) -> Part:
    """Plain dowel pin."""
    r, c = d / 2, 0.15 * d
    a = length / 2
    return Part(
        f"pin {d:g}x{length:g}",
        (Turned((Segment(-a, c - a, r * 0.8, r), Segment(c - a, a - c, r, r), Segment(a - c, a, r, r * 0.8))),),
    )


def nut(d: float, sides: int = 6) -> Part:
    """Hexagon (or square) nut for thread diameter ``d``."""
    return Part(f"{'hex' if sides == 6 else 'square'} nut {d:g}", (Prism(sides, 1.65 * d, 0.8 * d, d),))


def washer(d: float) -> Part:
    """Plain washer for thread diameter ``d``."""
    return Part(f"washer {d:g}", (Prism(0, 2.1 * d, 0.2 * d, 1.1 * d),))


def spring_washer(d: float) -> Part:
    """Split ring for thread diameter ``d``."""
    return Part(f"spring washer {d:g}", (Prism(0, 1.75 * d, 0.28 * d, 1.05 * d, slit=0.3 * d),))


def sleeve(d: float, length: float) -> Part:
    """Tube around a bolt of diameter ``d``, with a flared end."""
    r, a = 0.72 * d, length / 2
    segments = (Segment(-a, 0.2 * a, r, r, "zinc"), Segment(0.2 * a, 0.28 * a, r * 0.93, r * 0.93, "zinc"))
    return Part(f"sleeve {d:g}x{length:g}", (Turned((*segments, Segment(0.28 * a, a, r, r, "zinc")), bore=0.54 * d),))


def cone(d: float) -> Part:
    """Expansion cone for a bolt of diameter ``d``."""
    a = 0.8 * d
    return Part(
        f"cone {d:g}", (Turned((Segment(-a, 0.4 * a, 0.55 * d, 0.95 * d), Segment(0.4 * a, a, d, d)), bore=0.4 * d),)
    )


def stud(d: float, length: float) -> Part:
    """Rod with a thread at both ends."""
    r, a = d / 2, length / 2
    thread = (Segment(-a, -0.3 * a, r, r, "steel", 0.3 * d), Segment(0.3 * a, a, r, r, "steel", 0.3 * d))
    return Part(
        f"stud {d:g}x{length:g}", (Turned((thread[0], Segment(-0.3 * a, 0.3 * a, 0.88 * r, 0.88 * r), thread[1])),)
    )


def plug(d: float, length: float) -> Part:
    """Ribbed plastic plug for a wall, with a collar."""
    r, a = d / 2, length / 2
    ribs = tuple(
        Segment(-0.85 * a + k * 0.33 * a, -0.85 * a + (k + 1) * 0.33 * a, r, 0.8 * r, "nylon") for k in range(5)
    )
    return Part(
        f"plug {d:g}x{length:g}",
        (
            Turned(
                (
                    Segment(-a, -0.85 * a, 1.35 * r, 1.35 * r, "nylon"),
                    *ribs,
                    Segment(0.8 * a, a, 0.75 * r, 0.5 * r, "nylon"),
                )
            ),
        ),
    )


def clamp(d: float) -> Part:
    """Clamping strap with a hole for a stud of diameter ``d``."""
    return Part(f"clamp {d:g}", (Prism(4, 2.2 * d, 1.1 * d, 1.15 * d, stretch=2.7),))


def _arm(d: float, reach: float) -> tuple[Segment, ...]:
    """One end of a push-in connector for tube diameter ``d``, from its middle outwards."""
    r = 0.95 * d
    return (
        Segment(0, 0.16 * reach, 0.72 * r, 0.72 * r, "plastic"),
        Segment(0.16 * reach, 0.24 * reach, 0.72 * r, r, "plastic"),
        Segment(0.24 * reach, 0.74 * reach, r, r, "plastic"),
        Segment(0.74 * reach, 0.84 * reach, 0.93 * r, 0.93 * r, "brass"),
        Segment(0.84 * reach, 0.9 * reach, 0.66 * r, 0.66 * r, "plastic"),
        Segment(0.9 * reach, reach, 0.86 * r, 0.82 * r, "sleeve"),
    )


def _mirror(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    return tuple(Segment(-s.end, -s.start, s.r1, s.r0, s.material, s.pitch) for s in reversed(segments))


def union(d: float, other: float | None = None) -> Part:
    """Straight connector for tubes of diameter ``d`` at one end and ``other`` (default: the same) at the other."""
    other = d if other is None else other
    name = f"union {d:g}" if other == d else f"reducer {d:g}-{other:g}"
    return Part(name, (Turned(_mirror(_arm(d, 2.7 * d)) + _arm(other, 2.7 * other)),))


def _ball(r: float, material: str) -> tuple[Segment, ...]:
    """A sphere as a turned part of ten cones."""
    turns = [math.pi * k / 10 for k in range(11)]
    return tuple(
        Segment(-r * math.cos(a), -r * math.cos(b), r * math.sin(a), r * math.sin(b), material)
        for a, b in pairwise(turns)
    )


def elbow(d: float) -> Part:
    """Connector with two arms at a right angle, which meet in a round corner."""
    arm, at = _arm(d, 2.7 * d), (-0.85 * d, -0.85 * d)
    return Part(f"elbow {d:g}", (Turned(arm, 0, at), Turned(arm, 90, at), Turned(_ball(0.95 * d, "plastic"), 0, at)))


def tee(d: float) -> Part:
    """Connector with three arms."""
    arm, at = _arm(d, 2.5 * d), (0.0, -0.6 * d)
    return Part(f"tee {d:g}", (Turned(_mirror(arm) + arm, 0, at), Turned(arm, 90, at)))
