"""The asynchronous provider."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Literal, Never, NoReturn, Self

from web3 import AsyncWeb3
from web3._utils.caching import async_handle_request_caching  # type: ignore[attr-defined]
from web3._utils.empty import Empty, empty
from web3.middleware.base import MiddlewareOnion
from web3.providers.async_base import AsyncJSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse
from web3.utils import RequestCacheValidationThreshold

from .common_provider import CommonProvider
from .endpoint.create_endpoint import AsyncHeaders, AsyncSecret, Network, PerNetwork
from .endpoint.endpoint import Endpoint
from .failure.check import invalid
from .failure.error import KeyrailError
from .observe.hooks import Hooks
from .observe.tracing import Tracer
from .transport.budget import Budget
from .transport.cache import Cache
from .transport.call_settings import BatchOptions, RetryOptions
from .transport.calls import CallFactory, RpcRequest, Settled, to_rpc_response, to_rpc_responses, to_settled
from .transport.failover import Failover
from .transport.fork import watch_forks
from .transport.http_provider_options import HTTP_PROVIDER_OPTIONS
from .transport.parse_options import OPTION_NAMES, parse_options
from .transport.run_steps import create_async_runner
from .transport.steps import Outcome


class AsyncKeyrailProvider(CommonProvider, AsyncJSONBaseProvider):
    """The provider for ``AsyncWeb3``, with the options and behavior of ``KeyrailProvider``.

    The ``api_key``, ``jwt`` and ``headers`` functions may be asynchronous. The parts of a large batch are sent concurrently. Use it as an
    asynchronous context manager, or ``await`` its ``close()``.

    Args:
        url: As in ``KeyrailProvider``, like all other options.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong. The message names the option and how to fix it.

    Example:
        >>> from web3 import AsyncWeb3
        >>> provider = AsyncKeyrailProvider(base_url="https://node.example/testnet", api_key="kr_a…")
        >>> w3 = AsyncWeb3(provider)

    """

    def __init__(
        self,
        url: str | None = None,
        *positional: Never,
        base_url: PerNetwork[str] | None = None,
        rpc_url: PerNetwork[str] | None = None,
        api_key: AsyncSecret | None = None,
        network: Network | None = None,
        chain_id: PerNetwork[int] | None = None,
        jwt: AsyncSecret | None = None,
        headers: AsyncHeaders | None = None,
        endpoints: Sequence[Endpoint] | None = None,
        failover: Failover | None = None,
        budget: Budget | None = None,
        cache: Cache | None = None,
        proxy: str | Literal[False] | None = None,
        ssl_context: ssl.SSLContext | None = None,
        timeout_ms: float | None = None,
        retry: bool | int | RetryOptions = True,
        batch: BatchOptions | None = None,
        max_response_bytes: int | None = None,
        max_in_flight: int | None = None,
        resends: int | None = None,
        hooks: Hooks | None = None,
        stats: bool = False,
        tracing: bool | Tracer = False,
        cache_allowed_requests: bool = False,
        cacheable_requests: set[RPCEndpoint] | None = None,
        request_cache_validation_threshold: RequestCacheValidationThreshold | int | Empty | None = empty,
        **unknown: Never,
    ) -> None:
        options: dict[str, Any] = {name: value for name, value in locals().items() if name in OPTION_NAMES}
        request_cache: dict[str, Any] = {
            "cache_allowed_requests": cache_allowed_requests,
            "cacheable_requests": cacheable_requests,
            "request_cache_validation_threshold": request_cache_validation_threshold,
        }
        parsed = parse_options(options, request_cache, positional, unknown)
        # Error reporters show the variables of frames, and any option may be a misplaced key.
        del (
            url,
            base_url,
            rpc_url,
            api_key,
            network,
            chain_id,
            jwt,
            headers,
            endpoints,
            failover,
            budget,
            cache,
            proxy,
            ssl_context,
            timeout_ms,
            retry,
            batch,
            max_response_bytes,
        )
        del (
            max_in_flight,
            resends,
            hooks,
            stats,
            tracing,
            cache_allowed_requests,
            cacheable_requests,
            request_cache_validation_threshold,
            positional,
            unknown,
        )
        if isinstance(parsed, KeyrailError):
            del options, request_cache
            raise parsed
        super().__init__(**request_cache)
        self._redacted_url = parsed.endpoints[0].endpoint.redacted_url
        self._keep_options(options)
        self._observer = parsed.observer
        self._calls = CallFactory(parsed)
        # Functions, for the same reason: the key is not an attribute.
        self._run, self._close, self._start_over, self._open_socket = create_async_runner(
            parsed.endpoints, parsed.settings
        )
        watch_forks(self)

    async def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Make a call. web3.py calls this method for each of its own calls.

        Args:
            method: The JSON-RPC method.
            params: Its parameters.

        Returns:
            The JSON-RPC response. A revert is returned as an error response, because web3.py decodes it.

        Raises:
            KeyrailError: If the call fails.

        """
        return await _call_with_cache(self, method, params)

    async def make_batch_request(self, requests: Sequence[RpcRequest]) -> list[RPCResponse]:
        """Make several calls in one batch. web3.py calls this method for ``w3.batch_requests()``.

        Args:
            requests: The method and parameters of each call.

        Raises:
            KeyrailError: If a call fails: the first failure. ``batch_settled`` returns the outcome of each call instead.

        """
        return to_rpc_responses(await self._run(self._calls.create_batch(requests)))

    async def batch_request_func(
        self, async_w3: AsyncWeb3[Any], middleware_onion: MiddlewareOnion
    ) -> Callable[..., Coroutine[Any, Any, list[RPCResponse] | RPCResponse]]:
        """Return the function behind ``w3.batch_requests()``. An empty batch returns ``[]`` and sends nothing."""
        make = await super().batch_request_func(async_w3, middleware_onion)

        async def make_batch(requests: Sequence[RpcRequest]) -> list[RPCResponse] | RPCResponse:
            # web3.py's middleware fails for an empty batch.
            return await make(requests) if requests else []

        return make_batch

    async def batch_settled(self, requests: Sequence[RpcRequest]) -> list[Settled]:
        """Make several calls in one batch and return the outcome of each, in the order of the calls.

        Args:
            requests: The method and parameters of each call. Results are returned as the node sent them.

        """
        return [to_settled(outcome) for outcome in await self._run(self._calls.create_batch(requests))]

    async def is_connected(self, show_traceback: bool = False) -> bool:
        """Check whether the node responds.

        Args:
            show_traceback: Whether to raise the failure instead of returning False. Default: False.

        Raises:
            KeyrailError: If the node does not respond and ``show_traceback`` is True.

        """
        try:
            await self.make_request(RPCEndpoint("web3_clientVersion"), [])
        except KeyrailError:
            if show_traceback:
                raise
            return False
        return True

    async def close(self) -> None:
        """Close all connections. A later call opens new ones."""
        await self._close()

    async def disconnect(self) -> None:
        """Close all connections, under the name that web3.py uses."""
        await self._close()

    async def cache_async_session(self, _session: object) -> NoReturn:
        """Reject a session of aiohttp, which web3.py's ``AsyncHTTPProvider`` takes: the provider has its own.

        Raises:
            KeyrailError: Always, with the options that take its place.

        """
        raise invalid(f"The provider has its own session. Pass {HTTP_PROVIDER_OPTIONS['session']} instead.")

    def _after_fork(self) -> None:
        self._request_cache_lock = asyncio.Lock()
        self._start_over_observing()
        self._start_over()

    async def _call(self, method: str, params: Any) -> Outcome:
        cached = self._calls.get_cached(method)
        if cached is not None:
            return cached
        (outcome,) = await self._run(self._calls.create_single(method, params))
        self._calls.cache_result(method, outcome)
        return outcome

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


async def _call(provider: Any, method: RPCEndpoint, params: Any) -> RPCResponse:
    return to_rpc_response(await provider._call(method, params))


# Looks into web3.py's request cache first if the cache is on.
_call_with_cache = async_handle_request_caching(_call)
