"""The core is light, and only the harness package knows a harness."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import geoeval

PACKAGE = Path(geoeval.__file__).parent
HEAVY = ("torch", "lmms_eval", "vlmeval", "inspect_ai", "pandas", "datasets", "numpy", "scipy", "sacrebleu", "PIL")
CORE = sorted(path for part in ("extraction", "metrics", "benchmarks") for path in (PACKAGE / part).rglob("*.py"))
ORDER = ("types", "extraction", "metrics", "benchmarks", "data", "judge", "runs", "harness", "report", "cli")


def test_core_imports_nothing_heavy():
    code = (
        "import sys, geoeval.types, geoeval.extraction, geoeval.benchmarks, geoeval.metrics.overlap, "
        "geoeval.metrics.intervals, geoeval.metrics.refusal, geoeval.metrics.classification; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_what_stands_right_of_it(path):
    own = ORDER.index(path.relative_to(PACKAGE).parts[0])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for name in names:
            if name.startswith("geoeval.") and name.split(".")[1] in ORDER:
                assert ORDER.index(name.split(".")[1]) <= own, f"{path.name} imports {name}"


def test_only_the_harness_package_imports_a_harness():
    for path in PACKAGE.rglob("*.py"):
        if "harness" not in path.parts and path.name != "doctor.py":
            assert "import lmms_eval" not in path.read_text(encoding="utf-8")
            assert "from lmms_eval" not in path.read_text(encoding="utf-8")
