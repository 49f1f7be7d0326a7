"""The checks of ``checks_*.py``, each its own test, in ms-vlmeval and in a checkout where there is one."""

import ast
from pathlib import Path

import pytest
from vlmevalkit_runs import checkout, inside

CHECKS = [
    node.name
    for file in sorted(Path(__file__).parent.glob("checks_*.py"))
    for node in ast.parse(file.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and any(getattr(d, "id", "") == "check" for d in node.decorator_list)
]


@pytest.fixture(scope="module", params=["wheel", "checkout"])
def results(request, tmp_path_factory):
    root = (checkout(),) if request.param == "checkout" else ()
    return inside(*root, folder=str(tmp_path_factory.mktemp("inside")))


@pytest.mark.parametrize("name", CHECKS)
def test_inside(results, name):
    assert not results[name], results[name]
