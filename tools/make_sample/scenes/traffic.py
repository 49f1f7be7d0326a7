"""Harbour, airport, roads, river and railway from above."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from tools.make_sample.canvas import ASPHALT, GRASS, SIZE, WHITE, Canvas, box_corners, some_paint
from tools.make_sample.draw import RGB

_CONTAINERS: tuple[RGB, ...] = ((208, 170, 70), (48, 94, 142), (176, 62, 48), (74, 126, 88))


def harbour(rng: np.random.Generator) -> Image.Image:
    """Quay in the west, one jetty with a red freighter, a white ferry and a tug."""
    c = Canvas(rng, (38, 74, 92), 5, 1.5)
    c.texture(box_corners(0, 0, SIZE, SIZE), (38, 74, 92), 6, 1.4, (4, 20))
    c.texture(box_corners(0, 0, 58, SIZE), (172, 170, 164), 7)
    c.block((132, 128), (156, 20), (158, 156, 150), 0, 3)
    c.line([(60, 128), (206, 128)], (120, 118, 114), 1.2)
    for k in range(4):
        c.block((30, 26 + 30 * k), (34, 17), ((150, 74, 60), (96, 116, 132), (186, 180, 168), (92, 108, 92))[k], 0, 7)
    for k in range(18):
        c.block(
            (20 + 9 * (k % 4), 158 + 6 * (k // 4)),
            (8, 4.6),
            _CONTAINERS[k * 7 % 4],
            0,
            2,
        )
    c.ship((138, 101), 0, (124, 25), ((120, 30, 28), (168, 62, 50)))
    for k in range(8):
        c.block((113 + 8.6 * k, 101), (7.4, 14), _CONTAINERS[k * 3 % 4])
    c.ship((128, 152), 180, (92, 21), ((222, 226, 228), (246, 246, 242)))
    c.ship((226, 214), 235, (30, 11), ((36, 38, 42), (196, 120, 48)))
    c.line([(212, 8), (250, 52)], (140, 136, 128), 7)
    return c.finish()


def airport(rng: np.random.Generator) -> Image.Image:
    """Terminal in the north, four airliners on the apron, taxiway and runway in the south."""
    c = Canvas(rng, (122, 128, 86), 8)
    c.texture(box_corners(0, 0, SIZE, 140), (160, 160, 156), 5)
    c.block((128, 20), (226, 30), (196, 198, 200), 0, 8)
    for k in range(9):
        c.block((28 + 25 * k, 20), (10, 20), (150, 158, 166))
    c.texture(box_corners(0, 158, SIZE, 178), (128, 128, 126), 5)
    c.line([(0, 168), (SIZE, 168)], (214, 180, 60), 1.2)
    c.texture(box_corners(0, 202, SIZE, 244), (84, 86, 90), 5)
    for y in (205, 241):
        c.line([(0, y), (SIZE, y)], WHITE, 1.2)
    c.dashes((4, 223), (SIZE, 223), WHITE, 1.6, 30)
    tails: tuple[RGB, ...] = ((40, 84, 170), (190, 44, 44), (40, 84, 170), (40, 130, 84))
    for k, tail in enumerate(tails):
        x = 34 + 62 * k
        c.line([(x, 56), (x, 168)], (214, 180, 60), 1)
        c.block((x + 5, 46), (5, 20), (178, 180, 182), 0, 3)
        c.plane((x, 80), -90, tail)
        c.block((x - 13, 66), (4, 7), (220, 200, 80), 0, 1)
    return c.finish()


def parking(rng: np.random.Generator) -> Image.Image:
    """Four rows of bays with cars, one yellow bus along the southern edge, trees around."""
    c = Canvas(rng, GRASS, 9)
    c.texture(box_corners(16, 14, 240, 240), ASPHALT, 4)
    for row, y in enumerate((34, 88, 106, 160)):
        for k in range(19):
            x = 34 + 10 * k
            c.line([(x, y - 9), (x, y + 9)], (222, 222, 214), 0.7)
            if k < 18 and rng.random() < 0.78:
                c.car((x + 5, y + float(rng.uniform(-1, 1))), 90 if row % 2 else -90, some_paint(rng))
    for x, y in ((26, 97), (230, 97), (26, 34), (230, 160)):
        c.block((x, y), (9, 30), (112, 130, 82))
        c.tree((x, y - 6), 6)
        c.tree((x, y + 7), 5.5)
    c.block((96, 216), (48, 10.5), (226, 178, 44), 0, 5)
    for k in range(6):
        c.block((78 + 7.4 * k, 216), (5, 7), (236, 196, 84))
    c.line([(40, 228), (216, 228)], (222, 222, 214), 0.8)
    for k in range(13):
        c.tree((8 + 20 * k, 249), 6 + 2 * math.sin(k))
    return c.finish()


def roundabout(rng: np.random.Generator) -> Image.Image:
    """Four-armed roundabout with a green island, a zebra crossing on the northern arm and three cars."""
    c = Canvas(rng, (116, 128, 84), 9)
    for box in (box_corners(112, 0, 144, 256), box_corners(0, 112, 256, 144)):
        c.texture(box, ASPHALT, 4)
    c.disc((128, 128), 66, (94, 96, 100))
    c.disc((128, 128), 66, None, (206, 204, 198), 1.2)
    c.poly(box_corners(113, 40, 143, 76), (93, 95, 99))
    c.poly(box_corners(113, 180, 143, 216), (93, 95, 99))
    c.poly(box_corners(40, 113, 76, 143), (93, 95, 99))
    c.poly(box_corners(180, 113, 216, 143), (93, 95, 99))
    c.disc((128, 128), 35, (206, 204, 198))
    c.disc((128, 128), 33, (92, 124, 66))
    for x, y, r in ((120, 120, 8), (137, 133, 7), (124, 139, 6)):
        c.tree((x, y), r)
    for start, end in (
        ((128, 0), (128, 28)),
        ((128, 204), (128, 256)),
        ((0, 128), (56, 128)),
        ((200, 128), (256, 128)),
    ):
        c.dashes(start, end, WHITE, 1, 10)
    for k in range(6):
        c.block((115.4 + 5.1 * k, 42), (2.8, 15), WHITE)
    c.car((176, 122), 75, (168, 40, 38))
    c.car((86, 150), 240, (226, 228, 230))
    c.car((36, 136), 0, (44, 72, 132))
    for x, y in (
        (46, 44),
        (70, 28),
        (30, 76),
        (214, 40),
        (228, 78),
        (40, 206),
        (74, 228),
        (212, 214),
        (190, 236),
        (234, 186),
    ):
        c.tree((x, y), 9 + 3 * math.sin(x))
    c.house((212, 62), (34, 24), (150, 84, 66), 12)
    c.house((46, 226), (34, 24), (120, 116, 112), -8)
    return c.finish()


def river_bridge(rng: np.random.Generator) -> Image.Image:
    """River from north to south, one road bridge with two cars, one boat, woods on the banks."""
    c = Canvas(rng, (112, 122, 76), 10)
    left = [(92 + 18 * math.sin(y / 46), float(y)) for y in range(0, 261, 4)]
    right = [(x + 78, y) for x, y in left]
    c.poly([(x - 6, y) for x, y in left] + [(x + 6, y) for x, y in right[::-1]], (168, 154, 116))
    c.texture(left + right[::-1], (66, 96, 92), 5, 1.5, (5, 80))
    c.texture(box_corners(0, 112, 256, 132), (108, 108, 110), 4)
    c.shade(box_corners(98, 132, 196, 140), 0.45)
    c.block((144, 122), (112, 23), (176, 174, 168))
    c.block((144, 122), (112, 17), (112, 112, 114))
    c.dashes((0, 122), (256, 122), WHITE, 1, 12)
    c.car((122, 118), 180, (226, 228, 230))
    c.car((160, 126.5), 0, (168, 40, 38))
    c.ship((140, 200), 265, (22, 8), ((230, 230, 226), (186, 150, 104)))
    for _ in range(90):
        x, y = rng.uniform(0, SIZE, 2)
        shore = 92 + 18 * math.sin(y / 46)
        if (x < shore - 16 or x > shore + 96) and abs(y - 122) > 20:
            c.tree((float(x), float(y)), float(rng.uniform(4, 8)))
    return c.finish()


def rail(rng: np.random.Generator) -> Image.Image:
    """Six parallel tracks with a red train on the northernmost and a blue one further south, a platform roof."""
    c = Canvas(rng, (146, 136, 120), 9)
    c.texture(box_corners(0, 30, SIZE, 206), (132, 122, 110), 6, 1.2)
    for k in range(6):
        y = 46 + 28 * k
        for x in range(0, 256, 4):
            c.block((x, y), (1.8, 10), (84, 74, 66))
        for dy in (-3, 3):
            c.line([(0, y + dy), (SIZE, y + dy)], (206, 206, 208), 1)
    for y, start, count, colour in ((46, 34, 4, (176, 44, 40)), (130, 92, 3, (44, 84, 150))):
        for k in range(count):
            c.block((start + 50 * k + 22, y), (47, 11), colour, 0, 4)
            c.block((start + 50 * k + 22, y), (43, 5), (206, 208, 210))
    c.block((150, 88), (170, 14), (196, 190, 178), 0, 2)
    c.block((150, 88), (120, 9), (158, 166, 172), 0, 5)
    c.house((60, 232), (70, 24), (150, 92, 70))
    for k in range(9):
        c.tree((120 + 16 * k, 232 + 7 * math.sin(k * 2)), 7)
        c.tree((8 + 30 * k, 12), 7)
    return c.finish()
