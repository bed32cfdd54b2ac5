"""What is known about each JSON-RPC method. ``npm run methods`` writes ``methods.json`` from the table of the TypeScript packages."""

import json
from importlib.resources import files
from typing import Any

TABLE: dict[str, dict[str, Any]] = json.loads(files(__package__).joinpath("methods.json").read_text("utf-8"))
"""The row of each method. The columns are described in ``packages/core/src/schema/methodRow.ts``."""


def find_methods(column: str, *values: Any) -> frozenset[str]:
    """Return the methods whose column has one of these values."""
    return frozenset(name for name, row in TABLE.items() if row.get(column) in values)


def to_namespace(method: str) -> str:
    """Return the name of the row that all methods of a namespace share."""
    return method.partition("_")[0] + "_*"
