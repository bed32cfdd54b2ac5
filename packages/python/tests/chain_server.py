"""A node whose chain can grow and be reorganized between any two calls."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from fault_server import Connection, FaultServer, ReceivedRequest

Place = tuple[int, int, str]
"""The block number, the log index and the block hash of a log."""


class NodeError(Exception):
    """Makes the node respond with an error."""

    def __init__(self, code: int, message: str, status: int = 200, reason: str | None = None) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message}
        if reason is not None:
            self.error["data"] = {"reason": reason}
        self.status = status


def count_blocks(params: Any) -> int:
    return int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) + 1


class ChainServer(FaultServer):
    """A chain of which block 0 never changes. ``before`` and ``after`` run for each call, and may reorganize, wait or raise NodeError."""

    def __init__(self, blocks: int | Sequence[int] = 0) -> None:
        self._blocks: list[tuple[str, int]] = []
        self._lock = threading.RLock()
        self._mined = 0
        self.calls: list[tuple[str, Any]] = []
        self.before: Callable[[str, Any], None] = lambda method, params: None
        self.log_members: Callable[[int, int], dict[str, Any]] = lambda number, index: {}
        """Returns what is different about a log, by its block number and index."""
        self.after: Callable[[str, Any], None] = lambda method, params: None
        self.mine([0])
        self.mine(blocks)
        super().__init__(self.respond)

    def mine(self, blocks: int | Sequence[int]) -> None:
        """Mine blocks with the given numbers of logs. If only a number of blocks is given, every third block has two logs."""
        with self._lock:
            for count in [2 if at % 3 == 0 else 0 for at in range(blocks)] if isinstance(blocks, int) else blocks:
                self._mined += 1
                text = f"{self._blocks[-1][0] if self._blocks else ''} {self._mined}"
                self._blocks.append(("0x" + hashlib.sha256(text.encode()).hexdigest(), count))

    def reorg(self, depth: int, blocks: int | Sequence[int] | None = None) -> None:
        """Remove the newest blocks and mine others."""
        with self._lock:
            depth = min(depth, len(self._blocks) - 1)
            if depth:
                del self._blocks[-depth:]
            self.mine(depth if blocks is None else blocks)

    def places(self, first: int = 0, last: int | None = None) -> list[Place]:
        with self._lock:
            numbered = list(enumerate(self._blocks))[first : None if last is None else last + 1]
        return [(number, index, text) for number, (text, count) in numbered for index in range(count)]

    def get_hash(self, number: int) -> str:
        return self._blocks[number][0]

    def get_calls(self, method: str) -> list[Any]:
        return [params for called, params in self.calls if called == method]

    @property
    def spans(self) -> list[int]:
        return [count_blocks(params) for params in self.get_calls("eth_getLogs")]

    def call(self, method: str, params: Any) -> Any:
        self.before(method, params)
        with self._lock:
            head = len(self._blocks) - 1
            if method == "eth_chainId":
                return "0x1"
            if method == "eth_blockNumber":
                return hex(head)
            if method == "eth_getBlockByNumber":
                tags = {"earliest": 0, "latest": head, "finalized": max(0, head - 32)}
                number = tags[params[0]] if params[0] in tags else int(params[0], 16)
                return {"number": hex(number), "hash": self._blocks[number][0]} if number <= head else None
            first, last = int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)
            return [
                {
                    "address": "0x" + "11" * 20,
                    "topics": [],
                    "data": "0x",
                    "blockNumber": hex(number),
                    "blockHash": text,
                    "transactionHash": "0x" + "33" * 32,
                    "transactionIndex": "0x0",
                    "logIndex": hex(index),
                    "removed": False,
                    **self.log_members(number, index),
                }
                for number, index, text in self.places(first, last)
            ]

    def respond(self, request: ReceivedRequest, connection: Connection) -> None:
        method, params = request.json["method"], request.json["params"]
        with self._lock:
            self.calls.append((method, params))
        outcome: dict[str, Any]
        status = 200
        try:
            outcome = {"result": self.call(method, params)}
            self.after(method, params)
        except NodeError as error:
            outcome, status = {"error": error.error}, error.status
        connection.respond(status, {"jsonrpc": "2.0", "id": request.json["id"], **outcome})
