"""A reorganization of the chain, found while logs were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..logs.log_cursor import LogCursor


@dataclass(slots=True, frozen=True)
class Reorg:
    """Where the chain was reorganized."""

    from_block: int
    """The first block whose logs may have changed. Drop the logs that were returned of this block and later blocks."""
    cursor: LogCursor
    """Resumes the iteration at that block."""
