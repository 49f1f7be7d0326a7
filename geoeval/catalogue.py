"""``geoeval tasks``: what every task is, and what is published of it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geoeval.benchmarks import Benchmark
    from geoeval.benchmarks.published import PublishedRow

_RANDOM, _ALWAYS = "(random)", "(always answer)"


@dataclass(frozen=True)
class Baseline:
    """What needs no model.

    Attributes:
        name: What it does.
        metric: One of the task's metrics.
        value: 0-1.
        of: The dataset it is published of.
        whole: Whether that is what the task holds; else the task is a part of it.
    """

    name: str
    metric: str
    value: float
    of: str
    whole: bool


def add_tasks_command(commands: Any) -> None:
    """Add ``tasks`` to the subcommands of ``geoeval``."""
    tasks = commands.add_parser("tasks", help="list the tasks with items, metrics and version, or show one of them")
    tasks.add_argument("name", nargs="?", metavar="NAME", help="one task")
    tasks.add_argument("--published", action="store_true", help="its published results beside the random baseline")
    tasks.add_argument("--json", action="store_true", help="print JSON")
    tasks.set_defaults(run=_run)


def items(benchmark: Benchmark) -> tuple[int | None, str]:
    """How many items a task has; nothing is fetched to know it.

    Returns:
        The number and whose it is: the label of the data that GEOEVAL_DATA selects where they are at hand, else
        "published". The number is None where that is not published either.
    """
    import pyarrow.parquet as pq

    from geoeval.data.published import PUBLISHED
    from geoeval.data.source import DataError, find

    try:
        source = find(benchmark.dataset)
        if source is not None:
            columns = list(benchmark.subset)
            if not columns:
                return pq.read_metadata(source.path).num_rows, source.label
            rows = pq.read_table(source.path, columns=columns).to_pylist()
            return sum(benchmark.includes(row) for row in rows), source.label
    except (DataError, OSError, ValueError):  # `geoeval data check` says what is wrong
        pass
    published = PUBLISHED[benchmark.dataset]
    if not benchmark.subset:
        return published.rows, "published"
    ((column, value),) = benchmark.subset.items()
    return published.counts.get(column, {}).get(value), "published"


def baselines(task: str) -> tuple[Baseline, ...]:
    """What a random choice and always answering get, as far as it is published.

    Args:
        task: A task, or a dataset whose name stands for a group of tasks.
    """
    from geoeval.benchmarks import benchmark_names, get_benchmark
    from geoeval.data.published import PUBLISHED

    benchmark = get_benchmark(task) if task in benchmark_names() else None
    dataset = benchmark.dataset if benchmark else task
    published = PUBLISHED[dataset]
    percents = ((_RANDOM, published.random), (_ALWAYS, published.always_answer))
    return tuple(
        Baseline(name, "accuracy", round(percent / 100, 6), dataset, whole=not (benchmark and benchmark.subset))
        for name, percent in percents
        if percent is not None
    )


def facts(benchmark: Benchmark) -> dict[str, Any]:
    """Everything that ``--json`` says of a task."""
    from geoeval.benchmarks import benchmark_names, get_benchmark
    from geoeval.benchmarks.published import published_results

    n, of = items(benchmark)
    others = (get_benchmark(name) for name in benchmark_names() if name != benchmark.name)
    return {
        "task": benchmark.name,
        "version": benchmark.version,
        "n": n,
        "n_of": of,
        "headline": benchmark.metric_names[0],
        "metrics": list(benchmark.metric_names),
        "lower_is_better": sorted(benchmark.lower_is_better),
        "strata": list(benchmark.strata),
        "dataset": benchmark.dataset,
        "subset": benchmark.subset,
        "setting": benchmark.setting or "zero_shot",
        "same_items": [o.name for o in others if (o.dataset, o.subset) == (benchmark.dataset, benchmark.subset)],
        "max_new_tokens": benchmark.max_new_tokens,
        "published_rows": len(published_results(benchmark.name)),
    }


def _run(parsed: argparse.Namespace) -> int:
    from geoeval.benchmarks import benchmark_names, get_benchmark
    from geoeval.benchmarks.published import published_results

    names = benchmark_names()
    if parsed.name is None:
        if parsed.published:
            print("geoeval: --published needs the name of a task", file=sys.stderr)
            return 2
        _list([facts(get_benchmark(name)) for name in names], parsed.json)
        return 0
    rows = published_results(parsed.name) if parsed.published else ()
    if parsed.name not in names and not rows:
        print(f"geoeval: no task {parsed.name!r}; {_like(parsed.name, names)}", file=sys.stderr)
        return 2
    about = facts(get_benchmark(parsed.name)) if parsed.name in names else {"task": parsed.name}
    floor = baselines(parsed.name) if parsed.published else ()
    if parsed.json:
        if parsed.published:
            about["published"] = [{**asdict(row), "conflict": row.conflict} for row in rows]
            about["baselines"] = [asdict(baseline) for baseline in floor]
        print(json.dumps(about, indent=2, ensure_ascii=False))
    elif parsed.published:
        _print_published(parsed.name, rows, floor)
    else:
        _print_task(about)
    return 0


def _like(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3)
    return f"did you mean {' or '.join(near)}?" if near else 'see "geoeval tasks"'


def _list(tasks: Sequence[dict[str, Any]], as_json: bool) -> None:
    from rich.table import Table

    from geoeval.report.table import plain_console

    if as_json:
        print(json.dumps(tasks, indent=2))
        return
    table = Table("task", "version", "n", "of", "headline", "metrics", "published rows", box=None, pad_edge=False)
    for column in (table.columns[k] for k in (2, 5, 6)):
        column.justify = "right"
    for task in tasks:
        n = "n/a" if task["n"] is None else f"{task['n']:,}"
        rows = str(task["published_rows"] or "")
        table.add_row(task["task"], task["version"], n, task["n_of"], task["headline"], str(len(task["metrics"])), rows)
    plain_console().print(table)


def _print_task(about: dict[str, Any]) -> None:
    subset = ", ".join(f"{column} = {value}" for column, value in about["subset"].items())
    n = "not published" if about["n"] is None else f"{about['n']:,} ({about['n_of']})"
    lines = {
        "items": n,
        "dataset": about["dataset"] + (f" where {subset}" if subset else ""),
        "setting": about["setting"],
        "same items": ", ".join(about["same_items"]),
        "limit": f"{about['max_new_tokens']} new tokens, temperature 0",
        "headline": about["headline"],
        "metrics": ", ".join(about["metrics"]),
        "less is better": ", ".join(about["lower_is_better"]),
        "by": ", ".join(about["strata"]),
        "published": f"{about['published_rows']} rows, see --published" if about["published_rows"] else "",
    }
    print(f"{about['task']}  (version {about['version']})")
    for name, line in lines.items():
        if line:
            print(f"  {name + ':':16}{line}")


def _print_published(task: str, rows: Sequence[PublishedRow], floor: Sequence[Baseline]) -> None:
    """One line a model and one column a metric, best first; notes are numbered and follow."""
    from rich.table import Table

    from geoeval.report.table import plain_console

    metrics = list(dict.fromkeys([row.metric for row in rows] or [baseline.metric for baseline in floor]))
    notes = list(dict.fromkeys(row.note for row in rows if row.note))
    lines: dict[tuple[str, str], dict[str, tuple[float, str]]] = {}
    for row in rows:
        mark = f"{'!' if row.conflict else ''}[{notes.index(row.note) + 1}]" if row.note else ""
        lines.setdefault((row.model, row.setting), {})[row.metric] = (row.value, mark)
    for baseline in floor:
        lines[baseline.name, ""] = {baseline.metric: (baseline.value, "")}
    headline = "open_score" if "open_score" in metrics else metrics[0] if metrics else ""
    metrics.sort(key=lambda metric: metric != headline)
    table = Table("model", "setting", title=f"{task}, published", title_justify="left", box=None, pad_edge=False)
    for metric in metrics:
        table.add_column(metric, justify="right")
        table.add_column("")
    for (model, setting), cells in sorted(lines.items(), key=lambda line: -line[1].get(headline, (-1, ""))[0]):
        found = [cells.get(metric) for metric in metrics]
        table.add_row(model, setting, *(part for cell in found for part in (_number(cell), cell[1] if cell else "")))
    console = plain_console()
    if lines:
        console.print(table)
    for line in _below(task, rows, floor, notes):
        console.print(line, soft_wrap=True)


def _number(cell: tuple[float, str] | None) -> str:
    return "" if cell is None else f"{cell[0]:.4f}"


def _below(task: str, rows: Sequence[PublishedRow], floor: Sequence[Baseline], notes: Sequence[str]) -> Iterator[str]:
    """What stands under a table: notes, what is missing, where it is from."""
    from geoeval.benchmarks.published import published_tasks

    yield from (f"[{k}] {note}" for k, note in enumerate(notes, 1))
    if not rows:
        parts = [name for name in published_tasks() if name.startswith(f"{task}_")]
        yield f"{task}: no model's result is known" + (f"; there are some of {', '.join(parts)}" if parts else "")
    for baseline in floor:
        if not baseline.whole:
            yield f"{baseline.name}: published of {baseline.of} as a whole, of which this is a part"
    if not any(baseline.name == _RANDOM for baseline in floor) and any("accuracy" in row.metric for row in rows):
        yield "(random): not published"
    yield from (f"source: {source}" for source in dict.fromkeys(row.source for row in rows))
