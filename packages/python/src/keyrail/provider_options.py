"""The options of both providers."""

from __future__ import annotations

from typing import TypedDict

from web3.types import RPCEndpoint
from web3.utils import RequestCacheValidationThreshold

from .endpoint.create_endpoint import AsyncSecret, Network, PerNetwork, Secret
from .transport.call_settings import BatchOptions, RetryOptions


class _Options(TypedDict, total=False):
    url: str | None
    """A full URL from the dashboard, or a node's own URL."""
    base_url: PerNetwork[str] | None
    """The URL of an app: calls are sent to ``{base_url}/v2/{api_key}``."""
    rpc_url: PerNetwork[str] | None
    """The RPC URL of an API key: calls are sent to ``{rpc_url}/{api_key}``."""
    network: Network | None
    """The name of the network, such as ``"sepolia"``. It replaces ``{network}`` in the URL, and selects the value from a dict of URLs or
    chain ids. Both require it."""
    chain_id: PerNetwork[int] | None
    """The expected chain id. Without it, the provider requests the chain id once."""
    timeout_ms: float | None
    """The time limit of a call with all its retries, in milliseconds. Default: 10,000, and 60,000 for eth_getLogs, eth_simulateV1,
    debug_* and trace_*."""
    retry: bool | int | RetryOptions
    """False for no retries, or the number of retries. Default: 3 retries with full jitter from 150 ms, at most 5 s."""
    batch: BatchOptions | None
    """The size limits of a batch. Default: 100 calls, 512,000 bytes."""
    max_response_bytes: int | None
    """Larger responses fail. Default: 64 MiB."""
    max_in_flight: int | None
    """The number of requests in flight at a time; further calls wait. Default: 64."""
    resends: int | None
    """How often a transaction is sent again after two look-ups did not find it. Default: 0."""
    cache_allowed_requests: bool
    """Whether web3.py's request cache is on, as in ``HTTPProvider``. Default: False."""
    cacheable_requests: set[RPCEndpoint] | None
    """The methods whose results web3.py caches. Default: those of ``HTTPProvider``."""
    request_cache_validation_threshold: RequestCacheValidationThreshold | int | None
    """The age at which web3.py caches a block: seconds, a tag, or None for any age. Default: as in ``HTTPProvider``."""


class ProviderOptions(_Options, total=False):
    """The options of ``KeyrailProvider``."""

    api_key: Secret | None
    """The API key, or a function that returns the current one. The function is called for each attempt."""
    jwt: Secret | None
    """A JSON Web Token, or a function that returns it. Sent as ``Authorization: Bearer``."""


class AsyncProviderOptions(_Options, total=False):
    """The options of ``AsyncKeyrailProvider``. The functions may be asynchronous."""

    api_key: AsyncSecret | None
    """The API key, or a function that returns the current one. The function is called for each attempt."""
    jwt: AsyncSecret | None
    """A JSON Web Token, or a function that returns it. Sent as ``Authorization: Bearer``."""
