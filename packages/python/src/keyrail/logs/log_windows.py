"""Reads windows of a range ahead of who takes them, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from web3.types import LogReceipt

from ..failure.error import KeyrailError, altered
from .ask import Asking
from .range_hint import range_hint
from .window_size import WindowSize

# A window that timed out more often, at a quarter of its blocks each time, is not too heavy: nothing answers.
_MOST_TIMEOUTS = 3


@dataclass(slots=True, eq=False)
class LogWindow:
    """A part of the range that is read at once."""

    first: int
    last: int
    alone: bool = False
    """Read only once everything before it was taken."""
    begun: bool = False
    logs: Sequence[LogReceipt] | None = None
    """Once it is read."""
    failure: Exception | None = None

    @property
    def blocks(self) -> int:
        """How many blocks it spans."""
        return self.last - self.first + 1


class LogWindows:
    """Cuts spans of blocks into windows: at most ``concurrency`` are under way, at most twice that under way or waiting to be taken.

    So whoever takes slowly does not make it read the whole chain. Until one was ever served only one is tried. A window that is
    refused for its size is cut where it stands, and what is left of it follows it. Begins nothing by itself: ``startable``
    says what to begin, ``walk`` how.

    Args:
        spans: What to read, in order.
        read: Reads one.
        size: How large a window may be.
        concurrency: How many windows are read at a time.

    """

    def __init__(
        self,
        spans: Sequence[LogWindow],
        read: Callable[[LogWindow], Asking[list[LogReceipt]]],
        size: WindowSize,
        concurrency: int,
    ) -> None:
        self._windows = list(spans)
        self._read = read
        self._size = size
        self._concurrency = concurrency
        self._under_way = 0
        self._begun = 0

    @property
    def front(self) -> LogWindow | None:
        """The window to take next; None at the end."""
        return self._windows[0] if self._windows else None

    def take(self) -> None:
        """Drop the window at the front: its logs were taken."""
        self._windows.pop(0)
        self._begun -= 1

    def startable(self) -> list[LogWindow]:
        """Give the windows that are to be read from now on, each of them once."""
        found: list[LogWindow] = []
        at = 0
        # What is cut off goes behind the window, and is met next.
        while at < len(self._windows):
            window = self._windows[at]
            # It will end the iteration: nothing behind it is wanted.
            if window.failure is not None:
                break
            if not window.begun:
                most = self._concurrency if self._size.tried else 1
                if self._under_way >= most or self._begun >= self._concurrency * 2 or (window.alone and at > 0):
                    break
                self._cut(window, self._size.current())
                window.begun = True
                self._under_way += 1
                self._begun += 1
                found.append(window)
            at += 1
        return found

    def walk(self, window: LogWindow) -> Asking[None]:
        """Read a window, in smaller ones where it is refused; what comes of it stands in the window. Never raises."""
        refusals = timeouts = 0
        try:
            while True:
                blocks = window.blocks
                try:
                    logs = yield from self._read(window)
                except KeyrailError as failure:
                    timeouts += failure.kind == "timeout"
                    if timeouts > _MOST_TIMEOUTS:
                        raise
                    self._refused(failure, window, refusals)
                    refusals += 1
                else:
                    self._size.served(blocks, len(logs))
                    window.logs = logs
                    return
        except Exception as failure:  # To be raised where the window is taken.
            window.failure = failure
        finally:
            self._under_way -= 1

    def _cut(self, window: LogWindow, blocks: int) -> None:
        if window.blocks <= blocks:
            return
        rest = LogWindow(window.first + blocks, window.last, window.alone)
        self._windows.insert(self._windows.index(window) + 1, rest)
        window.last = rest.first - 1

    def _refused(self, failure: KeyrailError, window: LogWindow, refusals: int) -> None:
        """Learn from a refusal, and cut the window; raise it where a smaller window is no mend."""
        blocks = window.blocks
        if failure.kind == "timeout" and failure.method == "eth_getLogs" and blocks > 1:
            self._size.refused(blocks, blocks // 4, None)
        elif failure.kind == "range":
            self._size.refused(blocks, *_taken_instead(failure, window, refusals))
        else:
            raise failure
        self._cut(window, self._size.current())


def _taken_instead(failure: KeyrailError, window: LogWindow, refusals: int) -> tuple[float | None, int | None]:
    """Give how many blocks would be taken, where the refusal says so, and the cap that it names.

    Raises:
        KeyrailError: Where a smaller window is no mend.

    """
    blocks, first = window.blocks, window.first
    error = failure.rpc_error or {"message": str(failure)}
    hint = range_hint(error.get("message", ""), error.get("data"))
    if hint.too_many_addresses or blocks == 1:
        words = (
            "the node refuses so many addresses at once: iterate over fewer"
            if hint.too_many_addresses
            else f"block {first} alone has more logs than the node gives in one answer: narrow address or topics"
        )
        raise altered(failure, f"{words}. It said: {error.get('message', failure)}")
    spans: list[float] = []
    if hint.from_block is not None and hint.to_block is not None:
        # Of a range that starts elsewhere, only the length can be meant.
        start = first if hint.from_block <= first <= hint.to_block else hint.from_block
        spans.append(hint.to_block - start + 1)
    if hint.max_blocks is not None:
        spans.append(hint.max_blocks)
    spans = [span for span in spans if 0 < span < blocks]
    # What it suggested may itself be too much: a second refusal halves at least.
    if refusals:
        spans.append(blocks / 2)
    return (min(spans) if spans else None), hint.max_blocks
