"""Multicall3 of the mock node, which runs calls of mocked contracts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .mock_contract import ContractCall, MockContract, Reverted

MULTICALL_ADDRESS = "0xca11bde05977b3631167028862be2a173976ca11"
"""The address of Multicall3 on almost every chain, in lower case."""

RunCall = Callable[[str, str], str]
"""Runs a call with a target and its data, and returns its output. Raises ``Reverted``, without changes of the state."""


def _function(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> dict[str, Any]:
    return {"type": "function", "name": name, "inputs": inputs, "outputs": outputs}


_NUMBER = {"type": "uint256"}
_TARGET, _CALL_DATA = {"name": "target", "type": "address"}, {"name": "callData", "type": "bytes"}
_CALLS = {"type": "tuple[]", "components": [_TARGET, _CALL_DATA]}
_CALLS_3 = {"type": "tuple[]", "components": [_TARGET, {"name": "allowFailure", "type": "bool"}, _CALL_DATA]}
_RESULTS = {
    "type": "tuple[]",
    "components": [{"name": "success", "type": "bool"}, {"name": "returnData", "type": "bytes"}],
}
_ABI = (
    _function("aggregate", [_CALLS], [_NUMBER, {"type": "bytes[]"}]),
    _function("tryAggregate", [{"type": "bool"}, _CALLS], [_RESULTS]),
    _function("aggregate3", [_CALLS_3], [_RESULTS]),
    _function("getEthBalance", [{"type": "address"}], [_NUMBER]),
    _function("getBlockNumber", [], [_NUMBER]),
    _function("getCurrentBlockTimestamp", [], [_NUMBER]),
)


def create_multicall(run_call: RunCall, get_balance: Callable[[str], int], header: dict[str, Any]) -> MockContract:
    """Create Multicall3, with the functions that libraries use.

    Args:
        run_call: Runs one call.
        get_balance: Returns the balance of an address in lower case.
        header: The header of the block.

    """
    block_number = int(header["number"], 16)

    def run_all(call: ContractCall, calls: Sequence[dict[str, Any]], *, may_fail: bool = False) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = []
        for one in calls:
            try:
                output, success = run_call(one["target"].lower(), f"0x{one['callData'].hex()}"), True
            except Reverted as reverted:
                if not one.get("allowFailure", may_fail):
                    call.revert("Multicall3: call failed")
                output, success = reverted.data, False
            results.append({"success": success, "returnData": bytes.fromhex(output[2:])})
        return results

    def aggregate(call: ContractCall, calls: Sequence[dict[str, Any]]) -> tuple[int, list[bytes]]:
        return block_number, [one["returnData"] for one in run_all(call, calls)]

    def try_aggregate(call: ContractCall, requires_success: bool, calls: Sequence[dict[str, Any]]) -> Any:
        return run_all(call, calls, may_fail=not requires_success)

    handlers = {
        "aggregate": aggregate,
        "tryAggregate": try_aggregate,
        "aggregate3": run_all,
        "getEthBalance": lambda _, owner: get_balance(owner.lower()),
        "getBlockNumber": block_number,
        "getCurrentBlockTimestamp": int(header["timestamp"], 16),
    }
    # It has no events.
    return MockContract(MULTICALL_ADDRESS, _ABI, handlers, lambda _: "")
