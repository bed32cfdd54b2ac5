"""Checks the cursor that an iteration over logs continues from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..failure.check import check, describe


def check_log_cursor(cursor: Any) -> None:
    """Reject an invalid cursor. It may have been changed while it was stored.

    Raises:
        KeyrailError: With kind ``invalidRequest``.

    """
    is_valid = (
        isinstance(cursor, Mapping)
        and _is_whole(cursor.get("next_block"))
        and _is_whole(cursor.get("next_log_index"))
        and isinstance(cursor.get("edges", []), (list, tuple))
        and all(_is_edge(edge) for edge in cursor.get("edges", []))
    )
    check(
        is_valid,
        f"cursor must be the cursor of an earlier iteration, such as {_EXAMPLE}, not {describe(cursor)}.",
    )


_EXAMPLE = '{"next_block": 7, "next_log_index": 0}'


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_edge(edge: Any) -> bool:
    return (
        isinstance(edge, (list, tuple))
        and len(edge) == 2
        and _is_whole(edge[0])
        and isinstance(edge[1], str)
        and re.fullmatch(r"0x[\da-fA-F]{64}", edge[1], re.ASCII) is not None
    )
