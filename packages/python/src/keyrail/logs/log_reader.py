"""The steps of an iteration over logs, whoever takes them."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from web3.types import LogReceipt

from ..failure.check import check, check_range
from ..failure.error import KeyrailError, make_error
from .ask import Ask, Asking, ask
from .chain_edges import ChainEdges, hash_text
from .log_cursor import LogCursor, check_log_cursor
from .log_windows import LogWindow, LogWindows
from .window_size import WindowSize

_MOST_BLOCKS = 2**31
_MOST_WINDOWS = 64
_TAGS = ("latest", "safe", "finalized", "earliest")
# Blocks so far below the head are taken for settled.
_SETTLED_DEPTH = 64
# Each reread means that the chain changed while a window was read.
_MOST_REREADS = 10


@dataclass(slots=True, frozen=True)
class LogsProgress:
    """How far an iteration has come."""

    from_block: int
    """The first block of this run."""
    to_block: int
    """The last block, as it was found at the start."""
    blocks: int
    """How many blocks this step was: ``bar.update(progress.blocks)``."""
    blocks_done: int
    blocks_total: int
    logs: int
    """How many logs were given."""
    blocks_per_second: float
    """Since this run began."""
    cursor: LogCursor
    """Goes on from here: all logs before it were given, and taken."""


@dataclass(slots=True, frozen=True)
class Wait:
    """Waits until a window is read."""

    window: LogWindow


LogStep: TypeAlias = "Ask | Wait | LogReceipt"


class LogReader:
    """Makes the steps: what is asked is yielded and answered from outside, windows are waited for, logs are yielded one at a time.

    Args:
        owner: Whose limits are learned: the provider.
        options: Of ``logs``, by name.

    """

    def __init__(self, owner: object, options: dict[str, Any]) -> None:
        from_block, to_block = options["from_block"], options["to_block"]
        for name, value in (("from_block", from_block), ("to_block", to_block)):
            number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            check(
                number or value in _TAGS,
                f"{name} must be a block's number, or one of latest, safe, finalized and earliest",
            )
        if isinstance(from_block, int) and isinstance(to_block, int):
            check(from_block <= to_block, f"from_block ({from_block}) must not be above to_block ({to_block})")
        check_range("max_blocks", options["max_blocks"], 1, _MOST_BLOCKS, whole=True)
        check_range("concurrency", options["concurrency"], 1, _MOST_WINDOWS, whole=True)
        check(isinstance(options["concurrency"], int), "concurrency must be a whole number")
        if options["cursor"] is not None:
            check_log_cursor(options["cursor"])
        on_progress = options["on_progress"]
        check(on_progress is None or callable(on_progress), "on_progress must be a function")
        check(isinstance(options["check_reorg"], bool), "check_reorg must be True or False")
        self.concurrency: int = options["concurrency"]
        self.cursor: LogCursor | None = options["cursor"]
        if self.cursor is None and isinstance(from_block, int):
            self.cursor = {"next_block": from_block, "next_log_index": 0}
        self._from, self._to = from_block, to_block
        self._condition = {name: options[name] for name in ("address", "topics") if options[name] is not None}
        self._on_progress: Callable[[LogsProgress], object] | None = on_progress
        self._check_reorg: bool = options["check_reorg"]
        self._size = WindowSize(owner, options["max_blocks"])
        self._edges = ChainEdges((self.cursor or {}).get("edges", []) if self._check_reorg else [])
        self._windows: LogWindows | None = None

    def startable(self) -> list[tuple[LogWindow, Asking[None]]]:
        """Give the windows that are to be read from now on, beside the steps, and how. To be asked after every step."""
        windows = self._windows
        return [(window, windows.walk(window)) for window in windows.startable()] if windows else []

    def steps(self) -> Generator[LogStep, Any, None]:
        """Give the steps of the iteration."""
        try:
            yield from self._run()
        except KeyrailError as failure:
            if failure.reorg is not None:
                self.cursor = failure.reorg.cursor
            raise

    def _run(self) -> Generator[LogStep, Any, None]:
        head = yield from ask(lambda eth: eth.block_number)
        last = min((yield from self._number(self._to, head)), head)
        if self.cursor is None:
            self.cursor = {"next_block": (yield from self._number(self._from, head)), "next_log_index": 0}
        first, first_index = self.cursor["next_block"], self.cursor["next_log_index"]
        yield from self._edges.verify()
        settled = min(max(head - _SETTLED_DEPTH, first - 1), last) if self._check_reorg else last
        spans = [LogWindow(first, settled), LogWindow(settled + 1, last, alone=True)]
        self._windows = windows = LogWindows(
            [span for span in spans if span.blocks > 0],
            lambda window: self._read_surely(window) if window.alone else self._read(window),
            self._size,
            self.concurrency,
        )
        started = time.monotonic()
        given = 0
        while (window := windows.front) is not None:
            yield Wait(window)
            if window.failure is not None:
                raise window.failure
            if window.logs is None:
                # Whoever read it was ended from outside, a thread by SystemExit: what is missing must not pass for nothing.
                raise make_error(
                    f"the reading of blocks {window.first} to {window.last} was ended",
                    kind="aborted",
                    source="client",
                    retryable=True,
                    method="eth_getLogs",
                )
            windows.take()
            for log in window.logs:
                number, index = log["blockNumber"], log["logIndex"]
                if number == first and index < first_index:
                    continue
                self._stand(number, index + 1, window, log)
                given += 1
                yield log
            self._stand(window.last + 1, 0, window)
            if self._on_progress:
                done = window.last + 1 - first
                self._on_progress(
                    LogsProgress(
                        from_block=first,
                        to_block=last,
                        blocks=window.blocks,
                        blocks_done=done,
                        blocks_total=last - first + 1,
                        logs=given,
                        blocks_per_second=done / max(time.monotonic() - started, 0.001),
                        cursor=self.cursor,
                    )
                )

    def _stand(self, block: int, index: int, window: LogWindow, log: LogReceipt | None = None) -> None:
        """Put the cursor behind what was given: behind a log, or behind the whole window."""
        self.cursor = {"next_block": block, "next_log_index": index}
        if window.alone:
            edges = self._edges.below(block)
            self.cursor["edges"] = edges if log is None else [*edges, [block, hash_text(log["blockHash"])]]

    def _number(self, block: int | str, head: int) -> Asking[int]:
        if isinstance(block, int):
            return block
        if block == "latest":
            return head
        found = yield from ask(lambda eth: eth.get_block(block))
        number: int = found["number"]
        return number

    def _read(self, window: LogWindow) -> Asking[list[LogReceipt]]:
        asked = {**self._condition, "fromBlock": hex(window.first), "toBlock": hex(window.last)}
        logs: list[LogReceipt] = list((yield from ask(lambda eth: eth.get_logs(asked))))
        if not all(window.first <= log["blockNumber"] <= window.last for log in logs):
            raise make_error(
                "the answer to eth_getLogs holds logs of blocks that were not asked for",
                kind="badResponse",
                source="node",
                retryable=False,
                method="eth_getLogs",
            )
        # Some balancers lose the order of the chain.
        return sorted(logs, key=lambda log: (log["blockNumber"], log["logIndex"]))

    def _read_surely(self, window: LogWindow) -> Asking[list[LogReceipt]]:
        """Read a window near the head between two looks at the hash of its last block, with a look at the edge before it in between.

        Where both looks agree, that hash fixes every block of the window, and the chain below it down to the edge.
        """
        yield from self._edges.reach(max(window.first - 1, 0))
        for _ in range(_MOST_REREADS):
            text = yield from self._edges.hash_of(window.last)
            logs = yield from self._read(window)
            yield from self._edges.verify()
            if (yield from self._edges.hash_of(window.last)) == text:
                self._edges.add(window.last, text)
                return logs
        raise make_error(
            f"the chain changes faster than blocks {window.first} to {window.last} can be read",
            kind="unavailable",
            source="node",
            retryable=True,
            method="eth_getLogs",
        )
