"""Contributions as the command writes them, each project once in a test run."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from geoeval.upstream.cli import write
from geoeval.upstream.families import FAMILIES
from geoeval.upstream.settings import Settings

NEEDS = {"lmms-eval": ("ruff", "isort", "black"), "vlmevalkit": ("ruff", "isort", "yapf", "flake8")}
_KEPT = tempfile.TemporaryDirectory(prefix="geoeval-upstream-")


def contribution(project: str) -> Path:
    """The folder with the contributions of all benchmarks to a project; skips where a formatter is missing."""
    for module in NEEDS.get(project, ("ruff",)):
        pytest.importorskip(module, reason=f"the format of {project} needs {module}")
    return _written(project)


@cache
def _written(project: str) -> Path:
    folder = Path(_KEPT.name) / project
    assert list(write(project, folder, Settings()))
    return folder


def trees(project: str) -> list[Path]:
    """What goes into a checkout, or is a repository of its own, for each benchmark."""
    name = "repository" if project == "inspect-evals" else "tree"
    return [contribution(project) / family / name for family in FAMILIES]


def code(project: str) -> list[Path]:
    """All Python files."""
    return sorted(path for tree in trees(project) for path in tree.rglob("*.py"))


def blocked(folder: Path) -> Path:
    """A folder for the front of PYTHONPATH that hides geoeval."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "geoeval.py").write_text('raise ImportError("geoeval is hidden: a contribution must not need it")\n')
    return folder
