"""Iterates over the logs of any range of blocks."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, Self, overload

from typing_extensions import TypeVar
from web3 import AsyncWeb3, Web3
from web3.types import LogReceipt

from .event_abi import EventInput
from .iterate_logs import iterate_async_logs, iterate_logs
from .log_cursor import LogCursor
from .log_reader import LogReader, LogsProgress
from .parquet_export import ExportResult, export_logs, export_logs_async


class DecodedLog(LogReceipt):
    """A log of an event."""

    event: str
    """The name of the event."""
    args: dict[str, Any]
    """The values of its parameters. Arrays are lists and structs are dicts; an indexed string, array or struct is a hash."""


Log = TypeVar("Log", bound=LogReceipt, default=LogReceipt)
_ROW_GROUP_SIZE = 20_000


class Logs(Iterator[Log], Generic[Log]):
    """An iterator over logs. ``cursor`` is the position after the last returned log."""

    def __init__(
        self, provider: Any, options: dict[str, Any], reader: LogReader, iterator: Generator[Any, None, None]
    ) -> None:
        self._provider = provider
        self._options = options
        self._reader = reader
        self._iterator = iterator

    @property
    def cursor(self) -> LogCursor | None:
        """The position to continue from; None before the first block is known."""
        return self._reader.cursor

    def close(self) -> None:
        """End the iteration. No more requests are sent; requests in flight are not waited for."""
        self._iterator.close()

    def to_parquet(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, row_group_size: int = _ROW_GROUP_SIZE
    ) -> ExportResult:
        """Write all logs of the range to a Parquet file, each once and in the order of the chain.

        An export can be interrupted in any way: the same call resumes it. ``FILE.partial`` and ``FILE.cursor`` store the progress
        until the export is complete. The hashes of the newest blocks are checked, and logs of replaced blocks are read again.

        Args:
            path: The path of the file.
            overwrite: Whether to replace an existing file, and to start an interrupted export over. Default: False.
            row_group_size: The number of logs of a row group, which is in memory as a whole. Default: 20,000.

        Raises:
            KeyrailError: With kind ``invalidRequest`` if the file exists, if another process writes it, or if it is an unfinished
                export with other settings. Otherwise as for ``logs``; the same call resumes.
            ImportError: If pyarrow is not installed: ``pip install 'keyrail[parquet]'``.

        Example:
            >>> logs(w3, from_block=17_000_000, to_block="finalized", address=token).to_parquet("logs.parquet")

        """
        return export_logs(self._provider, self._options, path, overwrite, row_group_size)

    def __next__(self) -> Log:
        log: Log = next(self._iterator)
        return log

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncLogs(AsyncIterator[Log], Generic[Log]):
    """An asynchronous iterator over logs. ``cursor`` is the position after the last returned log."""

    def __init__(
        self, provider: Any, options: dict[str, Any], reader: LogReader, iterator: AsyncGenerator[Any, None]
    ) -> None:
        self._provider = provider
        self._options = options
        self._reader = reader
        self._iterator = iterator

    @property
    def cursor(self) -> LogCursor | None:
        """The position to continue from; None before the first block is known."""
        return self._reader.cursor

    async def aclose(self) -> None:
        """End the iteration and cancel the requests in flight."""
        await self._iterator.aclose()

    async def to_parquet(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, row_group_size: int = _ROW_GROUP_SIZE
    ) -> ExportResult:
        """Write all logs of the range to a Parquet file. Works like ``Logs.to_parquet``.

        Args:
            path: The path of the file.
            overwrite: Whether to replace an existing file, and to start an interrupted export over. Default: False.
            row_group_size: The number of logs of a row group, which is in memory as a whole. Default: 20,000.

        Raises:
            KeyrailError: As for ``Logs.to_parquet``.
            ImportError: If pyarrow is not installed: ``pip install 'keyrail[parquet]'``.

        """
        return await export_logs_async(self._provider, self._options, path, overwrite, row_group_size)

    async def __anext__(self) -> Log:
        log: Log = await self._iterator.__anext__()
        return log

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


@overload
def logs(
    w3: Web3,
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | bytes | Sequence[str | bytes] | None = None,
    topics: Sequence[Any] | None = None,
    event: None = None,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> Logs[LogReceipt]: ...


@overload
def logs(
    w3: Web3,
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | bytes | Sequence[str | bytes] | None = None,
    topics: Sequence[Any] | None = None,
    event: EventInput,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> Logs[DecodedLog]: ...


def logs(
    w3: Web3,
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | bytes | Sequence[str | bytes] | None = None,
    topics: Sequence[Any] | None = None,
    event: EventInput | None = None,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> Logs[Any]:
    """Iterate over the logs of any range of blocks, in the order of the chain.

    The range is read in windows, several at a time. If the node rejects a window because of its size, or does not respond in time,
    the window becomes smaller: the size that the error message names, or else half. Later iterations over the same provider start
    with what was learned. At most ``2 * concurrency`` windows are read ahead of a slow consumer.

    Args:
        w3: A web3.py instance with a ``KeyrailProvider``.
        from_block: The first block: a number, also in hex as ``"0x10"``, or a tag. Ignored if there is a cursor.
        to_block: The last block: a number or a tag. A tag is resolved once, at the start, and a number above the head means the
            head. Default: "latest".
        address: The address of a contract, or a list of addresses, with or without a checksum.
        topics: The topics, as for ``w3.eth.get_logs``. With ``event``, the first one must be None.
        event: Return only the logs of this event, with ``event`` and ``args``: a signature as in Solidity, or an item of a JSON ABI.
            Logs of an event with the same signature but other indexed parameters are left out.
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
        >>> for log in logs(w3, from_block=17_000_000, event="Transfer(address indexed from, address indexed to, uint256 value)"):
        ...     print(log["args"]["value"])

    """
    options = {name: value for name, value in locals().items() if name != "w3"}
    reader = LogReader(w3.provider, options)
    return Logs(w3.provider, options, reader, iterate_logs(reader, w3.eth))


@overload
def async_logs(
    w3: AsyncWeb3[Any],
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | bytes | Sequence[str | bytes] | None = None,
    topics: Sequence[Any] | None = None,
    event: None = None,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> AsyncLogs[LogReceipt]: ...


@overload
def async_logs(
    w3: AsyncWeb3[Any],
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | bytes | Sequence[str | bytes] | None = None,
    topics: Sequence[Any] | None = None,
    event: EventInput,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> AsyncLogs[DecodedLog]: ...


def async_logs(
    w3: AsyncWeb3[Any],
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | bytes | Sequence[str | bytes] | None = None,
    topics: Sequence[Any] | None = None,
    event: EventInput | None = None,
    max_blocks: int | None = None,
    concurrency: int = 4,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
    check_reorg: bool = False,
) -> AsyncLogs[Any]:
    """Iterate over the logs of any range of blocks with ``async for``. Works like ``logs``.

    Args:
        w3: A web3.py instance with an ``AsyncKeyrailProvider``.
        from_block: The first block: a number, also in hex as ``"0x10"``, or a tag. Ignored if there is a cursor.
        to_block: The last block: a number or a tag. Default: "latest".
        address: The address of a contract, or a list of addresses, with or without a checksum.
        topics: The topics, as for ``w3.eth.get_logs``. With ``event``, the first one must be None.
        event: Return only the logs of this event, with ``event`` and ``args``.
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
    options = {name: value for name, value in locals().items() if name != "w3"}
    reader = LogReader(w3.provider, options)
    return AsyncLogs(w3.provider, options, reader, iterate_async_logs(reader, w3.eth))
