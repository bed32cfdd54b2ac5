"""Prints the public API: the exported names, and all declarations that they refer to, without docstrings and bodies.

This script parses the sources and imports nothing, so any Python can run it: ``python3 tests/public_api.py``.
"""

from __future__ import annotations

import ast
from pathlib import Path

TOP = Path(__file__).resolve().parents[1] / "src/keyrail"

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign


def get_defined_name(statement: ast.stmt) -> str | None:
    """Return the name that a statement of a module defines."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return statement.name
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


class Module:
    """A file of the package: its definitions, and its imports from other files of the package."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.defined: dict[str, ast.stmt] = {}
        self.imported: dict[str, tuple[Path, str]] = {}
        tree = ast.parse(path.read_text("utf-8"))
        for statement in ast.walk(tree):
            if isinstance(statement, ast.ImportFrom) and statement.level:
                folder = path.parents[statement.level - 1]
                file = folder.joinpath(*(statement.module or "__init__").split(".")).with_suffix(".py")
                for alias in statement.names:
                    self.imported[alias.asname or alias.name] = (file, alias.name)
        for statement in tree.body:
            if name := get_defined_name(statement):
                self.defined[name] = statement


def is_public(statement: ast.stmt) -> bool:
    """Check whether a member of a class is public."""
    name = get_defined_name(statement)
    return name is not None and (not name.startswith("_") or (name.startswith("__") and name.endswith("__")))


def strip(statement: ast.stmt) -> ast.stmt:
    """Remove docstrings and bodies."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        statement.body = [ast.Expr(ast.Constant(...))]
    elif isinstance(statement, ast.ClassDef):
        members = [strip(member) for member in statement.body if is_public(member)]
        statement.body = members or [ast.Expr(ast.Constant(...))]
    return statement


def get_public_api() -> str:
    """Return the public API, sorted by name."""
    modules: dict[Path, Module] = {}

    def module(path: Path) -> Module:
        if path not in modules:
            modules[path] = Module(path)
        return modules[path]

    entry = TOP / "__init__.py"
    exports = module(entry).defined["__all__"]
    assert isinstance(exports, ast.Assign)
    exported: list[str] = ast.literal_eval(exports.value)
    found: dict[tuple[str, str], str] = {}

    def follow(path: Path, name: str) -> None:
        home = module(path)
        if name in home.imported:
            follow(*home.imported[name])
            return
        statement = home.defined.get(name)
        key = (name, path.relative_to(TOP).as_posix())
        if statement is None or key in found:
            return
        shown = strip(statement)
        found[key] = ast.unparse(shown)
        for node in ast.walk(shown):
            if isinstance(node, ast.Name):
                follow(path, node.id)
            # Annotations may be strings.
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                follow(path, node.value)

    for name in exported:
        follow(entry, name)
    return "\n\n".join(["\n".join(sorted(exported)), *(found[key] for key in sorted(found))])


if __name__ == "__main__":
    print(get_public_api())
