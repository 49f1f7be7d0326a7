"""Fields, tanks, sports grounds, solar farm and houses from above."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from tools.make_sample.canvas import GRASS, SIZE, WHITE, Canvas, box_corners, some_paint, toned
from tools.make_sample.draw import RGB


def fields(rng: np.random.Generator) -> Image.Image:
    """Patchwork of fields with two centre-pivot circles and a red-roofed farmhouse beside a track."""
    c = Canvas(rng, (150, 134, 92), 7)
    colours: tuple[RGB, ...] = (
        (158, 140, 94),
        (106, 128, 70),
        (176, 158, 106),
        (128, 112, 78),
        (84, 112, 62),
        (142, 146, 88),
    )
    for k, (x, y, w, h) in enumerate(
        (
            (0, 0, 92, 120),
            (92, 0, 164, 60),
            (92, 60, 64, 60),
            (156, 60, 100, 60),
            (0, 128, 120, 128),
            (120, 128, 136, 62),
            (120, 190, 136, 66),
        )
    ):
        corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
        c.texture(corners, colours[k % 6], 6, 1.3, (12, 0 if k % 2 else 90))
        c.poly(corners, None, (96, 88, 62))
    for x, y, r, colour in ((60, 192, 52, (86, 124, 58)), (196, 60, 46, (112, 132, 66))):
        c.disc((x, y), r, colour, (150, 142, 98), 1)
        for ring in range(4, r, 6):
            c.disc((x, y), ring, None, toned(colour, 0.93), 1)
        c.line([(x, y), (x + r * 0.9, y - r * 0.42)], (218, 214, 196), 0.9)
    c.line([(0, 124), (256, 124)], (204, 186, 146), 4.5)
    c.house((168, 146), (24, 16), (176, 62, 46), 4)
    c.block((196, 150), (20, 13), (168, 166, 160), 4, 5)
    for x, y in ((150, 142), (152, 158), (184, 164), (216, 142)):
        c.tree((x, y), 6)
    return c.finish()


def tanks(rng: np.random.Generator) -> Image.Image:
    """Five white storage tanks and a rust-coloured one inside earth walls, pipes and a pump house."""
    c = Canvas(rng, (164, 150, 124), 8)
    for k in range(6):
        x, y = 52 + 76 * (k % 3), 62 + 82 * (k // 3)
        c.poly(
            [(x - 35, y - 37), (x + 35, y - 37), (x + 35, y + 37), (x - 35, y + 37)], (148, 138, 116), (196, 186, 160)
        )
        c.line([(x, y), (x, 192 if k > 2 else 104), (128, 104 if k < 3 else 192)], (120, 122, 124), 1.6)
        colour: RGB = (152, 84, 52) if k == 4 else (232, 232, 228)
        r = 24
        c.shade([*_arc(x, y, r), *_arc(x + 10, y + 9, r)], 0.5)
        c.disc((x, y), r, colour, toned(colour, 0.72), 1.2)
        c.disc((x, y), r * 0.55, None, toned(colour, 0.86), 0.6)
        c.line([(x - r, y), (x + r, y)], toned(colour, 0.8), 0.7)
    c.line([(0, 208), (256, 208)], (206, 198, 180), 8)
    c.block((214, 232), (34, 20), (130, 144, 158), 0, 6)
    return c.finish()


def _arc(x: float, y: float, r: float) -> list[tuple[float, float]]:
    """Points of the half circle that faces the shadow, so that two of them bound a tank's shadow."""
    return [(x + r * math.cos(math.radians(a)), y + r * math.sin(math.radians(a))) for a in range(-48, 134, 6)]


def tennis(rng: np.random.Generator) -> Image.Image:
    """Four empty blue courts in a row, a clubhouse in the east, trees around; no pool."""
    c = Canvas(rng, GRASS, 9)
    c.block((103, 118), (190, 130), (68, 112, 84))
    for k in range(4):
        x = 32 + 47 * k
        c.block((x, 118), (26, 66), (52, 98, 158))
        c.line([(x - 11, 85), (x + 11, 85), (x + 11, 151), (x - 11, 151), (x - 11, 85)], WHITE, 0.7)
        for dx in (-8.2, 8.2):
            c.line([(x + dx, 85), (x + dx, 151)], WHITE, 0.6)
        for y in (101, 135):
            c.line([(x - 8.2, y), (x + 8.2, y)], WHITE, 0.6)
        c.line([(x, 101), (x, 135)], WHITE, 0.6)
        c.line([(x - 13, 119), (x + 13, 119)], (26, 44, 66), 1.4)
        c.line([(x - 13, 118), (x + 13, 118)], (232, 232, 230), 0.5)
    c.house((228, 116), (50, 26), (160, 86, 62), 90)
    c.line([(206, 60), (206, 200), (256, 200)], (196, 186, 164), 6)
    for k in range(12):
        c.tree((12 + 21 * k, 30 + 6 * math.sin(2 * k)), 8)
        c.tree((10 + 21 * k, 226 + 7 * math.cos(2 * k)), 9)
    return c.finish()


