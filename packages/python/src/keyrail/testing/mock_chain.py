"""A chain in memory: blocks, transactions, receipts and logs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from .decode_transaction import Transaction
from .mock_contract import ContractCall, LogEntry, MockContract, Reverted
from .mock_multicall import MULTICALL_ADDRESS, create_multicall
from .rpc_error import RpcError

BASE_FEE = 1_000_000_000
GAS_LIMIT = 30_000_000
_ZERO_HASH = "0x" + "00" * 32
_GAS = 21_000
_CONTRACT_GAS = 50_000
_GAS_PER_BYTE = 16


@dataclass(slots=True)
class State:
    """What blocks change."""

    balances: dict[str, int] = field(default_factory=dict)
    nonces: dict[str, int] = field(default_factory=dict)
    code: dict[str, str] = field(default_factory=dict)
    storage: dict[str, dict[Any, Any]] = field(default_factory=dict)
    """The state of mocked contracts, by address."""


@dataclass(slots=True)
class Block:
    """A block, with transactions, receipts and logs as nodes return them."""

    header: dict[str, Any]
    state: State
    """The state after the block."""
    transactions: list[Transaction] = field(default_factory=list)
    receipts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The number of the block."""
        return int(self.header["number"], 16)

    @property
    def logs(self) -> list[dict[str, Any]]:
        """The logs of all transactions."""
        return [log for receipt in self.receipts for log in receipt["logs"]]


@dataclass(frozen=True, slots=True)
class SavedChain:
    """A chain at some time."""

    blocks: list[Block]
    state: State
    pending: list[Transaction]


