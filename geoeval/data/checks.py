"""``geoeval data check``: whether a prepared dataset is what it should be, and what the papers say it is."""

from __future__ import annotations

import math
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from geoeval.data.errors import DataError
from geoeval.data.fingerprint import fingerprint
from geoeval.data.items import open_picture, picture_problem
from geoeval.data.progress import track
from geoeval.data.published import PUBLISHED, Published
from geoeval.data.readers import batches
from geoeval.data.schema import columns_of, row_problems, schema_problems
from geoeval.data.source import SAMPLE, Source
from geoeval.extraction.verdict import VERDICTS

_EXAMPLES = 5


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        level: "ok", "info" (nothing to compare with) or "error".
        name: What was looked at.
        finding: What was found, in a line or two.
    """

    level: str
    name: str
    finding: str


@dataclass
class _Tally:
    """What one pass over the rows leaves."""

    rows: int = 0
    pictures: int = 0
    ids: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    gold: Counter[str] = field(default_factory=Counter)
    prints: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    chances: list[float] = field(default_factory=list)
    several: int = 0
    problems: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def check(source: Source) -> list[Check]:
    """Look at every row and open every picture of a dataset.

    Returns:
        What was found. The bundled sample is not compared with published counts, for it is none of them.
    """
    import pyarrow.parquet as pq

    dataset = source.task
    try:
        with pq.ParquetFile(source.path) as file:
            wrong = list(schema_problems(dataset, file.schema_arrow))
            if wrong:
                return [Check("error", "columns", "; ".join(wrong))]
            rows = (row for batch in batches(file) for row in batch.to_pylist())
            tally = _tally(dataset, track(rows, dataset, file.metadata.num_rows))
    except (OSError, ValueError) as error:
        return [Check("error", "file", f"{source.path}: cannot be read ({error})")]
    published = Published() if source.label == SAMPLE else PUBLISHED[dataset]
    return list(_verdicts(dataset, tally, published))


def _tally(dataset: str, rows: Iterable[Mapping[str, Any]]) -> _Tally:
    tally = _Tally()
    named = [c.name for c in columns_of(dataset) if c.values] + ["scenario"]
    pictures = [c.name for c in columns_of(dataset) if c.type == "images"]
    workers = os.cpu_count() or 1
    waiting: deque[Future[list[str]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for row in rows:
            tally.rows += 1
            tally.ids[row["id"]] += 1
            tally.problems += row_problems(dataset, row)
            for name in named:
                if name in row:
                    tally.counts.setdefault(name, Counter())[row[name]] += 1
            gold = list(row["gold"] or ())
            tally.gold[gold[0] if gold else ""] += 1
            tally.several += len(gold) > 1
            if row["choices"]:
                tally.chances.append(1 / (len(row["choices"]) + (dataset == "forge_surfinsp")))
            shown = [picture["bytes"] or (picture["path"] or "").encode() for picture in row["images"] or ()]
            tally.prints.setdefault(fingerprint(shown, row["question"] or ""), []).append((row["id"], row["cluster"]))
            tally.pictures += sum(len(row[name] or ()) for name in pictures)
            waiting.append(pool.submit(_broken, row, pictures))
            if len(waiting) > 2 * workers:  # so that no more than a few rows of pictures are held
                tally.broken += waiting.popleft().result()
        for job in waiting:
            tally.broken += job.result()
    return tally


def _broken(row: Mapping[str, Any], columns: Iterable[str]) -> list[str]:
    found = []
    for name in columns:
        for picture in row[name] or ():
            try:
                problem = picture_problem(picture)
                open_picture(picture)
            except DataError as error:
                problem = str(error)
            if problem:
                found.append(f"row {row['id']!r}: column {name!r}: {problem}")
    return found


def _verdicts(dataset: str, tally: _Tally, published: Published) -> Iterator[Check]:
    yield _compared("rows", tally.rows, published.rows)
    for column, counts in tally.counts.items():
        found = ", ".join(f"{value} {count:,}" for value, count in sorted(counts.items()))
        wanted = published.counts.get(column)
        if wanted and column == "follow_up" and not counts["yes"]:  # which they are is not published
            yield Check("info", f"by {column}", f"{found}: this data does not mark the {wanted['yes']} published ones")
        elif wanted is None:
            yield Check("info", f"by {column}", found)
        elif dict(counts) == dict(wanted):
            yield Check("ok", f"by {column}", f"{found}, as published")
        else:
            said = ", ".join(f"{value} {count:,}" for value, count in wanted.items())
            yield Check("error", f"by {column}", f"{found}; published: {said}")
    doubled = [id_ for id_, count in tally.ids.items() if count > 1]
    yield _listed("ids", doubled, "unique", "occur more than once")
    yield _listed("values", tally.problems, "every value is allowed, gold is among the choices", "values are wrong")
    yield _listed("pictures", tally.broken, f"all {tally.pictures:,} open", "cannot be opened")
    yield from _duplicates(tally, published)
    if dataset in ("georefusal", "forge_surfinsp") or tally.chances:
        order = VERDICTS if dataset == "georefusal" else sorted(tally.gold)
        classes = [f"{label} {tally.gold[label]:,} ({tally.gold[label] / tally.rows:.1%})" for label in order]
        yield Check("info", "by first gold answer", ", ".join(classes))
    if tally.chances:
        random = 100 * math.fsum(tally.chances) / len(tally.chances)
        yield _percent("random baseline", random, published.random)
    if dataset == "georefusal" and tally.rows:
        yield _compared("several verdicts accepted", tally.several, published.several)
        yield _percent("always answering", 100 * tally.gold["ANSWER"] / tally.rows, published.always_answer)


def _duplicates(tally: _Tally, published: Published) -> Iterator[Check]:
    groups = [group for group in tally.prints.values() if len(group) > 1]
    apart = [", ".join(id_ for id_, _ in group) for group in groups if len({cluster for _, cluster in group}) > 1]
    count = sum(len(group) - 1 for group in groups)
    seen = "; ".join(" = ".join(id_ for id_, _ in group) for group in groups[:_EXAMPLES])
    result = _compared("duplicates", count, published.duplicates)
    yield Check(result.level, result.name, result.finding + (f": {seen}" if seen else ""))
    if groups:
        yield _listed("clusters of duplicates", apart, "duplicates share their cluster", "have different clusters")


def _compared(name: str, found: int, wanted: int | None) -> Check:
    if wanted is None:
        return Check("info", name, f"{found:,}")
    if found == wanted:
        return Check("ok", name, f"{found:,}, as published")
    return Check("error", name, f"{found:,}; published: {wanted:,}")


def _percent(name: str, found: float, wanted: float | None) -> Check:
    if wanted is None:
        return Check("info", name, f"{found:.1f} %")
    if abs(found - wanted) < 0.0500001:
        return Check("ok", name, f"{found:.1f} %, as published")
    return Check("error", name, f"{found:.2f} %; published: {wanted} %")


def _listed(name: str, wrong: list[str], fine: str, bad: str) -> Check:
    if not wrong:
        return Check("ok", name, fine)
    more = f" and {len(wrong) - _EXAMPLES} more" if len(wrong) > _EXAMPLES else ""
    return Check("error", name, f"{len(wrong)} {bad}: {'; '.join(wrong[:_EXAMPLES])}{more}")
