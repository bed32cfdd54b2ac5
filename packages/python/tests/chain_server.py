"""A node whose chain can be mined on and reorganized between any two calls."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from fault_server import FaultServer, Seen, Wire

Place = tuple[int, int, str]
"""Block, index and hash of the block of a log."""


class NodeError(Exception):
    """What the node answers in place of a result."""

    def __init__(self, code: int, message: str, status: int = 200, reason: str | None = None) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message}
        if reason is not None:
            self.error["data"] = {"reason": reason}
        self.status = status


def span_of(params: Any) -> int:
    return int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) + 1


class ChainServer(FaultServer):
    """Block 0 stands always. ``before`` and ``after`` are called with each call, and may reorganize, wait or refuse."""

    def __init__(self, blocks: int | Sequence[int] = 0) -> None:
        self._blocks: list[tuple[str, int]] = []
        self._lock = threading.RLock()
        self._made = 0
        self.asked: list[tuple[str, Any]] = []
        self.before: Callable[[str, Any], None] = lambda method, params: None
        self.after: Callable[[str, Any], None] = lambda method, params: None
        self.mine([0])
        self.mine(blocks)
        super().__init__(self.respond)

    def mine(self, blocks: int | Sequence[int]) -> None:
        """Mine blocks with so many logs each; of a number of blocks every third holds two."""
        with self._lock:
            for count in [2 if at % 3 == 0 else 0 for at in range(blocks)] if isinstance(blocks, int) else blocks:
                self._made += 1
                text = f"{self._blocks[-1][0] if self._blocks else ''} {self._made}"
                self._blocks.append(("0x" + hashlib.sha256(text.encode()).hexdigest(), count))

    def reorg(self, depth: int, blocks: int | Sequence[int] | None = None) -> None:
        """Take the newest blocks away and mine others."""
        with self._lock:
            depth = min(depth, len(self._blocks) - 1)
            if depth:
                del self._blocks[-depth:]
            self.mine(depth if blocks is None else blocks)

    def places(self, first: int = 0, last: int | None = None) -> list[Place]:
        with self._lock:
            numbered = list(enumerate(self._blocks))[first : None if last is None else last + 1]
        return [(number, index, text) for number, (text, count) in numbered for index in range(count)]

    def asked_of(self, method: str) -> list[Any]:
        return [params for one, params in self.asked if one == method]

    @property
    def spans(self) -> list[int]:
        return [span_of(params) for params in self.asked_of("eth_getLogs")]

    def answer(self, method: str, params: Any) -> Any:
        self.before(method, params)
        with self._lock:
            head = len(self._blocks) - 1
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
                }
                for number, index, text in self.places(first, last)
            ]

    def respond(self, seen: Seen, wire: Wire) -> None:
        method, params = seen.json["method"], seen.json["params"]
        with self._lock:
            self.asked.append((method, params))
        end: dict[str, Any]
        status = 200
        try:
            end = {"result": self.answer(method, params)}
            self.after(method, params)
        except NodeError as refusal:
            end, status = {"error": refusal.error}, refusal.status
        wire.answer(status, {"jsonrpc": "2.0", "id": seen.json["id"], **end})
