"""Seeded randomness, noise fields and PNG bytes shared by all pictures."""

from __future__ import annotations

import hashlib
import io
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFont

Array: TypeAlias = NDArray[np.float64]
RGB: TypeAlias = tuple[int, int, int]


def digest(text: str, length: int = 10) -> str:
    """First hex digits of the SHA-1 of a text: an opaque, stable name."""
    return hashlib.sha1(text.encode("utf-8")).hexdigest()[:length]


def rng_for(name: str) -> np.random.Generator:
    """Random generator of one item: depends on its name only, never on the order in which items are made."""
    return np.random.default_rng(int(digest(name, 16), 16))


def font(size: int) -> ImageFont.FreeTypeFont:
    """The typeface that comes with Pillow, so that no font of the machine matters.

    Raises:
        RuntimeError: Pillow was built without FreeType.
    """
    face = ImageFont.load_default(size=size)
    if not isinstance(face, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow without FreeType cannot draw the sample's letters")
    return face


def noise(rng: np.random.Generator, size: int, beta: float, stretch: float = 1.0, angle: float = 0.0) -> Array:
    """Fractal noise field, (size, size), mean 0 and standard deviation 1.

    Args:
        rng: Source of the phases.
        size: Edge in pixels.
        beta: Amplitude falls with the frequency to this power: 0.6 is grainy, 2 is cloudy.
        stretch: Elongation of the pattern, > 1 for streaks.
        angle: Direction of the streaks in degrees, 0 along x.
    """
    fy, fx = np.meshgrid(np.fft.fftfreq(size), np.fft.rfftfreq(size), indexing="ij")
    along, across = rotate(fx, fy, angle)
    radius = np.hypot(along * stretch, across)
    radius[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.standard_normal((size, size))) / radius**beta
    field = np.fft.irfft2(spectrum, (size, size))
    return np.asarray((field - field.mean()) / field.std())


def rotate(x: Array, y: Array, angle: float) -> tuple[Array, Array]:
    """Coordinates along and across a direction given in degrees."""
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return x * cos + y * sin, y * cos - x * sin


def blur(field: Array, sigma: float) -> Array:
    """Gaussian blur with wrapped borders, sigma in pixels."""
    fy, fx = np.fft.fftfreq(field.shape[0]), np.fft.rfftfreq(field.shape[1])
    kernel = np.exp(-2 * (np.pi * sigma) ** 2 * (fy[:, None] ** 2 + fx[None, :] ** 2))
    return np.asarray(np.fft.irfft2(np.fft.rfft2(field) * kernel, field.shape))


def smoothstep(value: Array, low: float, high: float) -> Array:
    """0 below ``low``, 1 above ``high``, smooth between; ``low`` may be the larger of the two."""
    t = np.clip((value - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t))


def tint(shade: Array, dark: RGB, light: RGB) -> Array:
    """Colour ramp (h, w, 3) on 0-255: shade 0 gives ``dark``, 1 gives ``light``."""
    t = np.clip(shade, 0, 1)[..., None]
    return np.asarray(np.array(dark) * (1 - t) + np.array(light) * t)


def mix(rgb: Array, colour: RGB, weight: Array) -> Array:
    """Paint a colour over a picture (h, w, 3) with an opacity (h, w) of 0-1."""
    w = weight[..., None]
    return np.asarray(rgb * (1 - w) + np.array(colour) * w)


def to_image(rgb: Array) -> Image.Image:
    """RGB picture from an array on 0-255."""
    return Image.fromarray(np.clip(rgb + 0.5, 0, 255).astype(np.uint8))


def png_bytes(image: Image.Image, colours: int = 128) -> bytes:
    """Palette PNG without dithering: textures keep their look at a third of the bytes.

    The colours are chosen by how far apart they are rather than by area, so that small bright objects keep theirs.
    """
    coverage = Image.Quantize.MAXCOVERAGE
    small = image.convert("RGB").quantize(colours, method=coverage, kmeans=3, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
