"""The part of geoeval's source that some of its names need, as modules of another package.

Nothing is written anew: definitions are cut out of the sources as they stand, with the comments above them, and only
their imports are changed. What is not reachable from the names that are asked for stays behind: whole modules,
functions, constants, and methods whose name nothing mentions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from geoeval.upstream.sources import Piece, Source, Target, imported, is_package, resolved, source_of

_OURS = re.compile(r"\bgeoeval((?:\.\w+)+)")


class Bundle:
    """Modules of one folder with what some names of ours need; they import each other relatively.

    Args:
        package: The package that they are, e.g. "lmms_eval.tasks.georefusal.core".
        given: ``module.name`` of ours -> module of the package that is written otherwise and has that name.
        renamed: Module of ours -> its name in the package, where it is not made of ours.
    """

    def __init__(
        self, package: str, given: Mapping[str, str] | None = None, renamed: Mapping[str, str] | None = None
    ) -> None:
        self.package, self.given, self.renamed = package, dict(given or {}), dict(renamed or {})
        self._kept: dict[str, list[Piece]] = {}
        self._imports: dict[str, dict[str, Target]] = {}
        self._mentioned: set[str] = set()
        self._methods: list[tuple[Source, Piece]] = []
        self._done: set[int] = set()

    def add(self, targets: Iterable[str], code: Iterable[str] = ()) -> None:
        """Keep names of ours, and what they need.

        Args:
            targets: Each ``module.name``.
            code: Source of what uses them, which says by its words which methods are needed.
        """
        for text in code:
            self._mention(ast.walk(ast.parse(text)))
        for target in targets:
            module, _, name = target.rpartition(".")
            self._need(resolved(Target(module, name)))
        while pending := [pair for pair in self._methods if self._wanted(pair[1])]:
            for source, method in pending:
                self._done.add(id(method))
                self._visit(source, method)

    def files(self) -> dict[str, str]:
        """File name -> source, not formatted yet."""
        return {f"{self.file_of(module)}.py": self._emit(module) for module in sorted(self._kept)}

    def file_of(self, module: str) -> str:
        """The module's name in the package, e.g. "extraction_verdict" of ``geoeval.extraction.verdict``."""
        return self.renamed.get(module) or "_".join(module.split(".")[1:])

    def named(self, text: str) -> str:
        """A text, with modules of ours that are in the package under the names they have there."""
        return _OURS.sub(self._named, text)

    def _wanted(self, method: Piece) -> bool:
        (name,) = method.names
        special = name.startswith("__") and name.endswith("__")
        return id(method) not in self._done and (special or name in self._mentioned)

    def _need(self, target: Target) -> None:
        if not target.ours or target.name is None or f"{target.module}.{target.name}" in self.given:
            return
        source = source_of(target.module)
        piece = source.piece(target.name)
        if piece is None:
            raise LookupError(f"{target.module} does not define {target.name!r}")
        kept = self._kept.setdefault(target.module, [])
        if piece in kept:
            return
        kept.append(piece)
        self._methods += [(source, method) for method in piece.methods.values()]
        self._visit(source, piece)

    def _visit(self, source: Source, piece: Piece) -> None:
        """Keep what a piece uses."""
        nodes = list(piece.own_nodes())
        self._mention(nodes)
        imports = self._imports.setdefault(source.name, {})
        inner = dict(
            pair for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for pair in imported(node)
        )
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        for name in sorted(used | inner.keys()):
            target = inner.get(name) or source.imports.get(name)
            if target is None:
                if source.piece(name) is not None:
                    self._need(Target(source.name, name))
                continue
            if name in source.imports:  # also where a function imports it anew: it may be in its annotations
                imports[name] = source.imports[name]
            if target.ours and target.name is None:
                found = [n for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == name]
                for attribute in {n.attr for n in found}:
                    self._need(resolved(Target(target.module, attribute)))
            else:
                self._need(target)

    def _mention(self, nodes: Iterable[ast.AST]) -> None:
        self._mentioned |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}

    def _emit(self, module: str) -> str:
        source = source_of(module)
        doc = self.named("\n".join(source.lines[slice(*source.doc)]))
        parts = [doc, "from __future__ import annotations", self._header(module)]
        for piece in sorted(self._kept[module], key=lambda piece: piece.first):
            dropped = {
                number
                for method in piece.methods.values()
                if id(method) not in self._done
                for number in range(method.first, method.last)
            }
            lines = [source.lines[k] for k in range(piece.first, piece.last) if k not in dropped]
            parts.append(self._reworded("\n".join(lines)))
        return "\n\n\n".join(part for part in parts if part) + "\n"

    def _header(self, module: str) -> str:
        imports = self._imports.get(module, {})
        always = [self._statement(name, target) for name, target in imports.items() if not target.typing]
        typing = [self._statement(name, target) for name, target in imports.items() if target.typing]
        if typing:
            always += ["from typing import TYPE_CHECKING", "if TYPE_CHECKING:", *(f"    {line}" for line in typing)]
        return "\n".join(always)

    def _statement(self, name: str, target: Target) -> str:
        module = self._place(target)
        if target.name is None:
            if not target.ours:
                return f"import {module}" + ("" if name == module else f" as {name}")
            return f"from . import {module[1:]} as {name}"
        return f"from {module} import {target.name}" + ("" if name == target.name else f" as {name}")

    def _place(self, target: Target) -> str:
        if not target.ours:
            return target.module
        given = self.given.get(f"{target.module}.{target.name}")
        return f".{self.file_of(target.module) if given is None else given}"

    def _reworded(self, text: str) -> str:
        """Imports inside functions, and modules named in docstrings, as they are called in the package."""

        def rewritten(found: re.Match[str]) -> str:
            statement = ast.parse(found[0].strip()).body[0]
            assert isinstance(statement, (ast.Import, ast.ImportFrom))
            lines = [f"{found[1]}{self._statement(name, target)}" for name, target in imported(statement)]
            return "\n".join(lines)

        text = re.sub(r"  # noqa\b.*", "", text)  # for our linter
        text = re.sub(
            r"^( *)(?:from geoeval[\w.]* import (?:\([^)]*\)|[^\n(]*)|import geoeval[^\n]*)",
            rewritten,
            text,
            flags=re.M,
        )
        return self.named(text)

    def _named(self, found: re.Match[str]) -> str:
        words = found[0].split(".")
        for end in range(len(words), 1, -1):
            module, rest = ".".join(words[:end]), words[end:]
            if module in self._kept:
                return ".".join([self.file_of(module), *rest])
            if end < len(words) and is_package(module):
                target = resolved(Target(module, words[end]))
                if target.module in self._kept:
                    return ".".join([self.file_of(target.module), *filter(None, [target.name]), *rest[1:]])
        return found[0]
