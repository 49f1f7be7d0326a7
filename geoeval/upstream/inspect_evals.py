"""A contribution to Inspect Evals: a repository with the tasks, and the register's entries that point at it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pprint import pformat

import yaml

from geoeval import __version__
from geoeval.data.published import PUBLISHED
from geoeval.upstream.core import bundle, core_files
from geoeval.upstream.families import Family
from geoeval.upstream.settings import Settings, data_note, data_values
from geoeval.upstream.style import formatted
from geoeval.upstream.text import constant_table, filled, published_table, readme, results_table
from geoeval.upstream.unit_tests import unit_tests

_STYLE = (
    ("ruff", "check", "--quiet", "--isolated", "--select=I,F401", "--fix", "--line-length=120"),
    ("ruff", "format", "--quiet", "--isolated", "--line-length=120"),
)
_OURS = "geoeval.harness.inspect_ai"
_TARGETS = (
    *(f"{_OURS}.replies.{name}" for name in ("keep_reply", "reply_of")),
    *(f"{_OURS}.samples.{name}" for name in ("inspect_score", "score_of")),
    *(f"geoeval.data.items.{name}" for name in ("item_from_row", "open_picture", "picture_problem")),
)
_RENAMED = {f"{_OURS}.replies": "replies", f"{_OURS}.samples": "samples"}
_OPTIONAL = ("nltk",)  # a variant of BLEU that no task uses
_PACKAGES = {"PIL": "pillow", "inspect_ai": "inspect_ai>=0.3.285"}


def contribution(family: Family, settings: Settings) -> dict[str, str]:
    """Path -> text; ``repository/`` is a repository of its own, ``register/`` goes into a checkout of Inspect Evals.

    Raises:
        DataError: A formatter is missing.
    """
    module = f"{family.name}_inspect"
    values = {**data_values(family, settings), "module": module, "version": __version__, "line": family.line}
    names = [benchmark.name for benchmark in family.tasks]
    adapter = filled(
        "inspect_evals/task.txt",
        **values,
        package=f"{module}.core",
        types="types",
        tasks=pformat(names),
        functions="".join(
            filled(
                "inspect_evals/function.txt",
                task=benchmark.name,
                doc=f"{family.title}, version {benchmark.version}.",
                dataset=benchmark.dataset,
                variable=values["variable"],
            )
            for benchmark in family.tasks
        ),
    )
    called = "benchmark.prompt, benchmark.includes, benchmark.unmarkable, benchmark.flat_prompt"
    made = bundle(family, f"{module}.core", _TARGETS, [adapter, called], _RENAMED)
    files = {
        f"src/{module}/__init__.py": filled(
            "inspect_evals/init.txt", **values, names=", ".join(names), quoted=", ".join(f'"{name}"' for name in names)
        ),
        f"src/{module}/task.py": adapter,
        f"src/{module}/core/__init__.py": "",
        **core_files(family, made, f"src/{module}/core", rows=True),
        f"tests/test_{family.name}.py": unit_tests(
            family,
            made,
            tasks=names,
            imports=filled("inspect_evals/test_imports.txt", module=module),
            extra=filled("inspect_evals/test.txt"),
        ),
    }
    files["pyproject.toml"] = filled(
        "inspect_evals/pyproject.txt",
        **values,
        distribution=module.replace("_", "-"),
        dependencies=_dependencies(files, module),
    )
    files["README.md"] = readme(family, made.named) + filled(
        "inspect_evals/run.txt",
        **values,
        first=family.headlines[0],
        where=f"Without it the files are read from `{values['repository']}`." if values["repository"] else "",
    )
    files = formatted(files, _STYLE, f"src/{module}")
    found = {f"repository/{path}": text for path, text in files.items()}
    if settings.repository:
        found.update(_register(family, settings, f"src/{module}/task.py"))
    return {**found, "PR.md": _pr(family, settings, files[f"src/{module}/task.py"], f"src/{module}/task.py", values)}


def _dependencies(files: Mapping[str, str], module: str) -> str:
    """What the code imports that Python does not bring."""
    nodes = [n for path, text in files.items() if path.startswith("src") for n in ast.walk(ast.parse(text))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    tops = {name.split(".")[0] for name in imported} - {*sys.stdlib_module_names, module, *_OPTIONAL}
    return ", ".join(f'"{_PACKAGES.get(top, top)}"' for top in sorted(tops))


def _register(family: Family, settings: Settings, path: str) -> Iterator[tuple[str, str]]:
    """One entry for each headline task, as the register prefers."""
    owner = str(settings.repository).rstrip("/").split("/")[-2]
    for task in family.headlines:
        rows = PUBLISHED[next(b.dataset for b in family.tasks if b.name == task)].rows
        title = f"{family.title}: {task}" if len(family.headlines) > 1 else family.title
        entry = {
            "full_title": title,
            "common_title": title,
            "description": f"{family.line[0].upper()}{family.line[1:]}.",
            **({"arxiv": family.links["paper"]} if "paper" in family.links else {}),
            "contributors": [owner],
            "tasks": [{"name": task, **({"dataset_samples": rows} if rows else {}), "task_path": path}],
            "source": {
                "repository_url": settings.repository,
                "repository_commit": settings.commit,
                "maintainers": [owner],
            },
        }
        yield f"register/{task}/eval.yaml", yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=10_000)


def _pr(family: Family, settings: Settings, code: str, path: str, values: Mapping[str, str]) -> str:
    if settings.repository:
        register = (
            f"Copy `register/` into a checkout of Inspect Evals, run `make check`: it points at {settings.commit}."
        )
        place = f"{str(settings.repository).rstrip('/')}/blob/{settings.commit}/{path}"
        links = [f"{place}#L{_line(code, task)}" for task in family.headlines]
        paper = family.links.get("paper", "(the address of the paper, which is not known to geoeval)")
        issue = f"Or open an issue with the paper, {paper}, and the source: {', '.join(links)}."
    else:
        register = (
            "Run `geoeval upstream inspect-evals --repository URL --commit SHA` with its address and commit: that "
            "writes the entries `register/<task>/eval.yaml`."
        )
        issue = "Or open an issue with the address of the paper and of the line of each `@task` at that commit."
    return filled(
        "inspect_evals/pr.txt",
        **values,
        register=register,
        issue=issue,
        cases=str(len(family.cases)),
        constant=family.constant,
        constant_table=constant_table(family),
        results_table=results_table(family, settings.results),
        published_table=published_table(family),
        data_note=data_note(family, settings, "inspect-evals"),
    )


def _line(code: str, task: str) -> int:
    """The line of a task's decorator."""
    lines = enumerate(code.splitlines(), 1)
    return next(number for number, line in lines if line.startswith(f"def {task}(")) - 1
