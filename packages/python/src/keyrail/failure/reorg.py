"""What a reorganization of the chain means to an iteration over logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..logs.log_cursor import LogCursor


@dataclass(slots=True, frozen=True)
class Reorg:
    """Where the chain was reorganized under what was given."""

    from_block: int
    """Logs that were given of this block and of those above it may be gone: drop them."""
    cursor: LogCursor
    """Goes on from there."""
