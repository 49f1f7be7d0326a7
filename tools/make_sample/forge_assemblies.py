"""The assemblies of the SAMPLE of FORGE ASSYVERI and missing part: what belongs together, and what does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tools.make_sample.parts import Part, clamp, cone, nut, pin, plug, screw, sleeve, spring_washer, stud, washer


@dataclass(frozen=True)
class Assembly:
    """Parts that belong together at a thread diameter.

    Attributes:
        name: What it is called in a question.
        parts: Name of each part -> how it is made for a diameter.
        optional: Of them, those that the verification items leave out.
    """

    name: str
    parts: Mapping[str, Callable[[float], Part]]
    optional: frozenset[str] = frozenset()

    def verified(self) -> list[str]:
        """The names of the parts of a verification item."""
        return [name for name in self.parts if name not in self.optional]


ASSEMBLIES: Mapping[str, Assembly] = {
    "MES": Assembly(
        "metal expansion anchor",
        {
            "bolt": lambda d: screw(d, 4.6 * d),
            "expansion sleeve": lambda d: sleeve(d, 3.4 * d),
            "cone": cone,
            "hexagon nut": nut,
            "washer": washer,
            "spring washer": spring_washer,
        },
        frozenset({"cone"}),
    ),
    "PES": Assembly(
        "plastic expansion anchor",
        {"plastic plug": lambda d: plug(1.5 * d, 5.2 * d), "screw": lambda d: screw(d, 4.8 * d), "washer": washer},
    ),
    "CNC": Assembly(
        "clamping set of a milling machine",
        {
            "clamping strap": clamp,
            "stud": lambda d: stud(d, 5.6 * d),
            "hexagon nut": nut,
            "washer": washer,
            "square nut": lambda d: nut(d, sides=4),
        },
    ),
    "CHS": Assembly(
        "cup-head screw with its locking parts",
        {"screw": lambda d: screw(d, 4.2 * d), "hexagon nut": nut, "washer": washer, "spring washer": spring_washer},
    ),
}
STRANGER: Callable[[float], Part] = lambda d: pin(0.9 * d, 3.2 * d)  # noqa: E731 - made like the parts above
"""A part that belongs to none of the assemblies."""
