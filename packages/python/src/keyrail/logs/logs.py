"""Iterates over the logs of any range of blocks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from types import TracebackType
from typing import Any

from typing_extensions import Self
from web3 import AsyncWeb3, Web3
from web3.types import LogReceipt

from .iterate_logs import iterate_async_logs, iterate_logs
from .log_cursor import LogCursor
from .log_reader import LogReader, LogsProgress


class Logs(Iterator[LogReceipt]):
    """An iterator over logs. ``cursor`` is the position after the last returned log."""

    def __init__(self, reader: LogReader, iterator: Generator[LogReceipt, None, None]) -> None:
        self._reader = reader
        self._iterator = iterator

    @property
    def cursor(self) -> LogCursor | None:
        """The position to continue from; None before the first block is known."""
        return self._reader.cursor

    def close(self) -> None:
        """End the iteration. No more requests are sent; requests in flight are not waited for."""
        self._iterator.close()

    def __next__(self) -> LogReceipt:
        return next(self._iterator)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncLogs(AsyncIterator[LogReceipt]):
    """An asynchronous iterator over logs. ``cursor`` is the position after the last returned log."""

    def __init__(self, reader: LogReader, iterator: AsyncGenerator[LogReceipt, None]) -> None:
        self._reader = reader
        self._iterator = iterator

    @property
    def cursor(self) -> LogCursor | None:
        """The position to continue from; None before the first block is known."""
        return self._reader.cursor

    async def aclose(self) -> None:
        """End the iteration and cancel the requests in flight."""
        await self._iterator.aclose()

    async def __anext__(self) -> LogReceipt:
        return await self._iterator.__anext__()

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
    """Iterate over the logs of any range of blocks, in the order of the chain.

    The range is read in windows, several at a time. If the node rejects a window because of its size, or does not respond in time,
    the window becomes smaller: the size that the error message names, or else half. Later iterations over the same provider start
    with what was learned. At most ``2 * concurrency`` windows are read ahead of a slow consumer.

    Args:
        w3: A web3.py instance with a ``KeyrailProvider``.
        from_block: The first block: a number or a tag. Ignored if there is a cursor.
        to_block: The last block: a number or a tag. A tag is resolved once, at the start, and a number above the head means the
            head. Default: "latest".
        address: The address of a contract, or a list of addresses.
        topics: The topics, as for ``w3.eth.get_logs``.
        max_blocks: The maximum number of blocks per request. Limits of the node are found without it. Default: 100,000.
        concurrency: How many windows are read at a time, from 1 to 64, each by a thread. With 1, no thread is used and
            nothing is read ahead. Default: 4.
        cursor: The cursor of an earlier iteration over the same logs, to continue from there.
        on_progress: Called after each window whose logs were all returned. If it raises an exception, the iteration ends.
        check_reorg: Whether to check that the chain was not reorganized after its logs were returned. The failure then has
            ``reorg``, with the block from which to drop logs and the cursor to resume from. Default: False.

    Raises:
        KeyrailError: With kind ``invalidRequest`` for a wrong option, right away. During the iteration with kind ``range`` if
            a single block has too many logs, with kind ``badResponse`` if a response is invalid or the chain was
            reorganized, or as the calls fail. ``cursor`` is still valid.

    Example:
        >>> for log in logs(w3, from_block=17_000_000, to_block="finalized"):
        ...     print(log["blockNumber"], log["logIndex"])

    """
    reader = LogReader(w3.provider, {name: value for name, value in locals().items() if name != "w3"})
    return Logs(reader, iterate_logs(reader, w3))


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
    """Iterate over the logs of any range of blocks with ``async for``. Works like ``logs``.

    Args:
        w3: A web3.py instance with an ``AsyncKeyrailProvider``.
        from_block: The first block: a number or a tag. Ignored if there is a cursor.
        to_block: The last block: a number or a tag. Default: "latest".
        address: The address of a contract, or a list of addresses.
        topics: The topics, as for ``w3.eth.get_logs``.
        max_blocks: The maximum number of blocks per request. Default: 100,000.
        concurrency: How many windows are read at a time, from 1 to 64, each by a task. Default: 4.
        cursor: The cursor of an earlier iteration over the same logs, to continue from there.
        on_progress: Called after each window whose logs were all returned. If it raises an exception, the iteration ends.
        check_reorg: Whether to check that the chain was not reorganized after its logs were returned. Default: False.

    Raises:
        KeyrailError: As for ``logs``.

    Example:
        >>> async for log in async_logs(w3, from_block=17_000_000, to_block="finalized"):
        ...     print(log["blockNumber"], log["logIndex"])

    """
    reader = LogReader(w3.provider, {name: value for name, value in locals().items() if name != "w3"})
    return AsyncLogs(reader, iterate_async_logs(reader, w3))
