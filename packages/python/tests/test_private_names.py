"""No private name of another package, or of the standard library, is used: the next version may not have it."""

from __future__ import annotations

import ast
from pathlib import Path

import keyrail

SOURCES = sorted(Path(keyrail.__file__).parent.rglob("*.py"))
# web3.py's own providers consist of these, and it exports them nowhere else.
ALLOWED = {"web3._utils.caching", "web3._utils.empty", "web3._utils.encoding"}
# Instrumentations of OpenTelemetry read it. Without it, the provider works as well.
ALLOWED_NAMES = {"_SUPPRESS_INSTRUMENTATION_KEY"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def find_own_names(tree: ast.AST) -> set[str]:
    """Find the private names that a module defines: functions, and attributes and variables that are assigned."""
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            own.add(node.attr)
    return own


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def find_private_names(tree: ast.AST, own: set[str]) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module not in (None, *ALLOWED):
            names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
            found += [f"{node.module}: {name}" for name in names if is_private(name)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if any(map(is_private, alias.name.split(".")))]
        elif (isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own) or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "hasattr", "setattr")
            and isinstance(node.args[1], ast.Constant)
            and is_private(str(node.args[1].value))
            and node.args[1].value not in ALLOWED_NAMES
        ):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.ClassDef) and any(not is_own(base) for base in node.bases):
            # A method that overrides a private one of another package.
            found += [
                f"{node.name}.{one.name}"
                for one in node.body
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name in OVERRIDABLE
            ]
    return found


# Of urllib3 and asyncio, which once were overridden.
OVERRIDABLE = {"_new_conn", "_tunnel", "_call_connection_lost"}


def is_own(base: ast.expr) -> bool:
    return isinstance(base, ast.Name) and is_private(base.id)


def test_no_private_name_of_another_package_is_used() -> None:
    trees = {path: ast.parse(path.read_text("utf-8")) for path in SOURCES}
    own = set().union(*(find_own_names(tree) for tree in trees.values()))
    found = {path.name: names for path, tree in trees.items() if (names := find_private_names(tree, own))}
    assert found == {}


def test_private_names_are_found() -> None:
    tree = ast.parse(
        "from urllib3.connection import _Proxy\nimport asyncio._x\nsock._dns_host\ngetattr(sock, '_ssl_protocol', None)\n"
        "class A(HTTPConnection):\n    def _new_conn(self): pass\nself._own\n"
    )
    assert len(find_private_names(tree, {"_own"})) == 5
