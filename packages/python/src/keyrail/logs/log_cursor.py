"""Where an iteration over logs stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

from ..failure.check import check

ChainEdge: TypeAlias = "tuple[int, str] | list[Any]"
"""Number and hash of a block that what was given stands on."""


class _Place(TypedDict):
    next_block: int
    """The block to go on with."""
    next_log_index: int
    """The index of the first log of that block that was not given yet."""


class LogCursor(_Place, total=False):
    """Where an iteration stands: everything before it was given. Plain JSON, to be kept and handed in again."""

    edges: list[ChainEdge]
    """With ``check_reorg``: numbers and hashes of blocks near the head that what was given stands on, oldest first."""


def check_log_cursor(cursor: Any) -> None:
    """Refuse a cursor that is none: it may have been kept as JSON by anyone.

    Raises:
        KeyrailError: Of kind ``invalidRequest``.

    """
    right = (
        isinstance(cursor, Mapping)
        and _is_whole(cursor.get("next_block"))
        and _is_whole(cursor.get("next_log_index"))
        and isinstance(cursor.get("edges", []), (list, tuple))
        and all(_is_edge(edge) for edge in cursor.get("edges", []))
    )
    check(right, "cursor must be what cursor was: { next_block, next_log_index }, whole numbers from 0")


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