def solar(rng: np.random.Generator) -> Image.Image:
    """Parallel rows of dark blue panels, one small hut, a gravel track and a fence."""
    c = Canvas(rng, (160, 148, 112), 9)
    for row in range(11):
        y = 22 + 20 * row
        for x in range(14, 232, 12):
            if 108 < x < 140 and row in (4, 5):
                continue
            c.shade([(x + 2, y + 3), (x + 13, y + 3), (x + 13, y + 13), (x + 2, y + 13)], 0.35)
            c.poly([(x, y), (x + 11.2, y), (x + 11.2, y + 10), (x, y + 10)], (34, 46, 84), (120, 130, 150))
            c.line([(x, y + 5), (x + 11.2, y + 5)], (76, 90, 124), 0.5)
    c.block((128, 117), (20, 15), (222, 220, 212), 0, 6)
    c.line([(4, 4), (252, 4), (252, 252), (4, 252), (4, 4)], (122, 116, 104), 0.8)
    c.line([(246, 8), (246, 248)], (198, 188, 164), 6)
    return c.finish()


def houses(rng: np.random.Generator) -> Image.Image:
    """Eight houses with roofs of four colours along a street, two gardens with a pool, many trees, one driving car."""
    c = Canvas(rng, (112, 130, 78), 10)
    c.texture(box_corners(0, 116, SIZE, 140), (112, 112, 114), 4)
    c.dashes((0, 128), (SIZE, 128), WHITE, 0.9, 12)
    roofs: tuple[RGB, ...] = ((172, 66, 50), (118, 116, 116), (150, 112, 82), (72, 78, 92))
    for k in range(8):
        x, y = 34 + 63 * (k % 4), 74 if k < 4 else 184
        c.block((x + 22, 104 if k < 4 else 152), (9, 26), (186, 182, 174))
        c.house((x, y), (36, 26), roofs[(k + k // 4 * 3) % 4], 0 if k % 3 else 90)
        if k % 3 != 1:
            c.car((x + 22, 100 if k < 4 else 156), 90, some_paint(rng))
    for x, y in ((98, 32), (224, 228)):
        c.block((x, y), (25, 15), (214, 208, 196))
        c.block((x, y), (20, 10.5), (72, 168, 196))
    for k in range(5):
        c.line([(2 + 63 * k, 0), (2 + 63 * k, 114)], (86, 100, 62), 1.4)
        c.line([(2 + 63 * k, 142), (2 + 63 * k, 256)], (86, 100, 62), 1.4)
    for x, y in (
        (16, 30),
        (48, 22),
        (132, 38),
        (70, 24),
        (150, 22),
        (178, 36),
        (212, 20),
        (240, 40),
        (14, 222),
        (44, 238),
        (78, 224),
        (110, 240),
        (140, 226),
        (166, 238),
        (196, 216),
        (248, 206),
    ):
        c.tree((x, y), 8 + 2 * math.sin(x))
    c.car((84, 122.5), 180, (226, 228, 230))
    return c.finish()


def track(rng: np.random.Generator) -> Image.Image:
    """Red running track around a green football pitch, one stand in the west."""
    c = Canvas(rng, (128, 130, 96), 9)
    line: RGB = (206, 150, 132)
    for grow in (0, 1):
        r = 76 - 24 * grow
        colour: RGB = (96, 132, 70) if grow else (168, 78, 58)
        c.disc((140, 92), r, colour)
        c.disc((140, 164), r, colour)
        c.poly([(140 - r, 92), (140 + r, 92), (140 + r, 164), (140 - r, 164)], colour)
    for r in (56, 60, 64, 68, 72):
        c.arc((140, 92), r, (180, 360), line)
        c.arc((140, 164), r, (0, 180), line)
        c.line([(140 - r, 92), (140 - r, 164)], line, 0.34)
        c.line([(140 + r, 92), (140 + r, 164)], line, 0.34)
    for k in range(8):
        shade: RGB = (88, 130, 62) if k % 2 else (104, 144, 76)
        c.poly([(104, 72 + 14 * k), (176, 72 + 14 * k), (176, 86 + 14 * k), (104, 86 + 14 * k)], shade)
    c.line([(104, 72), (176, 72), (176, 184), (104, 184), (104, 72)], WHITE, 0.8)
    c.line([(104, 128), (176, 128)], WHITE, 0.8)
    c.disc((140, 128), 11, None, WHITE, 0.8)
    for y in (72, 172):
        c.line([(122, y), (158, y), (158, y + 12), (122, y + 12), (122, y)], WHITE, 0.8)
    c.block((38, 128), (30, 130), (186, 190, 194), 0, 10)
    for k in range(9):
        c.line([(24, 70 + 14.5 * k), (52, 70 + 14.5 * k)], (150, 156, 162), 0.8)
    for k in range(11):
        c.tree((238 + 6 * math.sin(3 * k), 14 + 23 * k), 8)
    return c.finish()
