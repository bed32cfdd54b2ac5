"""The mock node."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from eth_account import Account
from eth_utils.address import is_address, to_checksum_address
from eth_utils.crypto import keccak

from ..failure.check import check, check_range
from .fault import (
    PROVIDERS,
    Fault,
    FaultKind,
    FaultResponse,
    ProviderName,
    check_provider,
    create_fault,
    get_provider_error,
)
from .mock_chain import MockChain, SavedChain, State
from .mock_contract import LogEntry, MockContract
from .mock_methods import METHODS, NodeView
from .mock_server import MockServer
from .mock_subscriptions import Subscriptions
from .request_handler import ReceivedCall, RequestHandler
from .rpc_error import RpcError

_ACCOUNTS = 10
_ACCOUNT_BALANCE = 10_000 * 10**18
_DEFAULT_LAG = 3


@dataclass(frozen=True, slots=True)
class MockAccount:
    """An account of the mock node, with 10,000 ether. Its key is public.

    Attributes:
        address: The address, with a checksum.
        private_key: The private key, in hex.

    """

    address: str
    private_key: str


class MockNode:
    """A node that a test controls. It listens on a port of this machine until ``close()`` or the end of a ``with`` block.

    Attributes:
        url: The URL, for any provider: ``KeyrailProvider(node.url)``.
        ws_url: The URL for WebSockets, with ``eth_subscribe``. Keyrail's subscriptions find it by the other URL.
        chain_id: The chain id.
        accounts: Ten accounts with 10,000 ether each. ``eth_sendTransaction`` signs for them.
        automine: Whether to mine a block for each transaction. If False, transactions wait for ``mine()``.

    Args:
        chain_id: The chain id. Default: 31337.
        provider: The provider whose limits and error responses the node imitates. Default: "keyrail".
        automine: Whether to mine a block for each transaction. Default: True.
        seed: Determines the keys of the accounts and the hashes of the blocks. Default: "keyrail".
        timestamp: The timestamp of the first block, in seconds since 1970. Default: 1,700,000,000.
        block_time: The time between two blocks, in seconds. Default: 12.
        max_batch: The maximum number of calls in a batch. Default: that of the provider.
        max_log_blocks: The maximum block range of ``eth_getLogs``. Default: that of the provider.
        max_logs: The maximum number of logs in a response. Default: that of the provider.

    Example:
        >>> from keyrail import KeyrailProvider
        >>> from web3 import Web3
        >>> with MockNode() as node:
        ...     w3 = Web3(KeyrailProvider(node.url))
        ...     node.fail("throttled", times=2)
        ...     print(w3.eth.block_number, len(node.calls("eth_blockNumber")))
        0 3

    """

    def __init__(
        self,
        *,
        chain_id: int = 31337,
        provider: ProviderName = "keyrail",
        automine: bool = True,
        seed: str = "keyrail",
        timestamp: int = 1_700_000_000,
        block_time: int = 12,
        max_batch: int | None = None,
        max_log_blocks: int | None = None,
        max_logs: int | None = None,
    ) -> None:
        check_provider(provider)
        self.chain_id = chain_id
        self.automine = automine
        keys = [keccak(text=f"{seed} account {at}") for at in range(_ACCOUNTS)]
        self.accounts = [MockAccount(str(Account.from_key(key).address), f"0x{key.hex()}") for key in keys]
        self._limits = {"maxBatch": max_batch, "maxLogBlocks": max_log_blocks, "maxLogs": max_logs}
        self._chain_options = (chain_id, seed, timestamp, block_time)
        self._snapshots: list[SavedChain] = []
        self._contracts: dict[str, MockContract] = {}
        self._methods: dict[str, Callable[..., Any]] = {}
        self._chain = self._create_chain()
        self._requests = RequestHandler(self._run, provider, lambda: self._get_limit("maxBatch"))
        self._server = MockServer(
            self._requests, lambda: Subscriptions(self._chain, lambda: self._requests.provider == "keyrail")
        )
        self.url = f"http://{self._server.address}"
        self.ws_url = f"ws://{self._server.address}"

    @property
    def provider(self) -> str:
        """The provider whose limits and error responses the node imitates. It can be set at any time."""
        return self._requests.provider

    @provider.setter
    def provider(self, name: ProviderName) -> None:
        check_provider(name)
        self._requests.provider = name

    @property
    def block_number(self) -> int:
        """The number of the latest block."""
        return self._chain.head.number

    def mine(self, count: int = 1) -> None:
        """Mine blocks. The first one includes the pending transactions.

        Args:
            count: The number of blocks. Default: 1.

        """
        check_range("count", count, 1, 10**6, whole=True)
        with self._changing():
            self._chain.mine(count)

    def reorg(self, depth: int, *, drop: bool = False) -> None:
        """Replace the latest blocks by as many empty blocks.

        Args:
            depth: How many blocks.
            drop: Whether to drop their transactions. Otherwise they become pending again. Default: False.

        """
        check(self.block_number, "The chain has only its first block, which cannot be replaced. Call mine() first.")
        check_range("depth", depth, 1, self.block_number, whole=True)
        with self._changing():
            self._chain.reorg(depth, drop=drop)

    def snapshot(self) -> int:
        """Save the chain and its state, and return the id to pass to ``revert``."""
        with self._requests.lock:
            self._snapshots.append(self._chain.save())
            return len(self._snapshots) - 1

    def revert(self, snapshot: int) -> None:
        """Restore a snapshot, and delete it and all later ones.

        Args:
            snapshot: The id from ``snapshot()``.

        """
        check(snapshot in range(len(self._snapshots)), "revert() needs the id of a snapshot that was not reverted yet.")
        with self._changing():
            self._chain.restore(self._snapshots[snapshot])
            del self._snapshots[snapshot:]

    def set_balance(self, address: str, wei: int) -> None:
        """Set a balance at the latest block.

        Args:
            address: The account.
            wei: The balance in wei.

        """
        self._change(lambda state: state.balances.update({_to_key(address): wei}))

    def set_nonce(self, address: str, nonce: int) -> None:
        """Set the nonce of an account at the latest block.

        Args:
            address: The account.
            nonce: The nonce of its next transaction.

        """
        self._change(lambda state: state.nonces.update({_to_key(address): nonce}))

    def set_code(self, address: str, code: str) -> None:
        """Set the code that ``eth_getCode`` returns. The node does not run it.

        Args:
            address: The contract.
            code: The code in hex.

        """
        self._change(lambda state: state.code.update({_to_key(address): code}))

    def mock_contract(
        self, address: str, abi: Sequence[Mapping[str, Any]], handlers: Mapping[str, Any] | None = None
    ) -> MockContract:
        """Define a contract by its ABI. It replaces an earlier definition.

        Args:
            address: The address of the contract.
            abi: The JSON ABI, as web3.py takes it.
            handlers: What each function does, by its name, or by its signature if it is overloaded: a function, which gets the
                ``ContractCall`` and the arguments, or a constant result. A function without a handler reverts.

        Example:
            >>> abi = [{"type": "function", "name": "decimals", "inputs": [], "outputs": [{"type": "uint8"}]}]
            >>> node.mock_contract("0x" + "11" * 20, abi, {"decimals": lambda call: 6})

        """
        contract = MockContract(_to_key(address), abi, handlers or {}, lambda entry: self._emit([entry]))
        self._contracts[_to_key(address)] = contract
        return contract

    def mock_method(self, method: str, handler: Callable[..., Any]) -> None:
        """Define the response to a JSON-RPC method, in place of the node's own.

        Args:
            method: The method.
            handler: Gets the params as arguments. If it raises an ``RpcError``, the call fails with that error.

        """
        self._methods[method] = handler

    def emit(self, address: str, topics: Sequence[str] = (), data: str = "0x") -> str:
        """Emit a log in a transaction that the node sends itself, and return the hash of the transaction.

        Args:
            address: The contract.
            topics: The topics in hex, at most four.
            data: The data in hex. Default: none.

        """
        check(len(topics) <= 4, f"A log can have at most 4 topics, not {len(topics)}.")
        return self._emit([LogEntry(_to_key(address), [topic.lower() for topic in topics], data)])

    def fail(
        self,
        kind: FaultKind | FaultResponse,
        *,
        method: str | Sequence[str] | None = None,
        times: float | None = None,
        after: int = 0,
        provider: ProviderName | None = None,
        status: int | None = None,
        retry_after_ms: float | None = None,
        message: str | None = None,
        data: Any = None,
        delay_ms: float = 1_000,
        blocks: int = _DEFAULT_LAG,
    ) -> Callable[[], None]:
        """Make the next calls fail. Faults apply in the order in which they were added.

        Args:
            kind: A kind of failure, a fault of the response, or a ``FaultResponse``.
            method: Only calls of this method, or of these. Default: all, or those that the kind applies to.
            times: How many calls fail; ``math.inf`` until ``clear_faults()``. Default: 1.
            after: How many matching calls succeed before. Default: 0.
            provider: The provider whose error response to use. Default: that of the node.
            status: The HTTP status, if the provider has several for this kind.
            retry_after_ms: How long the client must wait, in milliseconds. Sent as ``retry-after`` in whole seconds.
            message: Replaces the message of the error.
            data: Replaces the data of the error, such as that of a revert.
            delay_ms: The delay of ``slow``, in milliseconds. Default: 1,000.
            blocks: How many blocks ``laggingHead`` is behind. Default: 3.

        Returns:
            A function that cancels the fault.

        Raises:
            KeyrailError: With kind ``invalidRequest`` for an unknown kind or a wrong option.

        """

        def create(**found: Any) -> Fault:
            return create_fault(
                times=times,
                after=after,
                provider=provider,
                status=status,
                retry_after_ms=retry_after_ms,
                message=message,
                data=data,
                delay_ms=delay_ms,
                blocks=blocks,
                **found,
            )

        with self._requests.lock:
            fault = self._requests.plan.add(kind, method, create)

        def cancel() -> None:
            fault.left = 0

        return cancel

    def clear_faults(self) -> None:
        """Cancel all faults. Requests that hang end with a network error."""
        self._requests.clear_faults()

    def calls(self, method: str | None = None) -> list[ReceivedCall]:
        """Return the calls that the node received, in order.

        Args:
            method: Only calls of this method. Default: all.

        """
        return [call for call in self._requests.calls if method in (None, call.method)]

    def assert_called(self, method: str, *, times: int | None = None, params: Sequence[Any] | None = None) -> None:
        """Check that a method was called.

        Args:
            method: The method.
            times: How often exactly. Default: at least once.
            params: Count only calls with these params.

        Raises:
            AssertionError: With the calls that the node received.

        """
        found = [call for call in self.calls(method) if params is None or call.params == list(params)]
        if len(found) == times or (times is None and found):
            return
        expected = "at least once" if times is None else f"{times} times"
        received = "\n".join(f"  {call.method} {call.params} ({call.fault or call.outcome})" for call in self.calls())
        raise AssertionError(
            f"Expected {method} to be called {expected}, but it was called {len(found)} times."
            f"\nThe node received:\n{received or '  no call'}"
        )

    def reset(self) -> None:
        """Return to the initial state: one block, no contracts, no faults, no received calls."""
        with self._requests.lock:
            self._requests.clear_faults()
            self._requests.calls.clear()
            self._contracts.clear()
            self._methods.clear()
            self._snapshots.clear()
            self._chain = self._create_chain()
            self._server.disconnect()

    def disconnect(self, code: int = 1006, reason: str = "") -> None:
        """End all WebSockets. Clients may connect again at once; they miss what happens on the chain until then.

        Args:
            code: The close code, 1000 to 4999. 1006 is what a client sees when the network breaks. Default: 1006.
            reason: The reason in the close frame. Default: none.

        """
        check_range("code", code, 1_000, 4_999, whole=True)
        self._server.disconnect(code, reason)

    @property
    def connections(self) -> int:
        """The number of open WebSockets."""
        return self._server.connections

    def close(self) -> None:
        """Stop the node. Calls fail from now on."""
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"MockNode({self.url})"

    def _create_chain(self) -> MockChain:
        chain = MockChain(*self._chain_options, self._contracts.get)
        balances = {_to_key(account.address): _ACCOUNT_BALANCE for account in self.accounts}
        chain.change(lambda state: state.balances.update(balances))
        return chain

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change the chain, and notify subscribers."""
        with self._requests.lock:
            yield
            self._server.notify()

    def _change(self, change: Callable[[State], None]) -> None:
        with self._requests.lock:
            self._chain.change(change)

    def _emit(self, logs: list[LogEntry]) -> str:
        with self._changing():
            return self._chain.emit(logs)

    def _get_limit(self, name: str) -> float:
        own = self._limits[name]
        limit: float = PROVIDERS[self.provider].get(name, float("inf")) if own is None else own
        return limit

    def _sign(self, transaction: Mapping[str, Any]) -> str:
        given = {name: value for name, value in transaction.items() if name != "from" and value is not None}
        keys = {_to_key(account.address): account.private_key for account in self.accounts}
        signed = Account.sign_transaction({**given, **_with_checksum(given)}, keys[transaction["from"]])
        return f"0x{bytes(signed.raw_transaction).hex()}"

    def _run(self, method: str, params: list[Any], fault: Fault | None, subscriptions: Subscriptions | None) -> Any:
        if method in self._methods:
            return self._methods[method](*params)
        if subscriptions is not None and method == "eth_subscribe":
            return subscriptions.subscribe(*params)
        if subscriptions is not None and method == "eth_unsubscribe":
            return subscriptions.unsubscribe(*params)
        kind = fault.kind if fault else None
        if kind == "unconfirmed":
            return None
        if method not in METHODS:
            error = get_provider_error(self.provider, "methodUnavailable")
            details = error["error"]
            raise RpcError(
                details["code"], details["message"].replace("$METHOD", method), details.get("data"), error["status"]
            )
        view = NodeView(
            chain=self._chain,
            chain_id=self.chain_id + (kind == "wrongChain"),
            accounts=[_to_key(account.address) for account in self.accounts],
            automine=self.automine,
            lag=fault.blocks if fault and kind == "laggingHead" else 0,
            sign=self._sign,
            get_contract=self._contracts.get,
            check_log_range=self._check_log_range,
            check_log_count=self._check_log_count,
        )
        try:
            with self._changing():
                return METHODS[method](view, *params)
        except TypeError as error:
            raise RpcError(-32602, f"invalid params: {error}") from None

    def _check_log_range(self, first: int, last: int) -> None:
        if last - first + 1 > self._get_limit("maxLogBlocks"):
            raise self._create_range_error()

    def _check_log_count(self, first: int, last: int, count: int) -> None:
        if count > self._get_limit("maxLogs") and last > first:
            raise self._create_range_error()

    def _create_range_error(self) -> RpcError:
        error = get_provider_error(self.provider, "range")
        details = copy.deepcopy(error["error"])
        return RpcError(details["code"], details["message"], details.get("data"), error["status"])


def _to_key(address: Any) -> str:
    check(is_address(address), "An address must be 0x and 40 hex digits.")
    return str(to_checksum_address(address)).lower()


def _with_checksum(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"to": to_checksum_address(given["to"])} if given.get("to") else {}
