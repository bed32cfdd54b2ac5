"""Prints what users' code is written against: the exported names, and every declaration that they lead to, without words and bodies.

It reads the sources and imports nothing, so any Python will do: ``python3 tests/public_face.py``.
"""

from __future__ import annotations

import ast
from pathlib import Path

TOP = Path(__file__).resolve().parents[1] / "src/keyrail"

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign


def defined_name(statement: ast.stmt) -> str | None:
    """Give the name that a statement of a module defines."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return statement.name
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


class Module:
    """A file of the package: what it defines, and what it takes from other files of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.defined: dict[str, ast.stmt] = {}
        self.taken: dict[str, tuple[Path, str]] = {}
        tree = ast.parse(path.read_text("utf-8"))
        for statement in ast.walk(tree):
            if isinstance(statement, ast.ImportFrom) and statement.level:
                folder = path.parents[statement.level - 1]
                file = folder.joinpath(*(statement.module or "__init__").split(".")).with_suffix(".py")
                for alias in statement.names:
                    self.taken[alias.asname or alias.name] = (file, alias.name)
        for statement in tree.body:
            if name := defined_name(statement):
                self.defined[name] = statement


def is_shown(statement: ast.stmt) -> bool:
    """Tell whether users see a member of a class."""
    name = defined_name(statement)
    return name is not None and (not name.startswith("_") or (name.startswith("__") and name.endswith("__")))


def bare(statement: ast.stmt) -> ast.stmt:
    """Leave out words and bodies."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        statement.body = [ast.Expr(ast.Constant(...))]
    elif isinstance(statement, ast.ClassDef):
        shown = [bare(member) for member in statement.body if is_shown(member)]
        statement.body = shown or [ast.Expr(ast.Constant(...))]
    return statement


def public_face() -> str:
    """Give all of it, by name."""
    modules: dict[Path, Module] = {}

    def module(path: Path) -> Module:
        if path not in modules:
            modules[path] = Module(path)
        return modules[path]

    door = TOP / "__init__.py"
    listed = module(door).defined["__all__"]
    assert isinstance(listed, ast.Assign)
    exported: list[str] = ast.literal_eval(listed.value)
    found: dict[tuple[str, str], str] = {}

    def follow(path: Path, name: str) -> None:
        home = module(path)
        if name in home.taken:
            follow(*home.taken[name])
            return
        statement = home.defined.get(name)
        key = (name, path.relative_to(TOP).as_posix())
        if statement is None or key in found:
            return
        shown = bare(statement)
        found[key] = ast.unparse(shown)
        for node in ast.walk(shown):
            if isinstance(node, ast.Name):
                follow(path, node.id)
            # Annotations may be written as text.
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                follow(path, node.value)

    for name in exported:
        follow(door, name)
    return "\n\n".join(["\n".join(sorted(exported)), *(found[key] for key in sorted(found))])


if __name__ == "__main__":
    print(public_face())
