"""Which tables of a release make which dataset, and how their rows are read. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from geoeval.data.columns import Names, Source
from geoeval.data.convert import Config, canonical_row, config_of, raw_rows, wanted_columns
from geoeval.data.errors import DataError
from geoeval.data.join import joined, share_clusters
from geoeval.data.readers import Row, Table
from geoeval.data.schema import BENCHMARKS, LAYOUT


@dataclass(frozen=True)
class Plan:
    """How one dataset is made.

    Attributes:
        dataset: E.g. "georefusal".
        tables: What is read.
        rows: Streams the canonical rows; the same each time it is called.
        columns: Table -> canonical column -> the column it comes from.
    """

    dataset: str
    tables: tuple[Table, ...]
    rows: Callable[[], Iterator[Row]]
    columns: Mapping[str, Mapping[str, Source]] = field(default_factory=dict)


def plans(names: Names, found: Sequence[Table]) -> tuple[dict[str, Plan], dict[str, str]]:
    """The plans of all datasets that a release has.

    Returns:
        Dataset -> plan, and what is wrong: dataset or path of a table -> reason.
    """
    by_config: dict[str, list[Table]] = {}
    problems: dict[str, str] = {}
    foreign = [dataset for dataset in LAYOUT if dataset not in BENCHMARKS[names.benchmark]]
    for table in found:
        if table.matches(foreign):  # a folder may hold several benchmarks
            continue
        try:
            by_config.setdefault(names.config(table) or "", []).append(table)
        except DataError as error:
            problems[str(table)] = str(error)
    if names.benchmark == "georefusal":
        try:
            return {"georefusal": _georefusal(names, by_config)}, problems
        except DataError as error:
            return {}, {**problems, "georefusal": str(error)}
    return _by_dataset(names, by_config, problems)


def _georefusal(names: Names, tables: Mapping[str, Sequence[Table]]) -> Plan:
    config = config_of(names, "georefusal")
    cases = tables.get("cases") or ()
    if tables.get("labels") and not cases:
        raise DataError(f"{tables['labels'][0]}: there are labels and no cases; name their files in the YAML's configs")
    if tables.get("labels"):
        parts = {name: tables.get(name) or () for name in ("cases", "labels", "provenance")}

        def rows() -> Iterator[Row]:
            for raw, table in joined(parts, names, config):
                yield canonical_row(raw, names, config, table)

        next(iter(joined(parts, names, config)), None)  # so that a missing column is found before anything is written
        used = tuple(table for part in parts.values() for table in part)
        return Plan("georefusal", used, partial(share_clusters, rows))
    flat = tuple(cases or [table for part in tables.values() for table in part])
    streams = [_stream(names, config, table) for table in flat]

    def flat_rows() -> Iterator[Row]:
        for stream in streams:
            yield from stream.rows(names)

    columns = {str(stream.table): stream.found for stream in streams}
    return Plan("georefusal", flat, partial(share_clusters, flat_rows), columns)


def _by_dataset(
    names: Names, tables: Mapping[str, Sequence[Table]], problems: dict[str, str]
) -> tuple[dict[str, Plan], dict[str, str]]:
    streams: dict[str, list[_Stream]] = {}
    for name, part in tables.items():
        about = names.about(name)
        dataset = about.get("dataset")
        for table in part:
            if not dataset and names.benchmark == "forge":
                problems[str(table)] = names.unknown_config(table, BENCHMARKS[names.benchmark])
                continue
            for target in [dataset] if dataset else BENCHMARKS[names.benchmark]:
                try:
                    config = config_of(names, target, name, about)
                    streams.setdefault(target, []).append(_stream(names, config, table, shared=not dataset))
                except DataError as error:  # the dataset would lack rows: it is not made at all
                    problems[target] = str(error)
    return {
        dataset: Plan(
            dataset,
            tuple(stream.table for stream in parts),
            partial(_chained, names, tuple(parts)),
            {str(stream.table): stream.found for stream in parts},
        )
        for dataset, parts in streams.items()
        if dataset not in problems
    }, problems


@dataclass(frozen=True)
class _Stream:
    """The rows of one table that belong to one dataset; ``shared``: it holds those of others too."""

    table: Table
    config: Config
    found: Mapping[str, Source]
    shared: bool = False

    def rows(self, names: Names) -> Iterator[Row]:
        for raw in raw_rows(self.table, self.found):
            if not self.shared or self._dataset(names, raw) == self.config.dataset:
                yield canonical_row(raw, names, self.config, self.table)

    def _dataset(self, names: Names, raw: Row) -> Any:
        dataset = names.value(self.config.dataset, "dataset", raw["dataset"])
        if dataset not in BENCHMARKS[names.benchmark]:
            known = " or ".join(BENCHMARKS[names.benchmark])
            raise DataError(
                f"{self.table}: row {raw.get('id')!r}: cannot tell the dataset from {dataset!r}; say so in a YAML file "
                f"and pass it with --columns FILE:\nvalues:\n  dataset:\n    {known}: [{dataset!r}]"
            )
        return dataset


def _stream(names: Names, config: Config, table: Table, shared: bool = False) -> _Stream:
    needed, optional = wanted_columns(names, config)
    return _Stream(table, config, names.resolve(table, [*needed, *(["dataset"] if shared else [])], optional), shared)


def _chained(names: Names, streams: Sequence[_Stream]) -> Iterator[Row]:
    for stream in streams:
        yield from stream.rows(names)
