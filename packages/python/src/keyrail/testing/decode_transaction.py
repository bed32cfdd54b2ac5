"""Transactions: signed ones, and those of the node itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import rlp  # type: ignore[import-untyped]
from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from eth_utils.crypto import keccak
from hexbytes import HexBytes

from .mock_contract import LogEntry
from .rpc_error import RpcError

_FIRST_LEGACY_BYTE = 0xC0
_NODE = "0x" + "00" * 19 + "01"


@dataclass(slots=True, eq=False)
class Transaction:
    """A transaction, with addresses in lower case."""

    hash: str
    sender: str
    nonce: int
    to: str | None
    value: int
    gas: int
    data: str
    type: int
    chain_id: int | None
    max_fee: int
    """The maximum price of gas, in wei."""
    max_priority_fee: int
    signature: tuple[int, int, int] = (0, 0, 0)
    is_own: bool = False
    """Whether the node itself sends it to emit logs."""
    own_logs: list[LogEntry] = field(default_factory=list)

    @staticmethod
    def create_own(tx_hash: str, logs: list[LogEntry]) -> Transaction:
        """Create a transaction of the node itself."""
        return Transaction(tx_hash, _NODE, 0, _NODE, 0, 0, "0x", 2, None, 0, 0, is_own=True, own_logs=logs)

    @property
    def created_address(self) -> str | None:
        """The address of the contract that the transaction deploys."""
        if self.to is not None:
            return None
        # EIP-161, Yellow Paper section 7.
        encoded: bytes = rlp.encode([bytes.fromhex(self.sender[2:]), self.nonce])
        return f"0x{keccak(encoded)[12:].hex()}"

    def get_gas_price(self, base_fee: int) -> int:
        """Return the price of gas in a block, in wei. EIP-1559."""
        return min(self.max_fee, base_fee + self.max_priority_fee)

    def to_json(self, place: dict[str, Any]) -> dict[str, Any]:
        """Convert the transaction to the form in which nodes return it.

        Args:
            place: The members that describe its block.

        """
        v, r, s = self.signature
        fees = {"maxFeePerGas": hex(self.max_fee), "maxPriorityFeePerGas": hex(self.max_priority_fee)}
        return {
            "hash": self.hash,
            "from": self.sender,
            "to": self.to,
            "nonce": hex(self.nonce),
            "value": hex(self.value),
            "gas": hex(self.gas),
            "gasPrice": hex(self.max_fee),
            **(fees if self.type == 2 else {}),
            "input": self.data,
            "type": hex(self.type),
            "chainId": None if self.chain_id is None else hex(self.chain_id),
            "v": hex(v),
            "r": hex(r),
            "s": hex(s),
            **place,
        }


def decode_transaction(raw: Any) -> Transaction:
    """Decode a signed transaction.

    Raises:
        RpcError: If it cannot be decoded.

    """
    try:
        encoded = bytes.fromhex(raw.removeprefix("0x"))
        fields = _decode_legacy(encoded) if encoded[0] >= _FIRST_LEGACY_BYTE else _decode_typed(encoded)
        sender = Account.recover_transaction(HexBytes(encoded)).lower()
    except Exception as error:  # Each part of the transaction has its own exceptions.
        raise RpcError(-32000, f"rlp: cannot decode the transaction: {error}") from error
    return Transaction(hash=f"0x{keccak(encoded).hex()}", sender=sender, **fields)


def _decode_typed(encoded: bytes) -> dict[str, Any]:
    given = TypedTransaction.from_bytes(HexBytes(encoded)).as_dict()
    max_fee = given.get("maxFeePerGas", given.get("gasPrice", 0))
    return {
        **_decode_common(given),
        "type": encoded[0],
        "chain_id": given["chainId"],
        "max_fee": max_fee,
        "max_priority_fee": given.get("maxPriorityFeePerGas", max_fee),
        "signature": (given["v"], given["r"], given["s"]),
    }


def _decode_legacy(encoded: bytes) -> dict[str, Any]:
    decode: Callable[[bytes], list[bytes]] = rlp.decode
    nonce, gas_price, gas, to, value, data, v, r, s = decode(encoded)
    recovery = int.from_bytes(v, "big")
    price = int.from_bytes(gas_price, "big")
    given = {"nonce": nonce, "gas": gas, "value": value}
    return {
        **_decode_common({**{name: int.from_bytes(one, "big") for name, one in given.items()}, "to": to, "data": data}),
        "type": 0,
        # EIP-155.
        "chain_id": (recovery - 35) // 2 if recovery >= 35 else None,
        "max_fee": price,
        "max_priority_fee": price,
        "signature": (recovery, int.from_bytes(r, "big"), int.from_bytes(s, "big")),
    }


def _decode_common(given: dict[str, Any]) -> dict[str, Any]:
    to = bytes(given.get("to") or b"")
    return {
        "nonce": given["nonce"],
        "to": f"0x{to.hex()}" if to else None,
        "value": given["value"],
        "gas": given["gas"],
        "data": f"0x{bytes(given['data']).hex()}",
    }
