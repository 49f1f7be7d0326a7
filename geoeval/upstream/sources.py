"""Modules of geoeval, cut up into their definitions and what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import geoeval

_ROOT = Path(geoeval.__file__).parent


@dataclass(frozen=True)
class Target:
    """What an imported name stands for.

    Attributes:
        module: The module; one of ours begins with "geoeval".
        name: The name in it; None for the module itself.
        typing: Whether it is imported for type checkers only.
    """

    module: str
    name: str | None
    typing: bool = False

    @property
    def ours(self) -> bool:
        """Whether it is of geoeval."""
        return self.module.split(".")[0] == "geoeval"


@dataclass
class Piece:
    """One top-level definition, or one method; lines are counted from 0, the last one is not part of it."""

    first: int
    last: int
    names: tuple[str, ...]
    nodes: list[ast.AST]
    methods: dict[str, Piece] = field(default_factory=dict)

    def own_nodes(self) -> Iterator[ast.AST]:
        """All nodes but those of the methods."""
        inside = {id(node) for method in self.methods.values() for top in method.nodes for node in ast.walk(top)}
        for top in self.nodes:
            yield from (node for node in ast.walk(top) if id(node) not in inside)


@dataclass
class Source:
    """A module of ours, cut up."""

    name: str
    lines: list[str]
    doc: tuple[int, int]
    imports: dict[str, Target]
    pieces: list[Piece]

    def piece(self, name: str) -> Piece | None:
        """The piece that defines a name."""
        return next((piece for piece in self.pieces if name in piece.names), None)


@cache
def source_of(module: str) -> Source:
    """Read and cut up a module."""
    path = _path(module)
    text = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    doc = (0, 0)
    imports: dict[str, Target] = {}
    pieces: list[Piece] = []
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            if pieces:  # what a constant means, written below it
                pieces[-1].last = _last(node)
            else:
                doc = (node.lineno - 1, _last(node))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(imported(node))
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for inner in node.body:
                if isinstance(inner, (ast.Import, ast.ImportFrom)):
                    imports.update(imported(inner, typing=True))
        else:
            pieces.append(_piece(node, lines))
    return Source(module, lines, doc, imports, pieces)


def _piece(node: ast.stmt, lines: list[str]) -> Piece:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    piece = Piece(first, _last(node), tuple(_defined(node)), [node])
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                piece.methods[inner.name] = _piece(inner, lines)
    return piece


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def _last(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno


def imported(node: ast.Import | ast.ImportFrom, *, typing: bool = False) -> Iterator[tuple[str, Target]]:
    """Name in the module -> what it stands for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, resolved(Target(str(node.module), alias.name, typing))
        else:
            yield alias.asname or alias.name, Target(alias.name, None, typing)


def resolved(target: Target) -> Target:
    """The place where a name of ours is defined, behind the modules that pass it on."""
    if not target.ours or target.name is None:
        return target
    if is_package(target.module) and _path(f"{target.module}.{target.name}").is_file():
        return Target(f"{target.module}.{target.name}", None, target.typing)
    source = source_of(target.module)
    if source.piece(target.name) is None and target.name in source.imports:
        passed = source.imports[target.name]
        return Target(passed.module, passed.name, target.typing)
    return target


def is_package(module: str) -> bool:
    """Whether a module of ours is a package."""
    return (_ROOT.joinpath(*module.split(".")[1:]) / "__init__.py").is_file()


def _path(module: str) -> Path:
    place = _ROOT.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if is_package(module) else place.with_suffix(".py")