class MockChain:
    """The chain of a mock node.

    Args:
        chain_id: The chain id.
        seed: Determines the hashes of the blocks.
        timestamp: The timestamp of the first block, in seconds since 1970.
        block_time: The time between blocks, in seconds.
        get_contract: Returns the contract at an address in lower case.

    """

    def __init__(
        self,
        chain_id: int,
        seed: str,
        timestamp: int,
        block_time: int,
        get_contract: Callable[[str], MockContract | None],
    ) -> None:
        self._chain_id = chain_id
        self._seed = seed
        self._block_time = block_time
        self._get_contract = get_contract
        self._created = 0
        self.blocks: list[Block] = []
        self.pending: list[Transaction] = []
        # For subscriptions. Each event is a block, and whether it was removed.
        self.events: list[tuple[Block, bool]] = []
        self.arrivals: list[Transaction] = []
        self._append(State(), timestamp, [])

    @property
    def head(self) -> Block:
        """The latest block."""
        return self.blocks[-1]

    def mine(self, count: int = 1) -> None:
        """Mine blocks. The first one includes the pending transactions."""
        for _ in range(count):
            transactions = self._take_pending()
            timestamp = int(self.head.header["timestamp"], 16) + self._block_time
            # A state is never changed after its block, so that empty blocks can share it.
            state = copy.deepcopy(self.head.state) if transactions else self.head.state
            self._append(state, timestamp, transactions)

    def reorg(self, depth: int, *, drop: bool) -> None:
        """Replace the latest blocks by empty ones. Their transactions become pending, unless they are dropped."""
        replaced = [one for block in self.blocks[-depth:] for one in block.transactions if not one.is_own]
        self._remove(depth)
        pending, self.pending = self.pending, []
        self.mine(depth)
        self.pending = [*([] if drop else replaced), *pending]

    def save(self) -> SavedChain:
        """Return the chain and its state, for ``restore``."""
        return SavedChain(list(self.blocks), self.head.state, list(self.pending))

    def restore(self, saved: SavedChain) -> None:
        """Restore what ``save`` returned."""
        pairs = zip(self.blocks, saved.blocks, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        self._remove(len(self.blocks) - same)
        for block in saved.blocks[same:]:
            self._add_block(block)
        self.head.state = saved.state
        self.pending = saved.pending

    def change(self, change: Callable[[State], None]) -> None:
        """Change the state of the latest block."""
        self.head.state = copy.deepcopy(self.head.state)
        change(self.head.state)

    def add(self, transaction: Transaction) -> None:
        """Add a transaction to the pool.

        Raises:
            RpcError: With geth's message if the transaction is not valid.

        """
        state, sender = self.head.state, transaction.sender
        if transaction.chain_id not in (None, self._chain_id):
            raise RpcError(-32000, f"invalid chain id for signer: have {transaction.chain_id} want {self._chain_id}")
        if any(one.hash == transaction.hash for one in self.pending) or self.find_transaction(transaction.hash):
            raise RpcError(-32000, "already known")
        nonce = state.nonces.get(sender, 0)
        if transaction.nonce < nonce:
            raise RpcError(-32000, f"nonce too low: next nonce {nonce}, tx nonce {transaction.nonce}")
        if transaction.gas < _GAS:
            raise RpcError(-32000, f"intrinsic gas too low: gas {transaction.gas}, minimum needed {_GAS}")
        cost, balance = transaction.gas * transaction.max_fee + transaction.value, state.balances.get(sender, 0)
        if cost > balance:
            raise RpcError(
                -32000,
                f"insufficient funds for gas * price + value: address {transaction.sender} have {balance} want {cost}",
            )
        self.pending.append(transaction)
        self.arrivals.append(transaction)

    def emit(self, logs: list[LogEntry]) -> str:
        """Mine a block with a transaction of the node itself that emits logs, and return its hash."""
        self._created += 1
        own = Transaction.create_own(_hash(f"{self._seed} {self._created} transaction"), logs)
        self.pending.append(own)
        self.mine()
        return own.hash

    def find_transaction(self, tx_hash: str) -> tuple[Block, int] | None:
        """Return the block of a transaction, and its index."""
        for block in reversed(self.blocks):
            for index, one in enumerate(block.transactions):
                if one.hash == tx_hash:
                    return block, index
        return None

    def run(
        self,
        state: State,
        header: dict[str, Any],
        *,
        sender: str,
        to: str | None,
        value: int,
        data: str,
        is_transaction: bool,
    ) -> tuple[str, list[LogEntry]]:
        """Run a call in the block with a header, and return its output and logs.

        Raises:
            Reverted: If the contract reverts. The state may have changed.

        """
        logs: list[LogEntry] = []

        def run_inner(target: str, inner: str) -> str:
            before = copy.deepcopy(state.storage)
            try:
                output, emitted = self.run(
                    state,
                    header,
                    sender=MULTICALL_ADDRESS,
                    to=target,
                    value=0,
                    data=inner,
                    is_transaction=is_transaction,
                )
            except Reverted:
                state.storage = before
                raise
            logs.extend(emitted)
            return output

        contract = self._get_contract(to) if to else None
        if contract is None and to == MULTICALL_ADDRESS:
            contract = create_multicall(run_inner, lambda owner: state.balances.get(owner, 0), header)
        if contract is None or to is None:
            return "0x", []
        call = ContractCall(
            sender=to_checksum_address(sender),
            address=contract.address,
            value=value,
            data=data,
            is_transaction=is_transaction,
            state=state.storage.setdefault(to, {}),
            contract=contract,
            logs=logs,
        )
        return contract.run(call), call.logs

    def estimate_gas(self, to: str | None, data: str) -> int:
        """Return the gas that a transaction takes."""
        is_contract = to in (None, MULTICALL_ADDRESS) or self._get_contract(to) is not None
        return _GAS + _GAS_PER_BYTE * (len(data) // 2 - 1) + (_CONTRACT_GAS if is_contract else 0)

    def _take_pending(self) -> list[Transaction]:
        """Remove the transactions from the pool that can be mined: those with the next nonce of their sender."""
        nonces = dict(self.head.state.nonces)
        taken: list[Transaction] = []
        for one in sorted(self.pending, key=lambda one: one.nonce):
            if one.is_own or one.nonce == nonces.get(one.sender, 0):
                taken.append(one)
                nonces[one.sender] = one.nonce + 1
        self.pending = [one for one in self.pending if one not in taken]
        return taken

    def _append(self, state: State, timestamp: int, transactions: list[Transaction]) -> None:
        self._created += 1
        parent = self.blocks[-1].header["hash"] if self.blocks else _ZERO_HASH
        block_hash = _hash(f"{self._seed} {self._created} {parent}")
        header: dict[str, Any] = {
            "number": hex(len(self.blocks)),
            "hash": block_hash,
            "parentHash": parent,
            "timestamp": hex(timestamp),
            "nonce": "0x0000000000000000",
            "sha3Uncles": _ZERO_HASH,
            "logsBloom": "0x" + "ff" * 256,
            "transactionsRoot": _ZERO_HASH,
            "stateRoot": _hash(f"{block_hash} state"),
            "receiptsRoot": _ZERO_HASH,
            "mixHash": _ZERO_HASH,
            "miner": "0x" + "00" * 20,
            "difficulty": "0x0",
            "extraData": "0x",
            "gasLimit": hex(GAS_LIMIT),
            "gasUsed": "0x0",
            "baseFeePerGas": hex(BASE_FEE),
            "size": "0x200",
            "uncles": [],
        }
        block = Block(header, state, transactions)
        gas_used = log_index = 0
        for index, one in enumerate(transactions):
            gas, is_success, logs = self._apply(state, one, header)
            gas_used += gas
            place = {
                "blockHash": block_hash,
                "blockNumber": header["number"],
                "transactionHash": one.hash,
                "transactionIndex": hex(index),
            }
            entries = [
                {
                    "address": log.address,
                    "topics": log.topics,
                    "data": log.data,
                    **place,
                    "blockTimestamp": header["timestamp"],
                    "logIndex": hex(log_index + at),
                    "removed": False,
                }
                for at, log in enumerate(logs)
            ]
            log_index += len(entries)
            block.receipts.append(
                {
                    **place,
                    "from": one.sender,
                    "to": one.to,
                    "type": hex(one.type),
                    "status": "0x1" if is_success else "0x0",
                    "gasUsed": hex(gas),
                    "cumulativeGasUsed": hex(gas_used),
                    "effectiveGasPrice": hex(one.get_gas_price(BASE_FEE)),
                    "contractAddress": one.created_address,
                    "logs": entries,
                    "logsBloom": header["logsBloom"],
                }
            )
        header["gasUsed"] = hex(gas_used)
        self._add_block(block)

    def _add_block(self, block: Block) -> None:
        self.blocks.append(block)
        self.events.append((block, False))

    def _remove(self, count: int) -> None:
        """Remove the latest blocks."""
        for _ in range(count):
            self.events.append((self.blocks.pop(), True))

    def _apply(self, state: State, one: Transaction, header: dict[str, Any]) -> tuple[int, bool, list[LogEntry]]:
        """Apply a transaction, and return its gas, whether it succeeded, and its logs."""
        if one.is_own:
            return _GAS, True, one.own_logs
        gas = min(one.gas, self.estimate_gas(one.to, one.data))
        state.nonces[one.sender] = one.nonce + 1
        state.balances[one.sender] = state.balances.get(one.sender, 0) - gas * one.get_gas_price(BASE_FEE)
        before = copy.deepcopy(state.storage)
        try:
            _, logs = self.run(
                state,
                header,
                sender=one.sender,
                to=one.to,
                value=one.value,
                data=one.data,
                is_transaction=True,
            )
        except Reverted:
            state.storage = before
            return gas, False, []
        recipient = one.to or one.created_address
        if recipient is not None:
            state.balances[one.sender] -= one.value
            state.balances[recipient] = state.balances.get(recipient, 0) + one.value
        if one.created_address is not None:
            state.code[one.created_address] = one.data
        return gas, True, logs


def _hash(text: str) -> str:
    return f"0x{keccak(text=text).hex()}"
