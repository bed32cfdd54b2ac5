"""The asynchronous provider."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from web3.providers.async_base import AsyncJSONBaseProvider
from web3.types import RPCEndpoint, RPCResponse

from .address.open_address import AsyncSecret, Network, PerNetwork
from .failure.error import KeyrailError
from .transport.drive import create_async_drive
from .transport.opened import opened
from .transport.options import BatchOptions, RetryOptions
from .transport.steps import Outcome
from .transport.walks import Request, Settled, Walks, response_of, responses_of, settled_of


class AsyncKeyrailProvider(AsyncJSONBaseProvider):
    """The asynchronous sibling of ``KeyrailProvider``, for ``AsyncWeb3``: the same options, rules and failures.

    The functions of ``api_key`` and ``jwt`` may be asynchronous. Parts of a large batch travel at the same time. Use it as an
    asynchronous context manager, or ``await`` its ``close()``.

    Args:
        url: An address copied whole from the dashboard, or a node's own URL.
        base_url: Of an app: calls go to ``{base_url}/v2/{api_key}``.
        rpc_url: Of an API key: calls go to ``{rpc_url}/{api_key}``.
        api_key: The key, or a function that gives the one in force.
        network: ``"testnet"`` or ``"mainnet"``; needed where a URL or chain id is given for each.
        chain_id: The chain id to expect. It is then never asked for; else once.
        jwt: A JSON Web Token, or a function that gives it; sent as ``Authorization: Bearer``.
        timeout_ms: How long a call may take in all, in milliseconds. Default: 10,000, and 60,000 for heavy methods.
        retry: False, a number of retries, or a dict of ``RetryOptions``. Default: 3 times.
        batch: How large a batch may be, a dict of ``BatchOptions``. Default: 100 calls, 512,000 bytes.
        max_response_bytes: A larger answer fails. Default: 64 MiB.
        max_in_flight: How many requests may be under way; further calls wait. Default: 64.
        resends: How often a transaction that was looked for and not found is sent again. Default: 0.

    Raises:
        KeyrailError: Of kind ``invalidRequest`` where an option is wrong, naming the option and the mend.

    """

    def __init__(
        self,
        *bare: object,
        url: str | None = None,
        base_url: PerNetwork[str] | None = None,
        rpc_url: PerNetwork[str] | None = None,
        api_key: AsyncSecret | None = None,
        network: Network | None = None,
        chain_id: PerNetwork[int] | None = None,
        jwt: AsyncSecret | None = None,
        timeout_ms: float | None = None,
        retry: bool | int | RetryOptions = True,
        batch: BatchOptions | None = None,
        max_response_bytes: int | None = None,
        max_in_flight: int | None = None,
        resends: int | None = None,
    ) -> None:
        options = {name: value for name, value in locals().items() if name not in ("self", "bare", "__class__")}
        given = opened(bare, options)
        # Tracebacks may be shown with the variables of their frames.
        del options, bare, url, base_url, rpc_url, api_key, network, chain_id, jwt, timeout_ms, retry, batch
        del max_response_bytes, max_in_flight, resends
        if isinstance(given, KeyrailError):
            raise given
        address, plan = given
        super().__init__()
        self._label = address.label
        self._walks = Walks(address, plan)
        # Functions: what they hold is not found by looking through this object.
        self._run, self._close = create_async_drive(address, plan)

    @property
    def label(self) -> str:
        """What may be printed of the address: never the key."""
        return self._label

    async def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
        """Make a call; web3.py does so for its own.

        Raises:
            KeyrailError: What it failed with. A revert is given back, because web3.py decodes it.

        """
        return response_of(await self._call(method, params))

    async def make_batch_request(self, requests: Sequence[Request]) -> list[RPCResponse]:
        """Make several calls at once; web3.py does so for ``w3.batch_requests()``.

        Raises:
            KeyrailError: The first failure. ``batch_settled`` tells of each call instead.

        """
        return responses_of(await self._run(self._walks.many(requests)))

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

    async def _call(self, method: str, params: Any) -> Outcome:
        known = self._walks.known(method)
        if known is not None:
            return known
        (outcome,) = await self._run(self._walks.one(method, params))
        self._walks.learn(method, outcome)
        return outcome

    async def __aenter__(self) -> AsyncKeyrailProvider:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncKeyrailProvider({self._label})"

    __str__ = __repr__
