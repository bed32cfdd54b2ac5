"""The steps of an iteration over logs, without I/O."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from web3.types import LogReceipt

from ..failure.check import check, check_bool, check_range, describe
from ..failure.error import KeyrailError, create_error
from .chain_edges import ChainEdges, to_hex_hash
from .check_log_cursor import check_log_cursor
from .event_abi import parse_event
from .event_decoder import EventDecoder
from .log_cursor import LogCursor
from .log_windows import LogWindow, LogWindows
from .null_rounds import skip_null_rounds
from .parse_filter import parse_addresses, parse_block, parse_topics
from .query import Query, QuerySteps, create_invalid_result_error, run_query
from .window_size import WindowSize

_MAX_BLOCKS = 2**31
_MAX_WINDOWS = 64
# After a window with more logs, the next one is smaller, so that the windows in flight fit into memory.
_MANY_LOGS = 10_000
_MANY_LOGS_OF_EXPORT = 500
# Blocks this far below the head are assumed to be final.
_FINAL_DEPTH = 64
# A window is read again if the chain changed while it was read.
_MAX_READS = 10


@dataclass(slots=True, frozen=True)
class LogsProgress:
    """The progress of an iteration."""

    from_block: int
    """The first block of this iteration."""
    to_block: int
    """The last block, resolved at the start."""
    blocks: int
    """The number of blocks since the last progress, as for ``bar.update(progress.blocks)``."""
    blocks_done: int
    """The number of blocks read so far."""
    blocks_total: int
    """The number of blocks of this iteration."""
    logs: int
    """The number of logs returned so far."""
    blocks_per_second: float
    """The average since the start."""
    cursor: LogCursor
    """The position after the logs that were returned."""


@dataclass(slots=True, frozen=True)
class Wait:
    """Waits until a window is read."""

    window: LogWindow


LogStep: TypeAlias = "Query | Wait | LogReceipt"


class LogReader:
    """Creates the steps of an iteration: they yield queries, windows to wait for, and logs.

    Args:
        owner: The provider, whose limits are learned.
        options: The options of ``logs``, by name.
        for_export: Whether logs are returned without ``args``, and windows have fewer logs, to use less memory. Default: False.

    """

    def __init__(self, owner: object, options: dict[str, Any], *, for_export: bool = False) -> None:
        from_block = parse_block("from_block", options["from_block"])
        to_block = parse_block("to_block", options["to_block"])
        if isinstance(from_block, int) and isinstance(to_block, int):
            check(from_block <= to_block, f"from_block ({from_block}) must not be greater than to_block ({to_block}).")
        check_range("max_blocks", options["max_blocks"], 1, _MAX_BLOCKS, whole=True)
        check_range("concurrency", options["concurrency"], 1, _MAX_WINDOWS, whole=True)
        check(
            isinstance(options["concurrency"], int),
            f"concurrency must be an int, not {describe(options['concurrency'])}.",
        )
        if options["cursor"] is not None:
            check_log_cursor(options["cursor"])
        on_progress = options["on_progress"]
        check(
            on_progress is None or callable(on_progress),
            f"on_progress must be a function, not {describe(on_progress)}.",
        )
        check_bool("check_reorg", options["check_reorg"])
        self.concurrency: int = options["concurrency"]
        self.cursor: LogCursor | None = options["cursor"]
        if self.cursor is None and isinstance(from_block, int):
            self.cursor = {"next_block": from_block, "next_log_index": 0}
        self._from, self._to = from_block, to_block
        event = None if options["event"] is None else parse_event(options["event"])
        self.decoder = None if event is None else EventDecoder(event)
        address = parse_addresses(options["address"])
        topics = parse_topics(options["topics"], event.topic if event else None)
        self.filter = {name: value for name, value in (("address", address), ("topics", topics)) if value is not None}
        self.range: tuple[int, int] | None = None
        """The first and last block of this iteration, once they are resolved."""
        self._on_progress: Callable[[LogsProgress], object] | None = on_progress
        self._check_reorg: bool = options["check_reorg"]
        self._size = WindowSize(owner, options["max_blocks"], _MANY_LOGS_OF_EXPORT if for_export else _MANY_LOGS)
        self._decode: Callable[[Any], Any] = (
            self.decoder.add_args if self.decoder and not for_export else lambda log: log
        )
        self._edges = ChainEdges((self.cursor or {}).get("edges", []) if self._check_reorg else [])
        self._windows: LogWindows | None = None

    def start_windows(self) -> list[tuple[LogWindow, QuerySteps[None]]]:
        """Return the windows to start reading now, with the steps that read them. Call this after every step."""
        windows = self._windows
        return [(window, windows.read_steps(window)) for window in windows.start()] if windows else []

    def steps(self) -> Generator[LogStep, Any, None]:
        """Create the steps of the iteration."""
        try:
            yield from self._run()
        except KeyrailError as failure:
            if failure.reorg is not None:
                self.cursor = failure.reorg.cursor
            raise

    def _run(self) -> Generator[LogStep, Any, None]:
        head = yield from run_query(
            "eth_blockNumber", lambda eth: eth.block_number, lambda number: isinstance(number, int)
        )
        last = min((yield from self._resolve(self._to, head)), head)
        if self.cursor is None:
            self.cursor = {"next_block": (yield from self._resolve(self._from, head)), "next_log_index": 0}
        first, first_index = self.cursor["next_block"], self.cursor["next_log_index"]
        self.range = first, last
        self._edges.head = head
        yield from self._edges.verify()
        final = min(max(head - _FINAL_DEPTH, first - 1), last) if self._check_reorg else last
        spans = [LogWindow(first, final), LogWindow(final + 1, last, near_head=True)]
        self._windows = windows = LogWindows(
            [span for span in spans if span.blocks > 0],
            lambda window: self._read_near_head(window) if window.near_head else self._read(window),
            self._size,
            self.concurrency,
        )
        started = time.monotonic()
        returned = 0
        while (window := windows.front) is not None:
            yield Wait(window)
            if window.failure is not None:
                raise window.failure
            if window.logs is None:
                # The thread was ended from outside, for example by SystemExit. The missing logs must not look like an empty window.
                raise create_error(
                    f"Reading blocks {window.first} to {window.last} was interrupted. Continue from the cursor.",
                    kind="aborted",
                    source="client",
                    retryable=True,
                    method="eth_getLogs",
                )
            windows.remove_front()
            for log in window.logs:
                number, index = log["blockNumber"], log["logIndex"]
                if number == first and index < first_index:
                    continue
                self._move_cursor(number, index + 1, window, log)
                found = self._decode(log)
                if found is not None:
                    returned += 1
                    yield found
            self._move_cursor(window.last + 1, 0, window)
            if self._on_progress:
                done = window.last + 1 - first
                self._on_progress(
                    LogsProgress(
                        from_block=first,
                        to_block=last,
                        blocks=window.blocks,
                        blocks_done=done,
                        blocks_total=last - first + 1,
                        logs=returned,
                        blocks_per_second=done / max(time.monotonic() - started, 0.001),
                        cursor=self.cursor,
                    )
                )

    def _move_cursor(self, block: int, index: int, window: LogWindow, log: LogReceipt | None = None) -> None:
        """Move the cursor after a log, or after the whole window."""
        self.cursor = {"next_block": block, "next_log_index": index}
        if window.near_head:
            edges = self._edges.get_below(block)
            self.cursor["edges"] = edges if log is None else [*edges, [block, to_hex_hash(log["blockHash"])]]

    def _resolve(self, block: int | str, head: int) -> QuerySteps[int]:
        if isinstance(block, int):
            return block
        if block == "latest":
            return head
        found = yield from run_query("eth_getBlockByNumber", lambda eth: eth.get_block(block), _has_number)
        number: int = found["number"]
        return number

    def _query(self, first: int, last: int) -> QuerySteps[list[LogReceipt]]:
        parameters = {**self.filter, "fromBlock": hex(first), "toBlock": hex(last)}
        logs: list[LogReceipt] = yield from run_query("eth_getLogs", lambda eth: eth.get_logs(parameters), _are_logs)
        return logs

    def _read(self, window: LogWindow) -> QuerySteps[list[LogReceipt]]:
        logs = yield from skip_null_rounds(self._query, window.first, window.last)
        stray = next((log for log in logs if not window.first <= log["blockNumber"] <= window.last), None)
        if stray is not None:
            raise create_error(
                f"eth_getLogs returned a log of block {stray['blockNumber']}, which is not in the requested range of "
                f"{window.first} to {window.last}. Use another endpoint.",
                kind="badResponse",
                source="node",
                retryable=False,
                method="eth_getLogs",
            )
        # Some load balancers return logs out of order, or twice.
        by_position: dict[tuple[int, int], LogReceipt] = {}
        for log in logs:
            same = by_position.setdefault((log["blockNumber"], log["logIndex"]), log)
            if same["blockHash"] != log["blockHash"]:
                raise create_invalid_result_error("eth_getLogs")
        return [by_position[position] for position in sorted(by_position)]

    def _read_near_head(self, window: LogWindow) -> QuerySteps[list[LogReceipt]]:
        """Read a window near the head, with the hash of its last block before and after, and a check of the edge below it in between.

        If both hashes are equal, the chain did not change while the window was read.
        """
        yield from self._edges.ensure(max(window.first - 1, 0))
        for _ in range(_MAX_READS):
            block_hash = yield from self._edges.get_hash(window.last)
            logs = yield from self._read(window)
            yield from self._edges.verify()
            if (yield from self._edges.get_hash(window.last)) == block_hash:
                self._edges.add(window.last, block_hash)
                return logs
        raise create_error(
            f'Blocks {window.first} to {window.last} changed during each of {_MAX_READS} reads. Retry later, or stop at "finalized".',
            kind="unavailable",
            source="node",
            retryable=True,
            method="eth_getLogs",
        )


def _has_number(block: Any) -> bool:
    return isinstance(block, Mapping) and isinstance(block.get("number"), int)


def _are_logs(result: Any) -> bool:
    return isinstance(result, list) and all(map(_is_log, result))


def _is_log(log: Any) -> bool:
    return (
        isinstance(log, Mapping)
        and isinstance(log.get("blockNumber"), int)
        and isinstance(log.get("logIndex"), int)
        and isinstance(log.get("blockHash"), (bytes, str))
        and isinstance(log.get("topics"), (list, tuple))
        and isinstance(log.get("data"), (bytes, str))
    )
