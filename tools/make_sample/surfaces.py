"""Satellite views of twelve kinds of ground at about one metre per pixel: relief, drainage, structure, tone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image

from tools.make_sample.draw import Array, blur, mix, noise, rotate, smoothstep, tint, to_image

SIZE = 224
_Rng = np.random.Generator


def _grid() -> tuple[Array, Array]:
    """Column and row of every pixel."""
    rows, columns = np.mgrid[0:SIZE, 0:SIZE].astype(float)
    return columns, rows


def _hillshade(height: Array, sun: float = -135.0, slope: float = 1.0) -> Array:
    """Brightness of a relief (height in pixels) under a sun from the top left; flat ground is 0.5."""
    dy, dx = np.gradient(height * slope)
    toward = dx * np.cos(np.radians(sun)) + dy * np.sin(np.radians(sun))
    lit = (1 - toward) / np.sqrt(1 + dx**2 + dy**2)
    return np.asarray(np.clip(0.5 * lit, 0, 1.2))


def _cells(rng: _Rng, width: float, spread: float = 0.0) -> tuple[Array, Array, Array]:
    """Mosaic of polygons (a power diagram): index of the cell, distance to its seed, distance to its border.

    One seed lies in each square of a grid, so only the 5 x 5 squares around a pixel are looked at.

    Args:
        rng: Source of the seeds.
        width: Mean width of a cell in pixels.
        spread: 0 gives cells of like size; up to 1, some grow at the cost of others. Borders stay straight.
    """
    x, y = _grid()
    side = int(SIZE / width) + 7
    seeds = rng.random((2, side, side))
    bonus = (spread * width * rng.random((side, side))) ** 2
    column, row = (x / width).astype(int), (y / width).astype(int)
    first, second = np.full((SIZE, SIZE), np.inf), np.full((SIZE, SIZE), np.inf)
    index = np.zeros((SIZE, SIZE))
    for dy in range(5):
        for dx in range(5):
            r, c = row + dy, column + dx
            seed_x, seed_y = (c - 2 + seeds[0, r, c]) * width, (r - 2 + seeds[1, r, c]) * width
            power = (x - seed_x) ** 2 + (y - seed_y) ** 2 - bonus[r, c]
            nearer = power < first
            second = np.where(nearer, first, np.minimum(second, power))
            index = np.where(nearer, r * side + c, index)
            first = np.where(nearer, power, first)
    return index, np.sqrt(np.maximum(first, 0)), (second - first) / (2 * width)


def _per_cell(rng: _Rng, index: Array) -> Array:
    """A random value of 0-1 for each cell."""
    return np.asarray(rng.random(int(index.max()) + 1)[index.astype(int)])


def _drainage(height: Array) -> Array:
    """Upstream area in pixels of every pixel: water runs to the lowest of eight neighbours, highest pixels first."""
    area = np.ones(height.size)
    padded = np.pad(height, 1, constant_values=np.inf)
    shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]
    neighbours = np.stack([padded[1 + dy : 1 + dy + SIZE, 1 + dx : 1 + dx + SIZE] for dy, dx in shifts])
    lowest = neighbours.argmin(axis=0)
    steps = np.array([dy * SIZE + dx for dy, dx in shifts])[lowest].ravel()
    falls = (neighbours.min(axis=0) < height).ravel()
    for cell in np.argsort(-height, axis=None, kind="stable").tolist():
        if falls[cell]:
            area[cell + steps[cell]] += area[cell]
    return area.reshape(height.shape)


def _valleys(rng: _Rng, beta: float = 2.0, fall: float = 0.03, angle: float | None = None) -> tuple[Array, Array]:
    """A relief that rain has cut: height (about unit standard deviation) and the strength of its channels, 0-1."""
    x, y = _grid()
    heading = float(rng.uniform(0, 360)) if angle is None else angle
    slope, _ = rotate(x, y, heading)
    rough = noise(rng, SIZE, beta)
    area = blur(_drainage(rough - fall * slope), 0.7)
    channels = smoothstep(np.log(np.maximum(area, 1)), 2.6, 6.2)
    return rough - 0.5 * blur(channels, 1.2) - 1.3 * blur(channels, 5), channels


def _joints(rng: _Rng, angle: float, gap: float, wobble: float = 2.0) -> Array:
    """A set of sub-parallel fractures ``gap`` pixels apart, 0-1: broken, slightly bent lines."""
    x, y = _grid()
    _, across = rotate(x, y, angle)
    across = across + wobble * noise(rng, SIZE, 1.6)
    line = 1 - smoothstep(np.abs((across / gap) % 1 - 0.5) * gap, 0.4, 1.6)
    return np.asarray(line * smoothstep(noise(rng, SIZE, 1.2, 4, angle), -0.9, 0.3))


def _shrubs(rng: _Rng, shade: Array, count: int) -> Array:
    """Dark dots of desert shrubs."""
    field = np.zeros((SIZE, SIZE))
    spots = rng.integers(0, SIZE, (count, 2))
    field[spots[:, 0], spots[:, 1]] = 1
    return shade - 1.6 * blur(field, 0.8)


def sandstone(rng: _Rng) -> Array:
    """Red-buff tilted beds: parallel hard and soft bands, ridges along strike, small gullies across it."""
    x, y = _grid()
    strike = float(rng.uniform(15, 60))
    _, across = rotate(x, y, strike)
    across = across + 5 * noise(rng, SIZE, 1.9)
    beds = np.interp(across % 61, [0, 7, 9, 20, 23, 30, 44, 46, 61], [0.1, 0.9, 0.3, 0.75, 0.15, 0.6, 0.95, 0.2, 0.1])
    fine = 0.12 * np.sin(across * 1.5) + 0.1 * np.sin(across * 0.63)
    gullies, channels = _valleys(rng, angle=strike + 90)
    height = 5 * blur(beds, 1) + 2.2 * gullies
    shade = 0.55 * _hillshade(height) + 0.3 * blur(beds, 0.7) + fine * 0.6 - 0.14 * channels
    return tint(shade + 0.03 * noise(rng, SIZE, 0.6) + 0.08, (92, 52, 38), (226, 176, 134))


def breccia(rng: _Rng) -> Array:
    """Angular blocks of every size and tone in a dark matrix, no direction."""
    big, _, rim = _cells(rng, 14, 1.0)
    small, _, crack = _cells(rng, 5.8, 0.8)
    block = _per_cell(rng, big)
    stone = _per_cell(rng, small)
    is_block = smoothstep(block, 0.42, 0.46)
    tone = is_block * (0.30 + 0.62 * _per_cell(rng, big)) + (1 - is_block) * (0.12 + 0.34 * stone)
    height = is_block * 2.6 * smoothstep(rim, 0.3, 2.5) + (1 - is_block) * 0.9 * stone * smoothstep(crack, 0.1, 0.9)
    relief, _ = _valleys(rng, 2.2)
    shade = 0.5 * tone + 0.52 * _hillshade(blur(height, 0.6) + 2.2 * relief) - 0.05
    rgb = tint(shade + 0.03 * noise(rng, SIZE, 0.4), (52, 42, 44), (206, 190, 178))
    warmth = is_block * (_per_cell(rng, big) - 0.5)
    return np.asarray(rgb + warmth[..., None] * np.array([26, -2, -22]))


def carbonate(rng: _Rng) -> Array:
    """Pale grey massive rock: stepped thick beds with shadowed cliffs, solution pits and a joint net."""
    relief = 1.9 * noise(rng, SIZE, 2.2)
    step = relief * 0.6 + 0.05 * noise(rng, SIZE, 1.0)
    terraces = np.floor(step) + smoothstep(step % 1, 0.72, 1.0)
    pits = smoothstep(noise(rng, SIZE, 1.1), 1.5, 2.2)
    strike = float(rng.uniform(0, 90))
    net = np.maximum(_joints(rng, strike, 17), _joints(rng, strike + 74, 24))
    height = 5.5 * blur(terraces, 0.8) - 3.5 * blur(pits, 0.7) - 1.2 * net + 0.7 * noise(rng, SIZE, 1.3)
    shade = 0.34 + 0.85 * _hillshade(height) - 0.22 * blur(pits, 0.8) - 0.16 * net
    return tint(shade + 0.02 * noise(rng, SIZE, 0.5), (70, 76, 86), (240, 240, 234))


def conglomerate(rng: _Rng) -> Array:
    """Brown rounded hills with crude thick beds, pitted by cobbles, cut by closely spaced gullies."""
    relief, channels = _valleys(rng, 2.1, 0.02)
    x, y = _grid()
    _, across = rotate(x, y, float(rng.uniform(0, 180)))
    bands = np.sin((across + 9 * noise(rng, SIZE, 1.9)) / 6.5)
    _, inside, rim = _cells(rng, 5.0, 0.5)
    cobbles = smoothstep(rim, 0.1, 1.1) * smoothstep(inside, 3.6, 0.8)
    height = 9.5 * blur(relief, 0.8) + 0.5 * bands + 1.1 * cobbles
    shade = 0.82 * _hillshade(height) + 0.07 * bands + 0.22 * cobbles - 0.16 * channels + 0.04
    return tint(shade + 0.03 * noise(rng, SIZE, 0.5), (66, 46, 36), (208, 178, 146))


def crushed_stone(rng: _Rng) -> Array:
    """Loose angular grey rubble on a slope: coarse and fine streaks run straight downhill, no outcrop, no channels."""
    slope = float(rng.uniform(55, 125))
    lobes = noise(rng, SIZE, 1.3, 9, slope)
    coarse_cells, _, gap = _cells(rng, 4.6, 0.8)
    _, _, fine_gap = _cells(rng, 2.8, 0.5)
    coarse = smoothstep(lobes, -0.5, 0.9)
    grains = coarse * smoothstep(gap, 0.1, 1.1) + (1 - coarse) * 0.6 * smoothstep(fine_gap, 0.1, 0.6)
    height = 1.5 * grains * (0.5 + coarse * _per_cell(rng, coarse_cells)) + 1.4 * blur(lobes, 2)
    shade = 0.12 + 0.62 * _hillshade(height) + 0.14 * lobes * 0.6 + 0.16 * coarse * (_per_cell(rng, coarse_cells) - 0.5)
    return tint(shade + 0.03 * noise(rng, SIZE, 0.3), (58, 58, 60), (204, 202, 196))


def diorite(rng: _Rng) -> Array:
    """Grey-green massive rock in sharp ridges with branching gullies and two crossing fracture sets."""
    relief, channels = _valleys(rng, 1.9, 0.025)
    strike = float(rng.uniform(0, 180))
    net = np.maximum(_joints(rng, strike, 34, 4), _joints(rng, strike + 55, 27, 4))
    height = 13 * relief + 0.5 * noise(rng, SIZE, 1.1) - 1.6 * net
    shade = 0.9 * _hillshade(height) + 0.14 * channels - 0.2 * net + 0.05
    return tint(shade + 0.03 * noise(rng, SIZE, 0.4), (34, 40, 38), (172, 178, 166))


def gabbro(rng: _Rng) -> Array:
    """Near-black blocky rock, low relief, a net of joints with brown fill and a pale vein."""
    relief, _ = _valleys(rng, 2.2)
    x, y = _grid()
    strike = float(rng.uniform(0, 90))
    net = np.maximum(_joints(rng, strike, 30, 4), _joints(rng, strike + 83, 38, 4))
    _, _, rim = _cells(rng, 11, 0.6)
    height = 6 * relief + 1.2 * smoothstep(rim, 0.2, 3) - 2.4 * net + 0.6 * noise(rng, SIZE, 1.0)
    shade = 0.72 * _hillshade(height) + 0.07 * noise(rng, SIZE, 1.7) - 0.12 * net + 0.03
    rgb = tint(shade, (16, 19, 22), (116, 118, 114))
    rgb = mix(rgb, (112, 88, 62), 0.6 * net * smoothstep(noise(rng, SIZE, 1.4), -0.2, 1.2))
    _, across = rotate(x - SIZE / 2, y - SIZE / 2, strike + 35)
    vein = 1 - smoothstep(np.abs(across + 4 * noise(rng, SIZE, 1.9) - float(rng.uniform(-50, 50))), 0.8, 2.2)
    return mix(rgb, (176, 172, 160), 0.7 * vein)


def granite(rng: _Rng) -> Array:
    """Pinkish rounded domes and boulders split by two joint sets at right angles, sand in the joints."""
    strike = float(rng.uniform(10, 80))
    x, y = _grid()
    along, across = rotate(x, y, strike)
    along, across = along + 9 * noise(rng, SIZE, 2.0), across + 9 * noise(rng, SIZE, 2.0)
    main = np.minimum(np.abs(np.sin(np.pi * along / 71)), np.abs(np.sin(np.pi * across / 52)))
    minor = np.minimum(np.abs(np.sin(np.pi * along / 23)), np.abs(np.sin(np.pi * across / 17)))
    domes, blocks = np.sqrt(main), np.sqrt(minor)
    open_joint = smoothstep(noise(rng, SIZE, 1.9), -0.9, 0.6)
    height = 16 * blur(domes, 1.5) + 4.5 * blur(blocks, 0.8) * open_joint + 3.5 * noise(rng, SIZE, 1.9)
    shade = 0.14 + 0.72 * _hillshade(height) + 0.1 * domes + 0.03 * noise(rng, SIZE, 0.4)
    rgb = tint(shade, (92, 70, 66), (236, 206, 190))
    cover = main + 0.10 * noise(rng, SIZE, 1.8) + 0.2 * (1 - open_joint)
    return mix(rgb, (206, 184, 152), 0.8 * smoothstep(cover, 0.2, 0.06))


def gravel(rng: _Rng) -> Array:
    """Pale braided wash: threads split and join around bars, smooth fine grain, scattered shrubs."""
    x, y = _grid()
    flow = float(rng.uniform(25, 65))
    _, across = rotate(x, y, flow)
    bars = noise(rng, SIZE, 1.6, 5, flow)
    threads = np.zeros((SIZE, SIZE))
    for width, wave in ((26.0, 10), (37.0, 13), (53.0, 16)):
        path = across + wave * noise(rng, SIZE, 2.0, 2.4, flow)
        threads = np.maximum(threads, 1 - smoothstep(np.abs(path % width - width / 2), 0.6, 3.2))
    shade = 0.6 + 0.09 * bars + 0.24 * threads + 0.5 * (_hillshade(1.4 * bars - 1.5 * blur(threads, 1)) - 0.5)
    shade = _shrubs(rng, shade, 230) + 0.025 * noise(rng, SIZE, 0.3)
    return tint(shade - 0.1, (118, 104, 88), (232, 224, 208))


def slate(rng: _Rng) -> Array:
    """Blue-grey rock with very close parallel cleavage, silvery streaks and sharp parallel ridges."""
    x, y = _grid()
    strike = float(rng.uniform(105, 160))
    _, across = rotate(x, y, strike)
    bent = across + 7 * noise(rng, SIZE, 2.1)
    cleavage = blur(noise(rng, SIZE, 0.9, 22, strike), 0.5)
    ridges = np.abs((bent / 33) % 1 - 0.42)
    relief, channels = _valleys(rng, 2.1, 0.02, strike + 90)
    height = 15 * blur(ridges, 0.8) + 0.4 * cleavage + 4 * relief
    shade = 0.74 * _hillshade(height) + 0.06 * cleavage + 0.035 * np.sin(bent * 1.6) - 0.08 * channels
    silver = smoothstep(cleavage + 0.6 * noise(rng, SIZE, 1.6), 1.3, 2.4)
    return mix(tint(shade + 0.08, (30, 35, 44), (150, 157, 168)), (206, 210, 216), 0.5 * silver)


def soil(rng: _Rng) -> Array:
    """Smooth yellow-brown ground in field plots with plough lines, a pale track and dots of shrubs."""
    x, y = _grid()
    turn = float(rng.uniform(-20, 20))
    along, across = rotate(x, y, turn)
    columns, lines = np.floor((along + 20) / 84), np.floor((across + 35) / 97)
    plot = (columns * 7 + lines * 13).astype(int) % 5
    tone = rng.permutation(np.linspace(-0.13, 0.13, 5))[plot]
    row = np.where(plot % 2 == 0, along, across) + 0.6 * noise(rng, SIZE, 1.8)
    shade = 0.52 + tone + 0.055 * np.sin(row * 1.35) + 0.07 * noise(rng, SIZE, 1.8)
    edge = np.minimum(np.abs((along + 20) % 84), np.abs((across + 35) % 97))
    shade = shade - 0.16 * (1 - smoothstep(edge, 0.5, 2.2))
    track = 1 - smoothstep(np.abs(across + 35 - 97 - 4 + 2.5 * noise(rng, SIZE, 2.0)), 1.5, 3)
    shade = _shrubs(rng, shade + 0.34 * track, 90)
    return tint(shade + 0.02 * noise(rng, SIZE, 0.4), (96, 74, 46), (218, 192, 146))


def water(rng: _Rng) -> Array:
    """Open water with fine ripples and sun glint, darkening away from a pale wet shore in one corner."""
    x, y = _grid()
    wind = float(rng.uniform(-30, 30))
    shore_angle = float(rng.choice([35, 55, 215, 235]))
    toward, _ = rotate(x - SIZE / 2, y - SIZE / 2, shore_angle)
    depth = 84 - toward + 9 * noise(rng, SIZE, 1.9)
    ripple = noise(rng, SIZE, 0.9, 5, wind)
    shade = 0.32 + 0.42 * np.exp(-np.maximum(depth, 0) / 26) + 0.035 * ripple + 0.04 * noise(rng, SIZE, 2.0)
    rgb = tint(shade, (10, 34, 54), (112, 164, 158))
    rgb = mix(rgb, (226, 234, 236), 0.7 * smoothstep(ripple + 0.7 * noise(rng, SIZE, 2.0), 1.9, 3.2))
    sand = tint(0.55 + 0.012 * -depth + 0.06 * noise(rng, SIZE, 1.2), (112, 96, 74), (226, 208, 172))
    wet = smoothstep(depth, 1.5, -1.5)[..., None]
    foam = 0.5 * np.exp(-(((depth - 1.2) / 1.1) ** 2))
    return mix(rgb * (1 - wet) + sand * wet, (232, 236, 232), foam)


SURFACES: dict[str, Callable[[_Rng], Array]] = {
    "AR": sandstone,
    "BR": breccia,
    "CR": carbonate,
    "CG": conglomerate,
    "CS": crushed_stone,
    "DI": diorite,
    "GB": gabbro,
    "GT": granite,
    "GV": gravel,
    "SL": slate,
    "SO": soil,
    "WA": water,
}


def tile(rng: _Rng, code: str) -> Image.Image:
    """A 224 x 224 tile of the surface with that code."""
    return to_image(SURFACES[code](rng))
