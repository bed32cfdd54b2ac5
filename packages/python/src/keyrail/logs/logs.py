"""The logs of any range of blocks, in the order of the chain."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from types import TracebackType
from typing import Any

from typing_extensions import Self
from web3 import AsyncWeb3, Web3
from web3.types import LogReceipt

from .drive_logs import drive_async_logs, drive_logs
from .log_cursor import LogCursor
from .log_reader import LogReader, LogsProgress


class Logs(Iterator[LogReceipt]):
    """Logs, one at a time; ``cursor`` tells where to go on after the one that was given last."""

    def __init__(self, reader: LogReader, given: Generator[LogReceipt, None, None]) -> None:
        self._reader = reader
        self._given = given

    @property
    def cursor(self) -> LogCursor | None:
        """Where to go on; None before the first block is known."""
        return self._reader.cursor

    def close(self) -> None:
        """End the iteration: nothing more is asked. What is under way ends by itself, and is not waited for."""
        self._given.close()

    def __next__(self) -> LogReceipt:
        return next(self._given)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncLogs(AsyncIterator[LogReceipt]):
    """The same, asynchronously."""

    def __init__(self, reader: LogReader, given: AsyncGenerator[LogReceipt, None]) -> None:
        self._reader = reader
        self._given = given

    @property
    def cursor(self) -> LogCursor | None:
        """Where to go on; None before the first block is known."""
        return self._reader.cursor

    async def aclose(self) -> None:
        """End the iteration, and what is under way with it."""
        await self._given.aclose()

    async def __anext__(self) -> LogReceipt:
        return await self._given.__anext__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


def logs(
    w3: Web3,
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | Sequence[str] | None = None,
    topics: Sequence[Any] | None = None,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> Logs:
    """Iterate over the logs of any range of blocks, as web3.py gives them, strictly in the order of the chain.

    The range is read in windows, several at a time. Where the provider refuses one for its size, or runs out of time, its words
    are read for the size it would take, else the window is halved; what is learned holds for everything on the same provider. A
    consumer that is slow holds the reading up: it is never more than ``2 * concurrency`` windows ahead.

    Args:
        w3: Over a ``KeyrailProvider``.
        from_block: The first block, or its tag. Not looked at where a cursor is given.
        to_block: The last block, found once, at the start; never above the head as it stood then.
        address: Of one contract or of several.
        topics: As of ``w3.eth.get_logs``.
        max_blocks: The most blocks to ask for at once. A limit of the provider is found without it. Default: 100,000.
        concurrency: How many windows are read at a time, from 1 to 64, each by a thread; with 1 there is none, and nothing is
            read ahead. Default: 4.
        cursor: Goes on where an earlier iteration over the same logs stood.
        on_progress: Told after each window whose logs were all taken. What it raises ends the iteration.
        check_reorg: Whether to find out that the chain was reorganized under what was given. The failure then has ``reorg``,
            which tells from which block on logs are to be dropped, and where to go on. Default: False.

    Raises:
        KeyrailError: Of kind ``invalidRequest`` for a wrong option, at once. While it runs: ``range``, naming the block, where
            one block alone is too large; ``badResponse`` where an answer is broken or the chain was reorganized; else as the
            calls. ``cursor`` still tells where to go on.

    Example:
        >>> for log in logs(w3, from_block=17_000_000, to_block="finalized"):
        ...     print(log["blockNumber"], log["logIndex"])

    """
    reader = LogReader(w3.provider, {name: value for name, value in locals().items() if name != "w3"})
    return Logs(reader, drive_logs(reader, w3))


def async_logs(
    w3: AsyncWeb3[Any],
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | Sequence[str] | None = None,
    topics: Sequence[Any] | None = None,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> AsyncLogs:
    """Iterate in the way of ``logs``, over an ``AsyncKeyrailProvider``, by ``async for``.

    Args:
        w3: Over an ``AsyncKeyrailProvider``.
        from_block: The first block, or its tag.
        to_block: The last block, or its tag.
        address: Of one contract or of several.
        topics: As of ``w3.eth.get_logs``.
        max_blocks: The most blocks to ask for at once. Default: 100,000.
        concurrency: How many windows are read at a time, from 1 to 64. Default: 4.
        cursor: Goes on where an earlier iteration over the same logs stood.
        on_progress: Told after each window whose logs were all taken.
        check_reorg: Whether to find out that the chain was reorganized under what was given. Default: False.

    Raises:
        KeyrailError: As of ``logs``.

    """
    reader = LogReader(w3.provider, {name: value for name, value in locals().items() if name != "w3"})
    return AsyncLogs(reader, drive_async_logs(reader, w3))
