"""A contribution to VLMEvalKit: ``vlmeval/dataset/<benchmark>.py`` its sub-package, tests, the PR's text."""

from __future__ import annotations

from pprint import pformat

from geoeval import __version__
from geoeval.runs.vlmevalkit import dataset_name
from geoeval.upstream.core import bundle, core_files
from geoeval.upstream.families import Family
from geoeval.upstream.settings import Settings, data_note, data_values
from geoeval.upstream.style import formatted, silenced
from geoeval.upstream.text import constant_table, filled, published_table, readme, results_table
from geoeval.upstream.unit_tests import unit_tests

_CLASSES = {"lithobench": "LithoBench", "georefusal": "GeoRefusalBench", "forge": "ForgeBench"}
_STYLE = (
    ("ruff", "check", "--quiet", "--isolated", "--select=F401", "--fix"),
    ("isort", "--quiet", "--settings-path=setup.cfg"),
    ("yapf", "--in-place", "--recursive", "--style={column_limit=120}"),
)
_CONFIG = {
    "setup.cfg": "[isort]\nline_length = 120\nmulti_line_output = 0\nknown_first_party = vlmeval\n"
    "no_lines_before = STDLIB,LOCALFOLDER\nsections = FUTURE,STDLIB,THIRDPARTY,FIRSTPARTY,LOCALFOLDER\n"
}
"""What the project's setup.cfg says of the order of imports. Its 99 columns contradict the 120 of its yapf, which comes
last in its checks."""

_LINT = ("--max-line-length=120", "--ignore=W503")
"""The project's flake8. Its yapf breaks lines after operators, which this flake8 reports."""

_TARGETS = ("geoeval.runs.vlmevalkit.replies", "geoeval.data.items.item_from_row", "geoeval.data.items.open_picture")
_RENAMED = {"geoeval.runs.vlmevalkit": "replies", "geoeval.runs.model": "reply"}


def contribution(family: Family, settings: Settings) -> dict[str, str]:
    """Path -> text; what is below ``tree/`` goes into a checkout as it is.

    Raises:
        DataError: A formatter is missing.
    """
    folder, class_ = f"vlmeval/dataset/utils/{family.name}", _CLASSES[family.name]
    names = {dataset_name(benchmark.name): benchmark.name for benchmark in family.tasks}
    values = {**data_values(family, settings), "class": class_}
    if values["revision"] == "None":  # its download wants a name
        values["revision"] = "'main'"
    adapter = filled(
        "vlmevalkit/dataset.txt",
        **values,
        line=f"{family.line[0].upper()}{family.line[1:]}",
        tasks=pformat(names),
        first=dataset_name(family.headlines[0]),
    )
    made = bundle(
        family,
        folder.replace("/", "."),
        [*_TARGETS, "geoeval.data.items.picture_problem"],
        [adapter, "benchmark.prompt, benchmark.includes, benchmark.unmarkable"],
        _RENAMED,
    )
    tests = unit_tests(
        family,
        made,
        tasks=list(names),
        imports=filled("vlmevalkit/test_imports.txt", **values),
        extra=filled("vlmevalkit/test.txt", **values),
    )
    files = {
        f"vlmeval/dataset/{family.name}.py": adapter,
        f"tests/test_{family.name}.py": tests,
        **core_files(family, made, folder, rows=True),
    }
    files = formatted(silenced(formatted(files, _STYLE, "vlmeval", _CONFIG), _LINT), _STYLE[-1:], "vlmeval")
    files[f"{folder}/README.md"] = readme(family, made.named)
    return {
        **{f"tree/{path}": text for path, text in files.items()},
        "PR.md": _pr(family, settings, class_, list(names)),
    }


def entry(family: Family) -> tuple[str, str]:
    """The import that goes into ``vlmeval/dataset/__init__.py``, and the class that goes into its list."""
    return f"from .{family.name} import {_CLASSES[family.name]}", _CLASSES[family.name]


def _pr(family: Family, settings: Settings, class_: str, names: list[str]) -> str:
    return filled(
        "vlmevalkit/pr.txt",
        **data_values(family, settings),
        **{"class": class_},
        line=family.line,
        version=__version__,
        count=str(len(names)),
        names=", ".join(f"`{name}`" for name in names),
        entry=entry(family)[0],
        cases=str(len(family.cases)),
        constant=family.constant,
        constant_table=constant_table(family),
        results_table=results_table(family, settings.results),
        published_table=published_table(family),
        data_note=data_note(family, settings, "vlmevalkit"),
    )
