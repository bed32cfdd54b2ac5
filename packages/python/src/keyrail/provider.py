"""The synchronous provider."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from typing_extensions import Self, Unpack
from web3 import Web3
from web3._utils.caching import handle_request_caching  # type: ignore[attr-defined]
from web3.middleware.base import MiddlewareOnion
from web3.providers.base import JSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse

from .failure.error import KeyrailError
from .message.answer import Result
from .provider_options import ProviderOptions
from .provider_settings import ProviderSettings
from .transport.drive import create_drive
from .transport.fork import watch_forks
from .transport.opened import opened
from .transport.steps import Outcome
from .transport.walks import Request, Settled, Walks, response_of, responses_of, settled_of


class KeyrailProvider(ProviderSettings, JSONBaseProvider):
    """A provider of web3.py over Keyrail's rules: the key cannot leak, retries stay in the deadline, batches never shift.

    May be shared by threads. Use it as a context manager, or ``close()`` it.

    Args:
        url: An address copied whole from the dashboard, or a node's own URL.
        base_url: Of an app: calls go to ``{base_url}/v2/{api_key}``.
        rpc_url: Of an API key: calls go to ``{rpc_url}/{api_key}``.
        api_key: The key, or a function that gives the one in force: it is asked for each attempt.
        network: ``"testnet"`` or ``"mainnet"``; needed where a URL or chain id is given for each.
        chain_id: The chain id to expect. It is then never asked for; else once.
        jwt: A JSON Web Token, or a function that gives it; sent as ``Authorization: Bearer``.
        timeout_ms: How long a call may take in all, in milliseconds. Default: 10,000, and 60,000 for eth_getLogs,
            eth_simulateV1, debug_* and trace_*.
        retry: False for never, a number for that many times, or a dict of ``RetryOptions``. Default: 3 times, full jitter
            from 150 ms, at most 5 s.
        batch: How large a batch may be, a dict of ``BatchOptions``. Default: 100 calls, 512,000 bytes.
        max_response_bytes: A larger answer fails. Default: 64 MiB.
        max_in_flight: How many requests may be under way; further threads wait. Default: 64.
        resends: How often a transaction that was looked for and not found is sent again. Default: 0.

    Raises:
        KeyrailError: Of kind ``invalidRequest`` where an option is wrong, naming the option and the mend.

    Example:
        >>> from web3 import Web3
        >>> provider = KeyrailProvider(base_url="https://node.example/testnet", api_key="kr_a…")
        >>> w3 = Web3(provider)

    """

    def __init__(self, *bare: object, **options: Unpack[ProviderOptions]) -> None:
        given = opened(bare, options)
        # Tracebacks may be shown with the variables of their frames.
        del bare, options
        if isinstance(given, KeyrailError):
            raise given
        address, plan, cache = given
        super().__init__(**cache)
        self._label = address.label
        self._walks = Walks(address, plan)
        # Functions: what they hold is not found by looking through this object.
        self._run, self._close, self._start_over = create_drive(address, plan)
        watch_forks(self)

    @property
    def label(self) -> str:
        """What may be printed of the address: never the key."""
        return self._label

    def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Make a call; web3.py does so for its own.

        Raises:
            KeyrailError: What it failed with. A revert is given back, because web3.py decodes it.

        """
        return _call_with_cache(self, method, params)

    def make_batch_request(self, requests: Sequence[Request]) -> list[RPCResponse]:
        """Make several calls at once; web3.py does so for ``w3.batch_requests()``.

        Raises:
            KeyrailError: The first failure. ``batch_settled`` tells of each call instead.

        """
        return responses_of(self._run(self._walks.many(requests)))

    def batch_request_func(
        self, w3: Web3, middleware_onion: MiddlewareOnion
    ) -> Callable[..., list[RPCResponse] | RPCResponse]:
        """Give web3.py the function behind ``w3.batch_requests()``. A batch without requests gives ``[]``, and sends nothing."""
        make = super().batch_request_func(w3, middleware_onion)
        # web3.py's middleware cannot take an empty batch apart.
        return lambda requests: make(requests) if requests else []

    def batch_settled(self, requests: Sequence[Request]) -> list[Settled]:
        """Make several calls at once and tell of each how it ended, in the order of the calls.

        Args:
            requests: Methods and params. Results are given as they come from the node.

        """
        return [settled_of(outcome) for outcome in self._run(self._walks.many(requests))]

    def is_connected(self, show_traceback: bool = False) -> bool:
        """Tell whether the node answers.

        Raises:
            KeyrailError: Why not, where ``show_traceback`` is set.

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
        # A thread of the parent may have held it.
        self._request_cache_lock = threading.Lock()
        self._start_over()

    def _call(self, method: str, params: Any) -> Outcome:
        known: Result | None = self._walks.known(method)
        if known is not None:
            return known
        (outcome,) = self._run(self._walks.one(method, params))
        self._walks.learn(method, outcome)
        return outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"KeyrailProvider({self._label})"

    __str__ = __repr__


def _call(provider: Any, method: RPCEndpoint, params: Any) -> RPCResponse:
    return response_of(provider._call(method, params))


# Looks into web3.py's request cache first, if that is on.
_call_with_cache = handle_request_caching(_call)
