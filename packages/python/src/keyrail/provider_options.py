"""The options of both providers."""

from __future__ import annotations

from typing import TypedDict

from web3.types import RPCEndpoint
from web3.utils import RequestCacheValidationThreshold

from .address.open_address import AsyncSecret, Network, PerNetwork, Secret
from .transport.options import BatchOptions, RetryOptions


class _Options(TypedDict, total=False):
    url: str | None
    """An address copied whole from the dashboard, or a node's own URL."""
    base_url: PerNetwork[str] | None
    """Of an app: calls go to ``{base_url}/v2/{api_key}``."""
    rpc_url: PerNetwork[str] | None
    """Of an API key: calls go to ``{rpc_url}/{api_key}``."""
    network: Network | None
    """Needed where a URL or chain id is given for each."""
    chain_id: PerNetwork[int] | None
    """The chain id to expect. It is then never asked for; else once."""
    timeout_ms: float | None
    """How long a call may take in all, in milliseconds. Default: 10,000, and 60,000 for eth_getLogs, eth_simulateV1, debug_*, trace_*."""
    retry: bool | int | RetryOptions
    """False for never, a number for that many times. Default: 3 times, full jitter from 150 ms, at most 5 s."""
    batch: BatchOptions | None
    """How large a batch may be. Default: 100 calls, 512,000 bytes."""
    max_response_bytes: int | None
    """A larger answer fails. Default: 64 MiB."""
    max_in_flight: int | None
    """How many requests may be under way; further calls wait. Default: 64."""
    resends: int | None
    """How often a transaction that was looked for and not found is sent again. Default: 0."""
    cache_allowed_requests: bool
    """Whether web3.py's request cache is used, as with ``HTTPProvider``. Default: False."""
    cacheable_requests: set[RPCEndpoint] | None
    """The methods whose results web3.py caches. Default: those of ``HTTPProvider``."""
    request_cache_validation_threshold: RequestCacheValidationThreshold | int | None
    """How old a block must be to be cached by web3.py: seconds, a tag, or None for any age. Default: as with ``HTTPProvider``."""


class ProviderOptions(_Options, total=False):
    """Of ``KeyrailProvider``."""

    api_key: Secret | None
    """The key, or a function that gives the one in force: it is asked for each attempt."""
    jwt: Secret | None
    """A JSON Web Token, or a function that gives it; sent as ``Authorization: Bearer``."""


class AsyncProviderOptions(_Options, total=False):
    """Of ``AsyncKeyrailProvider``: functions may be asynchronous."""

    api_key: AsyncSecret | None
    """The key, or a function that gives the one in force: it is asked for each attempt."""
    jwt: AsyncSecret | None
    """A JSON Web Token, or a function that gives it; sent as ``Authorization: Bearer``."""
