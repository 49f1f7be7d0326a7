"""Where workpieces lie in a FORGE picture: scattered on a bench without overlap, or posed in space for three views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tools.make_sample.draw import Array, png_bytes, rng_for
from tools.make_sample.parts import Part, Prism
from tools.make_sample.photo import Placed, photograph
from tools.make_sample.views import COLOURS, Posed, three_views

BENCHES = ("cloth", "mat", "wood", "plate")
LETTERS: tuple[str, ...] = ("A", "B", "C", "D", "E", "F")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def tilt(rng: np.random.Generator, yaw: float) -> Array:
    """Rotation that keeps a part's long or flat side towards the front view but for a yaw and a tilt (degrees)."""
    a, b, c = np.radians(rng.uniform(-16, 16, 3))
    c += np.radians(yaw)
    rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    stand = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # part z (axis of a nut) towards the viewer
    return np.asarray(rz @ ry @ rx @ stand)


def scatter(rng: np.random.Generator, parts: Sequence[Part]) -> tuple[list[Placed], float]:
    """Place parts at random, the largest first; also the edge of the view in mm, which grows until all have room."""
    radii = np.array([part.extent / 2 for part in parts])
    mm = float(max(2.1 * radii.max(), np.sqrt((np.pi * radii**2).sum() / 0.5)))
    while True:
        spots: dict[int, Array] = {}
        for index in np.argsort(-radii):
            margin = radii[index] / mm + 0.02
            tries = rng.uniform(margin, 1 - margin, (60, 2)).round(2)
            room = [
                all(np.hypot(*(xy - spots[k])) * mm > radii[k] + radii[index] + 0.02 * mm for k in spots)
                for xy in tries
            ]
            if True in room:
                spots[int(index)] = tries[room.index(True)]
        if len(spots) == len(parts):
            turns = rng.uniform(0, 360, len(parts))
            return [Placed(p, float(spots[k][0]), float(spots[k][1]), float(turns[k])) for k, p in enumerate(parts)], mm
        mm *= 1.03


def pose(rng: np.random.Generator, parts: Sequence[Part], letters: Sequence[str]) -> tuple[list[Posed], float]:
    """Spread parts so that no two share a slot along any axis; also the edge of the panels in mm."""
    n, sizes = len(parts), np.array([part.extent for part in parts])
    mm = float(max(1.5 * sizes.max(), 0.5 * sizes.sum()))
    slots = np.linspace(-0.5, 0.5, n) * (mm - sizes.max()) if n > 1 else np.zeros(1)
    axes = np.stack([rng.permutation(slots) for _ in range(3)], axis=1) + rng.uniform(-0.02, 0.02, (n, 3)) * mm
    axes = np.clip(axes, -(mm - sizes[:, None]) / 2, (mm - sizes[:, None]) / 2)
    colours = rng.permutation(len(COLOURS))
    posed = []
    for part, letter, centre, colour in zip(parts, letters, axes, colours, strict=False):
        flat = isinstance(part.solids[0], Prism)  # A nut that is turned too far hides its hole.
        yaw = float(rng.choice([-1, 1])) * (22 if flat else 38)
        posed.append(Posed(part, letter, centre, tilt(rng, yaw), COLOURS[colour]))
    return posed, mm


def photo_of(name: str, parts: Sequence[Part], size: int = 224) -> tuple[list[Placed], bytes]:
    """Parts scattered on the bench that the name stands for: where they lie, and the picture."""
    rng = rng_for(name)
    placed, mm = scatter(rng, parts)
    return placed, png_bytes(photograph(rng, placed, BENCHES[int(rng.integers(4))], mm, size))


def three_view_of(name: str, parts: Sequence[Part], lettered: bool = True, edge: int = 240) -> bytes:
    """Parts in three views, with or without their letters."""
    posed, mm = pose(rng_for(name), parts, LETTERS if lettered else [""] * len(parts))
    return png_bytes(three_views(posed, mm, edge), 64)


def where(placed: Sequence[Placed]) -> str:
    """The sentence that pairs centres with letters."""
    centres = ", ".join(f"{centre(p)} ({letter})" for p, letter in zip(placed, LETTERS, strict=False))
    return (
        f"The photo shows {_NUMBERS[len(placed)]} parts on a bench. Their centres, as [x, y] in fractions of the "
        f"picture's width and height from the top left corner, are {centres}."
    )


def in_views(count: int) -> str:
    """The sentence that says what a three-view picture shows."""
    listed = f"{', '.join(LETTERS[: count - 1])} and {LETTERS[count - 1]}"
    return f"The picture shows the front, side and top view of {_NUMBERS[count]} parts, marked {listed} in each view."


def centre(placed: Placed) -> str:
    """A part's centre as the questions write it."""
    return f"[{placed.x:.2f}, {placed.y:.2f}]"
