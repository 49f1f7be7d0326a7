"""A drawing board for scenes seen from above: ground textures and small objects with their shadows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from PIL import Image, ImageDraw

from tools.make_sample.draw import RGB, noise, to_image

SIZE = 256
_SCALE = 3  # drawn three times as fine, then averaged
_EDGE = SIZE * _SCALE
_SUN = (0.75, 0.66)  # direction of shadows, per unit of height

ASPHALT: RGB = (92, 94, 98)
GRASS: RGB = (104, 124, 74)
WHITE: RGB = (236, 236, 232)
CAR_PAINTS: tuple[RGB, ...] = (
    (226, 228, 230),
    (42, 44, 48),
    (150, 154, 160),
    (168, 40, 38),
    (44, 72, 132),
    (196, 190, 176),
)

Point: TypeAlias = tuple[float, float]


class Canvas:
    """A picture of 256 x 256; every coordinate and length is in its pixels, angles in degrees clockwise."""

    def __init__(self, rng: np.random.Generator, ground: RGB, grain: float = 10, beta: float = 1.6) -> None:
        """Start with bare ground; ``grain`` is the standard deviation of its texture on 0-255."""
        self.rng = rng
        self.image = Image.new("RGB", (_EDGE, _EDGE), ground)
        self._draw = ImageDraw.Draw(self.image)
        self.texture(box_corners(0, 0, SIZE, SIZE), ground, grain, beta)

    def texture(
        self,
        corners: Sequence[Point],
        colour: RGB,
        grain: float,
        beta: float = 1.5,
        stretch: tuple[float, float] = (1, 0),
    ) -> None:
        """Fill an area with noise around a colour; ``stretch`` is elongation and direction of its pattern."""
        mask = Image.new("L", (_EDGE, _EDGE))
        ImageDraw.Draw(mask).polygon([(x * _SCALE, y * _SCALE) for x, y in corners], fill=255)
        field = noise(self.rng, SIZE, beta, *stretch)
        patch = to_image(np.array(colour) + grain * field[..., None] * np.array([1.0, 1.0, 0.9]))
        self.image.paste(patch.resize((_EDGE, _EDGE), Image.Resampling.BICUBIC), mask=mask)

    def poly(self, corners: Sequence[Point], colour: RGB | None, outline: RGB | None = None) -> None:
        """Filled polygon."""
        self._draw.polygon([(x * _SCALE, y * _SCALE) for x, y in corners], fill=colour, outline=outline)

    def line(self, points: Sequence[Point], colour: RGB, width: float) -> None:
        """Polyline with round corners."""
        scaled = [(x * _SCALE, y * _SCALE) for x, y in points]
        self._draw.line(scaled, fill=colour, width=max(1, round(width * _SCALE)), joint="curve")

    def dashes(self, start: Point, end: Point, colour: RGB, width: float, pitch: float) -> None:
        """Dashed straight line, half drawn and half open."""
        length = math.dist(start, end)
        ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        for k in range(int(length // pitch)):
            a, b = k * pitch, k * pitch + pitch / 2
            self.line([(start[0] + a * ux, start[1] + a * uy), (start[0] + b * ux, start[1] + b * uy)], colour, width)

    def disc(self, at: Point, r: float, colour: RGB | None, outline: RGB | None = None, width: float = 0.5) -> None:
        """Filled disc or ring."""
        self._draw.ellipse(_scaled_box(at, r), fill=colour, outline=outline, width=max(1, round(width * _SCALE)))

    def arc(self, at: Point, r: float, span: tuple[float, float], colour: RGB) -> None:
        """Hairline from one angle to another, clockwise from east."""
        self._draw.arc(_scaled_box(at, r), *span, fill=colour, width=1)

    def shade(self, corners: Sequence[Point], strength: float = 0.5) -> None:
        """Darken an area: a shadow."""
        mask = Image.new("L", (_EDGE, _EDGE))
        ImageDraw.Draw(mask).polygon([(x * _SCALE, y * _SCALE) for x, y in corners], fill=round(255 * strength))
        self.image.paste((18, 22, 30), (0, 0), mask)

    def block(self, at: Point, size: Point, colour: RGB, angle: float = 0, height: float = 0) -> None:
        """Rectangle around a centre, with a shadow when it has a height."""
        corners = turned(_rectangle(*size), at, angle)
        if height:
            self.shade(hull([*corners, *((x + height * _SUN[0], y + height * _SUN[1]) for x, y in corners)]))
        self.poly(corners, colour)

    def house(self, at: Point, size: Point, roof: RGB, angle: float = 0) -> None:
        """Gable roof: one side lit, the other darker, a bright ridge."""
        w, h = size
        self.block(at, size, roof, angle, 6)
        self.poly(turned([(-w / 2, 0), (w / 2, 0), (w / 2, h / 2), (-w / 2, h / 2)], at, angle), toned(roof, 0.76))
        self.line(turned([(-w / 2, 0), (w / 2, 0)], at, angle), toned(roof, 1.18), 0.7)

    def tree(self, at: Point, r: float) -> None:
        """Round crown lit from the top left."""
        x, y = at
        self.shade(_circle((x + r * 0.6, y + r * 0.55), r), 0.42)
        green = int(self.rng.integers(-10, 14))
        self.disc(at, r, (46 + green, 72 + green, 40))
        for _ in range(5):
            dx, dy = (float(d) for d in self.rng.uniform(-0.5, 0.3, 2) * r)
            lift = int(self.rng.integers(8, 34))
            self.disc((x + dx, y + dy), r * 0.38, (52 + green + lift // 2, 78 + green + lift, 42 + lift // 3))

    def car(self, at: Point, angle: float, colour: RGB) -> None:
        """Car of 9 x 4 pixels (half a metre each): body, glass and roof."""
        self.block(at, (9, 4.1), colour, angle, 1.3)
        self.block(at, (5.2, 3.4), (38, 42, 48), angle)
        self.block(turned([(-0.2, 0)], at, angle)[0], (3, 3.2), colour, angle)

    def plane(self, at: Point, angle: float, tail: RGB) -> None:
        """Airliner about 44 pixels long, nose towards ``angle``."""
        wings = [(5.0, 0.0), (-3, -22), (-7, -22), (-5, 0), (-7, 22), (-3, 22)]
        stabiliser = [(-15.0, 0.0), (-19, -8), (-21, -8), (-20, 0), (-21, 8), (-19, 8)]
        body = [(22.0, 0.0), (19, -2.1), (-14, -2.1), (-22, -0.8), (-22, 0.8), (-14, 2.1), (19, 2.1)]
        for shape in (wings, stabiliser, body):
            self.shade([(x + 3, y + 2.6) for x, y in turned(shape, at, angle)], 0.4)
        for shape in (wings, stabiliser):
            self.poly(turned(shape, at, angle), (206, 210, 214))
        for engine in turned([(-0.5, -8), (-0.5, 8)], at, angle):
            self.block(engine, (5, 2.4), (120, 124, 130), angle)
        self.poly(turned(body, at, angle), (236, 238, 240))
        self.block(turned([(-17.5, 0)], at, angle)[0], (9, 1.8), tail, angle)

    def ship(self, at: Point, angle: float, size: Point, colours: tuple[RGB, RGB]) -> None:
        """Ship of (length, width) with hull and deck colours, bow towards ``angle``, bridge aft."""
        (length, width), (hull_colour, deck) = size, colours
        a, b = length / 2, width / 2
        side = [(a - 1.1 * b, 0.8 * b), (a - 2 * b, b), (-a, b)]
        outline = [(a, 0.0), *((x, -y) for x, y in side), *side[::-1]]
        self.shade([(x + 2.4, y + 2.2) for x, y in turned(outline, at, angle)], 0.45)
        self.poly(turned(outline, at, angle), hull_colour)
        self.poly(turned([(x * 0.93, y * 0.8) for x, y in outline], at, angle), deck)
        self.block(turned([(-a * 0.68, 0)], at, angle)[0], (length * 0.16, width * 0.68), (238, 238, 234), angle, 3)

    def finish(self) -> Image.Image:
        """The picture in its final size, with a little sensor noise."""
        small = np.asarray(self.image.resize((SIZE, SIZE), Image.Resampling.BOX)).astype(float)
        return to_image(small + 0.7 * noise(self.rng, SIZE, 0.5)[..., None])


def some_paint(rng: np.random.Generator) -> RGB:
    """A usual colour of a car."""
    return CAR_PAINTS[int(rng.integers(len(CAR_PAINTS)))]


def turned(points: Sequence[Point], at: Point, angle: float) -> list[Point]:
    """Rotate points around the origin, then move them so that the origin lies at ``at``."""
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return [(at[0] + x * c - y * s, at[1] + x * s + y * c) for x, y in points]


def toned(colour: RGB, factor: float) -> RGB:
    """A colour made darker or lighter."""
    r, g, b = (min(255, int(c * factor)) for c in colour)
    return r, g, b


def box_corners(left: float, top: float, right: float, bottom: float) -> list[Point]:
    """Corners of an upright rectangle."""
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _rectangle(w: float, h: float) -> list[Point]:
    return box_corners(-w / 2, -h / 2, w / 2, h / 2)


def _scaled_box(at: Point, r: float) -> tuple[float, float, float, float]:
    (x, y), k = at, _SCALE
    return (x - r) * k, (y - r) * k, (x + r) * k, (y + r) * k


def _circle(at: Point, r: float) -> list[Point]:
    return [(at[0] + r * math.cos(k * math.pi / 10), at[1] + r * math.sin(k * math.pi / 10)) for k in range(20)]


def hull(points: Sequence[Point]) -> list[Point]:
    """Convex hull (monotone chain): the outline of a block together with its shadow."""
    ordered = sorted(points)
    chains = []
    for direction in (ordered, ordered[::-1]):
        chain: list[Point] = []
        for p in direction:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
