"""The releases' column names -> canonical names, by a YAML file that is shipped per benchmark and may be overridden.

Nothing is guessed: a needed column that is not there, or a name that two columns could stand for, stops with the lines
of YAML to write. The sections of the file:

| section | what |
| --- | --- |
| ``configs`` | name -> ``files`` (patterns for names of configs, folders, files), ``dataset``, ``choices``, constants |
| ``columns`` | canonical name -> spellings; a list within the list is several columns that belong together |
| ``values`` | canonical name, or dataset.name -> canonical value -> spellings; ``"*"`` is any other text |
| ``constants`` | canonical name -> the value of every row |
| ``pictures`` | path of the picture with {column} in it, where no column holds it |
| ``delimiter`` | what parts a string of several gold answers; null for nothing |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError
from geoeval.data.readers import Table
from geoeval.data.schema import BENCHMARKS

_SECTIONS = {"configs": dict, "columns": dict, "values": dict, "constants": dict, "pictures": str, "delimiter": str}
_SHIPPED = Path(__file__).parent / "columns"

Source = str | tuple[str, ...]
"""Where a canonical column comes from: a column of the table, or several that belong together."""


@dataclass(frozen=True)
class Names:
    """The mapping of one benchmark.

    Attributes:
        benchmark: E.g. "georefusal".
        shipped: The content of our YAML file.
        own: The content of the user's; its ``configs`` replace ours, its other entries win over ours.
        file: Where the user's is, for messages.
    """

    benchmark: str
    shipped: Mapping[str, Any]
    own: Mapping[str, Any]
    file: Path | None = None

    @property
    def configs(self) -> Mapping[str, Mapping[str, Any]]:
        """Config -> what is known of it."""
        configs: Mapping[str, Mapping[str, Any]] = self.own.get("configs") or self.shipped["configs"]
        return configs

    @property
    def delimiter(self) -> str | None:
        """What parts a string of several gold answers."""
        return self.own["delimiter"] if "delimiter" in self.own else self.shipped.get("delimiter")

    @property
    def pictures(self) -> str | None:
        """Pattern of picture paths, where no column holds them."""
        return self.own.get("pictures") or self.shipped.get("pictures")

    @property
    def constants(self) -> dict[str, str]:
        """Canonical column -> value of every row."""
        return {**(self.shipped.get("constants") or {}), **(self.own.get("constants") or {})}

    def config(self, table: Table) -> str | None:
        """The config that a table belongs to, or the dataset that it is named after; None when neither is known.

        Raises:
            DataError: It fits several.
        """
        for dataset in BENCHMARKS[self.benchmark]:
            if "configs" not in self.own and self.benchmark != dataset and table.matches([dataset]):
                return dataset
        fits = [name for name, about in self.configs.items() if table.matches(about["files"])]
        if len(fits) > 1:
            lines = f"{self._lines_of(table)}}}"
            raise DataError(f"{table}: fits the configs {fits}; name its file in one of them:\n{lines}")
        return fits[0] if fits else None

    def about(self, config: str) -> Mapping[str, Any]:
        """What is known of a config."""
        return self.configs.get(config) or ({"dataset": config} if config in BENCHMARKS[self.benchmark] else {})

    def resolve(self, table: Table, needed: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Source]:
        """Find the columns of a table.

        Args:
            table: Where to look.
            needed: Canonical names that must be found.
            optional: Canonical names that may be missing.

        Raises:
            DataError: One is missing, or could be several; with the columns present and the YAML to write.
        """
        needed = tuple(needed)
        found: dict[str, Source] = {}
        missing, unclear = [], {}
        for name in (*needed, *optional):
            fits = self._fits(table, name)
            if len(fits) > 1:
                unclear[name] = fits
            elif fits:
                found[name] = fits[0]
            elif name in needed or name in self._own_columns:
                missing.append(name)
        for pair in _shared(found):
            loser = [name for name in pair if name not in self._own_columns]
            if len(loser) == 1:  # the user has said whose it is
                found.pop(loser[0], None)
                missing += [name for name in loser if name in needed]
            elif loser:
                unclear[pair[0]], missing = [found[pair[0]]], [*missing, pair[1]]
        if missing or unclear:
            raise DataError(self._complaint(table, missing, unclear))
        return found

    def value(self, dataset: str, column: str, value: Any) -> Any:
        """A value in its canonical spelling, or as it is when no spelling is known."""
        spellings = self._spellings.get(f"{dataset}.{column}") or self._spellings.get(column) or {}
        text = _plain(value)
        return spellings.get(text, spellings.get("*", value) if text else value)

    @cached_property
    def _own_columns(self) -> Mapping[str, Any]:
        return self.own.get("columns") or {}

    @cached_property
    def _spellings(self) -> dict[str, dict[str, str]]:
        """Column -> plain spelling -> canonical value."""
        table: dict[str, dict[str, str]] = {}
        for part in (self.shipped, self.own):
            for column, values in (part.get("values") or {}).items():
                for canonical, spellings in values.items():
                    known = [canonical, *(spellings if isinstance(spellings, list) else [spellings])]
                    table.setdefault(column, {}).update({_plain(s) if s != "*" else s: canonical for s in known})
        return table

    def _fits(self, table: Table, name: str) -> list[Source]:
        """The columns that may be the one wanted. Of groups that contain each other, the largest."""
        own = self._own_columns.get(name)
        if own is not None:
            wanted = own if isinstance(own, list) else [own]
            wanted = [wanted] if len(wanted) > 1 and name in ("images", "options") else wanted
            return [_as_source(w) for w in wanted if set(_parts(w)) <= set(table.columns)]
        plain: dict[str, list[str]] = {}
        for column in table.columns:
            plain.setdefault(_plain(column), []).append(column)
        fits: list[Source] = []
        for spelling in self.shipped["columns"].get(name, [name]):
            parts = [_plain(part) for part in _parts(spelling)]
            if all(part in plain for part in parts):
                fits.append(tuple(plain[p][0] for p in parts) if len(parts) > 1 else plain[parts[0]][0])
                fits += [other for part in parts for other in plain[part][1:]]
        return [f for f in dict.fromkeys(fits) if not any(set(_parts(f)) < set(_parts(g)) for g in fits)]

    def _complaint(self, table: Table, missing: Sequence[str], unclear: Mapping[str, Sequence[Source]]) -> str:
        lines = [f"{table}: cannot tell which columns hold what geoeval needs."]
        for name in missing:
            tried = self._own_columns.get(name) or self.shipped["columns"].get(name, [name])
            lines.append(f"  not found: {name} (looked for {tried})")
        lines += [f"  unclear: {name} could be {' or '.join(map(str, fits))}" for name, fits in unclear.items()]
        lines.append(f"  columns present: {', '.join(table.columns) or 'none'}")
        lines.append(f"Write the right names into {self.file or 'a YAML file'} and pass it with --columns FILE:")
        lines.append("columns:")
        lines += [f"  {name}: THE_COLUMN" for name in missing if name not in unclear]
        lines += [f"  {name}: {fits[0]}  # or another" for name, fits in unclear.items()]
        return "\n".join(lines)

    def unknown_config(self, table: Table, datasets: Sequence[str]) -> str:
        """What to say of a table that belongs to no known config."""
        return (
            f"{table}: belongs to no known config ({', '.join(self.configs)}). Write where it belongs into a YAML file "
            f"and pass it with --columns FILE (a section `configs` replaces the shipped one, so name all of them):\n"
            f"{self._lines_of(table)}, dataset: {' or '.join(datasets)}}}"
        )

    def _lines_of(self, table: Table) -> str:
        return f"configs:\n  NAME: {{files: [{table.names[-1]}]"


def load_names(benchmark: str, file: Path | None = None) -> Names:
    """The shipped mapping of a benchmark, with the user's on top.

    Raises:
        DataError: The file is missing, no YAML, or has an unknown section.
    """
    if benchmark not in BENCHMARKS:
        raise DataError(f"no benchmark {benchmark!r}; there are {', '.join(BENCHMARKS)}")
    return Names(benchmark, _load(_SHIPPED / f"{benchmark}.yaml"), _load(file) if file else {}, file)


def _load(file: Path) -> Mapping[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"{file}: cannot be read as YAML ({error})") from error
    if not isinstance(content, dict):
        raise DataError(f"{file}: must be a mapping with the sections {', '.join(_SECTIONS)}")
    for section, value in content.items():
        if section not in _SECTIONS:
            raise DataError(f"{file}: unknown section {section!r}; there are {', '.join(_SECTIONS)}")
        if value is not None and not isinstance(value, _SECTIONS[section]):
            raise DataError(f"{file}: section {section!r} must be a {_SECTIONS[section].__name__}")
    for name, about in (content.get("configs") or {}).items():
        if not isinstance(about, dict) or not isinstance(about.get("files"), list):
            raise DataError(f"{file}: config {name!r} must have `files: [NAME, ...]`")
    return content


def _plain(text: Any) -> str:
    """A name or value without case, spaces and punctuation: "Gold Verdict" and "gold_verdict" are the same."""
    return re.sub(r"[\W_]+", "", str(text).lower()) if text is not None else ""


def _parts(source: Any) -> Sequence[str]:
    return [source] if isinstance(source, str) else list(source)


def _as_source(wanted: Any) -> Source:
    return wanted if isinstance(wanted, str) else tuple(wanted)


def _shared(found: Mapping[str, Source]) -> list[tuple[str, str]]:
    """Pairs of canonical columns that one column of the table would serve."""
    names = list(found)
    return [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if found[a] == found[b]]
