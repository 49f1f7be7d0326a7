"""Sample rows -> one parquet file in the canonical layout, the same bytes on every run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

GENERATOR = "1"

_STRING = {"dtype": "string", "_type": "Value"}
_STRINGS = {"feature": _STRING, "_type": "Sequence"}
# "Sequence" rather than "List": releases of `datasets` before 4.0 know only the former, later ones read both.
_IMAGES = {"feature": {"_type": "Image"}, "_type": "Sequence"}

_FEATURES = {
    "id": _STRING,
    "question": _STRING,
    "images": _IMAGES,
    "choices": _STRINGS,
    "options": _STRINGS,
    "gold": _STRINGS,
    "cluster": _STRING,
    "modality": _STRING,
}
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_ARROW = {
    json.dumps(_STRING): pa.string(),
    json.dumps(_STRINGS): pa.list_(pa.string()),
    json.dumps(_IMAGES): pa.list_(_IMAGE),
}


@dataclass(frozen=True)
class Row:
    """One sample item; the fields are the columns of the canonical layout.

    Attributes:
        png: The picture as PNG bytes.
        gold: Reference answers, accepted verdicts in precedence order, or one letter.
        strata: Further string columns, the same names in every row of a benchmark.
        options: The text of each choice, where it has one.
        further: More pictures of the question.
        context: Setting -> its text and its pictures, the same settings in every row of a benchmark.
    """

    id: str
    question: str
    png: bytes
    gold: tuple[str, ...]
    cluster: str
    modality: str
    choices: tuple[str, ...] = ()
    strata: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    further: tuple[bytes, ...] = ()
    context: dict[str, tuple[str, tuple[bytes, ...]]] = field(default_factory=dict)

    def columns(self) -> dict[str, object]:
        """The row as parquet columns."""
        return {
            "id": self.id,
            "question": self.question,
            "images": [
                {"bytes": self.png, "path": f"{self.id}.png"},
                *({"bytes": png, "path": f"{self.id}-{n}.png"} for n, png in enumerate(self.further, 2)),
            ],
            "choices": list(self.choices),
            "options": list(self.options),
            "gold": list(self.gold),
            "cluster": self.cluster,
            "modality": self.modality,
            **self.strata,
            **dict(chain.from_iterable(_setting(name, *shown) for name, shown in self.context.items())),
        }


def _setting(name: str, text: str, pngs: Sequence[bytes]) -> Iterator[tuple[str, object]]:
    """The two columns of a setting."""
    yield name, text
    yield f"{name}_images", [_named(png) for png in pngs]


def _named(png: bytes) -> dict[str, object]:
    """A picture that several rows show, named by what is in it."""
    return {"bytes": png, "path": f"{hashlib.sha1(png).hexdigest()[:10]}.png"}


def _schema(benchmark: str, row: Row) -> pa.Schema:
    """Column types, with what `datasets` needs to decode the pictures and what tells a sample from published data."""
    features = {**_FEATURES, **dict.fromkeys(row.strata, _STRING)}
    for name in row.context:
        features |= {name: _STRING, f"{name}_images": _IMAGES}
    fields = [pa.field(name, _ARROW[json.dumps(feature)]) for name, feature in features.items()]
    metadata = {
        "huggingface": json.dumps({"info": {"features": features}}),
        "geoeval": json.dumps({"source": "SAMPLE", "benchmark": benchmark, "generator": GENERATOR}),
    }
    return pa.schema(fields, metadata=metadata)


def write_table(path: Path, benchmark: str, rows: Sequence[Row]) -> None:
    """Write the rows of one benchmark.

    The dictionary page may hold every picture, so that a picture shared by several rows is stored once.

    Raises:
        ValueError: Two rows share an id.
    """
    if len({row.id for row in rows}) != len(rows):
        raise ValueError(f"{benchmark}: ids are not unique")
    schema = _schema(benchmark, rows[0])
    table = pa.Table.from_pylist([row.columns() for row in rows], schema=schema)
    pq.write_table(
        table,
        path,
        version="2.6",
        compression="zstd",
        compression_level=9,
        use_dictionary=True,
        dictionary_pagesize_limit=1 << 26,
        write_statistics=False,
    )
