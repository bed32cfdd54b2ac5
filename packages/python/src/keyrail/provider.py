"""The synchronous provider."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, Never, Self

from web3 import Web3
from web3._utils.caching import handle_request_caching  # type: ignore[attr-defined]
from web3._utils.empty import Empty, empty
from web3.middleware.base import MiddlewareOnion
from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse
from web3.utils import RequestCacheValidationThreshold

from .common_provider import CommonProvider
from .endpoint.create_endpoint import Headers, Network, PerNetwork, Secret
from .endpoint.endpoint import Endpoint
from .failure.error import KeyrailError
from .message.response import Result
from .observe.hooks import Hooks
from .observe.tracing import Tracer
from .transport.budget import Budget
from .transport.cache import Cache
from .transport.call_settings import BatchOptions, RetryOptions
from .transport.calls import CallFactory, RpcRequest, Settled, to_rpc_response, to_rpc_responses, to_settled
from .transport.failover import Failover
from .transport.fork import watch_forks
from .transport.parse_options import OPTION_NAMES, parse_options
from .transport.run_steps import create_runner
from .transport.steps import Outcome


class KeyrailProvider(CommonProvider, JSONBaseProvider):
    """A synchronous web3.py provider that hides the key, retries within a deadline and pairs batch responses by id.

    Threads can share it. Use it as a context manager, or call ``close()``.

    Args:
        url: A full URL from the dashboard, or a node's own URL.
        base_url: The URL of an app: calls are sent to ``{base_url}/v2/{api_key}``.
        rpc_url: The RPC URL of an API key: calls are sent to ``{rpc_url}/{api_key}``.
        api_key: The API key, or a function that returns the current one. The function is called for each attempt.
        network: The name of the network, such as ``"base-sepolia"``. It replaces ``{network}`` in the URL, and selects the value from a
            dict of URLs or chain ids, of which it must be one of the names. Both require it.
        chain_id: The expected chain id. Without it, the provider requests the chain id once.
        jwt: A JSON Web Token, or a function that returns it. Sent as ``Authorization: Bearer``.
        headers: Extra headers of each request, or a function that returns them. The function is called for each attempt. Values are
            masked in errors.
        endpoints: 1 to 30 endpoints of one chain instead of the options above, of which only ``network`` and ``chain_id`` hold for all.
            Calls are sent to the next endpoint when one fails.
        failover: How an endpoint is chosen for a call. Default: in order, or by weight, without endpoints that keep failing.
        budget: How much is sent to each endpoint per second and per day. Default: no limits.
        cache: Caches results that never change, by the rules of ``Cache``. Default: none.
        proxy: The URL of a proxy, such as ``http://proxy.example:3128``, with user and password if it needs them, or False for none.
            Default: the one in the environment (``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY``, ``NO_PROXY``), read when the provider
            is created.
        ssl_context: The TLS settings. Default: the certificates of the system, or of the file in ``REQUESTS_CA_BUNDLE``,
            ``CURL_CA_BUNDLE`` or ``SSL_CERT_FILE``.
        timeout_ms: The time limit of a call with all its retries, in milliseconds. Default: 10,000, and 60,000 for
            expensive methods: eth_getLogs, eth_getFilterLogs, eth_getProof, eth_createAccessList, eth_simulateV1,
            txpool_content, txpool_inspect, debug_* and trace_*.
        retry: False for no retries, the number of retries, or a dict of ``RetryOptions``. Default: 3 retries with full
            jitter from 150 ms, at most 5 s.
        batch: The size limits of a batch, a dict of ``BatchOptions``. Default: 100 calls, 512,000 bytes.
        max_response_bytes: Larger responses fail. Default: 64 MiB.
        max_in_flight: The number of requests in flight at a time; further threads wait. Default: 64.
        resends: How often a transaction is sent again after two look-ups did not find it. Default: 0.
        hooks: Functions that are called with the events of calls. Default: none.
        stats: Whether calls, requests and latencies are counted. Default: False. Read them with ``stats()``.
        tracing: Whether an OpenTelemetry span is created for each call, or the ``Tracer`` that creates it. Default: False.
        cache_allowed_requests: Whether web3.py's request cache is on, as in ``HTTPProvider``. Default: False.
        cacheable_requests: The methods whose results web3.py caches. Default: those of ``HTTPProvider``.
        request_cache_validation_threshold: The age at which web3.py caches a block: seconds, a tag, or None for any age.
            Default: as in ``HTTPProvider``.
        positional: Not allowed. Only the URL can be positional.
        unknown: Not allowed. Any other option is an error that names the nearest one.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong. The message names the option and how to fix it.

    Example:
        >>> from web3 import Web3
        >>> provider = KeyrailProvider(base_url="https://node.example/testnet", api_key="kr_a…")
        >>> w3 = Web3(provider)

    """

    def __init__(
        self,
        url: str | None = None,
        *positional: Never,
        base_url: PerNetwork[str] | None = None,
        rpc_url: PerNetwork[str] | None = None,
        api_key: Secret | None = None,
        network: Network | None = None,
        chain_id: PerNetwork[int] | None = None,
        jwt: Secret | None = None,
        headers: Headers | None = None,
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
        self._run, self._close, self._start_over = create_runner(parsed.endpoints, parsed.settings)
        watch_forks(self)

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Make a call. web3.py calls this method for each of its own calls.

        Args:
            method: The JSON-RPC method.
            params: Its parameters.

        Returns:
            The JSON-RPC response. A revert is returned as an error response, because web3.py decodes it.

        Raises:
            KeyrailError: If the call fails.

        """
        return _call_with_cache(self, method, params)

    def make_batch_request(self, requests: Sequence[RpcRequest]) -> list[RPCResponse]:
        """Make several calls in one batch. web3.py calls this method for ``w3.batch_requests()``.

        Args:
            requests: The method and parameters of each call.

        Raises:
            KeyrailError: If a call fails: the first failure. ``batch_settled`` returns the outcome of each call instead.

        """
        return to_rpc_responses(self._run(self._calls.create_batch(requests)))

    def batch_request_func(
        self, w3: Web3, middleware_onion: MiddlewareOnion
    ) -> Callable[..., list[RPCResponse] | RPCResponse]:
        """Return the function behind ``w3.batch_requests()``. An empty batch returns ``[]`` and sends nothing."""
        make = super().batch_request_func(w3, middleware_onion)
        # web3.py's middleware fails for an empty batch.
        return lambda requests: make(requests) if requests else []

    def batch_settled(self, requests: Sequence[RpcRequest]) -> list[Settled]:
        """Make several calls in one batch and return the outcome of each, in the order of the calls.

        Args:
            requests: The method and parameters of each call. Results are returned as the node sent them.

        """
        return [to_settled(outcome) for outcome in self._run(self._calls.create_batch(requests))]

    def is_connected(self, show_traceback: bool = False) -> bool:
        """Check whether the node responds.

        Args:
            show_traceback: Whether to raise the failure instead of returning False. Default: False.

        Raises:
            KeyrailError: If the node does not respond and ``show_traceback`` is True.

        """
        try:
            self.make_request(RPCEndpoint("web3_clientVersion"), [])
        except KeyrailError:
            if show_traceback:
                raise
            return False
        return True

    def close(self) -> None:
        """Close all connections. A later call opens new ones."""
        self._close()

    def _after_fork(self) -> None:
        # A thread of the parent may hold the lock.
        self._request_cache_lock = threading.Lock()
        self._start_over_observing()
        self._start_over()

    def _call(self, method: str, params: Any) -> Outcome:
        cached: Result | None = self._calls.get_cached(method)
        if cached is not None:
            return cached
        (outcome,) = self._run(self._calls.create_single(method, params))
        self._calls.cache_result(method, outcome)
        return outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _call(provider: Any, method: RPCEndpoint, params: Any) -> RPCResponse:
    return to_rpc_response(provider._call(method, params))


# Looks into web3.py's request cache first if the cache is on.
_call_with_cache = handle_request_caching(_call)
