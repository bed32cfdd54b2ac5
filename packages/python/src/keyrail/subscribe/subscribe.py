"""The public function for subscriptions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar, overload

from hexbytes import HexBytes
from web3 import AsyncWeb3
from web3._utils.method_formatters import block_result_formatter, log_entry_formatter
from web3.datastructures import AttributeDict

from ..async_provider import AsyncKeyrailProvider
from ..failure.check import check, check_names, check_range, describe
from ..failure.error import KeyrailError
from ..failure.hints import add_hint
from .events import BlockEvent, LogEvent, ReorgEvent, SubscriptionEvent, TransactionEvent
from .open_events import EventOptions, open_events
from .recent_chain import parse_cursor
from .recovery import OnError

E_co = TypeVar("E_co", covariant=True)
Tag: TypeAlias = Literal["latest", "safe", "finalized", "earliest"]

_TAGS = ("latest", "safe", "finalized", "earliest")
_MAX_BLOCK = 2**53 - 1


class Subscription(Generic[E_co]):
    """The events of a subscription: an asynchronous iterator, and an asynchronous context manager."""

    def __init__(self, events: AsyncGenerator[E_co, None], get_cursor: Callable[[], str]) -> None:
        self._events = events
        self._get_cursor = get_cursor

    def cursor(self) -> str:
        """Return the position after the last event, as JSON text. Pass it as ``cursor`` to continue there, also in another process."""
        return self._get_cursor()

    async def aclose(self) -> None:
        """End the subscription and close its connection."""
        await self._events.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> E_co:
        return await self._events.__anext__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


@overload
def subscribe(
    w3: AsyncWeb3[Any] | AsyncKeyrailProvider,
    *,
    blocks: Literal[True],
    cursor: str | None = None,
    from_block: int | Tag | None = None,
    reorg_depth: int = 64,
    polling_interval_ms: float | None = None,
    web_socket: bool = True,
    on_error: OnError | None = None,
) -> Subscription[BlockEvent | ReorgEvent]: ...


@overload
def subscribe(
    w3: AsyncWeb3[Any] | AsyncKeyrailProvider,
    *,
    logs: Mapping[str, Any],
    cursor: str | None = None,
    from_block: int | Tag | None = None,
    reorg_depth: int = 64,
    polling_interval_ms: float | None = None,
    web_socket: bool = True,
    on_error: OnError | None = None,
) -> Subscription[LogEvent | ReorgEvent]: ...


@overload
def subscribe(
    w3: AsyncWeb3[Any] | AsyncKeyrailProvider,
    *,
    pending: Literal[True],
    polling_interval_ms: float | None = None,
    web_socket: bool = True,
    on_error: OnError | None = None,
) -> Subscription[TransactionEvent]: ...


def subscribe(
    w3: AsyncWeb3[Any] | AsyncKeyrailProvider,
    *,
    blocks: bool | None = None,
    logs: Mapping[str, Any] | None = None,
    pending: bool | None = None,
    cursor: str | None = None,
    from_block: int | Tag | None = None,
    reorg_depth: int = 64,
    polling_interval_ms: float | None = None,
    web_socket: bool = True,
    on_error: OnError | None = None,
) -> Subscription[Any]:
    """Subscribe to new blocks, to logs, or to transactions that enter the pool.

    Apply the events of blocks and logs in order, and undo what a ``ReorgEvent`` replaces: the result is exactly the canonical chain of
    the node, each block and each log once, through reorganizations, failures and reconnects. Store the cursor together with your
    results, and the same holds across restarts.

    Retryable failures do not end the subscription. No more events are read while your loop processes one.

    Args:
        w3: The ``AsyncWeb3`` of an ``AsyncKeyrailProvider``, or the provider.
        blocks: True for new blocks.
        logs: For logs: a dict with ``address`` and ``topics``, both optional, as ``eth_getLogs`` takes them.
        pending: True for the hashes of transactions that enter the pool.
        cursor: Where to continue: what ``cursor()`` returned. Takes precedence over ``from_block``.
        from_block: The first block. Default: the one after the latest block.
        reorg_depth: How many blocks a reorganization may replace, 1 to 1,024. Default: 64.
        polling_interval_ms: A fixed interval between polls, in milliseconds. Default: by the block time.
        web_socket: Whether to use a WebSocket if the server is a service of Keyrail. Default: True. Other servers are polled.
        on_error: Called with each failure after which the subscription continues.

    Raises:
        KeyrailError: With kind ``invalidRequest`` for a wrong option, at once. The iteration raises failures that are not retryable.

    Example:
        >>> async with subscribe(w3, logs={"address": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}) as subscription:
        ...     async for event in subscription:
        ...         print(event.log if event.type == "log" else event.removed, subscription.cursor())

    """
    given: Any = w3 if isinstance(w3, AsyncKeyrailProvider) else getattr(w3, "provider", None)
    check(isinstance(given, AsyncKeyrailProvider), "subscribe takes the AsyncWeb3 of an AsyncKeyrailProvider.")
    provider: AsyncKeyrailProvider = given
    check(
        (blocks is not None) + (logs is not None) + (pending is not None) == 1,
        "subscribe takes one of blocks=True, logs={…} and pending=True.",
    )
    check(blocks in (None, True), f"blocks must be True, not {describe(blocks)}.")
    check(pending in (None, True), f"pending must be True, not {describe(pending)}.")
    check(
        logs is None or isinstance(logs, Mapping),
        f'logs must be a dict such as {{"address": "0x…"}}, not {describe(logs)}.',
    )
    check_names("logs", logs or {}, ("address", "topics"))
    check(
        from_block is None
        or from_block in _TAGS
        or (isinstance(from_block, int) and not isinstance(from_block, bool) and 0 <= from_block <= _MAX_BLOCK),
        "from_block must be a block number, or one of latest, safe, finalized and earliest.",
    )
    check_range("reorg_depth", reorg_depth, 1, 1_024, whole=True)
    check_range("polling_interval_ms", polling_interval_ms, 10, 2**31 - 1)
    check(on_error is None or callable(on_error), f"on_error must be a function, not {describe(on_error)}.")
    check(
        pending is None or (cursor is None and from_block is None),
        "cursor and from_block are for blocks and logs only.",
    )
    chain = parse_cursor(cursor, reorg_depth)

    options = EventOptions(polling_interval_ms, web_socket, on_error)
    raw = open_events(provider, options, None if pending else chain, logs=logs, from_block=from_block)
    return Subscription(_format_events(raw), chain.to_cursor)


async def _format_events(raw: AsyncGenerator[SubscriptionEvent, None]) -> AsyncGenerator[SubscriptionEvent, None]:
    failed: KeyrailError | None = None
    try:
        async for event in raw:
            yield _format(event)
    except KeyrailError as failure:
        failed = failure
    finally:
        await raw.aclose()
    if failed is not None:
        raise add_hint(failed)


def _format(event: SubscriptionEvent) -> SubscriptionEvent:
    """Convert what the node sent to web3.py's types."""
    if isinstance(event, BlockEvent):
        return BlockEvent(_format_one(event.header))
    if isinstance(event, LogEvent):
        return LogEvent(_format_one(event.log))
    if isinstance(event, TransactionEvent):
        return TransactionEvent(HexBytes(event.hash))
    ancestor = {"number": int(event.ancestor["number"], 16), "hash": HexBytes(event.ancestor["hash"])}
    return ReorgEvent(AttributeDict(ancestor), [_format_one(one) for one in event.removed])


def _format_one(raw: Mapping[str, Any]) -> Any:
    formatted = log_entry_formatter(raw) if "logIndex" in raw else block_result_formatter(raw)
    return AttributeDict.recursive(formatted)
