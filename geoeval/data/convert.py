"""One row of a release -> one row of the canonical layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from geoeval.data import values
from geoeval.data.columns import Names, Source
from geoeval.data.errors import DataError
from geoeval.data.fingerprint import fingerprint
from geoeval.data.readers import Row, Table
from geoeval.data.schema import UNKNOWN, columns_of, row_problems
from geoeval.extraction.verdict import VERDICTS

_SETTINGS = ("ref_cond", "icd", "within", "outside")
WITHOUT: Mapping[str, str] = {
    "lithology": UNKNOWN,
    "scenario": UNKNOWN,
    "granularity": UNKNOWN,
    "lever": "",
    "follow_up": "no",
    "coordinates": "",
    **dict.fromkeys(_SETTINGS, ""),
}
"""What a text column holds where the release does not have it."""
_OPTIONAL = {*WITHOUT, "id", "cluster", "choices", "options", *(f"{name}_images" for name in _SETTINGS)}
_DERIVED = {"verdict"}
_UNLETTERED = {"georefusal", "lithobench_open"}


@dataclass(frozen=True)
class Config:
    """What is known of the rows of a table before they are read.

    Attributes:
        dataset: Where its rows go.
        name: Stands before ids that are row numbers, and in ids that are made; empty for neither.
        constants: Column -> value of every row.
        choices: The letters offered where no column holds them: letters, "question" for those that the question names,
            or ``{column: {value: letters}}``.
    """

    dataset: str
    name: str = ""
    constants: Mapping[str, str] = field(default_factory=dict)
    choices: Any = None


def config_of(names: Names, dataset: str, name: str = "", about: Mapping[str, Any] | None = None) -> Config:
    """A config of the mapping file, for one dataset."""
    about = about or {}
    constants = {key: str(value) for key, value in about.items() if key not in ("files", "dataset", "choices")}
    return Config(dataset, name, {**names.constants, **constants}, about.get("choices"))


def wanted_columns(names: Names, config: Config) -> tuple[list[str], list[str]]:
    """The columns that a table must have, and those that it may have."""
    columns = [column.name for column in columns_of(config.dataset)]
    columns = [name for name in columns if name not in _DERIVED and name not in config.constants]
    optional = _OPTIONAL | ({"images"} if names.pictures else set())
    return [name for name in columns if name not in optional], [name for name in columns if name in optional]


def raw_rows(table: Table, found: Mapping[str, Source]) -> Iterator[Row]:
    """The rows with canonical names and the values of the release; columns that belong together become a list."""
    sources = {part for source in found.values() for part in ([source] if isinstance(source, str) else source)}
    for row in table.rows(sorted(sources)):
        yield {
            name: row.get(source) if isinstance(source, str) else [row.get(part) for part in source]
            for name, source in found.items()
        }


def canonical_row(raw: Row, names: Names, config: Config, table: Table) -> Row:
    """Turn a raw row into a canonical one.

    Raises:
        DataError: A value cannot be read or is not allowed; names the file, the row and the column.
    """
    row: Row = {}
    where = f"{table}: row {_id(raw) or raw.get('question')!r}"
    given = {**raw, **config.constants}
    unlettered = config.dataset in _UNLETTERED
    with _at(where, "question"):
        row["question"] = values.text(given.get("question"))
    pictures = {name: _pictures(where, name, given, names, table) for name in _picture_columns(config.dataset)}
    shown = [picture["bytes"] for picture in pictures["images"]]
    row["id"] = _id(raw) or f"{config.name or config.dataset}-{fingerprint(shown, row['question'])[:12]}"
    if row["id"].isdigit() and config.name:  # the number of a row says nothing without its config
        row["id"] = f"{config.name}-{row['id']}"
    for name, found in pictures.items():
        row[name] = [_named(picture, row["id"], n, name) for n, picture in enumerate(found, 1)]
    with _at(where, "cluster"):
        cluster = values.text(given.get("cluster"))
        row["cluster"] = cluster or f"picture-{fingerprint(shown, '')[:12]}"
    with _at(where, "options"):
        letters, row["options"] = values.options(None if unlettered else _without_end(given.get("options")))
    for column in columns_of(config.dataset):
        if column.type == "string" and column.name not in row and column.name not in _DERIVED:
            with _at(where, column.name):
                row[column.name] = _text(column.name, given.get(column.name), names, config.dataset)
    with _at(where, "choices"):
        row["choices"] = [] if unlettered else _choices(given.get("choices"), letters, row, config)
    with _at(where, "gold"):
        row["gold"] = _gold(given.get("gold"), row, names, config.dataset)
    if config.dataset == "georefusal":
        row["verdict"] = row["gold"][0] if row["gold"] else ""
    _refuse_problems(row, raw, config.dataset, table)
    return row


@contextmanager
def _at(where: str, column: str) -> Iterator[None]:
    """Errors in here are those of one column."""
    try:
        yield
    except ValueError as error:
        raise DataError(f"{where}: column {column!r}: {error}") from error


def _id(raw: Row) -> str:
    return values.text(raw.get("id")).strip() if not values.is_empty(raw.get("id")) else ""


def _picture_columns(dataset: str) -> list[str]:
    return [column.name for column in columns_of(dataset) if column.type == "images"]


def _pictures(where: str, name: str, given: Row, names: Names, table: Table) -> list[values.Picture]:
    value = given.get(name)
    with _at(where, name):
        if name == "images" and values.is_empty(value) and names.pictures:
            try:
                value = names.pictures.format_map(given)
            except KeyError as error:
                raise ValueError(f"the pattern {names.pictures!r} wants {error}, which the row has not") from error
        return values.pictures(value, (table.path.parent, table.folder), table.folder)


def _named(picture: values.Picture, id_: str, number: int, column: str) -> dict[str, Any]:
    """A picture with a name that says nothing but whose it is."""
    middle = "" if column == "images" else f"-{column.removesuffix('_images')}"
    end = f"-{number}" if number > 1 or middle else ""
    return {"bytes": picture["bytes"], "path": f"{id_}{middle}{end}.{picture['format']}"}


def _without_end(value: Any) -> Any:
    """A list of columns without the empty ones at its end: an item may have fewer options than another."""
    while isinstance(value, list) and value and values.is_empty(value[-1]):
        value = value[:-1]
    return value


def _text(name: str, value: Any, names: Names, dataset: str) -> str:
    value = names.value(dataset, name, value)
    return WITHOUT[name] if values.is_empty(value) and name in WITHOUT else values.text(value)


def _choices(value: Any, letters: list[str], row: Row, config: Config) -> list[str]:
    """The letters offered: those of a column, of the options, or what the config says of them."""
    if not values.is_empty(value):
        found = values.strings(value, "|")
        found = list(found[0]) if len(found) == 1 and found[0].isalpha() else found
        if config.dataset != "forge_grounding" and any(len(choice) != 1 for choice in found):
            raise ValueError(f"letters are wanted, not {found}; if these are the options, map this column to `options`")
        return found
    if letters:
        return letters
    rule = config.choices
    if rule == "question":
        return values.letters_named(row["question"])
    if isinstance(rule, Mapping):
        column, by_value = next(iter(rule.items()))
        if row.get(column) not in by_value:
            raise ValueError(f"no letters are known for {column} {row.get(column)!r}, only for {', '.join(by_value)}")
        rule = by_value[row[column]]
    if not rule:
        raise ValueError("no column holds the letters or options; add `choices: ABCD` to the config in the YAML")
    return list(rule)


def _gold(value: Any, row: Row, names: Names, dataset: str) -> list[str]:
    found = [names.value(dataset, "gold", part) for part in values.strings(value, names.delimiter)]
    if dataset == "georefusal":
        unique = list(dict.fromkeys(found))
        return sorted(unique, key=VERDICTS.index) if set(unique) <= set(VERDICTS) else unique
    if not row["choices"]:
        return found
    return [part if part == "NORMAL" else values.letter(part, row["choices"], row["options"]) for part in found]


def _refuse_problems(row: Row, raw: Row, dataset: str, table: Table) -> None:
    problems = list(row_problems(dataset, row))
    if not problems:
        return
    odd = [
        f"  {column.name}:\n    ONE_OF_THE_ALLOWED: [{raw.get(column.name)!r}]"
        for column in columns_of(dataset)
        if column.values and row[column.name] not in column.values and column.name in raw
    ]
    hint = "\nIf this is another spelling, say so in a YAML file and pass it with --columns FILE:\nvalues:\n"
    raise DataError(f"{table}: {'; '.join(problems)}" + (hint + "\n".join(odd) if odd else ""))
