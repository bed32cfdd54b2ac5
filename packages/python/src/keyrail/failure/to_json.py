"""Serializes JSON values of any depth."""

from __future__ import annotations

import json
from typing import Any

_MAX_DEPTH = 1_000


def to_json(value: Any) -> str | None:
    """Write a JSON value as compact text; None if it nests deeper than 1,000 levels or is not JSON.

    Python's encoder is recursive. If another package raised the recursion limit, a deep value would overflow the stack and kill
    the process.

    Args:
        value: A JSON value, usually part of a response.

    Example:
        >>> to_json({"code": -32000})
        '{"code":-32000}'

    """
    if _nests_deeper(value, _MAX_DEPTH):
        return None
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _nests_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels + 1):
        containers = [one for one in level if isinstance(one, (dict, list))]
        if not containers:
            return False
        level = [child for one in containers for child in (one.values() if isinstance(one, dict) else one)]
    return True
