"""Reads the windows of a range of blocks concurrently, ahead of the consumer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from web3.types import LogReceipt

from ..failure.error import KeyrailError, replace_fields
from .parse_range_hint import parse_range_hint
from .query import QuerySteps
from .window_size import WindowSize

# If a window times out more often, with a quarter of its blocks each time, its size is not the reason: the node does not respond.
_MAX_TIMEOUTS = 3


@dataclass(slots=True, eq=False)
class LogWindow:
    """A part of the range that is read with one request."""

    first: int
    last: int
    near_head: bool = False
    """Read only after the logs of all earlier windows were returned."""
    started: bool = False
    logs: Sequence[LogReceipt] | None = None
    """The logs, once the window is read."""
    failure: Exception | None = None

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.last - self.first + 1


class LogWindows:
    """Divides spans of blocks into windows.

    At most ``concurrency`` windows are in flight, and at most twice as many are in flight or buffered, so that a slow consumer does
    not make it read the whole chain. Before the first success, only one window is in flight. A window that is rejected because of
    its size is cut, and the rest becomes the next window. This class starts nothing: ``start`` returns the windows to read, and
    ``read_steps`` how to read them.

    Args:
        spans: The spans to read, in order.
        read: Reads one window.
        size: The size of windows.
        concurrency: How many windows are read at a time.

    """

    def __init__(
        self,
        spans: Sequence[LogWindow],
        read: Callable[[LogWindow], QuerySteps[list[LogReceipt]]],
        size: WindowSize,
        concurrency: int,
    ) -> None:
        self._windows = list(spans)
        self._read = read
        self._size = size
        self._concurrency = concurrency
        self._in_flight = 0
        self._started = 0

    @property
    def front(self) -> LogWindow | None:
        """The first window; None at the end."""
        return self._windows[0] if self._windows else None

    def remove_front(self) -> None:
        """Remove the first window once it is read."""
        self._windows.pop(0)
        self._started -= 1

    def start(self) -> list[LogWindow]:
        """Mark the windows that may be read now as started, and return them."""
        startable: list[LogWindow] = []
        at = 0
        # The rest of a window that is cut becomes the next window of this loop.
        while at < len(self._windows):
            window = self._windows[at]
            # The failure will end the iteration, so later windows are not needed.
            if window.failure is not None:
                break
            if not window.started:
                max_in_flight = self._concurrency if self._size.confirmed else 1
                if (
                    self._in_flight >= max_in_flight
                    or self._started >= self._concurrency * 2
                    or (window.near_head and at > 0)
                ):
                    break
                self._cut(window, self._size.get())
                window.started = True
                self._in_flight += 1
                self._started += 1
                startable.append(window)
            at += 1
        return startable

    def read_steps(self, window: LogWindow) -> QuerySteps[None]:
        """Read a window, or a smaller part if it is rejected. Stores the logs or the failure in the window. Never raises."""
        rejections = timeouts = 0
        try:
            while True:
                blocks = window.blocks
                try:
                    logs = yield from self._read(window)
                except KeyrailError as failure:
                    timeouts += failure.kind == "timeout"
                    if timeouts > _MAX_TIMEOUTS:
                        raise
                    self._handle_rejection(failure, window, rejections)
                    rejections += 1
                else:
                    self._size.succeed(blocks, len(logs))
                    window.logs = logs
                    return
        except Exception as failure:  # Raised when the iteration reaches the window.
            window.failure = failure
        finally:
            self._in_flight -= 1

    def _cut(self, window: LogWindow, blocks: int) -> None:
        if window.blocks <= blocks:
            return
        rest = LogWindow(window.first + blocks, window.last, window.near_head)
        self._windows.insert(self._windows.index(window) + 1, rest)
        window.last = rest.first - 1

    def _handle_rejection(self, failure: KeyrailError, window: LogWindow, rejections: int) -> None:
        """Learn from a rejection and cut the window. Raises the failure if a smaller window does not help."""
        blocks = window.blocks
        if failure.kind == "timeout" and failure.method == "eth_getLogs" and blocks > 1:
            self._size.reject(blocks, blocks // 4, None)
        elif failure.kind == "range":
            self._size.reject(blocks, *_find_accepted(failure, window, rejections))
        else:
            raise failure
        self._cut(window, self._size.get())


def _find_accepted(failure: KeyrailError, window: LogWindow, rejections: int) -> tuple[float | None, int | None]:
    """Return the number of blocks that the node would accept and the maximum for every request, if the rejection says so.

    Raises:
        KeyrailError: If a smaller window does not help.

    """
    blocks, first = window.blocks, window.first
    error = failure.rpc_error or {"message": str(failure)}
    hint = parse_range_hint(error.get("message", ""), error.get("data"))
    if hint.too_many_addresses or blocks == 1:
        problem = (
            "The node does not accept so many addresses in one request. Iterate over fewer addresses at a time"
            if hint.too_many_addresses
            else f"Block {first} alone has more logs than the node returns in one response. Narrow address or topics"
        )
        raise replace_fields(failure, f"{problem}. The node responded: {error.get('message', failure)}")
    spans: list[float] = []
    if hint.from_block is not None and hint.to_block is not None:
        # If the suggested range starts at another block, only its length counts.
        start = first if hint.from_block <= first <= hint.to_block else hint.from_block
        spans.append(hint.to_block - start + 1)
    if hint.max_blocks is not None:
        spans.append(hint.max_blocks)
    spans = [span for span in spans if 0 < span < blocks]
    # A suggested range may be too large as well, so after a second rejection the window is at least halved.
    if rejections:
        spans.append(blocks / 2)
    return (min(spans) if spans else None), hint.max_blocks
