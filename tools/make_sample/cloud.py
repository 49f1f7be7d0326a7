"""One workpiece as a point cloud in three views, whole or with a crack, a cut, a deformation or a dent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tools.make_sample.draw import Array
from tools.make_sample.parts import Part
from tools.make_sample.views import VIEWS, faces_of, sheet_of

_COUNT = 60_000
_SCALE = 2
_BLUE = np.array((36, 62, 232))
_INSIDE = np.array((168, 182, 250))  # the far wall, seen from within through a gap
_LIGHT = np.array((-0.45, 0.55, 0.7))  # right, up, towards the viewer

Warp = Callable[[Array], Array]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Site:
    """Where a defect is: a frame on the surface of a part.

    Attributes:
        origin: A point of the surface.
        along, across, inward: Unit vectors; the first two lie in the surface.
        size: Half the smallest dimension of the part: what is deep or wide is so in relation to it.
        reach: Half the largest dimension.
    """

    origin: Array
    along: Array
    across: Array
    inward: Array
    size: float
    reach: float

    def local(self, points: Array) -> tuple[Array, Array, Array]:
        """Coordinates along, across and inward of points (n, 3)."""
        offset = points - self.origin
        return offset @ self.along, offset @ self.across, offset @ self.inward


def _sample(rng: np.random.Generator, part: Part) -> tuple[Array, Array, Array]:
    """Points spread evenly over the surface, and two vectors that span the surface there."""
    quads = np.concatenate([faces_of(solid) for solid in part.solids])
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    area = np.linalg.norm(np.cross(first, second), axis=1)
    chosen = rng.choice(len(area), _COUNT, p=area / area.sum())
    u, v = np.sort(rng.random((2, _COUNT, 1)), axis=0)
    points = triangles[chosen, 0] + u * first[chosen] + (v - u) * second[chosen]
    return points, first[chosen] / np.sqrt(area[chosen, None]), second[chosen] / np.sqrt(area[chosen, None])


def _site(rng: np.random.Generator, part: Part, points: Array, normals: Array, rotation: Array) -> Site:
    """A place that faces the front view, not too far from the middle of the part."""
    span = points.max(axis=0) - points.min(axis=0)
    middle = np.linalg.norm((points - points.mean(axis=0)) / span, axis=1)
    shown = (normals @ rotation.T) @ np.array((0.25, -0.9, 0.35))
    best = np.argsort(-shown + 2 * np.abs(middle - 0.28))[:40]
    index = int(best[rng.integers(len(best))])
    inward = -normals[index]
    # The longest direction of the part that lies in the surface.
    axis = np.eye(3)[int(np.argmax(span * np.sqrt(1 - np.minimum(inward**2, 1))))]
    along = axis - inward * (axis @ inward)
    along /= np.linalg.norm(along)
    return Site(points[index], along, np.cross(inward, along), inward, float(span.min()) / 2, float(span.max()) / 2)


def _whole(points: Array) -> Array:
    return points


def _dent(site: Site) -> Warp:
    """A smooth hollow."""
    radius, depth = min(1.5 * site.size, 0.5 * site.reach), 0.75 * site.size

    def warp(points: Array) -> Array:
        along, across, inward = site.local(points)
        near = np.clip(1 - (along**2 + across**2) / radius**2, 0, 1) ** 1.5 * (inward < 1.1 * site.size)
        return points + np.outer(near * depth, site.inward)

    return warp


def _deformation(site: Site) -> Warp:
    """The whole part bent and twisted a little."""

    def warp(points: Array) -> Array:
        t = points @ site.along / site.reach
        bend = 0.5 * site.reach * (t**2 - 0.3)
        turn = 0.5 * t
        a, b, c = points @ site.along, points @ site.across, points @ site.inward
        b, c = b * np.cos(turn) - c * np.sin(turn), b * np.sin(turn) + c * np.cos(turn)
        return np.outer(a * 0.92, site.along) + np.outer(b + bend, site.across) + np.outer(c + 0.35 * bend, site.inward)

    return warp


def _cut(site: Site, slant: float) -> Warp:
    """A straight slot with a flat floor, across the part."""
    half, depth = 0.14 * site.reach, 0.62 * site.size

    def warp(points: Array) -> Array:
        along, across, inward = site.local(points)
        slot = (np.abs(along + slant * across) < half) & (inward < depth)
        return points + np.outer(np.where(slot, depth - inward, 0), site.inward)

    return warp


def _crack_gap(rng: np.random.Generator, site: Site) -> Callable[[Array], Mask]:
    """Which points a crack takes away: a jagged line that opens towards its middle, with a branch."""
    length = 0.72 * site.reach
    knots = np.linspace(-length, length, 12)
    jags = rng.uniform(-0.22, 0.22, 12) * site.size + 0.3 * site.size * knots / length

    def gone(points: Array) -> Mask:
        along, across, inward = site.local(points)
        width = 0.13 * site.size * np.clip(1.15 - np.abs(along) / length, 0, 1)
        main = np.abs(across - np.interp(along, knots, jags)) < width
        branch = np.abs(across - jags[6] - 0.9 * (along - knots[6])) < 0.7 * width
        branch &= (along > knots[6]) & (along < knots[8])
        return np.asarray((main | branch) & (inward < 0.9 * site.size) & (np.abs(along) < length))

    return gone


def point_cloud(rng: np.random.Generator, part: Part, rotation: Array, defect: str) -> tuple[Array, Array]:
    """Points of a part in space and the surface normals there, both (n, 3).

    Args:
        rng: Source of the points and of the defect.
        part: The workpiece.
        rotation: How it is turned.
        defect: "normal", "crack", "cut", "deformation" or "dent".
    """
    points, first, second = _sample(rng, part)
    normals = np.cross(first, second)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    site = _site(rng, part, points, normals, rotation)
    if defect == "crack":
        kept = ~_crack_gap(rng, site)(points)
        points, first, second = points[kept], first[kept], second[kept]
    warp = {
        "dent": _dent(site),
        "deformation": _deformation(site),
        "cut": _cut(site, float(rng.uniform(-0.25, 0.25))),
    }.get(defect, _whole)
    step = 1e-3 * site.size
    bent = warp(points)
    normals = np.cross(warp(points + step * first) - bent, warp(points + step * second) - bent)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    if defect == "cut":
        bent, normals = _with_walls(rng, points, bent, normals, site)
    bent, normals = bent @ rotation.T, normals @ rotation.T
    return bent - (bent.max(axis=0) + bent.min(axis=0)) / 2, normals


def _with_walls(rng: np.random.Generator, points: Array, cut: Array, normals: Array, site: Site) -> tuple[Array, Array]:
    """A cut with its side walls: points spread between the old surface and the floor at the rim of the slot."""
    moved = np.linalg.norm(cut - points, axis=1)
    along = (points - site.origin) @ site.along
    edge = np.max(np.abs(along[moved > 0]), initial=0.0)
    rim = (moved > 0.05 * site.size) & (np.abs(along) > 0.8 * edge)
    deep = np.repeat(points[rim], 3, axis=0), np.repeat(cut[rim], 3, axis=0)
    share = rng.random((len(deep[0]), 1))
    walls = deep[0] * share + deep[1] * (1 - share)
    sides = -np.sign(np.repeat(along[rim], 3))[:, None] * site.along
    return np.concatenate([cut, walls]), np.concatenate([normals, sides])


def cloud_views(points: Array, normals: Array, edge: int) -> Image.Image:
    """The cloud in front, side and top view.

    Args:
        points: (n, 3), around the origin.
        normals: Their surface normals.
        edge: Edge of each panel in pixels.
    """
    mm = 2.16 * float(np.abs(points).max())
    fine, panels = edge * _SCALE, []
    for (right, rs), (up, us), (near, ns) in VIEWS.values():
        columns = ((0.5 + rs * points[:, right] / mm) * fine).astype(int)
        rows = ((0.5 - us * points[:, up] / mm) * fine).astype(int)
        seen = np.stack([rs * normals[:, right], us * normals[:, up], ns * normals[:, near]], axis=1)
        tone = 0.3 + 0.7 * np.clip(seen @ _LIGHT / np.linalg.norm(_LIGHT), 0, 1)
        colour = np.where(seen[:, 2:] > -0.02, _BLUE * tone[:, None], _INSIDE)
        panel = np.full((fine, fine, 3), 255.0)
        order = np.argsort(ns * points[:, near], kind="stable")
        for dy in range(_SCALE + 1):  # later points, which are nearer, paint over earlier ones
            for dx in range(_SCALE + 1):
                panel[rows[order] + dy, columns[order] + dx] = colour[order]
        panels.append(Image.fromarray(panel.astype(np.uint8)).resize((edge, edge), Image.Resampling.BOX))
    return sheet_of(panels)
