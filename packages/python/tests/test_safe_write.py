"""When a failed transaction counts as not run, and when it is looked up by its hash."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from eth_utils.crypto import keccak
from fault_server import Connection, FaultServer, ReceivedRequest
from test_vectors import create_case_failure
from vectors import read_vectors, select_python

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, Settled
from keyrail.failure.create_failure import create_failure
from keyrail.failure.facts import Facts
from keyrail.failure.is_rejected_before_run import is_rejected_before_run
from keyrail.transport.safe_write import REJECTED_BY_NODE
from keyrail.transport.transaction_hash import compute_transaction_hash

RAW = "0x02c0"
HASH = compute_transaction_hash(RAW)
WORDS = [
    "too many requests",
    "rate limit exceeded",
    "slow down",
    "quota exceeded",
    "monthly limit reached",
    "unauthorized",
    "invalid api key",
    "access denied",
    "method not found",
    "network not supported",
    "batch too large",
]


@pytest.mark.parametrize("raw", ["05c0", "7bc0"])
def test_the_hash_of_a_transaction_of_any_type_is_that_of_its_bytes(raw: str) -> None:
    assert compute_transaction_hash("0x" + raw) == "0x" + keccak(bytes.fromhex(raw)).hex()


def test_zksync_hashes_its_own_type_in_another_way() -> None:
    assert compute_transaction_hash("0x71c0") is None


def rejected(facts: Facts) -> bool:
    failure = create_failure(facts, method="eth_sendRawTransaction", redacted_url="https://node.example/v2/…")
    return is_rejected_before_run(failure)


def rpc(code: int, message: str, status: int = 200) -> Facts:
    return Facts(text=message, status=status, rpc_error={"code": code, "message": message})


NOT_RUN = {
    "a 429": Facts(text="slow down", status=429),
    "a rate limit code": rpc(-32005, "rate limit exceeded"),
    "a 401": Facts(text="unauthorized", status=401),
    "a 403": Facts(text="forbidden", status=403),
    "a 402": Facts(text="payment required", status=402),
    "an unknown method": rpc(-32601, "the method does not exist"),
    "an unknown method under 500": rpc(-32601, "no such method", 500),
    "invalid params under 500": rpc(-32602, "invalid params", 500),
    "a connection that was never opened": Facts(text="the connection timed out", kind="network", unsent=True),
    "a failed api_key function": Facts(text="the api_key function raised OSError", kind="invalidRequest"),
    "the gateway drains": Facts(
        text="draining",
        status=503,
        rpc_error={"code": -32000, "message": "draining", "data": {"reason": "draining"}},
    ),
}
MAY_HAVE_RUN = {
    "throttling by words alone": rpc(-32000, "too many requests"),
    "a lost connection": Facts(text="the connection was closed", kind="network"),
    "no response in time": Facts(text="no response within 50 ms", kind="timeout"),
    "a rejection by the transaction pool": rpc(-32000, "nonce too low"),
    "a page that is not JSON": Facts(text="welcome", status=200, kind="badResponse"),
}


@pytest.mark.parametrize("name", NOT_RUN)
def test_a_write_was_not_run_after(name: str) -> None:
    assert rejected(NOT_RUN[name])


@pytest.mark.parametrize("name", MAY_HAVE_RUN)
def test_a_write_may_have_run_after(name: str) -> None:
    assert not rejected(MAY_HAVE_RUN[name])


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520])
@pytest.mark.parametrize("text", WORDS)
def test_no_words_under_5xx_prove_that_a_write_was_not_run(status: int, text: str) -> None:
    page = Facts(text=text, status=status)
    for facts in (page, replace(page, batch=True), rpc(-32000, text, status), rpc(-32005, text, status)):
        assert not rejected(facts)


def test_no_write_that_may_have_arrived_is_reported_as_final() -> None:
    names = ("failures.json", "wordings.json", "heldOut.json", "fresh.json")
    cases = select_python([case for name in names for case in read_vectors(name)])
    may_have_arrived = [case for case in cases if case["expect"].get("mayHaveArrived")]
    assert len(may_have_arrived) > 50
    failures = {case["name"]: create_case_failure(case) for case in may_have_arrived}
    final = [
        name
        for name, failure in failures.items()
        if is_rejected_before_run(failure) or failure.kind in REJECTED_BY_NODE
    ]
    assert final == []


class Node(FaultServer):
    """Responds to the transaction as a case says, and knows the transaction or not."""

    def __init__(self, status: int, body: Any, knows: bool) -> None:
        self.status, self.body, self.knows = status, body, knows
        super().__init__(self.respond)

    def respond(self, request: ReceivedRequest, connection: Connection) -> None:
        call_id = request.json["id"]
        if request.methods[0].startswith("eth_sendRawTransaction"):
            body = self.body if isinstance(self.body, str) else {"jsonrpc": "2.0", "id": call_id, "error": self.body}
            connection.respond(self.status, body if isinstance(body, str) else json.dumps(body))
            return
        found = {"hash": HASH, "transactionHash": HASH} if self.knows else None
        connection.respond(200, json.dumps({"jsonrpc": "2.0", "id": call_id, "result": found}))


def send(kind: str, node: Node, method: str = "eth_sendRawTransaction", raw: str = RAW) -> Settled:
    calls = [(method, [raw])]
    if kind == "sync":
        with KeyrailProvider(url=node.url, retry=False) as provider:
            return provider.batch_settled(calls)[0]

    async def run() -> Settled:
        async with AsyncKeyrailProvider(url=node.url, retry=False) as provider:
            return (await provider.batch_settled(calls))[0]

    return asyncio.run(run())


LOOKED_UP: dict[str, tuple[int, Any]] = {
    "a 503 page about a rate limit": (503, "too many requests"),
    "a 502 page about a key": (502, "unauthorized"),
    "a 500 about a quota": (500, {"code": -32005, "message": "quota exceeded"}),
    "a rate limit that only the message names": (200, {"code": -32000, "message": "too many requests"}),
}
NOT_LOOKED_UP: dict[str, tuple[int, Any]] = {
    "a 429 page": (429, "too many requests"),
    "a rate limit code": (200, {"code": -32005, "message": "rate limit exceeded"}),
    "a 401 page": (401, "unauthorized"),
    "an unknown method under 500": (500, {"code": -32601, "message": "no such method"}),
}
BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyrail.transport.safe_write.LOOK_MS", 1)


@BOTH
@pytest.mark.parametrize("name", LOOKED_UP)
def test_a_transaction_that_may_have_arrived_is_looked_up(kind: str, name: str) -> None:
    with Node(*LOOKED_UP[name], knows=True) as node:
        assert send(kind, node).value == HASH
        assert node.methods == ["eth_sendRawTransaction", "eth_getTransactionByHash"]
    with Node(*LOOKED_UP[name], knows=False) as node:
        error = send(kind, node).error
        assert isinstance(error, KeyrailError)
        assert (error.kind, error.transaction_hash) == ("unconfirmed", HASH)
        assert node.methods == ["eth_sendRawTransaction", *["eth_getTransactionByHash"] * 2]
    with Node(*LOOKED_UP[name], knows=True) as node:
        outcome = send(kind, node, "eth_sendRawTransactionSync")
        assert outcome.ok
        assert outcome.value["transactionHash"] == HASH
        assert node.methods == ["eth_sendRawTransactionSync", "eth_getTransactionReceipt"]


@BOTH
@pytest.mark.parametrize("name", NOT_LOOKED_UP)
def test_a_transaction_that_was_not_run_is_not_looked_up(kind: str, name: str) -> None:
    with Node(*NOT_LOOKED_UP[name], knows=True) as node:
        error = send(kind, node).error
        assert isinstance(error, KeyrailError)
        assert error.transaction_hash == HASH
        assert node.methods == ["eth_sendRawTransaction"]


OTHER_HASH = "0x" + "cd" * 32


class AcceptingNode(Node):
    """Responds to the transaction with the hash of another one."""

    def respond(self, request: ReceivedRequest, connection: Connection) -> None:
        method, call_id = request.methods[0], request.json["id"]
        results: dict[str, Any] = {
            "eth_sendRawTransaction": OTHER_HASH,
            "eth_sendRawTransactionSync": {"transactionHash": OTHER_HASH},
        }
        body = {"jsonrpc": "2.0", "id": call_id, "result": results.get(method)}
        connection.respond(200, json.dumps(body))


@BOTH
def test_a_type_that_a_single_chain_has_may_have_another_hash(kind: str) -> None:
    with AcceptingNode(200, "", knows=False) as node:
        assert send(kind, node, raw="0x7fc0").value == OTHER_HASH
        assert send(kind, node, "eth_sendRawTransactionSync", "0x7fc0").value == {"transactionHash": OTHER_HASH}
        assert node.methods == ["eth_sendRawTransaction", "eth_sendRawTransactionSync"]
        error = send(kind, node).error
        assert isinstance(error, KeyrailError)
        assert (error.kind, error.transaction_hash) == ("unconfirmed", HASH)
