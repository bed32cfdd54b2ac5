"""The asynchronous provider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any

from typing_extensions import Self, Unpack
from web3 import AsyncWeb3
from web3._utils.caching import async_handle_request_caching  # type: ignore[attr-defined]
from web3.middleware.base import MiddlewareOnion
from web3.providers.async_base import AsyncJSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse

from .failure.error import KeyrailError
from .provider_options import AsyncProviderOptions
from .provider_settings import ProviderSettings
from .transport.drive import create_async_drive
from .transport.fork import watch_forks
from .transport.opened import opened
from .transport.steps import Outcome
from .transport.walks import Request, Settled, Walks, response_of, responses_of, settled_of


class AsyncKeyrailProvider(ProviderSettings, AsyncJSONBaseProvider):
    """The asynchronous sibling of ``KeyrailProvider``, for ``AsyncWeb3``: the same options, rules and failures.

    The functions of ``api_key`` and ``jwt`` may be asynchronous. Parts of a large batch travel at the same time. Use it as an
    asynchronous context manager, or ``await`` its ``close()``.

    Args:
        bare: Nothing: an address is given by name.
        options: Those of ``KeyrailProvider``.

    Raises:
        KeyrailError: Of kind ``invalidRequest`` where an option is wrong, naming the option and the mend.

    """

    def __init__(self, *bare: object, **options: Unpack[AsyncProviderOptions]) -> None:
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
        self._run, self._close, self._start_over = create_async_drive(address, plan)
        watch_forks(self)

    @property
    def label(self) -> str:
        """What may be printed of the address: never the key."""
        return self._label

    async def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Make a call; web3.py does so for its own.

        Raises:
            KeyrailError: What it failed with. A revert is given back, because web3.py decodes it.

        """
        return await _call_with_cache(self, method, params)

    async def make_batch_request(self, requests: Sequence[Request]) -> list[RPCResponse]:
        """Make several calls at once; web3.py does so for ``w3.batch_requests()``.

        Raises:
            KeyrailError: The first failure. ``batch_settled`` tells of each call instead.

        """
        return responses_of(await self._run(self._walks.many(requests)))

    async def batch_request_func(
        self, async_w3: AsyncWeb3[Any], middleware_onion: MiddlewareOnion
    ) -> Callable[..., Coroutine[Any, Any, list[RPCResponse] | RPCResponse]]:
        """Give web3.py the function behind ``w3.batch_requests()``. A batch without requests gives ``[]``, and sends nothing."""
        make = await super().batch_request_func(async_w3, middleware_onion)

        async def make_batch(requests: Sequence[Request]) -> list[RPCResponse] | RPCResponse:
            # web3.py's middleware cannot take an empty batch apart.
            return await make(requests) if requests else []

        return make_batch

    async def batch_settled(self, requests: Sequence[Request]) -> list[Settled]:
        """Make several calls at once and tell of each how it ended, in the order of the calls.

        Args:
            requests: Methods and params. Results are given as they come from the node.

        """
        return [settled_of(outcome) for outcome in await self._run(self._walks.many(requests))]

    async def is_connected(self, show_traceback: bool = False) -> bool:
        """Tell whether the node answers.

        Raises:
            KeyrailError: Why not, where ``show_traceback`` is set.

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
        """Do the same, by web3.py's own word."""
        await self._close()

    def _after_fork(self) -> None:
        self._request_cache_lock = asyncio.Lock()
        self._start_over()

    async def _call(self, method: str, params: Any) -> Outcome:
        known = self._walks.known(method)
        if known is not None:
            return known
        (outcome,) = await self._run(self._walks.one(method, params))
        self._walks.learn(method, outcome)
        return outcome

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncKeyrailProvider({self._label})"

    __str__ = __repr__


async def _call(provider: Any, method: RPCEndpoint, params: Any) -> RPCResponse:
    return response_of(await provider._call(method, params))


# Looks into web3.py's request cache first, if that is on.
_call_with_cache = async_handle_request_caching(_call)
