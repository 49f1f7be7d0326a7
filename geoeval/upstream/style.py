"""Code in the format of the project that it goes to."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from geoeval.data import DataError

_NOBODYS = ("E501", "W504")
"""Long strings; and breaks after operators, where yapf puts them."""


def formatted(
    files: Mapping[str, str], steps: Sequence[Sequence[str]], package: str, config: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Python files, formatted as they would be in the project.

    Args:
        files: Path -> text; those that do not end with .py are left as they are.
        steps: Commands of Python modules, e.g. ``("ruff", "format")``; each gets the folder as its last argument.
        package: The project's own package, for the order of imports.
        config: Path -> text of files that the formatters look for.

    Raises:
        DataError: A formatter is not installed, or does not accept the code.
    """
    with _folder({**files, **(config or {})}) as folder:
        (folder / package).mkdir(parents=True, exist_ok=True)  # so that imports of it sort as the project's own
        for step in steps:
            done = _run(folder, *step, ".")
            if done.returncode:
                raise DataError(f"{' '.join(step)} ended with {done.returncode}: {done.stdout}{done.stderr}".strip())
        return {path: (folder / path).read_text(encoding="utf-8") for path in files}


def silenced(files: Mapping[str, str], arguments: Sequence[str]) -> dict[str, str]:
    """Python files with ``# noqa`` where flake8 reports what the formatter makes and no one can mend.

    Raises:
        DataError: flake8 is not installed, or reports something else.
    """
    made = {path: text.split("\n") for path, text in files.items()}
    with _folder(files) as folder:
        for line in _run(folder, "flake8", *arguments, "--format=%(path)s\t%(row)d\t%(code)s", ".").stdout.splitlines():
            path, row, code = line.split("\t")
            if code not in _NOBODYS:
                raise DataError(f"flake8: {path}:{row}: {code}")
            lines = made[str(Path(path))]
            lines[int(row) - 1] += f"  # noqa: {code}"
    return {path: "\n".join(lines) for path, lines in made.items()}


@contextmanager
def _folder(files: Mapping[str, str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        for path, text in files.items():
            (Path(name) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / path).write_text(text, encoding="utf-8")
        yield Path(name)


def _run(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec(module) is None:
        raise DataError(f"the code is put into the format of the project with {module}: pip install {module}")
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
