"""Front, side and top projection of workpieces in one picture, each part with its letter (Set-of-Mark)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from tools.make_sample.draw import RGB, Array, font
from tools.make_sample.parts import Part, Prism, Segment, Turned

PANEL = 296
_GAP = 4
_SCALE = 2
_ROUND = 28  # corners of a circle
# name -> (right, up, towards the viewer) as axis index and sign
VIEWS = {
    "Front View": ((0, 1), (2, 1), (1, -1)),
    "Side View": ((1, 1), (2, 1), (0, 1)),
    "Top View": ((0, 1), (1, 1), (2, 1)),
}
COLOURS: tuple[RGB, ...] = (
    (46, 116, 181),
    (205, 56, 52),
    (239, 168, 198),
    (142, 206, 214),
    (92, 160, 84),
    (240, 178, 72),
)


@dataclass(frozen=True)
class Posed:
    """A part in space: its letter, centre in mm and rotation matrix."""

    part: Part
    letter: str
    centre: Array
    rotation: Array
    colour: RGB


def _ring(radius: float, sides: int, phase: float = 0.0) -> Array:
    """Corners (sides, 2) of a regular polygon."""
    turn = 2 * np.pi * (np.arange(sides) + phase) / sides
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)


def _profile(segments: Sequence[Segment], bore: float) -> list[tuple[float, float]]:
    """(position, radius) stations along the axis and back through the bore; threads become a zigzag."""
    stations = [(segments[0].start, bore)]
    for s in segments:
        count = max(1, round((s.end - s.start) / s.pitch)) if s.pitch else 0
        stations.append((s.start, s.r0))
        for turn in range(count):
            step = (s.end - s.start) / count
            stations += [(s.start + (turn + 0.5) * step, s.r0 - 0.35 * s.pitch), (s.start + (turn + 1) * step, s.r0)]
        stations.append((s.end, s.r1))
    return [*stations, (segments[-1].end, bore), *([(segments[0].start, bore)] if bore else [])]


def _strips(rings: Sequence[Array]) -> Array:
    """Quads (n, 4, 3) between neighbouring rings of equal corner count."""
    stack = np.stack(rings)
    turned = np.roll(stack, -1, axis=1)
    return np.stack([stack[:-1], turned[:-1], turned[1:], stack[1:]], axis=2).reshape(-1, 4, 3)


def faces_of(solid: Turned | Prism) -> Array:
    """Surface of a solid as quads (n, 4, 3) in part coordinates."""
    if isinstance(solid, Turned):
        cos, sin = np.cos(np.radians(solid.heading)), np.sin(np.radians(solid.heading))
        circle, (x0, y0) = _ring(1.0, _ROUND), solid.origin
        rings = []
        for u, r in _profile(solid.segments, solid.bore):
            v, z = r * circle[:, 0], r * circle[:, 1]
            rings.append(np.stack([x0 + u * cos - v * sin, y0 + u * sin + v * cos, z], axis=1))
        return _strips(rings)
    # the corners of the outline are repeated so that it has as many as the round hole
    sides, fine = solid.sides or _ROUND, max(1, _ROUND // (solid.sides or _ROUND))
    corner = solid.across / 2 / (np.cos(np.pi / sides) if solid.sides else 1)
    turn = 0.5 if solid.stretch > 1 else 0.0
    outer = np.repeat(_ring(corner, sides, turn), fine, axis=0) * (solid.stretch, 1)
    inner = _ring(solid.hole / 2, sides * fine, turn * fine - (fine - 1) / 2)
    level = solid.height / 2
    around = ((inner, -level), (outer, -level), (outer, level), (inner, level), (inner, -level))
    faces = _strips([np.column_stack([ring, np.full(len(ring), z)]) for ring, z in around])
    return faces[np.arange(len(faces)) % len(inner) > 0] if solid.slit else faces


def _paint(draw: ImageDraw.ImageDraw, posed: Sequence[Posed], view: str, mm: float, edge: int) -> None:
    """Draw all faces of one view, far ones first, in a square of ``edge`` pixels."""
    (right, rs), (up, us), (near, ns) = VIEWS[view]
    painted: list[tuple[float, list[tuple[float, float]], RGB]] = []
    for item in posed:
        for solid in item.part.solids:
            quads = faces_of(solid) @ item.rotation.T + item.centre
            normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
            lengths = np.linalg.norm(normals, axis=1)
            tones = 0.66 + 0.34 * np.round(5 * np.abs(normals[:, near]) / np.maximum(lengths, 1e-9)) / 5
            xy = np.stack([0.5 + rs * quads[..., right] / mm, 0.5 - us * quads[..., up] / mm], axis=2) * edge
            for depth, corners, tone in zip(ns * quads[..., near].mean(axis=1), xy.tolist(), tones, strict=True):
                r, g, b = (int(c * tone) for c in item.colour)
                painted.append((float(depth), [(x, y) for x, y in corners], (r, g, b)))
    for _, corners, colour in sorted(painted, key=lambda entry: entry[0]):
        draw.polygon(corners, fill=colour, outline=colour)


def _letters(draw: ImageDraw.ImageDraw, posed: Sequence[Posed], view: str, mm: float, edge: int) -> None:
    """Mark each part that has a letter with it, at its centre."""
    (right, _), (up, _), _ = VIEWS[view]
    box, face = round(edge / 33), font(round(edge / 20))
    for item in posed:
        if not item.letter:
            continue
        x, y = edge * (0.5 + item.centre[right] / mm), edge * (0.5 - item.centre[up] / mm)
        draw.rounded_rectangle((x - box, y - box, x + box, y + box), 3, fill=(250, 250, 250), outline=(120, 120, 120))
        draw.text((x, y), item.letter, fill=(0, 0, 0), font=face, anchor="mm")


def three_views(posed: Sequence[Posed], mm: float, edge: int = PANEL) -> Image.Image:
    """One wide picture with the panels Front View, Side View and Top View.

    Args:
        posed: The parts.
        mm: Edge of each panel in millimetres, centred on the origin.
        edge: Edge of each panel in pixels.
    """

    def panel(view: str) -> Image.Image:
        fine = Image.new("RGB", (edge * _SCALE, edge * _SCALE), (255, 255, 255))
        _paint(ImageDraw.Draw(fine), posed, view, mm, edge * _SCALE)
        drawn = fine.resize((edge, edge), Image.Resampling.BOX)
        _letters(ImageDraw.Draw(drawn), posed, view, mm, edge)
        return drawn

    return sheet_of([panel(view) for view in VIEWS])


def sheet_of(panels: Sequence[Image.Image]) -> Image.Image:
    """The three panels side by side, framed, each with its caption below."""
    edge = panels[0].width
    caption = round(edge / 7.8)
    sheet = Image.new("RGB", (3 * edge + 4 * _GAP, edge + caption + 2 * _GAP), (255, 255, 255))
    ink = ImageDraw.Draw(sheet)
    for index, (view, panel) in enumerate(zip(VIEWS, panels, strict=True)):
        ImageDraw.Draw(panel).rectangle((0, 0, edge - 1, edge - 1), outline=(0, 0, 0))
        left = _GAP + index * (edge + _GAP)
        sheet.paste(panel, (left, _GAP))
        middle = (left + edge / 2, edge + _GAP + caption / 2)
        ink.text(middle, view, fill=(0, 0, 0), font=font(round(edge / 12.3)), anchor="mm")
    return sheet
