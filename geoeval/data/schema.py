"""The canonical layout: what every column of every dataset holds. The one table that writers, checks and docs share.

>>> [column.name for column in columns_of("georefusal")][:3]
['id', 'question', 'images']
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geoeval.benchmarks.lithobench import LEVELS, LITHOLOGIES
from geoeval.extraction.verdict import VERDICTS

if TYPE_CHECKING:
    import pyarrow as pa

TYPES = {"string": "string", "strings": "list of string", "images": "list of {bytes, path}"}
UNKNOWN = "unknown"
"""Value of a breakdown that the release does not give."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: Its name.
        type: "string", "strings" or "images", see `TYPES`.
        meaning: One line.
        values: The values allowed; None for free text.
        empty: Whether an empty string or list is allowed.
    """

    name: str
    type: str
    meaning: str
    values: tuple[str, ...] | None = None
    empty: bool = False


_COMMON = (
    Column("id", "string", "unique within the dataset"),
    Column("question", "string", "as the benchmark states it"),
    Column("images", "images", "the pictures in the order they are shown"),
    Column("choices", "strings", "the letters offered; empty where the answer is no letter", empty=True),
    Column("options", "strings", "their texts in the same order; empty when only letters are offered", empty=True),
    Column("gold", "strings", "accepted letters or verdicts (in order of precedence), or the reference answers"),
    Column("cluster", "string", "items that share it are not independent: same picture, base question or part"),
)
_LITHOBENCH = (
    Column("modality", "string", "kind of picture", ("tile",)),
    Column("level", "string", "cognitive level", tuple(LEVELS)),
    Column("lithology", "string", "class of the tile", (*LITHOLOGIES, UNKNOWN)),
)
_GEOREFUSAL = (
    Column("modality", "string", "kind of picture", ("scene",)),
    Column("set", "string", "construction batch, no split", ("A", "B", "C")),
    Column("verdict", "string", "the first accepted verdict", VERDICTS),
    Column("category", "string", "refusal class of the perturbation; NONE for none", (*VERDICTS[1:], "NONE")),
    Column("intensity", "string", "of the perturbation; none for none", ("low", "medium", "high", "none")),
    Column("lever", "string", "name of the perturbation; never used", empty=True),
    Column("follow_up", "string", "carries a conditional follow-up: left out of answer-level metrics", ("yes", "no")),
)
_MODALITY = Column("modality", "string", "kind of picture", ("photo", "three_view"))
_SCENARIO = Column("scenario", "string", "kind of parts, e.g. PCS, CHS, NUTS, MES, PES, CNC")
_WORKED = "worked examples, by items of {}: text with one `<image>` per picture"
_SETTINGS = {
    "ref_cond": "reference pictures with captions: text with one `<image>` per picture",
    "icd": _WORKED.format("the same scenario"),
    "within": _WORKED.format("the same scenario"),
    "outside": _WORKED.format("other scenarios"),
}


def _shown_before(*settings: str) -> tuple[Column, ...]:
    return tuple(
        column
        for name in settings
        for column in (
            Column(name, "string", _SETTINGS[name], empty=True),
            Column(f"{name}_images", "images", f"the pictures of `{name}`, in reading order", empty=True),
        )
    )


_DEMONSTRATIONS = _shown_before("ref_cond", "icd")
_COORDINATES = Column("coordinates", "string", "the drawn points as text, for the control without pictures", empty=True)
_PROBES = ("letter_to_coordinate", "coordinate_to_letter", "cross_letter", "cross_coordinate")

LAYOUT: Mapping[str, tuple[Column, ...]] = {
    "lithobench_mcq": (*_COMMON, *_LITHOBENCH),
    "lithobench_open": (*_COMMON, *_LITHOBENCH),
    "georefusal": (*_COMMON, *_GEOREFUSAL),
    "forge_workveri": (
        *_COMMON,
        _MODALITY,
        _SCENARIO,
        Column("granularity", "string", "what tells the odd part apart", ("workpiece", "model_number", UNKNOWN)),
        *_DEMONSTRATIONS,
    ),
    "forge_assyveri": (*_COMMON, _MODALITY, _SCENARIO, *_DEMONSTRATIONS),
    "forge_surfinsp": (*_COMMON, _MODALITY, _SCENARIO, _COORDINATES, *_DEMONSTRATIONS),
    "forge_missing_part": (*_COMMON, _MODALITY, _SCENARIO),
    "forge_grounding": (
        *_COMMON,
        _MODALITY,
        _SCENARIO,
        Column("probe", "string", "which grounding probe", _PROBES),
        *_shown_before("within", "outside"),
    ),
}
BENCHMARKS: Mapping[str, tuple[str, ...]] = {
    name: tuple(dataset for dataset in LAYOUT if dataset.startswith(name))
    for name in ("lithobench", "georefusal", "forge")
}


def settings_of(dataset: str) -> tuple[str, ...]:
    """The settings beside zero-shot, each with a column of text and one of pictures."""
    return tuple(column.name for column in columns_of(dataset) if column.name in _SETTINGS)


def columns_of(dataset: str) -> tuple[Column, ...]:
    """The columns of a dataset.

    Raises:
        KeyError: There is no such dataset.
    """
    if dataset not in LAYOUT:
        raise KeyError(f"no dataset {dataset!r}; there are {', '.join(LAYOUT)}")
    return LAYOUT[dataset]


def benchmark_of(dataset: str) -> str:
    """The benchmark that a dataset belongs to, e.g. "forge" of "forge_workveri"."""
    return next(name for name, datasets in BENCHMARKS.items() if dataset in datasets)


def arrow_schema(dataset: str, about: Mapping[str, Any] | None = None) -> pa.Schema:
    """The parquet schema of a dataset.

    It carries what Hugging Face `datasets` needs to see pictures, and ``about`` under the key ``geoeval``.
    """
    import pyarrow as pa

    strings = pa.list_(pa.string())
    images = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    arrow = {"string": pa.string(), "strings": strings, "images": images}
    text = {"dtype": "string", "_type": "Value"}
    # "Sequence": releases of `datasets` before 4.0 do not know "List", later ones read both.
    features = {
        "string": text,
        "strings": {"feature": text, "_type": "Sequence"},
        "images": {"feature": {"_type": "Image"}, "_type": "Sequence"},
    }
    columns = columns_of(dataset)
    metadata = {
        "huggingface": json.dumps({"info": {"features": {column.name: features[column.type] for column in columns}}}),
        "geoeval": json.dumps({"benchmark": dataset, **(about or {})}),
    }
    return pa.schema([pa.field(column.name, arrow[column.type]) for column in columns], metadata=metadata)


def schema_problems(dataset: str, schema: pa.Schema) -> Iterator[str]:
    """What is wrong with the columns of a parquet file; further columns are allowed."""
    wanted = arrow_schema(dataset)
    missing = [column for column in columns_of(dataset) if column.name not in schema.names]
    if missing:
        names = "; ".join(f"{column.name} ({TYPES[column.type]}: {column.meaning})" for column in missing)
        yield f"no columns {names}. There are {', '.join(schema.names)}"
    for field in wanted:
        if field.name in schema.names and not _same_type(schema.field(field.name).type, field.type):
            kind = next(TYPES[column.type] for column in columns_of(dataset) if column.name == field.name)
            yield f"column {field.name!r} is {schema.field(field.name).type}; it must be a {kind}"


def row_problems(dataset: str, row: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the values of a row, each with the row's id and the column. Pictures are not opened."""
    where = f"row {row.get('id') or '?'!r}"
    for column in columns_of(dataset):
        if column.name not in row:  # `schema_problems` names missing columns once, not for each row.
            continue
        value = row[column.name]
        if value is None or len(value) == 0:
            if value is None or not column.empty:
                yield f"{where}: column {column.name!r} is empty"
            continue
        if column.values is not None and value not in column.values:
            yield f"{where}: column {column.name!r} has {value!r}; allowed: {', '.join(column.values)}"
    yield from (f"{where}: {problem}" for problem in _relations(dataset, row))


