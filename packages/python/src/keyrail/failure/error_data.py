"""The data of a JSON-RPC error as text."""

from __future__ import annotations

from typing import Any

from .to_json import to_json


def get_error_text(rpc_error: dict[str, Any] | None) -> str:
    """Return the data of an error: a string unchanged, other values as compact JSON, "" if there is none or it nests too deep."""
    if not rpc_error or "data" not in rpc_error:
        return ""
    data = rpc_error["data"]
    return data if isinstance(data, str) else to_json(data) or ""
