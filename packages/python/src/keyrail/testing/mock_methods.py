"""The JSON-RPC methods of the mock node."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eth_abi.abi import decode

from .decode_transaction import Transaction, decode_transaction
from .mock_chain import BASE_FEE, Block, MockChain
from .mock_contract import MockContract, Reverted
from .mock_multicall import MULTICALL_ADDRESS
from .rpc_error import RpcError

_ZERO_ADDRESS = "0x" + "00" * 20
_SAFE_DEPTH = 32
_FINALIZED_DEPTH = 64
_PRIORITY_FEE = 1_000_000_000


@dataclass(slots=True)
class NodeView:
    """What a call sees of the node."""

    chain: MockChain
    chain_id: int
    accounts: Sequence[str]
    automine: bool
    lag: int
    """How many blocks the node seems to be behind."""
    sign: Callable[[Mapping[str, Any]], str]
    """Signs a transaction of one of the accounts."""
    get_contract: Callable[[str], MockContract | None]
    check_log_range: Callable[[int, int], None]
    """Raises the error of the provider if a range has too many blocks."""
    check_log_count: Callable[[int, int, int], None]
    """Raises the error of the provider if a range has too many logs."""

    @property
    def head(self) -> int:
        """The number of the latest block."""
        return max(0, len(self.chain.blocks) - 1 - self.lag)

    def find_block(self, given: Any) -> Block | None:
        """Find a block by a number in hex, a tag, a hash, or an object as in EIP-1898."""
        if isinstance(given, Mapping):
            given = given.get("blockHash", given.get("blockNumber"))
        if isinstance(given, str) and len(given) == 66:
            return next((block for block in self.chain.blocks[: self.head + 1] if block.header["hash"] == given), None)
        number = self.to_number(given)
        return self.chain.blocks[number] if number <= self.head else None

    def to_number(self, given: Any) -> int:
        """Convert a number in hex or a tag to a number."""
        depths = {"latest": 0, "pending": 0, "safe": _SAFE_DEPTH, "finalized": _FINALIZED_DEPTH, "earliest": self.head}
        given = "latest" if given is None else given
        if given in depths:
            return max(0, self.head - depths[given])
        return _to_int(given)

    def get_block(self, given: Any) -> Block:
        """Find a block whose state a call needs."""
        block = self.find_block(given)
        if block is None:
            raise RpcError(-32000, "header not found")
        return block


def _to_int(given: Any) -> int:
    try:
        return int(given, 16)
    except (TypeError, ValueError):
        raise RpcError(-32602, "invalid argument: hex string expected") from None


def _to_location(block: Block, index: int) -> dict[str, Any]:
    header = block.header
    return {"blockHash": header["hash"], "blockNumber": header["number"], "transactionIndex": hex(index)}


NO_PLACE = {"blockHash": None, "blockNumber": None, "transactionIndex": None}
"""The place of a pending transaction."""


def _to_json(block: Block | None, full: bool) -> dict[str, Any] | None:
    if block is None:
        return None
    transactions = [
        one.to_json(_to_location(block, index)) if full else one.hash for index, one in enumerate(block.transactions)
    ]
    return {**block.header, "transactions": transactions}


def _get_block(view: NodeView, block: Any, full: bool = False) -> Any:
    return _to_json(view.find_block(block), full)


def _get_transaction(view: NodeView, tx_hash: str) -> Any:
    pending = next((one for one in view.chain.pending if one.hash == tx_hash), None)
    if pending is not None:
        return pending.to_json(NO_PLACE)
    found = view.chain.find_transaction(tx_hash)
    return found and found[0].transactions[found[1]].to_json(_to_location(*found))


def _get_receipt(view: NodeView, tx_hash: str) -> Any:
    found = view.chain.find_transaction(tx_hash)
    return found and found[0].receipts[found[1]]


def _get_receipts(view: NodeView, block: Any) -> Any:
    found = view.find_block(block)
    return found and found.receipts


def _get_nonce(view: NodeView, address: str, block: Any = "latest") -> str:
    sender = address.lower()
    nonce = view.get_block(block).state.nonces.get(sender, 0)
    waiting = {one.nonce for one in view.chain.pending if one.sender == sender} if block == "pending" else set()
    while nonce in waiting:
        nonce += 1
    return hex(nonce)


def _get_code(view: NodeView, address: str, block: Any = "latest") -> str:
    code = view.get_block(block).state.code.get(address.lower())
    # A mocked contract has no code, but programs check whether there is any.
    is_mocked = address.lower() == MULTICALL_ADDRESS or view.get_contract(address.lower())
    return code or ("0xfe" if is_mocked else "0x")


def _run(view: NodeView, call: Mapping[str, Any], block: Any) -> str:
    at = view.get_block(block)
    state = copy.deepcopy(at.state)
    to = call.get("to")
    try:
        output, _ = view.chain.run(
            state,
            at.header,
            sender=(call.get("from") or _ZERO_ADDRESS).lower(),
            to=to.lower() if to else None,
            value=_to_int(call.get("value", "0x0")),
            data=call.get("input") or call.get("data") or "0x",
            is_transaction=False,
        )
    except Reverted as reverted:
        raise RpcError(3, _describe_revert(reverted.data), reverted.data) from None
    return output


def _describe_revert(data: str) -> str:
    if not data.startswith("0x08c379a0"):
        return "execution reverted"
    return f"execution reverted: {decode(['string'], bytes.fromhex(data[10:]))[0]}"


def _call(view: NodeView, call: Mapping[str, Any], block: Any = "latest", _overrides: Any = None) -> str:
    return _run(view, call, block)


def _estimate_gas(view: NodeView, call: Mapping[str, Any], block: Any = "latest") -> str:
    _run(view, call, block)
    to = call.get("to")
    return hex(view.chain.estimate_gas(to.lower() if to else None, call.get("input") or call.get("data") or "0x"))


def _send(view: NodeView, transaction: Transaction) -> str:
    view.chain.add(transaction)
    if view.automine:
        view.chain.mine()
    return transaction.hash


def _send_raw_transaction(view: NodeView, raw: Any) -> str:
    return _send(view, decode_transaction(raw))


def _send_transaction(view: NodeView, given: Mapping[str, Any]) -> str:
    sender = str(given.get("from", "")).lower()
    if sender not in view.accounts:
        raise RpcError(-32000, "unknown account")
    data = given.get("input") or given.get("data") or "0x"
    to = given.get("to")
    filled = {
        "to": to,
        "value": _to_int(given.get("value", "0x0")),
        "data": data,
        "nonce": _to_int(given.get("nonce", _get_nonce(view, sender, "pending"))),
        "gas": _to_int(given.get("gas", hex(view.chain.estimate_gas(to.lower() if to else None, data)))),
        "maxFeePerGas": _to_int(given.get("maxFeePerGas", given.get("gasPrice", hex(2 * BASE_FEE + _PRIORITY_FEE)))),
        "maxPriorityFeePerGas": _to_int(given.get("maxPriorityFeePerGas", given.get("gasPrice", hex(_PRIORITY_FEE)))),
        "chainId": view.chain_id,
        "type": 2,
        "from": sender,
    }
    return _send_raw_transaction(view, view.sign(filled))


def _get_logs(view: NodeView, given: Mapping[str, Any]) -> list[Any]:
    if "blockHash" in given:
        first = last = view.get_block(given["blockHash"]).number
    else:
        first, last = view.to_number(given.get("fromBlock")), view.to_number(given.get("toBlock"))
        if first > last:
            raise RpcError(-32602, "invalid block range params")
        view.check_log_range(first, last)
        last = min(last, view.head)
    found = select_logs([log for block in view.chain.blocks[first : last + 1] for log in block.logs], given)
    view.check_log_count(first, last, len(found))
    return found


def select_logs(logs: Sequence[dict[str, Any]], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the logs that match a filter.

    Args:
        logs: The logs.
        given: The filter, of which ``address`` and ``topics`` are used.

    """
    addresses = given.get("address") or []
    wanted = {one.lower() for one in ([addresses] if isinstance(addresses, str) else addresses)}
    topics = given.get("topics") or []
    return [log for log in logs if (not wanted or log["address"] in wanted) and _match_topics(log["topics"], topics)]