def _relations(dataset: str, row: Mapping[str, Any]) -> Iterator[str]:
    """What must hold between the columns of one row."""
    gold, choices, options = (list(row.get(name) or ()) for name in ("gold", "choices", "options"))
    if options and len(options) != len(choices):
        yield f"{len(options)} options for {len(choices)} choices"
    if len(set(choices)) != len(choices):
        yield f"the choices {choices} repeat"
    if choices:
        offered = {*choices, "NORMAL"} if dataset == "forge_surfinsp" else set(choices)
        if not set(gold) <= offered:
            yield f"gold {gold} is not among the choices {choices}"
    if dataset == "georefusal":
        if not set(gold) <= set(VERDICTS):
            yield f"gold {gold} holds an unknown verdict; there are {', '.join(VERDICTS)}"
        elif gold != sorted(set(gold), key=VERDICTS.index):
            yield f"gold {gold} is not in order of precedence {' > '.join(VERDICTS)}, or repeats"
        elif gold and row.get("verdict") != gold[0]:
            yield f"verdict {row.get('verdict')!r} is not the first of gold {gold}"
    for name in ("ref_cond", "icd", "within", "outside"):
        shown, given = (row.get(name) or "").count("<image>"), len(row.get(f"{name}_images") or ())
        if shown != given and f"{name}_images" in row:
            yield f"{name} has {shown} times <image> and {given} pictures"


def _same_type(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Types compared without the difference between a list and a large list."""
    import pyarrow.types as pt

    if pt.is_list(wanted):
        return (pt.is_list(found) or pt.is_large_list(found)) and _same_type(found.value_type, wanted.value_type)
    if pt.is_struct(wanted):
        return pt.is_struct(found) and all(
            found.get_field_index(field.name) >= 0 and _same_type(found.field(field.name).type, field.type)
            for field in wanted
        )
    if pt.is_string(wanted):
        return bool(pt.is_string(found) or pt.is_large_string(found))
    return bool(pt.is_binary(found) or pt.is_large_binary(found))
