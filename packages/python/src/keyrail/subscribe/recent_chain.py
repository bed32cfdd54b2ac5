"""The newest blocks that a subscription has reported, and its position."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from ..failure.check import invalid
from .events import BlockEvent, LogEvent, ReorgEvent

# Keyrail's service finds its place by the last 128 blocks.
MAX_CURSOR_BLOCKS = 128

ChainEvent: TypeAlias = BlockEvent | LogEvent
ChainEvents: TypeAlias = Generator[BlockEvent | LogEvent | ReorgEvent, None, None]

_HASH = re.compile(r"0x[\da-f]{64}", re.IGNORECASE | re.ASCII)


@dataclass(slots=True)
class RecentBlock:
    """A block up to which everything was reported."""

    number: int
    hash: str
    timestamp: int | None = None
    """In seconds since 1970. None if only the position of the block is known."""
    reported: Sequence[Any] = ()
    """What was reported of it, oldest first. Empty if an earlier process reported it."""


@dataclass(slots=True)
class PartialBlock:
    """The block of which some logs were reported, and others not yet."""

    number: int
    hash: str
    log_index: int
    reported: Sequence[Any] = ()


@dataclass(slots=True)
class RecentChain:
    """Enough recent blocks to find where a branch starts, and to list what it replaces."""

    reorg_depth: int
    first: int | None = None
    """The first block that may be reported, once it is known."""
    complete: bool = True
    """Whether ``blocks`` reaches down to ``first``, so that a branch may replace all of it."""
    blocks: list[RecentBlock] = field(default_factory=list)
    """Oldest first. A socket that sends logs skips blocks without any, and a chain may skip numbers."""
    partial: PartialBlock | None = None

    @property
    def newest(self) -> RecentBlock | None:
        """The newest block of which everything was reported."""
        return self.blocks[-1] if self.blocks else None

    @property
    def next(self) -> int | None:
        """The next block, once it is known."""
        return self.blocks[-1].number + 1 if self.blocks else self.first

    def find_index(self, block_hash: str) -> int:
        """Return the index of a block by its hash; -1 if it is not there."""
        return next((at for at in range(len(self.blocks) - 1, -1, -1) if self.blocks[at].hash == block_hash), -1)

    def find_below(self, number: int) -> int:
        """Return the index of the newest block below a number; -1 if there is none."""
        return next((at for at in range(len(self.blocks) - 1, -1, -1) if self.blocks[at].number < number), -1)

    def extend(self, block: RecentBlock) -> None:
        """Add a block of which everything was reported."""
        self.partial = None
        self.blocks.append(block)
        # The newest block that no branch may replace stays: it is the parent of the deepest one.
        while len(self.blocks) > 1 and self.blocks[1].number <= block.number - self.reorg_depth:
            del self.blocks[0]
            self.complete = False

    def undo_above(self, index: int, number: int, block_hash: str) -> ChainEvents:
        """Remove the blocks above an index, -1 for all of them, and report it if they may have been reported."""
        newest = self.partial or self.newest
        removed = [one for block in self.blocks[index + 1 :] for one in block.reported]
        removed += self.partial.reported if self.partial else ()
        del self.blocks[index + 1 :]
        self.partial = None
        if newest is not None and newest.number >= (self.first or 0):
            marked = [{**one, "removed": True} if "logIndex" in one else one for one in reversed(removed)]
            yield ReorgEvent({"number": hex(number), "hash": block_hash}, marked)

    def report(self, block: RecentBlock, parent_hash: str, events: Sequence[ChainEvent]) -> ChainEvents:
        """Report a block on top of the chain. After each event, the cursor is the position after that event.

        What an earlier run has reported of the block is skipped, and undone if it was another block.
        """
        reportable = list(events) if block.number >= (self.first or 0) else []
        before = self.partial
        if before and before.hash != block.hash and (block.number >= before.number or reportable):
            # A chain may skip numbers.
            parent_number = self.blocks[-1].number if self.blocks else block.number - 1
            yield from self.undo_above(len(self.blocks) - 1, parent_number, parent_hash)
            before = None
        same = before is not None and before.hash == block.hash
        log_index = before.log_index if before is not None and same else -1
        reported: list[Any] = list(before.reported) if before is not None and same else []
        left = [event for event in reportable if event.type == "block" or int(event.log["logIndex"], 16) > log_index]
        for event in left[:-1]:
            raw = event.header if event.type == "block" else event.log
            reported.append(raw)
            if event.type == "log":
                self.partial = PartialBlock(block.number, block.hash, int(event.log["logIndex"], 16), list(reported))
            yield event
        reported += [left[-1].header if left[-1].type == "block" else left[-1].log] if left else []
        self.extend(RecentBlock(block.number, block.hash, block.timestamp, reported))
        if before is not None and before.number > block.number:
            # This block is below the partial one, and has no logs.
            self.partial = before
        yield from left[-1:]

    def to_cursor(self) -> str:
        """Return the position as JSON text, in the format of the TypeScript packages."""
        newest = self.blocks[-MAX_CURSOR_BLOCKS:]
        cursor: dict[str, Any] = {
            "complete": self.complete and len(newest) == len(self.blocks),
            "blocks": [[block.number, block.hash] for block in reversed(newest)],
        }
        if self.first is not None:
            cursor["first"] = self.first
        if self.partial is not None:
            cursor["partial"] = [self.partial.number, self.partial.hash, self.partial.log_index]
        return json.dumps(cursor, separators=(",", ":"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _is_position(value: Any, length: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == length
        and _is_number(value[0])
        and isinstance(value[1], str)
        and _HASH.fullmatch(value[1]) is not None
        and all(map(_is_number, value[2:]))
    )


def parse_cursor(cursor: Any, reorg_depth: int) -> RecentChain:
    """Parse a cursor. It comes from storage, so it may be anything.

    Args:
        cursor: What ``cursor()`` returned; None to start.
        reorg_depth: How many blocks a branch may replace.

    Raises:
        KeyrailError: With kind ``invalidRequest`` unless ``cursor()`` returned it.

    """
    if cursor is None:
        return RecentChain(reorg_depth)
    parsed: Any = None
    try:
        parsed = json.loads(cursor) if isinstance(cursor, str) else None
    except (ValueError, RecursionError):
        parsed = None
    members: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    blocks, first, partial = members.get("blocks"), members.get("first"), members.get("partial")
    if not (
        isinstance(members.get("complete"), bool)
        and isinstance(blocks, list)
        and all(_is_position(block, 2) for block in blocks)
        and all(lower[0] < upper[0] for upper, lower in pairwise(blocks))
        and (first is None or _is_number(first))
        and (partial is None or _is_position(partial, 3))
    ):
        raise invalid("cursor must be text that cursor() of a subscription returned.")
    recent = [RecentBlock(number, block_hash) for number, block_hash in reversed(blocks)]
    return RecentChain(reorg_depth, first, members["complete"], recent, PartialBlock(*partial) if partial else None)
