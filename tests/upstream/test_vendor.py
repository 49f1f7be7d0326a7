"""What is cut out of our sources is the same code, nothing is missing, and nothing is there that is not needed."""

import ast
import importlib.util
import subprocess
import sys

import pytest

from geoeval.upstream.core import bundle
from geoeval.upstream.families import FAMILIES
from geoeval.upstream.sources import Target, resolved, source_of
from geoeval.upstream.vendor import Bundle

SCORING = "benchmark.score, benchmark.prompt, benchmark.unmarkable, benchmark.includes"


def made(family, *targets):
    return bundle(FAMILIES[family], "core", targets, [SCORING])


@pytest.mark.parametrize("family", FAMILIES)
def test_kept_definitions_are_the_same_code(family):
    """Of every function and method, the statements are ours but for imports and words in docstrings."""
    found = made(family)
    compared = 0
    for module in found._kept:
        ours = ast.parse("\n".join(source_of(module).lines))
        theirs = ast.parse(found.files()[f"{found.file_of(module)}.py"])
        known = dict(functions(ours))
        for name, body in functions(theirs):
            assert body == known[name], f"{module}.{name}"
            compared += 1
    assert compared > 40


def functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", dumped(inner)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, dumped(node)


def dumped(function):
    body = [node for node in function.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    words = ast.get_docstring(function) is not None
    return [ast.dump(function.args), *(ast.dump(node) for node in body[words:] if not has_import(node))]


def has_import(node):
    return any(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in ast.walk(node))


@pytest.mark.parametrize(
    ("family", "absent"),
    [
        ("georefusal", ["extraction_letter", "metrics_overlap", "benchmarks_lithobench", "metrics_intervals", "judge"]),
        ("forge", ["extraction_verdict", "metrics_refusal", "metrics_overlap", "benchmarks_lithobench", "judge"]),
        ("lithobench", ["extraction_verdict", "benchmarks_forge", "benchmarks_georefusal", "data_source", "judge"]),
    ],
)
def test_what_is_not_needed_stays_behind(family, absent):
    files = made(family).files()
    assert not [name for name in files for part in absent if name.startswith(part)]
    assert "def summarise" not in files["benchmarks_base.py"]
    assert "def score" in files["benchmarks_base.py"]


def test_a_method_that_code_mentions_is_kept_with_what_it_needs():
    found = bundle(FAMILIES["georefusal"], "core", (), [SCORING, "benchmark.summarise"])
    assert "def summarise" in found.files()["benchmarks_base.py"]
    assert "metrics_intervals.py" in found.files()


def test_names_are_found_where_they_are_defined():
    assert resolved(Target("geoeval.extraction", "extract_letter")) == Target(
        "geoeval.extraction.letter", "extract_letter"
    )
    assert resolved(Target("geoeval.data.source", "DataError")).module == "geoeval.data.errors"
    assert resolved(Target("geoeval.benchmarks", "forge")) == Target("geoeval.benchmarks.forge", None)


def test_an_unknown_name_is_an_error():
    with pytest.raises(LookupError, match="does not define 'nothing'"):
        Bundle("core").add(["geoeval.types.nothing"])


@pytest.mark.parametrize("family", FAMILIES)
def test_modules_run_without_geoeval_and_score_as_ours(family, tmp_path):
    """In a process where geoeval cannot be imported; what is read of each case is compared."""
    from geoeval.upstream.core import core_files

    found = made(family)
    for path, text in core_files(FAMILIES[family], found, "core").items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "geoeval.py").write_text("raise ImportError('hidden')")
    cases = [(case.task, FAMILIES[family].item(case.task), case.reply, case.read) for case in FAMILIES[family].cases]
    program = "\n".join(
        (
            "from core.registry import get_benchmark",
            "from core.types import Item",
            *(
                f"assert get_benchmark({t!r}).score({item!r}, {reply!r}).extracted == {read!r}"
                for t, item, reply, read in cases
            ),
            "print('scored')",
        )
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "scored\n", done.stderr


def test_this_test_environment_could_import_geoeval():
    assert importlib.util.find_spec("geoeval") is not None


@pytest.mark.parametrize("family", FAMILIES)
def test_comments_stay_and_marks_for_our_linter_go(family):
    found = made(family)
    text = "\n".join(found.files().values())
    assert "noqa" not in text
    for module, pieces in found._kept.items():
        lines = source_of(module).lines
        above = [lines[p.first] for p in pieces if lines[p.first].startswith("#")]
        assert all(comment in text for comment in above)
    assert "\n# " in text
