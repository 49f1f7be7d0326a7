"""A contribution to lmms-eval: ``lmms_eval/tasks/<benchmark>``, its unit tests, its entry and the text of the PR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

from geoeval import __version__
from geoeval.benchmarks import Benchmark
from geoeval.harness.lmms_eval.plugin import shipped
from geoeval.upstream.core import bundle, core_files
from geoeval.upstream.families import Family
from geoeval.upstream.settings import Settings, data_note, data_values
from geoeval.upstream.style import formatted
from geoeval.upstream.text import constant_table, filled, published_table, readme, results_table, sample_sizes
from geoeval.upstream.unit_tests import unit_tests

_STYLE = (
    ("ruff", "check", "--quiet", "--isolated", "--select=F401", "--fix"),
    ("isort", "--quiet", "--profile=black"),
    ("black", "--quiet", "--line-length=240"),
)
_ADAPTER = "geoeval.harness.lmms_eval.adapter"
_HOOKS = ("ReplyFilter", "doc_to_target", "doc_to_text", "doc_to_messages", "doc_to_visual", "mean", "sample_metrics")
_CALLED = "ReplyFilter.apply"
"""What the harness calls."""

_TARGETS = (
    "geoeval.data.items.item_from_row",
    "geoeval.data.items.picture_problem",
    "geoeval.runs.lmms_eval.reply_or_failure",
)
_RENAMED = {_ADAPTER: "adapter", "geoeval.runs.lmms_eval": "replies"}


def contribution(family: Family, settings: Settings) -> dict[str, str]:
    """Path -> text; what is below ``tree/`` goes into a checkout as it is.

    Raises:
        DataError: A formatter is missing.
    """
    folder = f"lmms_eval/tasks/{family.name}"
    utils = filled("lmms_eval/utils.txt", **data_values(family, settings), hooks="\n".join(_hooks(family)))
    made = bundle(
        family,
        f"lmms_eval.tasks.{family.name}.core",
        [*(f"{_ADAPTER}.{name}" for name in _HOOKS), *_TARGETS],
        [utils, _CALLED],
        _RENAMED,
    )
    files = {
        f"{folder}/__init__.py": "",
        f"{folder}/README.md": readme(family, made.named) + _how_to_run(family, settings),
        f"{folder}/utils.py": utils,
        **{f"{folder}/{name}": text for name, text in _definitions(family)},
        **core_files(family, made, f"{folder}/core"),
        f"test/eval/test_{family.name}.py": unit_tests(
            family,
            made,
            tasks=[*(benchmark.name for benchmark in family.tasks), *_groups(family)],
            imports=filled("lmms_eval/test_imports.txt", package=made.package),
            extra=filled("lmms_eval/test.txt"),
        ),
    }
    files = formatted(files, _STYLE, "lmms_eval")
    return {**{f"tree/{path}": text for path, text in files.items()}, "PR.md": _pr(family, settings)}


def _hooks(family: Family) -> Iterator[str]:
    """The functions that task definitions name, one line each."""
    for dataset in family.datasets:
        yield f'{dataset}_files = _files("{dataset}")'
    for benchmark in family.tasks:
        yield f'{benchmark.name}_process_docs = partial(process_docs, "{benchmark.name}")'
    for task, name, kind in sorted({_aggregation(family, b, m) for b in family.tasks for m in b.metric_names}):
        if kind:
            yield f'{task}_aggregate_{name} = partial(aggregate_{kind}, "{task}", "{name}")'


def _aggregation(family: Family, benchmark: Benchmark, metric: str) -> tuple[str, str, str]:
    """The first task of the same kind, which stands for all, the metric, and how it is aggregated; "" for a mean."""
    kind = "part_mean" if metric in benchmark.part_means else "composite" if metric in benchmark.composites else ""
    first = next(b.name for b in family.tasks if type(b) is type(benchmark))
    return first, metric, kind


def _definitions(family: Family) -> Iterator[tuple[str, str]]:
    """File name -> YAML: what all share, one for each kind of task, one for each task, the groups as ours."""
    yield "_default_template_yaml", filled("lmms_eval/default.txt", title=family.title)
    kinds: dict[type[Benchmark], str] = {}
    for benchmark in family.tasks:
        kind = type(benchmark)
        if kind not in kinds:
            kinds[kind] = f"_{benchmark.name}_template_yaml"
            yield kinds[kind], _template(family, benchmark)
        yield (
            f"{benchmark.name}.yaml",
            "".join(
                (
                    f"task: {benchmark.name}\n",
                    f"include: {kinds[kind]}\n",
                    f"process_docs: !function utils.{benchmark.name}_process_docs\n",
                )
            ),
        )
    for path in sorted((shipped("tasks") / family.name).glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if "\ngroup:" in f"\n{text}":
            yield path.name, text


def _template(family: Family, benchmark: Benchmark) -> str:
    lines = [
        "include: _default_template_yaml",
        f"dataset_kwargs: !function utils.{benchmark.dataset}_files",
        "generation_kwargs:",
        f"  max_new_tokens: {benchmark.max_new_tokens}",
        "  temperature: 0",
        "  do_sample: false",
        "  until: []",
        "metric_list:",
    ]
    for name in ("coverage", *benchmark.metric_names):
        task, metric, kind = _aggregation(family, benchmark, name)
        better = "false" if name in benchmark.lower_is_better else "true"
        aggregation = f"{task}_aggregate_{metric}" if kind else "mean"
        lines += [
            f"  - metric: {name}",
            f"    aggregation: !function utils.{aggregation}",
            f"    higher_is_better: {better}",
        ]
    return "\n".join([*lines, "metadata:", f'  version: "{benchmark.version}"', ""])


def _groups(family: Family) -> Sequence[str]:
    files = sorted((shipped("tasks") / family.name).glob("*.yaml"))
    found = (
        yaml.safe_load(text) for text in (f.read_text(encoding="utf-8") for f in files) if "\ngroup:" in f"\n{text}"
    )
    return [content["group"] for content in found]


def _how_to_run(family: Family, settings: Settings) -> str:
    data = data_values(family, settings)
    where = f"The files are read from `{data['repository']}`." if data["repository"] else ""
    return filled("lmms_eval/run.txt", **data, where=where, headlines=",".join(family.headlines))


def _pr(family: Family, settings: Settings) -> str:
    data = data_values(family, settings)
    groups = _groups(family)
    link = next(iter(family.links.values()))
    entry = [f"- [{family.title}]({link}) ({family.name})" if family.name in groups else f"- [{family.title}]({link})"]
    entry += [f"  - {name} ({name})" for name in (*groups, *family.headlines) if name != family.name]
    return filled(
        "lmms_eval/pr.txt",
        **data,
        line=family.line,
        version=__version__,
        count=str(len(family.tasks)),
        groups=f" and the group{'s' if len(groups) > 1 else ''} {', '.join(f'`{g}`' for g in groups)}",
        entry="\n".join(entry),
        cases=str(len(family.cases)),
        constant=family.constant,
        headlines=",".join(family.headlines),
        items=" + ".join(str(n) for n in sample_sizes(family)),
        constant_table=constant_table(family),
        results_table=results_table(family, settings.results),
        published_table=published_table(family),
        data_note=data_note(family, settings, "lmms-eval"),
    )
