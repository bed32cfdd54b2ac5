"""The data of an error as text."""

from __future__ import annotations

from typing import Any

from .json_text import json_text


def data_text(rpc_error: dict[str, Any] | None) -> str:
    """Give a string as it is, else compact JSON; nothing where it is missing or nested too deep to be written."""
    if not rpc_error or "data" not in rpc_error:
        return ""
    data = rpc_error["data"]
    return data if isinstance(data, str) else json_text(data) or ""
