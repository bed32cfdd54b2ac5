"""The logs of any range of blocks, in the order of the chain."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from web3 import AsyncWeb3, Web3
from web3.types import LogReceipt

from ..failure.check import check, check_range
from ..failure.error import KeyrailError, altered, make_error
from .range_hint import range_hint
from .window_size import WindowSize

# A window that timed out more often, at a quarter of its blocks each time, is not too heavy: nothing answers.
_MOST_TIMEOUTS = 3
_MOST_BLOCKS = 2**31
_TAGS = ("latest", "safe", "finalized", "earliest")


class LogCursor(TypedDict):
    """Where an iteration stands: everything before it was given. Plain JSON, to be kept and handed in again."""

    next_block: int
    """The block to go on with."""
    next_log_index: int
    """The index of the first log of that block that was not given yet."""


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
    cursor: LogCursor
    """Goes on from here."""


@dataclass(slots=True, frozen=True)
class _Ask:
    """What is asked of web3.py: ``of`` is given its ``eth``, whichever of the two that is. A failure is a value here."""

    of: Callable[[Any], Any]


class _Reader:
    """The steps of an iteration: asks are yielded, and answered from outside; logs are yielded one at a time."""

    def __init__(
        self,
        owner: Any,
        from_block: int | str,
        to_block: int | str,
        address: Any,
        topics: Any,
        max_blocks: int | None,
        cursor: LogCursor | None,
        on_progress: Callable[[LogsProgress], object] | None,
    ) -> None:
        for name, value in (("from_block", from_block), ("to_block", to_block)):
            number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            check(
                number or value in _TAGS,
                f"{name} must be a block's number, or one of latest, safe, finalized and earliest",
            )
        if isinstance(from_block, int) and isinstance(to_block, int):
            check(from_block <= to_block, f"from_block ({from_block}) must not be above to_block ({to_block})")
        check_range("max_blocks", max_blocks, 1, _MOST_BLOCKS, whole=True)
        if cursor is not None:
            whole = isinstance(cursor, Mapping) and all(
                isinstance(cursor.get(name), int) and cursor[name] >= 0 for name in ("next_block", "next_log_index")
            )
            check(whole, "cursor must be what cursor was: { next_block, next_log_index }, whole numbers from 0")
        check(on_progress is None or callable(on_progress), "on_progress must be a function")
        self.cursor: LogCursor | None = cursor
        self._from, self._to = from_block, to_block
        self._condition = {
            name: value for name, value in (("address", address), ("topics", topics)) if value is not None
        }
        self._on_progress = on_progress
        self._size = WindowSize(owner, max_blocks)

    def steps(self) -> Generator[_Ask | LogReceipt, Any, None]:
        head = _answered((yield _Ask(lambda eth: eth.block_number)))
        last = head if self._to == "latest" else (yield from self._number(self._to))
        last = min(last, head)
        if self.cursor is None:
            self.cursor = {"next_block": (yield from self._number(self._from)), "next_log_index": 0}
        first = self.cursor["next_block"]
        first_index = self.cursor["next_log_index"]
        started = time.monotonic()
        given = 0
        at = first
        while at <= last:
            logs, to = yield from self._window(at, last)
            fresh = [log for log in logs if not (log["blockNumber"] == first and log["logIndex"] < first_index)]
            given += len(fresh)
            for log in fresh:
                self.cursor = {"next_block": log["blockNumber"], "next_log_index": log["logIndex"] + 1}
                yield log
            self.cursor = {"next_block": to + 1, "next_log_index": 0}
            if self._on_progress:
                done = to + 1 - first
                self._on_progress(
                    LogsProgress(
                        from_block=first,
                        to_block=last,
                        blocks=to + 1 - at,
                        blocks_done=done,
                        blocks_total=last - first + 1,
                        logs=given,
                        blocks_per_second=done / max(time.monotonic() - started, 0.001),
                        cursor=self.cursor,
                    )
                )
            at = to + 1

    def _number(self, block: int | str) -> Generator[_Ask, Any, int]:
        if isinstance(block, int):
            return block
        number: int = _answered((yield _Ask(lambda eth: eth.get_block(block))))["number"]
        return number

    def _window(self, at: int, last: int) -> Generator[_Ask, Any, tuple[list[LogReceipt], int]]:
        refusals = timeouts = 0
        while True:
            to = min(last, at + self._size.current() - 1)
            blocks = to - at + 1
            asked = {**self._condition, "fromBlock": hex(at), "toBlock": hex(to)}
            end = yield _Ask(lambda eth, asked=asked: eth.get_logs(asked))  # type: ignore[misc]
            if not isinstance(end, KeyrailError):
                logs: list[LogReceipt] = list(end)
                if not all(at <= log["blockNumber"] <= to for log in logs):
                    raise make_error(
                        "the answer to eth_getLogs holds logs of blocks that were not asked for",
                        kind="badResponse",
                        source="node",
                        retryable=False,
                        method="eth_getLogs",
                    )
                self._size.served(blocks, len(logs))
                # Some balancers lose the order of the chain.
                return sorted(logs, key=lambda log: (log["blockNumber"], log["logIndex"])), to
            timeouts += end.kind == "timeout"
            if timeouts > _MOST_TIMEOUTS:
                raise end
            self._refused(end, at, blocks, refusals)
            refusals += 1

    def _refused(self, failure: KeyrailError, at: int, blocks: int, refusals: int) -> None:
        """Learn from a refusal; raise it where a smaller window is no mend."""
        if failure.kind == "timeout" and blocks > 1:
            self._size.refused(blocks, blocks // 4, None)
            return
        if failure.kind != "range":
            raise failure
        error = failure.rpc_error or {"message": str(failure)}
        hint = range_hint(error.get("message", ""), error.get("data"))
        if hint.too_many_addresses or blocks == 1:
            words = (
                "the node refuses so many addresses at once: iterate over fewer"
                if hint.too_many_addresses
                else f"block {at} alone has more logs than the node gives in one answer: narrow address or topics"
            )
            raise altered(failure, f"{words}. It said: {error.get('message', failure)}")
        spans: list[float] = []
        if hint.from_block is not None and hint.to_block is not None:
            # Of a range that starts elsewhere, only the length can be meant.
            start = at if hint.from_block <= at <= hint.to_block else hint.from_block
            spans.append(hint.to_block - start + 1)
        if hint.max_blocks is not None:
            spans.append(hint.max_blocks)
        spans = [span for span in spans if 0 < span < blocks]
        # What it suggested may itself be too much: a second refusal halves at least.
        if refusals:
            spans.append(blocks / 2)
        self._size.refused(blocks, min(spans) if spans else None, hint.max_blocks)


def _answered(end: Any) -> Any:
    """Give what was answered, or raise the failure in its place."""
    if isinstance(end, KeyrailError):
        raise end
    return end


class _OfReader:
    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    @property
    def cursor(self) -> LogCursor | None:
        """Where to go on; None before the first block is known."""
        return self._reader.cursor


class Logs(_OfReader, Iterator[LogReceipt]):
    """Logs, one at a time; ``cursor`` tells where to go on after the one that was given last."""

    def __init__(self, reader: _Reader, given: Iterator[LogReceipt]) -> None:
        super().__init__(reader)
        self._given = given

    def __next__(self) -> LogReceipt:
        return next(self._given)


class AsyncLogs(_OfReader, AsyncIterator[LogReceipt]):
    """The same, asynchronously."""

    def __init__(self, reader: _Reader, given: AsyncIterator[LogReceipt]) -> None:
        super().__init__(reader)
        self._given = given

    async def __anext__(self) -> LogReceipt:
        return await self._given.__anext__()


def logs(
    w3: Web3,
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | Sequence[str] | None = None,
    topics: Sequence[Any] | None = None,
    max_blocks: int | None = None,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
) -> Logs:
    """Iterate over the logs of any range of blocks, as web3.py gives them, strictly in the order of the chain.

    The range is read in windows. Where the provider refuses one for its size, or runs out of time, its words are read for the
    size it would take, else the window is halved; what is learned holds for everything on the same provider.

    Args:
        w3: Over a ``KeyrailProvider``.
        from_block: The first block, or its tag. Not looked at where a cursor is given.
        to_block: The last block, found once, at the start; never above the head as it stood then.
        address: Of one contract or of several.
        topics: As of ``w3.eth.get_logs``.
        max_blocks: The most blocks to ask for at once. A limit of the provider is found without it. Default: 100,000.
        cursor: Goes on where an earlier iteration over the same logs stood.
        on_progress: Told after each window whose logs were all taken. What it raises ends the iteration.

    Raises:
        KeyrailError: Of kind ``invalidRequest`` for a wrong option, at once. While it runs: ``range``, naming the block, where
            one block alone is too large; else as the calls. ``cursor`` still tells where to go on.

    Example:
        >>> for log in logs(w3, from_block=17_000_000, to_block="finalized"):
        ...     print(log["blockNumber"], log["logIndex"])

    """
    reader = _Reader(w3.provider, from_block, to_block, address, topics, max_blocks, cursor, on_progress)

    def asked(ask: _Ask) -> Any:
        try:
            return ask.of(w3.eth)
        except KeyrailError as failure:
            return failure.with_traceback(None)

    def given() -> Iterator[LogReceipt]:
        steps = reader.steps()
        sent: Any = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration:
                return
            if isinstance(step, _Ask):
                sent = asked(step)
            else:
                sent = None
                yield step

    return Logs(reader, given())


def async_logs(
    w3: AsyncWeb3[Any],
    *,
    from_block: int | str,
    to_block: int | str = "latest",
    address: str | Sequence[str] | None = None,
    topics: Sequence[Any] | None = None,
    max_blocks: int | None = None,
    cursor: LogCursor | None = None,
    on_progress: Callable[[LogsProgress], object] | None = None,
) -> AsyncLogs:
    """Iterate in the way of ``logs``, over an ``AsyncKeyrailProvider``, by ``async for``.

    Args:
        w3: Over an ``AsyncKeyrailProvider``.
        from_block: The first block, or its tag.
        to_block: The last block, or its tag.
        address: Of one contract or of several.
        topics: As of ``w3.eth.get_logs``.
        max_blocks: The most blocks to ask for at once. Default: 100,000.
        cursor: Goes on where an earlier iteration over the same logs stood.
        on_progress: Told after each window whose logs were all taken.

    Raises:
        KeyrailError: As of ``logs``.

    """
    reader = _Reader(w3.provider, from_block, to_block, address, topics, max_blocks, cursor, on_progress)

    async def asked(ask: _Ask) -> Any:
        try:
            return await ask.of(w3.eth)
        except KeyrailError as failure:
            return failure.with_traceback(None)

    async def given() -> AsyncIterator[LogReceipt]:
        steps = reader.steps()
        sent: Any = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration:
                return
            if isinstance(step, _Ask):
                sent = await asked(step)
            else:
                sent = None
                yield step

    return AsyncLogs(reader, given())
