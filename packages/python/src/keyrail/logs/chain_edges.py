"""Notices reorganizations of the chain while logs are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..failure.error import KeyrailError, create_error
from ..failure.is_null_round import MAX_NULL_ROUNDS, is_null_round
from ..failure.reorg import Reorg
from .log_cursor import ChainEdge
from .query import QuerySteps, run_query

# With more windows near the head, only the exact place of a very deep reorganization is lost.
_MAX_EDGES = 64


class ChainEdges:
    """The last blocks of the windows near the head.

    The hash of a block depends on all earlier blocks, so it is enough to check the newest edge. Older edges are checked only after a
    reorganization, to find its place.

    Args:
        edges: The edges of an earlier iteration.

    """

    def __init__(self, edges: Sequence[ChainEdge]) -> None:
        self.head = 0
        """The number of the latest block, once it is known."""
        self._edges = [(int(number), str(block_hash).lower()) for number, block_hash in edges]

    def get_hash(self, number: int) -> QuerySteps[str]:
        """Return the current hash of the last block up to a number."""
        block = yield from self._read(number)
        if isinstance(block, Mapping):
            return to_hex_hash(block["hash"])
        # Filecoin skips numbers: then the last block below is the parent of the first block above. Otherwise, the node is behind.
        above = yield from self._read_first(range(number + 1, min(self.head, number + MAX_NULL_ROUNDS) + 1))
        if above is None:
            raise block
        below = yield from self._read_first(range(number - 1, max(-1, number - 1 - MAX_NULL_ROUNDS), -1))
        parent = above.get("parentHash")
        if below is None or not isinstance(parent, (bytes, str)) or to_hex_hash(parent) != to_hex_hash(below["hash"]):
            raise block
        return to_hex_hash(below["hash"])

    def _read(self, number: int) -> QuerySteps[Mapping[str, Any] | KeyrailError]:
        """Return a block, or the failure that says that the node does not have it."""
        try:
            block: Mapping[str, Any] = yield from run_query(
                "eth_getBlockByNumber", lambda eth: eth.get_block(number), _has_hash
            )
        except KeyrailError as failure:
            if failure.kind != "lagging" and not is_null_round(failure):
                raise
            return failure
        return block

    def _read_first(self, numbers: range) -> QuerySteps[Mapping[str, Any] | None]:
        """Return the first block that exists."""
        for number in numbers:
            block = yield from self._read(number)
            if isinstance(block, Mapping):
                return block
        return None

    def verify(self) -> QuerySteps[None]:
        """Check that the newest edge, and so every edge, is still in the chain.

        Raises:
            KeyrailError: With ``reorg``, which has the first block that may have changed.

        """
        if not self._edges or (yield from self._is_in_chain(len(self._edges) - 1)):
            return
        valid = len(self._edges) - 2
        while valid >= 0 and not (yield from self._is_in_chain(valid)):
            valid -= 1
        # If no edge is valid, the oldest one is still right below the first block whose logs may have changed.
        oldest, _ = self._edges[max(valid, 0)]
        raise _create_reorg_error(oldest + 1, [list(edge) for edge in self._edges[: valid + 1]])

    def ensure(self, number: int) -> QuerySteps[None]:
        """Add an edge at this block, unless there is one at this block or a later one."""
        if not self._edges or self._edges[-1][0] < number:
            self._edges.append((number, (yield from self.get_hash(number))))

    def add(self, number: int, block_hash: str) -> None:
        """Add the last block of a window."""
        self._edges.append((number, block_hash))
        del self._edges[:-_MAX_EDGES]

    def get_below(self, number: int) -> list[ChainEdge]:
        """Return the edges below a block, in the form of a cursor."""
        return [list(edge) for edge in self._edges if edge[0] < number]

    def _is_in_chain(self, at: int) -> QuerySteps[bool]:
        number, block_hash = self._edges[at]
        return (yield from self.get_hash(number)) == block_hash


def to_hex_hash(value: Any) -> str:
    """Convert a hash to hex. web3.py returns bytes or, with some middleware, a string."""
    return value.lower() if isinstance(value, str) else f"0x{bytes(value).hex()}"


def _create_reorg_error(block: int, edges: list[ChainEdge]) -> KeyrailError:
    """Create the failure. Its kind is ``badResponse``, because the responses contradict each other; its cursor makes it retryable."""
    return create_error(
        f"The chain was reorganized at or above block {block}. Drop the logs from that block on, and resume with reorg.cursor.",
        kind="badResponse",
        source="node",
        retryable=True,
        method="eth_getLogs",
        hint="Drop the logs from reorg.from_block on, and resume with reorg.cursor.",
        reorg=Reorg(from_block=block, cursor={"next_block": block, "next_log_index": 0, "edges": edges}),
    )


def _has_hash(block: Any) -> bool:
    return isinstance(block, Mapping) and isinstance(block.get("hash"), (bytes, str))
