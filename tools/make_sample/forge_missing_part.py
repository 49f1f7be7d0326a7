"""SAMPLE of FORGE missing part: which part of an assembly is not in the picture?"""

from __future__ import annotations

from collections.abc import Iterator

from tools.make_sample.draw import digest, rng_for
from tools.make_sample.forge_assemblies import ASSEMBLIES
from tools.make_sample.forge_layout import LETTERS, photo_of, three_view_of
from tools.make_sample.table import Row

_SCENARIOS = ("MES", "PES", "CNC")
_SIZES = (6.0, 7.0, 8.0, 10.0)
_VIEWS = {"photo": "The photo shows", "three_view": "The front, side and top view show"}


def rows() -> Iterator[Row]:
    """The 24 items: 2 modalities x 3 scenarios x 4 sizes."""
    for modality, shows in _VIEWS.items():
        for scenario in _SCENARIOS:
            assembly = ASSEMBLIES[scenario]
            for k, d in enumerate(_SIZES):
                name = f"missing {modality} {scenario} {d:g}"
                options = [str(part) for part in rng_for(name).permutation(list(assembly.parts))]
                missing = (k + 2 * (modality == "photo")) % len(options)
                parts = [assembly.parts[part](d) for part in options if part != options[missing]]
                yield Row(
                    id=f"missing-{digest(name)}",
                    question=f"{shows} a {assembly.name} of which one part is missing. Which one?",
                    png=photo_of(name, parts)[1] if modality == "photo" else three_view_of(name, parts, lettered=False),
                    gold=(LETTERS[missing],),
                    cluster=f"{scenario}-m{d:g}".lower(),
                    modality=modality,
                    choices=LETTERS[: len(options)],
                    options=tuple(options),
                    strata={"scenario": scenario},
                )
