"""READMEs and numbers of a contribution, from ours."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from string import Template

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.benchmarks.published import published_results
from geoeval.data import locate
from geoeval.data.items import task_items
from geoeval.data.schema import TYPES, columns_of
from geoeval.harness.lmms_eval.plugin import shipped
from geoeval.report.table import number
from geoeval.runs.model import Result
from geoeval.types import Metric, Summary
from geoeval.upstream.families import Family

_CUT = "## Prompts of one item each"


def filled(template: str, **values: str) -> str:
    """A template of ours with its places filled.

    Raises:
        KeyError: A place has no value.
    """
    file = resources.files("geoeval.upstream") / "templates" / template
    return Template(file.read_text(encoding="utf-8")).substitute(values)


def readme(family: Family, named: Callable[[str], str]) -> str:
    """Our README of a benchmark, without what is only of geoeval.

    Args:
        family: The benchmark.
        named: Gives modules of ours that a text names the names they have in the contribution.

    Raises:
        LookupError: A mention of geoeval is left: `Family.words` has no word for it.
    """
    text = (shipped("tasks") / family.name / "README.md").read_text(encoding="utf-8").split(_CUT)[0]
    for ours, theirs in family.words.items():
        text = text.replace(ours, theirs)
    text = re.sub(r"^!\[.*\n", "", text, flags=re.M)
    text = text.replace("in the [canonical layout](../README.md)", "with the columns of every task (below)")
    text = text.replace("the [canonical layout](../README.md)", "the columns of every task (below)")
    left = named(text)
    if "geoeval" in left or "](.." in left:
        raise LookupError(f"tasks/{family.name}/README.md: {re.findall('.*geoeval.*|.*[(][.][.].*', left)}")
    return f"{left.rstrip()}\n\n## Columns\n\n{columns(family)}"


def columns(family: Family) -> str:
    """The columns of each file of rows, in Markdown."""
    lines = ["| file | column | type | meaning |", "| --- | --- | --- | --- |"]
    common = {column.name for column in columns_of(family.datasets[0])[:7]}
    lines += [f"| all | `{c.name}` | {TYPES[c.type]} | {c.meaning} |" for c in columns_of(family.datasets[0])[:7]]
    for dataset in family.datasets:
        lines += [
            f"| `{dataset}` | `{c.name}` | {TYPES[c.type]} | {c.meaning} |"
            for c in columns_of(dataset)
            if c.name not in common
        ]
    return "\n".join(lines) + "\n"


def constant_summary(benchmark: Benchmark, reply: str) -> Summary:
    """The numbers of one reply to every item of the bundled sample."""
    source = locate(benchmark.dataset, "sample")
    return benchmark.summarise(
        [benchmark.score(item, reply) for item in task_items(benchmark.name, source, pictures=False)],
        data=source.signature,
    )


def sample_sizes(family: Family) -> list[int]:
    """How many items of the bundled sample each headline task has."""
    return [constant_summary(get_benchmark(task), family.constant).coverage.items for task in family.headlines]


def constant_table(family: Family) -> str:
    """What a run without a model must give: the headline of each task, for one reply to all items of the sample."""
    lines = ["| task | items | metric | value |", "| --- | ---: | --- | ---: |"]
    for task in family.headlines:
        benchmark = get_benchmark(task)
        summary = constant_summary(benchmark, family.constant)
        metric = summary.metrics[0]
        lines.append(f"| `{benchmark.name}` | {metric.n} | {metric.name} | {number(metric.value)} |")
    return "\n".join(lines)


def published_table(family: Family) -> str:
    """What the authors report of the headline tasks; says so where nothing is known."""
    lines = ["| task | model | setting | metric | published |", "| --- | --- | --- | --- | ---: |"]
    for task in family.headlines:
        rows = [row for row in published_results(task) if not row.note]
        first = rows[0].metric if rows else ""
        for row in sorted((row for row in rows if row.metric == first), key=lambda row: -row.value):
            lines.append(f"| `{task}` | {row.model} | {row.setting} | {row.metric} | {row.value:.4f} |")
    return "\n".join(lines) if len(lines) > 2 else "No model's result on these tasks is known to us."


def results_table(family: Family, results: Sequence[Result]) -> str:
    """Results of real runs of the benchmark; says so where there are none."""
    names = {benchmark.name for benchmark in family.tasks}
    lines = [
        "| model | task | metric | value | 95 % interval | n | data |",
        "| --- | --- | --- | ---: | --- | ---: | --- |",
    ]
    for result in results:
        if result.task in names:
            lines += _rows(result)
    return "\n".join(lines) if len(lines) > 2 else "None yet: `geoeval upstream ... --results` puts them here."


def _rows(result: Result) -> Iterator[str]:
    def line(metric: Metric) -> str:
        interval = "n/a" if math.isnan(metric.low) else f"{metric.low:.4f} to {metric.high:.4f}"
        data = "SAMPLE" if result.is_sample else str(result.run.get("data") or "unknown")
        model = re.sub(r"[|<>\s]+", " ", result.model)
        value = number(metric.value)
        return f"| {model} | `{result.task}` | {metric.name} | {value} | {interval} | {metric.n} | {data} |"

    yield from (line(metric) for metric in result.summary.metrics[:1])
