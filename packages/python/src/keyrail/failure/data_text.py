"""The data of an error as text."""

from __future__ import annotations

import json
from typing import Any


def data_text(rpc_error: dict[str, Any] | None) -> str:
    """Give a string as it is, else compact JSON; nothing where it is missing or nested too deep to be written."""
    if not rpc_error or "data" not in rpc_error:
        return ""
    data = rpc_error["data"]
    if isinstance(data, str):
        return data
    try:
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
