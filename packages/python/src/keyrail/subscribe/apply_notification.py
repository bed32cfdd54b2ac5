"""Applies the notifications of a subscription that was opened with a cursor."""

from __future__ import annotations

from typing import Any

from ..failure.error import KeyrailError, create_error
from .chain_poller import Events, too_deep
from .chain_source import ChainSource, parse_block, parse_hash, parse_log, parse_number
from .events import LogEvent
from .recent_chain import ChainEvents, PartialBlock, RecentBlock, RecentChain


def out_of_order(what: str) -> KeyrailError:
    """Create the error for notifications that do not continue each other: a proxy or the service has lost or repeated one."""
    message = f"{what} does not continue the subscription."
    return create_error(message, kind="badResponse", source="service", retryable=True, method="eth_subscribe")


class NotificationReader:
    """Applies notifications to the chain, and reports what changes.

    A position says that everything up to a block was delivered, and that everything above it is undone: it starts the stream, it ends
    the logs of a block, and it is the ancestor of a branch. Headers are checked by their parent, logs by their index and by the
    position of their block. If they are not in order, what may be incomplete is undone.

    Args:
        chain: The chain, which was the cursor.
        source: Loads what is reported of a block.

    """

    def __init__(self, chain: RecentChain, source: ChainSource) -> None:
        self._chain = chain
        self._source = source
        self._started = False
        # Whether the partial block comes from this subscription, not from an earlier one that may have ended in the middle of it.
        self._current = False

    async def apply(self, notification: dict[str, Any]) -> Events:
        """Apply one notification."""
        position = notification.get("position")
        if position is not None:
            for event in self._apply_position(position):
                yield event
        elif self._source.logs is not None:
            for event in self._apply_log(notification.get("result")):
                yield event
        else:
            block = parse_block(notification.get("result"))
            newest = self._chain.newest
            if newest is None or block.parent_hash != newest.hash:
                raise out_of_order("A block")
            for event in self._chain.report(block.to_recent(), block.parent_hash, await self._source.load(block)):
                yield event
        self._started = True

    def _undo_partial(self) -> ChainEvents:
        newest = self._chain.newest
        if newest is not None:
            yield from self._chain.undo_above(len(self._chain.blocks) - 1, newest.number, newest.hash)
        self._current = False

    def _undo_from(self, number: int) -> ChainEvents:
        """Undo a block of which the logs may be incomplete or out of order, and the blocks above it."""
        index = self._chain.find_below(number)
        if index >= 0:
            ancestor = self._chain.blocks[index]
            yield from self._chain.undo_above(index, ancestor.number, ancestor.hash)
        raise out_of_order("A log")

    def _rewind_to(self, number: int, block_hash: str) -> ChainEvents:
        chain = self._chain
        index = chain.find_below(number + 1)
        block = chain.blocks[index] if index >= 0 else None
        is_known = block is not None and block.number == number
        if block is not None and is_known and block.hash != block_hash:
            raise out_of_order("A position")
        if block is None and not chain.complete:
            raise too_deep(chain.reorg_depth)
        if index < len(chain.blocks) - 1 or self._current:
            yield from chain.undo_above(index, number, block_hash)
        if not is_known:
            chain.extend(RecentBlock(number, block_hash))
        self._current = False

    def _apply_position(self, value: Any) -> ChainEvents:
        members: dict[str, Any] = value if isinstance(value, dict) else {}
        number = parse_number(members.get("number"), "position.number")
        block_hash = parse_hash(members.get("hash"), "position.hash")
        chain = self._chain
        partial, newest = chain.partial, chain.newest
        if newest is None:
            # Blocks between the first one and the head would be missing.
            if self._started or (chain.first is not None and number >= chain.first):
                raise out_of_order("The start")
            chain.first = number + 1 if chain.first is None else chain.first
            chain.extend(RecentBlock(number, block_hash))
            return
        if number <= newest.number:
            yield from self._rewind_to(number, block_hash)
            return
        if not self._started or self._source.logs is None:
            raise out_of_order("A position")
        if partial is not None and (partial.number, partial.hash) == (number, block_hash):
            chain.extend(RecentBlock(number, block_hash, None, partial.reported))
        else:
            if partial is not None and self._current and number >= partial.number:
                yield from self._undo_from(partial.number)
            if partial is not None and (self._current or number >= partial.number):
                yield from self._undo_partial()
            below = chain.partial
            chain.extend(RecentBlock(number, block_hash))
            chain.partial = below
        self._current = False

    def _apply_log(self, value: Any) -> ChainEvents:
        log, number, index = parse_log(value)
        chain = self._chain
        partial, newest = chain.partial, chain.newest
        if newest is None or log.get("removed") is True:
            raise out_of_order("A log")
        same = partial is not None and (partial.number, partial.hash) == (number, log["blockHash"])
        if partial is not None and same and index <= partial.log_index:
            # An earlier subscription has reported it.
            if not self._current:
                return
            yield from self._undo_from(number)
        if number <= newest.number or (partial is not None and self._current and not same):
            yield from self._undo_from(min(number, partial.number if partial is not None else number))
        if partial is not None and not same:
            # The block that was partly reported was replaced.
            yield from self._undo_partial()
        if number < (chain.first or 0):
            return
        reported = [*(partial.reported if partial is not None and same else ()), log]
        chain.partial = PartialBlock(number, log["blockHash"], index, reported)
        self._current = True
        yield LogEvent(log)
