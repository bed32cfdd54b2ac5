"""Finds out whether the chain still stands on which logs were given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..failure.error import KeyrailError, make_error
from ..failure.reorg import Reorg
from .ask import Asking, ask
from .log_cursor import ChainEdge

# More windows than this near the head lose only the exact place of a reorganization far below.
_MOST_EDGES = 64


class ChainEdges:
    """Remembers the last blocks of the windows near the head.

    A block's hash fixes all blocks below it, so one look at the newest is enough while all is well; only after a reorganization
    are older ones looked at, to find its place.

    Args:
        given: Edges of an earlier iteration.

    """

    def __init__(self, given: Sequence[ChainEdge]) -> None:
        self._edges = [(int(number), str(text).lower()) for number, text in given]

    def hash_of(self, number: int) -> Asking[str]:
        """Give the hash that a block's number has now."""
        block = yield from ask(lambda eth: eth.get_block(number))
        return hash_text(block["hash"])

    def verify(self) -> Asking[None]:
        """Check that the newest edge is still in the chain, and with it all the others.

        Raises:
            KeyrailError: With ``reorg``, naming the first block that may have changed.

        """
        if not self._edges or (yield from self._stands(len(self._edges) - 1)):
            return
        standing = len(self._edges) - 2
        while standing >= 0 and not (yield from self._stands(standing)):
            standing -= 1
        # The oldest edge lies just below the first block that could be lost: if even that was replaced, nothing older was given
        # or is in doubt.
        oldest, _ = self._edges[max(standing, 0)]
        raise _reorganized(oldest + 1, [list(edge) for edge in self._edges[: standing + 1]])

    def reach(self, number: int) -> Asking[None]:
        """Make sure that there is an edge at this block or above it."""
        if not self._edges or self._edges[-1][0] < number:
            self._edges.append((number, (yield from self.hash_of(number))))

    def add(self, number: int, text: str) -> None:
        """Remember the last block of a window."""
        self._edges.append((number, text))
        del self._edges[:-_MOST_EDGES]

    def below(self, number: int) -> list[ChainEdge]:
        """Give the edges below a block, as a cursor holds them."""
        return [list(edge) for edge in self._edges if edge[0] < number]

    def _stands(self, at: int) -> Asking[bool]:
        number, text = self._edges[at]
        return (yield from self.hash_of(number)) == text


def hash_text(given: Any) -> str:
    """Write a hash that web3.py gives, as bytes or, with some middleware, as a text."""
    return given.lower() if isinstance(given, str) else f"0x{bytes(given).hex()}"


def _reorganized(block: int, edges: list[ChainEdge]) -> KeyrailError:
    """Make the failure. Of kind ``badResponse``, because the answers do not fit together any more; retryable, by its cursor."""
    return make_error(
        f"the chain was reorganized at or above block {block}: drop the logs from that block on, and resume with the failure's cursor",
        kind="badResponse",
        source="node",
        retryable=True,
        method="eth_getLogs",
        hint="Resume from the cursor.",
        reorg=Reorg(from_block=block, cursor={"next_block": block, "next_log_index": 0, "edges": edges}),
    )
