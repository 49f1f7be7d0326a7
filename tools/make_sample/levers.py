"""What is done to a picture so that a question can no longer, or only just, be answered from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from PIL import Image

from tools.make_sample.draw import Array, noise, smoothstep, to_image

Box: TypeAlias = tuple[int, int, int, int]
Edit: TypeAlias = Callable[[Image.Image, np.random.Generator], Image.Image]


def _cover(rng: np.random.Generator, box: Box, size: int, fringe: float) -> Array:
    """Opacity (size, size) of a rounded blob: 1 in the whole box, fading to 0 within a ragged fringe around it."""
    rows, columns = np.mgrid[0:size, 0:size].astype(float)
    left, top, right, bottom = box
    half_w, half_h = (right - left) / 2, (bottom - top) / 2
    # a superellipse of exponent 4 through the corners of the box
    dx, dy = np.abs(columns - (left + right) / 2) / half_w, np.abs(rows - (top + bottom) / 2) / half_h
    beyond = ((dx**4 + dy**4) ** 0.25 / 2**0.25 - 1) * min(half_w, half_h)
    reach = fringe * (0.25 + smoothstep(noise(rng, size, 1.7), -1.5, 1.8))
    return 1 - smoothstep(beyond / reach, 0, 1)


def blackout(box: Box) -> Edit:
    """Lost data: a black rectangle."""

    def edit(image: Image.Image, _: np.random.Generator) -> Image.Image:
        hidden = image.copy()
        hidden.paste((0, 0, 0), box)
        return hidden

    return edit


def cloud(box: Box) -> Edit:
    """An opaque cloud over a box, with ragged edges."""

    def edit(image: Image.Image, rng: np.random.Generator) -> Image.Image:
        opacity = _cover(rng, box, image.width, 24)[..., None]
        billows = 226 + 11 * noise(rng, image.width, 1.8)[..., None]
        return to_image(np.asarray(image).astype(float) * (1 - opacity) + billows * opacity)

    return edit


def saturate(box: Box) -> Edit:
    """Overexposure: pure white in a box, with a glow around it."""

    def edit(image: Image.Image, rng: np.random.Generator) -> Image.Image:
        glow = 255 * _cover(rng, box, image.width, 26)[..., None]
        return to_image(np.asarray(image).astype(float) + glow)

    return edit


def truncate(box: Box) -> Edit:
    """The picture ends early: only the box is kept."""
    return lambda image, _: image.crop(box)


def drop_channels() -> Edit:
    """Only one panchromatic band is left, so colours are gone."""
    return lambda image, _: image.convert("L").convert("RGB")


def downsample(factor: int) -> Edit:
    """Pixels ``factor`` times as coarse, shown at the old size."""

    def edit(image: Image.Image, _: np.random.Generator) -> Image.Image:
        small = image.resize((image.width // factor, image.height // factor), Image.Resampling.BOX)
        return small.resize(image.size, Image.Resampling.NEAREST)

    return edit
