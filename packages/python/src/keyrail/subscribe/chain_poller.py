"""Polls the chain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..failure.error import KeyrailError, create_error
from ..failure.is_null_round import MAX_NULL_ROUNDS
from ..transport.steps import now_ms
from .chain_source import ChainBlock, ChainSource, malformed, missing_block
from .events import BlockEvent, LogEvent, ReorgEvent
from .poll_schedule import PollSchedule
from .recent_chain import ChainEvent, RecentBlock, RecentChain

Events: TypeAlias = AsyncGenerator[BlockEvent | LogEvent | ReorgEvent, None]

# How many blocks of a gap to read concurrently.
_LOOKAHEAD = 8
# If the head stays lower for this many polls and for two block times, the node is not lagging: the chain has become shorter.
_MAX_LOWER_POLLS = 8


@dataclass(slots=True)
class Polled:
    """The result of a poll."""

    at_head: bool = False
    """Whether the newest block of the node has been reported."""
    wait_ms: float = 0
    """The delay before the next poll."""


def too_deep(reorg_depth: int) -> KeyrailError:
    """Create the error for a reorganization that cannot be followed."""
    hint = "Start again from an earlier block, or raise reorg_depth."
    message = f"The chain was reorganized deeper than reorg_depth ({reorg_depth} blocks). {hint}"
    return create_error(message, kind="badResponse", source="node", retryable=False, hint=hint)


class ChainPoller:
    """Polls the chain once per call of ``poll``. A poll that fails can be repeated: it continues where it ended.

    The parent of each reported block is the block before it. If a new block has another parent, its branch is followed down by hash
    to a block of the chain, and the blocks above that one are undone. However the chain changes between two requests, the blocks
    that are reported and not undone always form one chain, which is the canonical one as soon as it includes the head.
    """

    def __init__(
        self, chain: RecentChain, source: ChainSource, schedule: PollSchedule, from_block: int | str | None
    ) -> None:
        self._chain = chain
        self._source = source
        self._schedule = schedule
        self._from_block = from_block
        self._lower_polls = 0
        self._lower_since = 0.0

    async def poll(self, polled: Polled) -> Events:
        """Report what has changed. Afterwards ``polled`` says when to poll again."""
        chain, source = self._chain, self._source
        polled.at_head, polled.wait_ms = False, 0
        polled_at = now_ms()
        head = await source.read("latest")
        if chain.first is None and chain.newest is None:
            await self._start(head)
        following = chain.next
        assert following is not None  # noqa: S101 - _start has set it
        if head.number < following:
            newest = chain.newest
            polled.at_head = True
            if newest is not None:
                async for event in self._check_lower_head(head, newest, polled):
                    yield event
            switched = polled.at_head and newest is not None and head.hash != newest.hash
            polled.wait_ms = self._after_news() if switched else self._schedule.after_nothing()
            return
        self._lower_polls = 0
        async for event in self._follow_to_head(following, head, polled):
            yield event
        polled.wait_ms = max(0, self._after_news() - (now_ms() - polled_at)) if polled.at_head else 0

    async def _start(self, head: ChainBlock) -> None:
        chain, from_block = self._chain, self._from_block
        if from_block is None:
            chain.first = head.number + 1
            # So that a cursor has hashes from the start. Two, because another node may not have the head yet.
            if head.number > 0:
                chain.extend(RecentBlock(head.number - 1, head.parent_hash))
            chain.extend(head.to_recent())
        elif isinstance(from_block, int):
            chain.first = from_block
        else:
            chain.first = head.number if from_block == "latest" else (await self._source.read(from_block)).number

    def _after_news(self) -> float:
        timestamps = [block.timestamp for block in self._chain.blocks[-9:]]
        return self._schedule.after_news([one for one in timestamps if one is not None])

    async def _find_with_events(self, number: int, head: ChainBlock) -> tuple[ChainBlock, Sequence[ChainEvent]] | None:
        block = head if number == head.number else await self._source.find(number)
        if block is None:
            return None
        if block.number != number:
            raise malformed("block.number", "the requested number")
        return block, await self._source.load(block)

    async def _follow_to_head(self, first: int, head: ChainBlock, polled: Polled) -> Events:
        is_first = True
        # The first of the numbers in a row for which the node has no block.
        missing: int | None = None
        for start in range(first, head.number + 1, _LOOKAHEAD):
            numbers = range(start, min(start + _LOOKAHEAD, head.number + 1))
            reads = [self._find_with_events(number, head) for number in numbers]
            results = await asyncio.gather(*reads, return_exceptions=True)
            for number, result in zip(numbers, results, strict=True):
                if isinstance(result, BaseException):
                    raise result
                if result is None:
                    missing = number if missing is None else missing
                    if number - missing >= MAX_NULL_ROUNDS:
                        raise missing_block(missing)
                    continue
                block, events = result
                newest = self._chain.newest
                continues = newest is not None and newest.hash == block.parent_hash
                # Filecoin skips numbers. If the parent is below them, there are no such blocks. Otherwise, the node is behind.
                if missing is not None and not continues:
                    parent = await self._source.find(block.parent_hash)
                    if parent is None or parent.number >= missing:
                        raise missing_block(missing)
                missing = None
                if newest is not None and not continues:
                    # Blocks that were read concurrently may be of several branches: only the first shows which one is current.
                    if is_first:
                        async for event in self._switch_branch(block):
                            yield event
                    return
                is_first = False
                for one in self._chain.report(block.to_recent(), block.parent_hash, events):
                    yield one
        polled.at_head = True

    async def _check_lower_head(self, head: ChainBlock, newest: RecentBlock, polled: Polled) -> Events:
        """Handle a head that is not above the newest block."""
        chain = self._chain
        if head.hash == newest.hash:
            self._lower_polls = 0
            return
        same = next((block for block in chain.blocks if block.number == head.number), None)
        polled.at_head = False
        if same is None or same.hash == head.hash:
            # So far below the head that only a lagging node is likely.
            if not chain.complete and head.number < chain.blocks[0].number:
                return
            if self._lower_polls == 0:
                self._lower_since = now_ms()
            self._lower_polls += 1
            is_brief = now_ms() - self._lower_since < 2 * self._schedule.block_ms
            if self._lower_polls < _MAX_LOWER_POLLS or is_brief:
                return
        self._lower_polls = 0
        polled.at_head = True
        async for event in self._switch_branch(head):
            yield event

    async def _switch_branch(self, tip: ChainBlock) -> Events:
        """Undo what is not part of the branch of a block, and report the branch up to that block."""
        chain = self._chain
        oldest = chain.blocks[0].number
        branch: list[ChainBlock] = []
        fork = chain.find_index(tip.hash)
        ancestor = (tip.number, tip.hash)
        lowest = tip
        while fork < 0:
            branch.append(lowest)
            # The first block of a chain has no parent, and is the same on all branches.
            ancestor = (lowest.number - 1, lowest.parent_hash) if lowest.number > 0 else (0, lowest.hash)
            fork = chain.find_index(lowest.parent_hash)
            if fork >= 0 or (chain.complete and lowest.number <= oldest):
                break
            if lowest.number <= oldest:
                raise too_deep(chain.reorg_depth)
            parent = await self._source.read(lowest.parent_hash)
            # Without this check, a faulty node could make the branch grow forever.
            if parent.hash != lowest.parent_hash or parent.number >= lowest.number:
                raise malformed("block", "the requested parent")
            lowest = parent
        if fork >= 0:
            # A chain may skip numbers, so the number of the parent is known only if it was read.
            ancestor = (chain.blocks[fork].number, chain.blocks[fork].hash)
        if fork < len(chain.blocks) - 1:
            for event in chain.undo_above(fork, *ancestor):
                yield event
        for block in reversed(branch):
            events = await self._source.load(block)
            for event in chain.report(block.to_recent(), block.parent_hash, events):
                yield event
