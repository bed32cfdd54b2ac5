"""The mock node under both providers, and under web3.py's own: chain, contracts, faults and assertions."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3
from web3.exceptions import ContractCustomError, ContractLogicError, ContractPanicError, TransactionNotFound

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, call_options, logs, subscribe
from keyrail.failure.kinds import FailureKind
from keyrail.testing import ContractCall, FaultResponse, MockNode, RpcError
from keyrail.testing.fault import PROVIDERS

pytest_plugins = ["keyrail.testing.fixtures"]

TOKEN = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
ABI: Any = [
    {
        "type": "function",
        "name": "balanceOf",
        "stateMutability": "view",
        "inputs": [{"name": "owner", "type": "address"}],
        "outputs": [{"type": "uint256"}],
    },
    {"type": "function", "name": "decimals", "stateMutability": "view", "inputs": [], "outputs": [{"type": "uint8"}]},
    {"type": "function", "name": "pause", "stateMutability": "nonpayable", "inputs": [], "outputs": []},
    {
        "type": "function",
        "name": "transfer",
        "stateMutability": "nonpayable",
        "inputs": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}],
        "outputs": [{"type": "bool"}],
    },
    {
        "type": "function",
        "name": "order",
        "stateMutability": "view",
        "inputs": [
            {
                "name": "given",
                "type": "tuple",
                "components": [{"name": "id", "type": "uint256"}, {"name": "who", "type": "address[]"}],
            }
        ],
        "outputs": [
            {
                "name": "same",
                "type": "tuple",
                "components": [{"name": "id", "type": "uint256"}, {"name": "who", "type": "address[]"}],
            },
            {"name": "count", "type": "uint256"},
        ],
    },
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
    {
        "type": "error",
        "name": "InsufficientBalance",
        "inputs": [{"name": "owner", "type": "address"}, {"name": "needed", "type": "uint256"}],
    },
]


def mock_token(node: MockNode) -> Any:
    def balance_of(call: ContractCall, owner: str) -> int:
        return int(call.state.get(owner, 100))

    def transfer(call: ContractCall, to: str, amount: int) -> bool:
        if amount > balance_of(call, call.sender):
            call.revert("InsufficientBalance", [call.sender, amount])
        call.state[call.sender] = balance_of(call, call.sender) - amount
        call.state[to] = balance_of(call, to) + amount
        call.emit("Transfer", {"from": call.sender, "to": to, "value": amount})
        return True

    return node.mock_contract(TOKEN, ABI, {"balanceOf": balance_of, "decimals": 6, "transfer": transfer})


@pytest.fixture
def w3(mock_node: MockNode) -> Iterator[Web3]:
    with KeyrailProvider(mock_node.url, retry={"base_ms": 1}) as provider:
        yield Web3(provider)


def test_a_transfer_of_ether_is_mined(mock_node: MockNode, w3: Web3) -> None:
    rich, other = mock_node.accounts[0], "0x" + "e5" * 20
    tx: Any = {
        "to": Web3.to_checksum_address(other),
        "value": 7,
        "nonce": w3.eth.get_transaction_count(Web3.to_checksum_address(rich.address)),
        "gas": 21_000,
        "maxFeePerGas": w3.eth.gas_price,
        "maxPriorityFeePerGas": w3.eth.max_priority_fee,
        "chainId": w3.eth.chain_id,
        "type": 2,
    }
    signed = w3.eth.account.sign_transaction(tx, rich.private_key)
    receipt = w3.eth.wait_for_transaction_receipt(w3.eth.send_raw_transaction(signed.raw_transaction))
    assert (receipt["status"], receipt["blockNumber"], receipt["gasUsed"]) == (1, 1, 21_000)
    sent = w3.eth.get_transaction(signed.hash)
    assert (sent["from"], sent["value"], sent["blockNumber"]) == (rich.address, 7, 1)
    assert w3.eth.get_balance(tx["to"]) == 7
    assert w3.eth.get_balance(tx["to"], 0) == 0
    assert w3.eth.get_balance(Web3.to_checksum_address(rich.address)) == 10_000 * 10**18 - 7 - 21_000 * 2 * 10**9
    with pytest.raises(KeyrailError, match="nonce too low: next nonce 1, tx nonce 0"):
        w3.eth.send_raw_transaction(
            w3.eth.account.sign_transaction({**tx, "value": 8}, rich.private_key).raw_transaction
        )
    mock_node.assert_called("eth_sendRawTransaction", times=2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"value": 10**30}, "insufficient funds"),
        ({"gas": 20_000}, "intrinsic gas too low"),
        ({"chainId": 5}, "invalid chain id"),
    ],
)
@pytest.mark.parametrize("is_legacy", [False, True])
def test_a_transaction_that_is_not_valid_is_rejected(
    mock_node: MockNode, w3: Web3, changed: dict[str, Any], message: str, is_legacy: bool
) -> None:
    fees = {"gasPrice": 10**9} if is_legacy else {"maxFeePerGas": 10**9, "maxPriorityFeePerGas": 0, "type": 2}
    tx: Any = {"to": mock_node.accounts[1].address, "value": 1, "nonce": 0, "gas": 21_000, "chainId": 31337, **fees}
    key = mock_node.accounts[0].private_key
    with pytest.raises(KeyrailError, match=message) as caught:
        w3.eth.send_raw_transaction(w3.eth.account.sign_transaction({**tx, **changed}, key).raw_transaction)
    assert caught.value.kind in ("txRejected", "wrongNetwork", "invalidRequest")
    assert w3.eth.send_raw_transaction(w3.eth.account.sign_transaction(tx, key).raw_transaction)


def test_a_contract_runs_python(mock_node: MockNode, w3: Web3) -> None:
    mock_token(mock_node)
    contract = w3.eth.contract(address=Web3.to_checksum_address(TOKEN), abi=ABI)
    alice, bob = (account.address for account in mock_node.accounts[:2])
    assert contract.functions.decimals().call() == 6
    tx = contract.functions.transfer(bob, 30).transact({"from": alice})
    receipt = w3.eth.wait_for_transaction_receipt(tx)
    (event,) = contract.events.Transfer().process_receipt(receipt)
    assert dict(event["args"]) == {"from": alice, "to": bob, "value": 30}
    assert contract.functions.balanceOf(bob).call() == 130
    # A call changes nothing.
    assert contract.functions.transfer(bob, 30).call({"from": alice})
    assert contract.functions.balanceOf(bob).call() == 130
    assert contract.functions.balanceOf(bob).call(block_identifier=0) == 100
    assert contract.functions.transfer(bob, 30).estimate_gas({"from": alice}) > 21_000
    (log,) = logs(w3, from_block=0, event=ABI[5])
    assert log["args"] == event["args"]


def test_a_contract_reverts_in_each_way(mock_node: MockNode, w3: Web3) -> None:
    mock_token(mock_node)
    contract = w3.eth.contract(address=Web3.to_checksum_address(TOKEN), abi=ABI)
    alice = mock_node.accounts[0].address
    with pytest.raises(ContractCustomError) as custom:
        contract.functions.transfer(alice, 101).call({"from": alice})
    assert custom.value.data == contract.encode_abi("transfer", [alice, 101]).replace("0xa9059cbb", "0xf6deaa04")
    with pytest.raises(ContractLogicError, match=r"No handler for pause\(\) of 0x5aAeb"):
        contract.functions.pause().call()
    tx = contract.functions.transfer(alice, 101).transact({"from": alice, "gas": 100_000})
    assert w3.eth.get_transaction_receipt(tx)["status"] == 0

    def panic(call: ContractCall) -> None:
        call.panic(0x11)

    mock_node.mock_contract(TOKEN, ABI, {"pause": panic, "decimals": lambda call: call.revert()})
    with pytest.raises(ContractPanicError, match="overflow"):
        contract.functions.pause().call()
    with pytest.raises(ContractLogicError, match="execution reverted"):
        contract.functions.decimals().call()


def test_structs_are_dicts_or_tuples(mock_node: MockNode, w3: Web3) -> None:
    received: list[Any] = []

    def order(call: ContractCall, given: dict[str, Any]) -> tuple[Any, int]:
        received.append(given)
        return given, len(given["who"])

    mock_node.mock_contract(TOKEN, ABI, {"order": order})
    contract = w3.eth.contract(address=Web3.to_checksum_address(TOKEN), abi=ABI)
    alice = mock_node.accounts[0].address
    same, count = contract.functions.order((7, [alice])).call()
    assert received == [{"id": 7, "who": [alice]}]
    assert (next(iter(same)), count) == (7, 1)


def test_a_handler_for_no_function_of_the_abi_is_rejected(mock_node: MockNode) -> None:
    with pytest.raises(KeyrailError, match='no function "balance"'):
        mock_node.mock_contract(TOKEN, ABI, {"balance": 7})
    token = mock_token(mock_node)
    with pytest.raises(KeyrailError, match="has the parameters from, to, value"):
        token.emit("Transfer", {"to": TOKEN})
    with pytest.raises(KeyrailError, match='no event "Approval"'):
        token.emit("Approval", {})


def test_a_reorganization_replaces_blocks_and_state(mock_node: MockNode, w3: Web3) -> None:
    mock_token(mock_node)
    contract = w3.eth.contract(address=Web3.to_checksum_address(TOKEN), abi=ABI)
    alice, bob = (account.address for account in mock_node.accounts[:2])
    tx = contract.functions.transfer(bob, 30).transact({"from": alice})
    mock_node.mine()
    before = w3.eth.get_block(1)["hash"]
    mock_node.reorg(2)
    assert w3.eth.block_number == 2
    assert w3.eth.get_block(1)["hash"] != before
    assert contract.functions.balanceOf(bob).call() == 100
    assert w3.eth.get_transaction(tx)["blockNumber"] is None
    mock_node.mine()
    assert w3.eth.get_transaction_receipt(tx)["blockNumber"] == 3
    mock_node.reorg(1, drop=True)
    with pytest.raises(TransactionNotFound):
        w3.eth.get_transaction(tx)


def test_a_snapshot_is_restored(mock_node: MockNode, w3: Web3) -> None:
    token = mock_token(mock_node)
    alice = Web3.to_checksum_address(mock_node.accounts[0].address)
    saved = mock_node.snapshot()
    token.emit("Transfer", {"from": alice, "to": alice, "value": 1})
    mock_node.set_balance(alice, 5)
    mock_node.set_nonce(alice, 9)
    mock_node.set_code(alice, "0x60")
    assert (w3.eth.get_balance(alice), w3.eth.get_transaction_count(alice), w3.eth.get_code(alice)) == (5, 9, b"\x60")
    mock_node.revert(saved)
    assert (w3.eth.block_number, w3.eth.get_transaction_count(alice)) == (0, 0)
    assert w3.eth.get_balance(alice) == 10_000 * 10**18
    with pytest.raises(KeyrailError, match="needs the id of a snapshot"):
        mock_node.revert(saved)
    mock_node.mine(3)
    mock_node.reset()
    assert (w3.eth.block_number, len(mock_node.calls())) == (0, 1)


def test_transactions_wait_without_automine(w3: Web3, mock_node: MockNode) -> None:
    mock_node.automine = False
    alice, bob = (account.address for account in mock_node.accounts[:2])
    sent = [w3.eth.send_transaction({"from": alice, "to": bob, "value": value}) for value in (1, 2)]  # type: ignore[typeddict-item]
    assert w3.eth.get_transaction_count(Web3.to_checksum_address(alice), "pending") == 2
    mock_node.mine()
    block: Any = w3.eth.get_block("latest", full_transactions=True)
    assert [one["hash"] for one in block["transactions"]] == sent


def test_a_subscription_follows_a_reorganization(mock_node: MockNode) -> None:
    async def run() -> list[Any]:
        async with AsyncKeyrailProvider(mock_node.url) as provider:
            events: list[Any] = []
            async with subscribe(
                AsyncWeb3(provider), blocks=True, from_block=0, polling_interval_ms=10, web_socket=False
            ) as subscription:
                mock_node.mine(2)
                async for event in subscription:
                    events.append(event)
                    if len(events) == 3:
                        mock_node.reorg(1)
                        mock_node.mine()
                    if len(events) == 6:
                        break
            return events

    events = asyncio.run(run())
    assert [event.type for event in events] == ["block"] * 3 + ["reorg"] + ["block"] * 2


KINDS = [kind for kind in PROVIDERS["node"]["errors"] if kind not in ("batchTooLarge", "txKnown")]


@pytest.mark.parametrize("provider", list(PROVIDERS))
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_failure_is_simulated(mock_node: MockNode, w3: Web3, provider: Any, kind: FailureKind) -> None:
    method = {
        "range": "eth_getLogs",
        "revert": "eth_call",
        "txRejected": "eth_sendRawTransaction",
        "missingData": "eth_getBalance",
        "lagging": "eth_getBalance",
    }.get(kind, "eth_gasPrice")
    mock_node.fail(kind, method=method, provider=provider, times=math.inf)
    params: dict[str, list[Any]] = {"eth_call": [{"to": TOKEN}, "latest"], "eth_sendRawTransaction": ["0x02f8"]}
    with KeyrailProvider(mock_node.url, retry=False) as other:
        (outcome,) = other.batch_settled([(method, params.get(method, []))])
    assert outcome.error is not None
    assert outcome.error.kind == kind


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("network", "network"),
        ("hang", "timeout"),
        ("slow", "timeout"),
        ("badResponse", "badResponse"),
        ("truncated", "badResponse"),
        ("empty", "badResponse"),
        ("htmlPage", "unavailable"),
        ("wrongId", "badResponse"),
        ("nullId", "badResponse"),
        ("missingId", None),
    ],
)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_each_fault_of_a_response_is_simulated(
    mock_node: MockNode, kind: str, fault: Any, expected: str | None
) -> None:
    # Only the call that meets the fault may time out, however busy the machine is.
    timeout = call_options(timeout_ms=300 if expected == "timeout" else 30_000)

    def check(run: Any) -> None:
        if expected is None:
            assert run()
            return
        with pytest.raises(KeyrailError) as caught:
            run()
        assert caught.value.kind == expected

    async def run() -> Any:
        async with AsyncKeyrailProvider(mock_node.url, retry=False) as provider:
            w3 = AsyncWeb3(provider)
            # The connection is used before, because clients repeat a request on an idle connection that was closed.
            await w3.eth.chain_id
            with timeout:
                return await w3.eth.gas_price

    def end_faults() -> None:
        mock_node.clear_faults()
        until = time.monotonic() + 30
        # The node records a call when it responds, which the client did not wait for.
        while not mock_node.calls("eth_gasPrice") and time.monotonic() < until:
            time.sleep(0.005)
        assert [call.fault for call in mock_node.calls("eth_gasPrice")] == [fault]

    mock_node.fail(fault, method="eth_gasPrice", delay_ms=60_000)
    if kind == "async":
        check(lambda: asyncio.run(run()))
        end_faults()
        return
    with KeyrailProvider(mock_node.url, retry=False) as provider:
        w3 = Web3(provider)
        assert w3.eth.chain_id == 31337
        with timeout:
            check(lambda: w3.eth.gas_price)
        end_faults()
        assert w3.eth.gas_price


@pytest.mark.parametrize("fault", ["duplicateId", "missingResponse", "shuffled"])
def test_each_fault_of_a_batch_is_simulated(mock_node: MockNode, fault: Any) -> None:
    mock_node.fail(fault)
    with KeyrailProvider(mock_node.url, retry=False) as provider:
        assert Web3(provider).eth.chain_id == 31337
        assert [call.outcome for call in mock_node.calls()] == ["result"]
        outcomes = provider.batch_settled([("eth_blockNumber", []), ("eth_gasPrice", []), ("net_version", [])])
    if fault == "shuffled":
        assert [outcome.value for outcome in outcomes] == ["0x0", hex(2 * 10**9), "31337"]
    else:
        assert {outcome.error and outcome.error.kind for outcome in outcomes} == {None, "badResponse"}


def test_a_throttled_call_is_retried_after_the_delay(mock_node: MockNode, w3: Web3) -> None:
    mock_node.fail("throttled", times=2, retry_after_ms=30)
    started = time.monotonic()
    assert w3.eth.block_number == 0
    assert time.monotonic() - started >= 0.06
    assert [call.outcome for call in mock_node.calls("eth_blockNumber")] == ["fault", "fault", "result"]
    mock_node.fail("throttled", provider="quicknode", status=200)
    assert w3.eth.block_number == 0


def test_faults_apply_to_the_chosen_calls(mock_node: MockNode, w3: Web3) -> None:
    mock_node.fail(
        FaultResponse(503, {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "busy"}}), after=1
    )
    cancel = mock_node.fail("auth", method=["eth_gasPrice", "net_version"], message="Who are you?")
    assert w3.eth.block_number == 0
    assert w3.eth.block_number == 0
    assert [call.fault for call in mock_node.calls()] == [None, "status 503", None]
    with pytest.raises(KeyrailError, match=r"Who are you\?"):
        _ = w3.eth.gas_price
    cancel()
    mock_node.fail("laggingHead", blocks=2)
    mock_node.mine(5)
    assert w3.eth.block_number == 3
    mock_node.fail("wrongChain")
    assert json.loads(json.dumps(w3.provider.make_request("net_version", [])))["result"] == "31338"  # type: ignore[arg-type]


def test_a_lost_transaction_is_unconfirmed(mock_node: MockNode) -> None:
    mock_node.fail("unconfirmed")
    alice, bob = mock_node.accounts[:2]
    with KeyrailProvider(mock_node.url, timeout_ms=1_500) as provider:
        w3 = Web3(provider)
        tx: Any = {"to": bob.address, "value": 1, "nonce": 0, "gas": 21_000, "gasPrice": 10**9, "chainId": 31337}
        signed = w3.eth.account.sign_transaction(tx, alice.private_key)
        with pytest.raises(KeyrailError) as caught:
            w3.eth.send_raw_transaction(signed.raw_transaction)
    assert (caught.value.kind, caught.value.transaction_hash) == (
        "unconfirmed",
        f"0x{signed.hash.hex().removeprefix('0x')}",
    )
    mock_node.assert_called("eth_sendRawTransaction", times=1)


def test_limits_are_those_of_the_provider(mock_node: MockNode, w3: Web3) -> None:
    mock_node.provider = "drpc"
    mock_node.mine(4)
    with w3.batch_requests() as batch:
        for number in range(4):
            batch.add(w3.eth.get_block(number))
        blocks: list[Any] = batch.execute()
    assert [block["number"] for block in blocks] == [0, 1, 2, 3]
    # A batch of 4 was rejected, so the calls were sent in smaller ones.
    assert [call.batch for call in mock_node.calls()] == [True, True, True, False]
    with MockNode(max_log_blocks=10, max_logs=5) as node, KeyrailProvider(node.url) as provider:
        for _ in range(40):
            node.emit(TOKEN, ["0x" + "11" * 32], "0x")
        found = list(logs(Web3(provider), from_block=0))
        assert [log["blockNumber"] for log in found] == list(range(1, 41))
        assert any(call.outcome == "error" for call in node.calls("eth_getLogs"))


def test_a_method_can_be_defined(mock_node: MockNode, w3: Web3) -> None:
    request: Any = w3.provider.make_request
    with pytest.raises(KeyrailError) as caught:
        request("my_score", [TOKEN])
    assert caught.value.kind == "methodUnavailable"

    def score(user: str) -> dict[str, Any]:
        if user != TOKEN:
            raise RpcError(-32000, "no such user")
        return {"user": user, "score": 5}

    mock_node.mock_method("my_score", score)
    assert request("my_score", [TOKEN])["result"] == {"user": TOKEN, "score": 5}
    with pytest.raises(KeyrailError, match="no such user"):
        request("my_score", ["bob"])


def test_an_assertion_lists_the_calls(mock_node: MockNode, w3: Web3) -> None:
    assert w3.eth.block_number == 0
    mock_node.assert_called("eth_blockNumber")
    mock_node.assert_called("eth_blockNumber", times=1, params=[])
    mock_node.assert_called("eth_call", times=0)
    with pytest.raises(AssertionError, match=r"eth_gasPrice to be called at least once.*\n.*\n  eth_blockNumber \[\]"):
        mock_node.assert_called("eth_gasPrice")


def test_providers_of_web3_use_it_too(mock_node: MockNode) -> None:
    mock_token(mock_node)

    async def read() -> Any:
        w3 = AsyncWeb3(AsyncHTTPProvider(mock_node.url))
        try:
            contract = w3.eth.contract(address=Web3.to_checksum_address(TOKEN), abi=ABI)
            return await contract.functions.decimals().call()
        finally:
            await w3.provider.disconnect()

    assert asyncio.run(read()) == 6
    assert Web3(HTTPProvider(mock_node.url)).eth.get_block(0)["number"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "aborted"}, "Cancel the call"),
        ({"kind": "trottled"}, "Unknown fault. Use one of auth"),
        ({"kind": "auth", "times": 0}, "times must be"),
        ({"kind": "auth", "provider": "acme"}, "Unknown provider. Use one of keyrail"),
    ],
)
def test_a_wrong_fault_is_rejected(mock_node: MockNode, options: dict[str, Any], message: str) -> None:
    with pytest.raises(KeyrailError, match=message):
        mock_node.fail(**options)


MULTICALL = "0xcA11bde05977b3631167028862bE2a173976CA11"
TARGET, DATA = {"name": "target", "type": "address"}, {"name": "callData", "type": "bytes"}
MAY_FAIL = {"name": "allowFailure", "type": "bool"}
RESULTS = {
    "type": "tuple[]",
    "components": [{"name": "success", "type": "bool"}, {"name": "returnData", "type": "bytes"}],
}


def multicall_function(name: str, members: list[Any], outputs: list[Any], flags: tuple[Any, ...] = ()) -> Any:
    inputs = [*flags, {"name": "calls", "type": "tuple[]", "components": members}]
    return {"type": "function", "name": name, "stateMutability": "payable", "inputs": inputs, "outputs": outputs}


MULTICALL_ABI: Any = [
    multicall_function("aggregate", [TARGET, DATA], [{"type": "uint256"}, {"type": "bytes[]"}]),
    multicall_function("tryAggregate", [TARGET, DATA], [RESULTS], ({"name": "requireSuccess", "type": "bool"},)),
    multicall_function("aggregate3", [TARGET, MAY_FAIL, DATA], [RESULTS]),
]


def test_multicall3_is_served_without_a_mock_of_it(mock_node: MockNode, w3: Web3) -> None:
    alice = mock_node.accounts[0].address
    mock_token(mock_node)
    token = w3.eth.contract(address=Web3.to_checksum_address(TOKEN), abi=ABI)
    multicall = w3.eth.contract(address=Web3.to_checksum_address(MULTICALL), abi=MULTICALL_ABI)
    assert w3.eth.get_code(multicall.address)
    decimals, pause = token.encode_abi("decimals"), token.encode_abi("pause")
    six = (6).to_bytes(32, "big")
    both = multicall.functions.aggregate3([(TOKEN, False, decimals), (TOKEN, True, pause)]).call()
    assert both[0] == (True, six)
    assert both[1][0] is False
    assert b"No handler for pause()" in both[1][1]
    assert multicall.functions.tryAggregate(False, [(TOKEN, pause)]).call()[0][0] is False
    mock_node.mine(2)
    assert multicall.functions.aggregate([(TOKEN, decimals)]).call(block_identifier=1) == [1, [six]]
    for fails in (
        multicall.functions.aggregate([(TOKEN, pause)]),
        multicall.functions.aggregate3([(TOKEN, False, pause)]),
        multicall.functions.tryAggregate(True, [(TOKEN, pause)]),
    ):
        with pytest.raises(ContractLogicError, match="Multicall3: call failed"):
            fails.call({"from": alice})
