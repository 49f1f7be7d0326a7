"""The colours of the page and of its plots, one name in both schemes."""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "paper": "#fbfaf7",
    "card": "#ffffff",
    "ink": "#1d1d1b",
    "muted": "#5b5952",
    "rule": "#d9d5cb",
    "track": "#ebe8e0",
    "accent": "#1f5a7a",
    "on-accent": "#fefefe",
    "good": "#1b683a",
    "bad": "#a1261e",
    "warn": "#fbe7a8",
    "on-warn": "#4a3600",
    "mark": "#ffe27a",
    "s1": "#20607f",
    "s2": "#b5531d",
    "s3": "#4f7a2b",
    "s4": "#7a4a8d",
    "s5": "#8a6b00",
    "s6": "#5c5c5c",
}
DARK: Mapping[str, str] = {
    "paper": "#161715",
    "card": "#1d1f1c",
    "ink": "#e9e7e1",
    "muted": "#aaa79d",
    "rule": "#3b3d38",
    "track": "#2b2d29",
    "accent": "#8cc4e4",
    "on-accent": "#10222c",
    "good": "#8fd3a4",
    "bad": "#f4a8a0",
    "warn": "#473800",
    "on-warn": "#ffe9a8",
    "mark": "#6a5500",
    "s1": "#7fb9da",
    "s2": "#e89a68",
    "s3": "#a0cb84",
    "s4": "#c79fd9",
    "s5": "#dcbf5c",
    "s6": "#b9b9b9",
}
TEXT_PAIRS = (
    *((text, ground) for text in ("ink", "muted", "accent", "good", "bad") for ground in ("paper", "card")),
    *(("on-accent", "accent"), ("on-warn", "warn"), ("ink", "mark"), ("ink", "track"), ("muted", "track")),
)
"""Text and its ground wherever the page has text; each needs a contrast of 4.5."""

SERIES = ("s1", "s2", "s3", "s4", "s5", "s6")


def series(key: int) -> str:
    """The colour name of a model; names repeat, so its number stands beside it everywhere."""
    return SERIES[(key - 1) % len(SERIES)]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast of two colours ``#rrggbb``, 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def variables(colours: Mapping[str, str]) -> str:
    """CSS custom properties."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def _luminance(colour: str) -> float:
    channels = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
