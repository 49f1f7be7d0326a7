"""What is shown before a FORGE question where the release does not fix it: reference pictures, worked examples. Ours.

Both are drawn from other rows, never the question's own row nor one of its cluster. The order of the rows does not
matter and nothing is random: candidates are ranked by a hash of the two ids.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from geoeval.benchmarks import get_benchmark
from geoeval.benchmarks.forge.inspection import NORMAL
from geoeval.data.items import PLACEHOLDER, item_from_row
from geoeval.data.source import DataError

Row = Mapping[str, Any]

_REFERENCES = "For reference, pictures of other parts of this kind."
_EXAMPLES = "Here are worked examples."
_CENTRE = re.compile(r"(\[[01]?\.\d+, ?[01]?\.\d+\]) ?\(([A-F])\)")


class Shown(NamedTuple):
    """One setting of one item, for the columns ``<setting>`` and ``<setting>_images``.

    Attributes:
        text: With ``<image>`` at the place of each picture.
        images: The pictures in reading order, as the rows hold them.
    """

    text: str
    images: tuple[Any, ...]


def demonstrations(dataset: str, setting: str, support: Iterable[Row], query: Row, count: int = 2) -> Shown:
    """What a setting shows before one question.

    Args:
        dataset: E.g. "forge_workveri".
        setting: One of `geoeval.data.schema.settings_of`. "ref_cond": pictures with a caption of what is normal in
            them. The others are worked examples; "outside" takes them from other scenarios than the query's, the rest
            from its own, as far as there are any.
        support: Rows of the canonical layout to draw from. The query may be among them.
        query: The row that is asked. Drawn rows have its modality and its grounding probe.
        count: How many rows to draw: different answers and clusters where there are any.

    Raises:
        DataError: There are fewer rows than wanted.
    """
    usable = [row for row in support if _fits(row, query)]
    if setting == "ref_cond":
        usable = [row for row in usable if normal_caption(dataset, row)]
    if setting == "outside":
        usable = [row for row in usable if row["scenario"] != query["scenario"]]
    drawn = _draw(usable, query, count)
    if setting == "ref_cond":
        texts = [_REFERENCES, *(f"{_places(row)} {normal_caption(dataset, row)}" for row in drawn)]
    else:
        texts = [
            _EXAMPLES,
            *(f"Example {number}:\n{worked_example(dataset, row)}" for number, row in enumerate(drawn, 1)),
        ]
    return Shown("\n\n".join(texts), tuple(picture for row in drawn for picture in row["images"]))


def normal_caption(dataset: str, row: Row) -> str:
    """What is normal in the picture of a row; "" when nothing is, or when it cannot be said which part it is."""
    if dataset == "forge_surfinsp":
        return "This part is normal." if NORMAL in row["gold"] else ""
    names = {letter: letter for letter in row["choices"]}
    if row["modality"] == "photo":  # Letters are drawn in three-view pictures only.
        names = {letter: f"at {centre}" for centre, letter in _CENTRE.findall(row["question"])}
    normal = [name for letter, name in names.items() if letter not in row["gold"]]
    return f"Normal parts: {', '.join(normal)}." if normal else ""


def worked_example(dataset: str, row: Row) -> str:
    """The pictures' places, the prompt and the right reply of a row, just as its task has them."""
    benchmark = get_benchmark(f"{dataset}_{row['probe']}" if "probe" in row else dataset)
    item = item_from_row(row, ())
    reply = benchmark.format_reply(item, row["gold"][0])
    return f"{_places(row)}\n{benchmark.prompt_text(item.prompt_view())}\n\n{reply}"


def _fits(row: Row, query: Row) -> bool:
    """Whether a row may stand before the query at all; the query itself is of its own cluster."""
    alike = all(row.get(column) == query.get(column) for column in ("modality", "probe"))
    return alike and row["cluster"] != query["cluster"]


def _draw(usable: Sequence[Row], query: Row, count: int) -> list[Row]:
    ranked = sorted(usable, key=lambda row: (row["scenario"] != query["scenario"], _rank(row, query)))
    drawn: list[Row] = []
    while len(drawn) < count and len(drawn) < len(ranked):
        rest = [row for row in ranked if all(row is not other for other in drawn)]
        drawn.append(min(rest, key=lambda row: _repeats(row, drawn, query)))
    if len(drawn) < count:
        raise DataError(
            f"row {query['id']!r}: {count} rows of other clusters are needed to stand before the question; "
            f"there are {len(drawn)}"
        )
    return drawn


def _repeats(row: Row, drawn: Sequence[Row], query: Row) -> tuple[bool, bool, bool]:
    """Whether a row is of another scenario, and whether it repeats an answer or a cluster; the smallest is the best."""
    answers, clusters = [list(other["gold"]) for other in drawn], [other["cluster"] for other in drawn]
    return row["scenario"] != query["scenario"], list(row["gold"]) in answers, row["cluster"] in clusters


def _rank(row: Row, query: Row) -> str:
    return hashlib.sha256(f"{query['id']}\n{row['id']}".encode()).hexdigest()


def _places(row: Row) -> str:
    return " ".join([PLACEHOLDER] * len(row["images"]))
