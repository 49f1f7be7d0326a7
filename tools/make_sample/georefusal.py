"""SAMPLE of GeoRefusalBench: questions about scenes from above, some of which should not be answered."""

from __future__ import annotations

from collections.abc import Iterator

from tools.make_sample.draw import digest, png_bytes, rng_for
from tools.make_sample.georefusal_cases import CASES
from tools.make_sample.scenes import SCENES
from tools.make_sample.table import Row

_SETS = "ABC"


def rows() -> Iterator[Row]:
    """All items; those with an untouched picture share the bytes of their scene."""
    scenes = {name: draw(rng_for(f"scene {name}")) for name, draw in SCENES.items()}
    clean = {name: png_bytes(image) for name, image in scenes.items()}
    for k, case in enumerate(CASES):
        key = f"{case.scene} {case.lever} {case.intensity} {case.question}"
        png = clean[case.scene]
        if case.edit:
            png = png_bytes(case.edit(scenes[case.scene], rng_for(key)))
        batch = _SETS[k % len(_SETS)]
        yield Row(
            id=f"{batch}-{digest(key)}",
            question=f"{case.question} {case.follow_up}".strip(),
            png=png,
            gold=case.gold,
            cluster=f"scene-{case.scene}",
            modality="scene",
            strata={
                "set": batch,
                "verdict": case.gold[0],
                "category": case.category,
                "intensity": case.intensity,
                "lever": case.lever,
                "follow_up": "yes" if case.follow_up else "no",
            },
        )
