"""The sub-package ``core`` of a contribution: what a benchmark needs of our sources, and its tasks by name."""

from __future__ import annotations

from collections.abc import Iterable

from geoeval import __version__
from geoeval.upstream.families import Family
from geoeval.upstream.text import filled
from geoeval.upstream.vendor import Bundle

_GIVEN = {"geoeval.__version__": "", "geoeval.benchmarks.get_benchmark": "registry"}


def bundle(
    family: Family, package: str, targets: Iterable[str], code: Iterable[str], renamed: dict[str, str] | None = None
) -> Bundle:
    """What a contribution needs of our sources.

    Args:
        family: The benchmark.
        package: The sub-package it goes into.
        targets: Names of ours that its adapter imports, each ``module.name``; its tasks are among them unasked.
        code: The adapter, which says by its words which methods are needed.
        renamed: See `Bundle`.
    """
    made = Bundle(package, _GIVEN, renamed)
    made.add([f"{family.module}.TASKS", "geoeval.benchmarks.base.Benchmark", *targets], code)
    return made


def core_files(family: Family, made: Bundle, folder: str, *, rows: bool = False) -> dict[str, str]:
    """All files of the sub-package, not formatted yet.

    Args:
        family: The benchmark.
        made: What it has of our sources.
        folder: Where it is.
        rows: Whether it reads files of rows itself, for a harness that does not.
    """
    values = {"title": family.title, "version": __version__, "package": made.package}
    values |= {"tasks": made.file_of(family.module), "base": made.file_of("geoeval.benchmarks.base")}
    values |= {"items": made.file_of("geoeval.data.items"), "types": made.file_of("geoeval.types")}
    return {
        **({f"{folder}/rows.py": filled("rows.txt", **values)} if rows else {}),
        f"{folder}/__init__.py": filled("core_init.txt", **values),
        f"{folder}/registry.py": filled("core_registry.txt", **values),
        **{f"{folder}/{name}": text for name, text in made.files().items()},
    }
