"""The modules import each other in one direction, imports for types included."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

_ROOT = Path(__file__).parent.parent / "src" / "keyrail"


def _read_imports(file: Path) -> set[str]:
    """Return the modules of this package that a file imports, by their names from the root of the package."""
    package = file.relative_to(_ROOT).parent.parts
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = package[: len(package) - node.level + 1]
        parts = (*base, *(node.module or "").split("."))
        module = "/".join(part for part in parts if part)
        if (_ROOT / f"{module}.py").exists():
            found.add(module)
        else:
            found |= {f"{module}/{name.name}".lstrip("/") for name in node.names}
    return found


def test_imports_form_no_loop() -> None:
    files = [file for file in _ROOT.rglob("*.py") if file.name != "__init__.py"]
    graph = {str(file.relative_to(_ROOT).with_suffix("")): _read_imports(file) for file in files}
    # If the imports could not be read, there would be no loop to find.
    assert sum(len(imported) for imported in graph.values()) > len(files)
    assert len(list(TopologicalSorter(graph).static_order())) >= len(files)
