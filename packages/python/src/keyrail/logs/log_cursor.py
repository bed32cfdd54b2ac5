"""The position of an iteration over logs."""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict

ChainEdge: TypeAlias = "tuple[int, str] | list[Any]"
"""Number and hash of a block near the head."""


class _Position(TypedDict):
    next_block: int
    """The block to continue with."""
    next_log_index: int
    """The index of the first log of that block that was not returned yet."""


class LogCursor(_Position, total=False):
    """The position of an iteration: all logs before it were returned. Store it as JSON, and pass it on to continue later."""

    edges: list[ChainEdge]
    """With ``check_reorg``: numbers and hashes of blocks near the head, oldest first, to notice a reorganization."""
