"""The provider with web3.py's own interface for subscriptions."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping
from typing import Any, NoReturn, cast

from web3.providers.persistent import PersistentConnectionProvider
from web3.types import RPCEndpoint, RPCRequest, RPCResponse

from .async_provider import AsyncKeyrailProvider
from .failure.check import check, check_range, describe, invalid
from .failure.error import KeyrailError
from .failure.hints import add_hint
from .subscribe.events import BlockEvent, LogEvent, SubscriptionEvent, TransactionEvent
from .subscribe.open_events import EventOptions, open_events
from .subscribe.recent_chain import parse_cursor
from .subscribe.recovery import OnError

_INVALID_PARAMS = -32_602
_KINDS = "newHeads, logs and newPendingTransactions (hashes)"


class KeyrailPersistentProvider(PersistentConnectionProvider):
    """The provider for ``w3.subscription_manager``, ``w3.eth.subscribe`` and ``w3.socket``.

    web3.py's own providers miss what happens while they are disconnected. Subscriptions of this one are those of ``subscribe``: they
    resume, over a WebSocket if the server is a service of Keyrail, and by polling otherwise. A block that replaces another one is
    delivered like any new block, and logs of replaced blocks once more with ``removed`` True, newest first. Requests are made by the
    provider that is given. ``syncing`` is not offered.

    Args:
        provider: The provider that makes the requests. It is closed with this one.
        reorg_depth: How many blocks a reorganization may replace, 1 to 1,024. Default: 64.
        polling_interval_ms: A fixed interval between polls, in milliseconds. Default: by the block time.
        web_socket: Whether to use a WebSocket if the server is a service of Keyrail. Default: True.
        on_error: Called with each failure after which a subscription continues.
        subscription_response_queue_size: How many notifications wait for a slow program, as in web3.py's providers. Then no more events
            are read. Default: 500.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong.

    Example:
        >>> from web3 import AsyncWeb3
        >>> from web3.utils.subscriptions import NewHeadsSubscription
        >>> provider = AsyncKeyrailProvider(base_url="https://node.example/testnet", api_key="kr_a…")
        >>> async with AsyncWeb3(KeyrailPersistentProvider(provider)) as w3:
        ...     await w3.subscription_manager.subscribe(NewHeadsSubscription(handler=handle_block))
        ...     await w3.subscription_manager.handle_subscriptions()

    """

    def __init__(
        self,
        provider: AsyncKeyrailProvider,
        *,
        reorg_depth: int = 64,
        polling_interval_ms: float | None = None,
        web_socket: bool = True,
        on_error: OnError | None = None,
        subscription_response_queue_size: int = 500,
    ) -> None:
        check(
            isinstance(provider, AsyncKeyrailProvider),
            f"provider must be an AsyncKeyrailProvider, not {describe(provider)}.",
        )
        check_range("reorg_depth", reorg_depth, 1, 1_024, whole=True)
        check_range("polling_interval_ms", polling_interval_ms, 10, 2**31 - 1)
        check_range("subscription_response_queue_size", subscription_response_queue_size, 1, 2**31 - 1, whole=True)
        check(on_error is None or callable(on_error), f"on_error must be a function, not {describe(on_error)}.")
        super().__init__(subscription_response_queue_size=subscription_response_queue_size)
        self._provider = provider
        self._reorg_depth = reorg_depth
        self._event_options = EventOptions(polling_interval_ms, web_socket, on_error)
        # By the ids of the subscriptions.
        self._readers: dict[str, asyncio.Task[None]] = {}
        self._notifications: asyncio.Queue[Any] = asyncio.Queue(1)

    @property
    def endpoint_uri(self) -> str:
        """The URL of the endpoint without its secrets, under the name that web3.py uses."""
        return self._provider.redacted_url

    async def is_connected(self, show_traceback: bool = False) -> bool:
        """Check whether the node responds.

        Args:
            show_traceback: Whether to raise the failure instead of returning False. Default: False.

        Raises:
            KeyrailError: If the node does not respond and ``show_traceback`` is True.

        """
        return await self._provider.is_connected(show_traceback)

    async def disconnect(self) -> None:
        """End all subscriptions and close all connections.

        Raises:
            KeyrailError: If a subscription has ended with a failure, as web3.py's providers raise it.

        """
        try:
            await super().disconnect()
        finally:
            await self._provider_specific_disconnect()

    async def send_request(self, method: RPCEndpoint, params: Any) -> RPCRequest:
        """Create a request. It is made when web3.py waits for its response, so that cancelling ends it."""
        return self.form_request(method, params)

    async def recv_for_request(self, rpc_request: RPCRequest) -> RPCResponse:
        """Make a request of ``send_request``.

        Args:
            rpc_request: The request.

        Raises:
            KeyrailError: If the call fails.

        """
        method, params = rpc_request["method"], rpc_request["params"]
        if method == "eth_subscribe":
            return _respond(rpc_request, self._subscribe(list(params)))
        if method == "eth_unsubscribe":
            return _respond(rpc_request, {"result": await self._unsubscribe(params[0])})
        return _respond(rpc_request, await self._provider.make_request(method, params))

    async def send_batch_request(self, requests: list[tuple[RPCEndpoint, Any]]) -> list[RPCRequest]:
        """Create the requests of a batch, which is made when web3.py waits for its responses."""
        return [self.form_request(method, params) for method, params in requests]

    async def recv_for_batch_request(self, _request_dicts: list[RPCRequest]) -> list[RPCResponse]:
        """Make the batch of ``send_batch_request``.

        Args:
            _request_dicts: The requests.

        Raises:
            KeyrailError: If a call fails: the first failure.

        """
        responses = await self._provider.make_batch_request([(one["method"], one["params"]) for one in _request_dicts])
        return [_respond(request, response) for request, response in zip(_request_dicts, responses, strict=True)]

    async def socket_send(self, request_data: bytes) -> NoReturn:  # noqa: ARG002
        """Reject a message of the caller's own: there may be no connection.

        Raises:
            KeyrailError: Always.

        """
        raise invalid("KeyrailPersistentProvider sends no messages of your own. Use w3.provider.make_request instead.")

    async def socket_recv(self) -> RPCResponse:
        """Return the next notification.

        Raises:
            KeyrailError: If a subscription has ended with a failure that is not retryable.

        """
        received: RPCResponse | KeyrailError = await self._notifications.get()
        if isinstance(received, KeyrailError):
            raise add_hint(received)
        return received

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._provider.redacted_url})"

    __str__ = __repr__

    async def _provider_specific_connect(self) -> None:
        self._notifications = asyncio.Queue(1)

    async def _provider_specific_disconnect(self) -> None:
        for subscription in list(self._readers):
            await self._unsubscribe(subscription)
        await self._provider.close()

    async def _provider_specific_socket_reader(self) -> RPCResponse:
        return await self.socket_recv()

    def _subscribe(self, params: list[Any]) -> dict[str, Any]:
        provider, options = self._provider, self._event_options
        chain = parse_cursor(None, self._reorg_depth)
        if params[:1] == ["logs"]:
            events = open_events(provider, options, chain, logs=params[1] if len(params) > 1 else {})
        elif params == ["newHeads"]:
            events = open_events(provider, options, chain)
        # web3.py always passes whether it wants whole transactions.
        elif params in (["newPendingTransactions"], ["newPendingTransactions", False]):
            events = open_events(provider, options, None)
        else:
            message = f"{type(self).__name__} has no subscription {params!r:.100}, only {_KINDS}."
            return {"error": {"code": _INVALID_PARAMS, "message": message}}
        subscription = f"0x{secrets.token_hex(16)}"
        self._readers[subscription] = asyncio.create_task(self._read(subscription, events))
        return {"result": subscription}

    async def _unsubscribe(self, subscription: str) -> bool:
        reader = self._readers.pop(subscription, None)
        if reader is None:
            return False
        reader.cancel()
        await asyncio.wait([reader])
        return True

    async def _read(self, subscription: str, events: AsyncGenerator[SubscriptionEvent, None]) -> None:
        try:
            async for event in events:
                for result in _to_results(event):
                    params = {"subscription": subscription, "result": result}
                    await self._notifications.put({"jsonrpc": "2.0", "method": "eth_subscription", "params": params})
        except KeyrailError as failure:
            await self._notifications.put(failure)
        finally:
            await events.aclose()


def _respond(request: RPCRequest, members: Mapping[str, Any]) -> RPCResponse:
    return cast(RPCResponse, {**members, "jsonrpc": "2.0", "id": request["id"]})


def _to_results(event: SubscriptionEvent) -> list[Any]:
    """Return the results of the notifications that a node sends for an event."""
    if isinstance(event, BlockEvent):
        return [event.header]
    if isinstance(event, LogEvent):
        return [event.log]
    if isinstance(event, TransactionEvent):
        return [event.hash]
    # The new blocks follow. Only logs are removed one by one.
    return [one for one in event.removed if "logIndex" in one]
