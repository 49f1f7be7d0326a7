"""GeoRefusalBench: the configs cases, labels and provenance -> one stream of rows.

Of provenance nothing is read but the base question, which becomes the cluster. Items that are the same by picture and
question share a cluster too, so base questions that have such an item in common are one cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from geoeval.data import values
from geoeval.data.columns import Names
from geoeval.data.convert import Config, raw_rows, wanted_columns
from geoeval.data.errors import DataError
from geoeval.data.fingerprint import fingerprint
from geoeval.data.readers import Row, Table

Key = tuple[str, str]
_CASES = ("id", "set", "question", "images", "follow_up")
_LABELS = ("id", "set", "gold", "category", "intensity", "lever", "follow_up")


def joined(parts: Mapping[str, Sequence[Table]], names: Names, config: Config) -> Iterator[tuple[Row, Table]]:
    """Raw rows of all cases with their labels and clusters, each with the table of the case.

    Args:
        parts: The tables of "cases", "labels" and, where there is one, "provenance".
        names: How columns are called.
        config: What is known of every row.

    Raises:
        DataError: A case without label, a label without case, or one of them twice.
    """
    needed, optional = wanted_columns(names, config)
    every = [table for tables in parts.values() for table in tables]
    with_set = all("set" in names.resolve(table, (), ("set",)) for table in every)

    def rows(part: str, wanted: Sequence[str], *more: str) -> Iterator[tuple[Row, Table]]:
        for table in parts[part]:
            must = [name for name in (*needed, *more) if name in wanted and name != "set"]
            found = names.resolve(table, must, [n for n in (*optional, "set") if n in wanted and n not in must])
            yield from ((row, table) for row in raw_rows(table, found))

    def key(row: Row) -> Key:
        return values.text(row.get("id")).strip(), values.text(row.get("set")).strip() if with_set else ""

    def by_key(part: str, wanted: Sequence[str], *more: str) -> dict[Key, Row]:
        found: dict[Key, Row] = {}
        for row, table in rows(part, wanted, "id", *more):
            if key(row) in found:
                raise DataError(f"{table}: {part} has {_say(key(row))} twice")
            found[key(row)] = row
        return found

    labels = by_key("labels", _LABELS)
    clusters = by_key("provenance", ("id", "set", "cluster"), "cluster")
    seen: set[Key] = set()
    for case, table in rows("cases", _CASES, "id"):
        if key(case) not in labels:
            raise DataError(f"{table}: {_say(key(case))} has no label in {_paths(parts['labels'])}")
        if key(case) in seen:
            raise DataError(f"{table}: {_say(key(case))} is there twice")
        seen.add(key(case))
        given = {name: value for name, value in case.items() if not values.is_empty(value)}
        yield {**labels[key(case)], **given, "cluster": clusters.get(key(case), {}).get("cluster")}, table
    lost = [_say(key) for key in labels if key not in seen]
    if lost:
        raise DataError(f"{_paths(parts['labels'])}: {len(lost)} labels have no case, e.g. {'; '.join(lost[:5])}")


def share_clusters(rows: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """The rows, with one cluster for all that are tied by a cluster or by the same pictures and question.

    Args:
        rows: Gives the same rows each time; it is called twice, so that no picture need be kept.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    first: dict[str, str] = {}
    for row in rows():
        same = fingerprint([picture["bytes"] for picture in row["images"]], row["question"])
        one, other = sorted((root(row["cluster"]), root(first.setdefault(same, row["cluster"]))))
        parent[other] = one
    for row in rows():
        yield {**row, "cluster": root(row["cluster"])}


def _say(key: Key) -> str:
    return f"row {key[0]!r}" + (f" of set {key[1]}" if key[1] else "")


def _paths(tables: Sequence[Table]) -> str:
    return ", ".join(str(table) for table in tables)
