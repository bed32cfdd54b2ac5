"""A small shop that is paid in a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eth_typing import ChecksumAddress
from keyrail import KeyrailError, logs
from web3 import Web3

_ADDRESS = [{"name": "owner", "type": "address"}]
_AMOUNT = [{"name": "", "type": "uint256"}]
TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"
TOKEN_ABI: list[dict[str, Any]] = [
    {"type": "function", "name": "balanceOf", "stateMutability": "view", "inputs": _ADDRESS, "outputs": _AMOUNT},
    {
        "type": "event",
        "name": "Transfer",
        "anonymous": False,
        "inputs": [
            {"name": "from", "type": "address", "indexed": True},
            {"name": "to", "type": "address", "indexed": True},
            {"name": "value", "type": "uint256", "indexed": False},
        ],
    },
]


class Shop:
    """A shop.

    Args:
        w3: A web3.py instance.
        token: The address of the token.
        till: The address that customers pay to.

    """

    def __init__(self, w3: Web3, token: ChecksumAddress, till: ChecksumAddress) -> None:
        self._w3 = w3
        self._token = token
        self._till = till
        self._contract = w3.eth.contract(address=token, abi=TOKEN_ABI)

    def describe_balance(self) -> str:
        """Return the balance of the till, or a message for people."""
        try:
            return f"{self._contract.functions.balanceOf(self._till).call()} tokens"
        except KeyrailError as failure:
            return "Try again tomorrow" if failure.kind == "quota" else "Try again later"

    def payments(self, from_block: int = 0) -> Iterator[tuple[str, int]]:
        """Iterate over the payers and their payments."""
        for log in logs(self._w3, from_block=from_block, address=self._token, event=TRANSFER):
            if log["args"]["to"] == self._till:
                yield log["args"]["from"], log["args"]["value"]
