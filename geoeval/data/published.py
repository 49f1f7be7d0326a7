"""What the papers say of their data, for `geoeval.data.checks` to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from geoeval.benchmarks.lithobench import LEVELS


@dataclass(frozen=True)
class Published:
    """What is published of one dataset.

    Attributes:
        rows: How many there are; None where it is not published.
        counts: Column -> value -> rows.
        duplicates: Items that repeat another's pictures and question; None where it is not published.
        several: Items that accept several verdicts; None where it is not published.
        random: Accuracy of a random letter, in percent with one decimal; None where there is none.
        always_answer: Accuracy of always answering, likewise.
    """

    rows: int | None = None
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    duplicates: int | None = None
    several: int | None = None
    random: float | None = None
    always_answer: float | None = None


PUBLISHED: Mapping[str, Published] = {
    "lithobench_mcq": Published(4000, {"level": dict.fromkeys(LEVELS, 800)}),
    "lithobench_open": Published(6000, {"level": dict.fromkeys(LEVELS, 1200)}),
    "georefusal": Published(587, {"follow_up": {"no": 584, "yes": 3}}, duplicates=1, several=15, always_answer=50.3),
    "forge_workveri": Published(947, {"modality": {"photo": 451, "three_view": 496}}, random=25.0),
    "forge_assyveri": Published(1166, {"modality": {"photo": 857, "three_view": 309}}, random=29.5),
    "forge_surfinsp": Published(830, {"modality": {"three_view": 830}}, random=20.0),
    "forge_missing_part": Published(377, random=23.3),
    "forge_grounding": Published(random=16.7),
}
