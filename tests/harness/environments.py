"""The Python of an environment that cannot be shared with the tests' own."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@cache
def _has(python: str, module: str) -> bool:
    done = subprocess.run([python, "-c", f"import {module}, geoeval"], capture_output=True, check=False)
    return done.returncode == 0


def python_with(module: str, variable: str, folder: str) -> Path:
    """The Python that has a harness, or the test is skipped.

    Args:
        module: The harness.
        variable: Environment variable that names its environment's folder.
        folder: Where it is else, in the checkout.
    """
    place = Path(os.environ.get(variable) or ROOT / folder).absolute()
    python = place / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"no environment {place}; set {variable}, or set one up as the Makefile does")
    if not _has(str(python), module):
        pytest.skip(f"{python} cannot import {module} and geoeval")
    return python
