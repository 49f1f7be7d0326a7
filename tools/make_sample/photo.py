"""A photograph of workpieces on a bench: height field, reflected studio lights and soft shadows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from tools.make_sample.draw import Array, blur, noise, rotate, smoothstep, tint, to_image
from tools.make_sample.parts import Part, Prism, Turned

SIZE = 288
_SCALE = 2  # pixels are rendered twice as fine and averaged
_EDGE = SIZE * _SCALE

# material -> (reflected colour, own colour): metals mirror the lights, plastics mostly show their own colour
_MATERIALS = {
    "steel": ((232, 234, 238), (44, 45, 49)),
    "knurled": ((214, 216, 220), (36, 37, 41)),
    "brass": ((226, 196, 132), (46, 38, 20)),
    "plastic": ((104, 108, 114), (34, 36, 40)),
    "sleeve": ((92, 126, 190), (24, 52, 112)),
    "zinc": ((240, 226, 178), (66, 60, 40)),
    "nylon": ((226, 224, 214), (150, 148, 138)),
}
_NAMES = tuple(_MATERIALS)
# bench -> (dark, light, noise exponent, streak, noise amplitude)
_BENCHES = {
    "cloth": ((14, 14, 17), (44, 44, 49), 1.3, 1.0, 0.06),
    "mat": ((38, 66, 60), (92, 128, 118), 1.7, 1.0, 0.04),
    "wood": ((104, 76, 48), (186, 148, 104), 1.6, 9.0, 0.09),
    "plate": ((112, 117, 124), (176, 181, 187), 1.6, 12.0, 0.035),
}


@dataclass(frozen=True)
class Placed:
    """A part on the bench: centre in 0-1 of the picture from its top left corner, turned by ``angle`` degrees."""

    part: Part
    x: float
    y: float
    angle: float


def _turned_height(solid: Turned, u: Array, v: Array) -> tuple[Array, Array]:
    """Height above the bench in mm (0 outside) and material index of a lying solid of revolution."""
    u, v = rotate(u - solid.origin[0], v - solid.origin[1], solid.heading)
    height, material = np.zeros_like(u), np.zeros_like(u)
    floor = max(max(s.r0, s.r1) for s in solid.segments)
    for segment in solid.segments:
        t = (u - segment.start) / (segment.end - segment.start)
        radius = segment.r0 + (segment.r1 - segment.r0) * t
        if segment.pitch:
            crest = np.abs(((u + 0.25 * v) / segment.pitch) % 1 - 0.5) * 2
            radius = radius - 0.32 * segment.pitch * crest
        if segment.material == "knurled":
            radius = radius * (1 + 0.012 * np.sin(26 * np.arcsin(np.clip(v / radius, -1, 1))))
        inside = (t >= 0) & (t <= 1) & (np.abs(v) < radius)
        top = floor + np.sqrt(np.maximum(radius**2 - v**2, 0))
        height = np.where(inside, np.maximum(height, top), height)
        material = np.where(inside, _NAMES.index(segment.material), material)
    return height, material


def _prism_height(solid: Prism, u: Array, v: Array) -> tuple[Array, Array]:
    """Height above the bench in mm (0 outside) and material index of a plate with a hole."""
    rho, half, bore = np.hypot(u, v), solid.across / 2, solid.hole / 2
    if solid.sides:
        turns = np.arange(solid.sides // 2) * 360 / solid.sides
        edge = np.max([np.abs(rotate(u / solid.stretch, v, turn)[0]) for turn in turns], axis=0)
    else:
        edge = rho
    corner = edge if solid.stretch > 1 else rho
    bevel = solid.height - 0.55 * np.maximum(corner - 0.93 * half, 0) - 0.8 * np.maximum(1.14 * bore - rho, 0)
    inside = (edge < half) & (rho > bore) & ((np.abs(v) >= solid.slit / 2) | (u < 0))
    return np.where(inside, bevel, 0), np.full_like(u, _NAMES.index(solid.material))


def _relief(placed: Sequence[Placed], mm_per_pixel: float) -> tuple[Array, Array]:
    """Height in mm and material index of the whole picture."""
    height, material = np.zeros((_EDGE, _EDGE)), np.zeros((_EDGE, _EDGE))
    for item in placed:
        reach = item.part.extent / 2 / mm_per_pixel + 2
        left, right = (int(np.clip(item.x * _EDGE + side * reach, 0, _EDGE)) for side in (-1, 1))
        top, bottom = (int(np.clip(item.y * _EDGE + side * reach, 0, _EDGE)) for side in (-1, 1))
        window = np.s_[top:bottom, left:right]
        rows, columns = np.mgrid[window] + 0.5
        u, v = rotate((columns - item.x * _EDGE) * mm_per_pixel, (rows - item.y * _EDGE) * mm_per_pixel, item.angle)
        for solid in item.part.solids:
            h, m = _prism_height(solid, u, v) if isinstance(solid, Prism) else _turned_height(solid, u, v)
            higher = h > height[window]
            height[window], material[window] = (
                np.where(higher, h, height[window]),
                np.where(higher, m, material[window]),
            )
    return height, material


def _lights(height: Array, mm_per_pixel: float) -> Array:
    """What a mirror of this relief shows of the room, 0 to about 1.4: two softboxes, a bright ceiling, dark walls."""
    dy, dx = np.gradient(height, mm_per_pixel)
    norm = np.sqrt(dx**2 + dy**2 + 1)
    nx, ny, nz = -dx / norm, -dy / norm, 1 / norm
    rx, ry, rz = 2 * nz * nx, 2 * nz * ny, 2 * nz**2 - 1
    light = 0.12 + 0.50 * smoothstep(rz, -0.7, 1.0)
    for direction, sharpness, power in (
        ((-0.45, -0.62, 0.64), 8, 0.7),
        ((0.75, 0.15, 0.64), 22, 0.5),
        ((0.1, 0.85, 0.5), 16, 0.35),
    ):
        facing = np.maximum(rx * direction[0] + ry * direction[1] + rz * direction[2], 0)
        light = light + power * facing**sharpness
    return np.asarray(light)


def _shadow(height: Array, mm_per_pixel: float) -> Array:
    """Fraction of light that is missing on the bench, 0-1: a long soft shadow and a dark rim of contact."""
    cover = (height > 0).astype(float)
    shade, top = np.zeros_like(height), height.max()
    for level in np.linspace(0.1, 0.9, 6) * top:
        step = round(float(level / mm_per_pixel) * 0.55)
        shade += blur(np.roll((height > level).astype(float), (step, step), axis=(0, 1)), 4 + 0.5 * step) / 6
    return np.clip(0.62 * shade + 0.38 * blur(cover, 5), 0, 0.92)


def _bench(rng: np.random.Generator, kind: str) -> Array:
    """The bare surface under an uneven lamp."""
    dark, light, beta, streak, amplitude = _BENCHES[kind]
    rows, columns = np.mgrid[0:_EDGE, 0:_EDGE] / _EDGE
    lamp = 0.75 - 0.45 * np.hypot(columns - 0.35, rows - 0.3)
    texture = noise(rng, _EDGE, beta, streak, float(rng.uniform(-20, 20)))
    return tint(lamp + amplitude * blur(texture, 1.6), dark, light)


def photograph(
    rng: np.random.Generator, placed: Sequence[Placed], bench: str, mm: float, size: int = SIZE
) -> Image.Image:
    """Render parts on a bench.

    Args:
        rng: Source of the surface grain.
        placed: The parts; they should not overlap.
        bench: A key of the bench table: cloth, mat, wood, plate.
        mm: Edge of the pictured area in millimetres.
        size: Edge of the picture in pixels.
    """
    scale = mm / _EDGE
    height, material = _relief(placed, scale)
    light = _lights(height, scale) + 0.012 * noise(rng, _EDGE, 1.0)
    rgb = _bench(rng, bench) * (1 - _shadow(height, scale))[..., None]
    for index, (mirror, own) in enumerate(_MATERIALS.values()):
        here = (height > 0) & (material == index)
        rgb[here] = tint(light[here], own, mirror)
    return to_image(rgb).resize((size, size), Image.Resampling.BOX)
