"""SAMPLE of FORGE ASSYVERI: which part of an assembly is extra, mismatched or incorrect?"""

from __future__ import annotations

from collections.abc import Iterator

from tools.make_sample.draw import digest
from tools.make_sample.forge_assemblies import ASSEMBLIES, STRANGER
from tools.make_sample.forge_context import in_context
from tools.make_sample.forge_layout import LETTERS, in_views, photo_of, three_view_of, where
from tools.make_sample.parts import Part
from tools.make_sample.table import Row

MODALITIES = ("photo", "three_view")
_ASKED = {
    "extra": "One part more than that is there. Which one is extra?",
    "mismatched": "One part has a size that does not fit the others. Which one is it?",
    "incorrect": "One part is of another kind than it should be. Which one is it?",
}
_SIZES = {"extra": 6.0, "mismatched": 8.0, "incorrect": 10.0}
_SHOWN = (5.0, 12.0)
"""Diameters of the parts in what stands before a question; no question has them."""


def _parts(scenario: str, kind: str, d: float, turn: int) -> tuple[list[Part], int]:
    """The parts in order of their letters, and which of them is wrong; ``turn`` varies both."""
    assembly = ASSEMBLIES[scenario]
    names = assembly.verified()
    parts = [assembly.parts[name](d) for name in names]
    wrong = (2 * turn + len(names)) % len(names)
    if kind == "extra":
        wrong = turn % (len(names) + 1)
        parts.insert(wrong, STRANGER(d) if turn % 2 else assembly.parts[names[-1]](d * 1.7))
    elif kind == "mismatched":
        parts[wrong] = assembly.parts[names[wrong]](d * (0.55 if turn % 2 else 1.75))
    else:
        parts[wrong] = STRANGER(d)
    shift = (turn + len(scenario + kind)) % len(parts)
    return parts[shift:] + parts[:shift], (wrong - shift) % len(parts)


def _row(modality: str, scenario: str, kind: str, d: float, turn: int) -> Row:
    name = f"assyveri {modality} {scenario} {kind} {d:g}"
    parts, wrong = _parts(scenario, kind, d, turn)
    if modality == "photo":
        placed, png = photo_of(name, parts)
        sentence = where(placed)
    else:
        sentence, png = in_views(len(parts)), three_view_of(name, parts)
    assembly = ASSEMBLIES[scenario]
    wanted = f"A {assembly.name} is made of: {', '.join(assembly.verified())}; one of each, all for M{d:g}."
    return Row(
        id=f"assyveri-{digest(name)}",
        question=f"{sentence} {wanted} {_ASKED[kind]}",
        png=png,
        gold=(LETTERS[wrong],),
        cluster=f"{scenario}-m{d:g}".lower(),
        modality=modality,
        choices=LETTERS[: len(parts)],
        strata={"scenario": scenario},
    )


def _reference(modality: str, scenario: str) -> tuple[str, tuple[bytes, ...]]:
    """Complete assemblies of two sizes, with a caption each."""
    assembly, texts, pngs = ASSEMBLIES[scenario], ["For reference, complete assemblies of this kind."], []
    for d in _SHOWN:
        name, parts = f"reference {modality} {scenario} {d:g}", [assembly.parts[n](d) for n in assembly.verified()]
        pngs.append(
            photo_of(name, parts, 176)[1]
            if modality == "photo"
            else three_view_of(name, parts, lettered=False, edge=176)
        )
        texts.append(f"<image> A complete {assembly.name} for M{d:g}.")
    return "\n\n".join(texts), tuple(pngs)


def rows() -> Iterator[Row]:
    """The 24 items: 2 modalities x 4 scenarios x 3 kinds."""
    for modality in MODALITIES:
        for n, scenario in enumerate(ASSEMBLIES):
            shown = [
                _row(modality, scenario, kind, d, turn)
                for turn, (kind, d) in enumerate(zip(("mismatched", "extra"), _SHOWN, strict=True), n)
            ]
            reference = _reference(modality, scenario)
            for k, (kind, d) in enumerate(_SIZES.items()):
                row = _row(modality, scenario, kind, d, turn=k + n + 3 * (modality == "photo"))
                yield in_context("forge_assyveri", row, shown, {"ref_cond": reference})