def _match_topics(topics: Sequence[str], wanted: Sequence[Any]) -> bool:
    if len(wanted) > len(topics):
        return False
    for topic, one in zip(topics, wanted, strict=False):
        alternatives = [one] if isinstance(one, str) else one
        if alternatives and topic not in [each.lower() for each in alternatives]:
            return False
    return True


def _get_fee_history(view: NodeView, count: Any, newest: Any, percentiles: Sequence[float] | None = None) -> Any:
    last = view.to_number(newest)
    blocks = min(_to_int(count) if isinstance(count, str) else int(count), last + 1)
    history: dict[str, Any] = {
        "oldestBlock": hex(last - blocks + 1),
        "baseFeePerGas": [hex(BASE_FEE)] * (blocks + 1),
        "gasUsedRatio": [0.0] * blocks,
    }
    return {**history, "reward": [[hex(_PRIORITY_FEE)] * len(percentiles)] * blocks} if percentiles else history


METHODS: dict[str, Callable[..., Any]] = {
    "web3_clientVersion": lambda _: "keyrail-mock/1.0.0",
    "net_version": lambda view: str(view.chain_id),
    "net_listening": lambda _: True,
    "eth_syncing": lambda _: False,
    "eth_chainId": lambda view: hex(view.chain_id),
    "eth_blockNumber": lambda view: hex(view.head),
    "eth_accounts": lambda view: list(view.accounts),
    "eth_gasPrice": lambda _: hex(BASE_FEE + _PRIORITY_FEE),
    "eth_maxPriorityFeePerGas": lambda _: hex(_PRIORITY_FEE),
    "eth_feeHistory": _get_fee_history,
    "eth_getBalance": lambda view, address, block="latest": hex(
        view.get_block(block).state.balances.get(address.lower(), 0)
    ),
    "eth_getTransactionCount": _get_nonce,
    "eth_getCode": _get_code,
    "eth_getStorageAt": lambda *_: "0x" + "00" * 32,
    "eth_call": _call,
    "eth_estimateGas": _estimate_gas,
    "eth_sendRawTransaction": _send_raw_transaction,
    "eth_sendTransaction": _send_transaction,
    "eth_getBlockByNumber": _get_block,
    "eth_getBlockByHash": _get_block,
    "eth_getTransactionByHash": _get_transaction,
    "eth_getTransactionReceipt": _get_receipt,
    "eth_getBlockReceipts": _get_receipts,
    "eth_getLogs": _get_logs,
}
"""The handler of each method: its arguments are the view and the params."""
