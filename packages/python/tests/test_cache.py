"""The cache: the cases of packages/vectors, and both providers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from simulation import Simulation, create_case_call
from vectors import read_vectors, to_params

from keyrail import AsyncKeyrailProvider, Cache, KeyrailProvider, ProviderStats
from keyrail.message.response import Result
from keyrail.transport.cache import CachingSender
from keyrail.transport.cache_memory import CacheMemory
from keyrail.transport.call_settings import create_call_settings
from keyrail.transport.deadline import start_deadline
from keyrail.transport.endpoint_sender import EndpointSender
from keyrail.transport.steps import Call, Outcome

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
HASH = "0x" + "aa" * 32


@pytest.mark.parametrize("case", to_params(read_vectors("caches.json")))
def test_cache(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Call] = []
    given: dict[str, Any] = {}

    def respond(_: int, call: Call) -> dict[str, Any]:
        sent.append(call)
        return {"result": "not from the cache" if given.get("cached") else given["result"]}

    options = case.get("options", {})
    simulation = Simulation(monkeypatch, respond)
    endpoint = EndpointSender("https://node.example/…", create_call_settings())
    sender = CachingSender(endpoint, Cache(finality_depth=options.get("finalityDepth")))
    for given in case["calls"]:
        sent.clear()
        outcomes: list[Outcome] = []
        simulation.start(sender.send([create_case_call(given)], start_deadline(10_000)), outcomes.append)
        simulation.run()
        assert outcomes == [Result(given["result"])], case["why"]
        assert len(sent) == (0 if given.get("cached") else 1), case["why"]


def respond_with_block(request: ReceivedRequest, connection: Connection) -> None:
    responses = [
        {"jsonrpc": "2.0", "id": call["id"], "result": {"hash": (call["params"] or [HASH])[0], "transactions": []}}
        for call in request.calls
    ]
    connection.respond(200, responses if isinstance(request.json, list) else responses[0])


@BOTH
def test_each_caller_gets_a_copy_and_only_missing_calls_of_a_batch_are_sent(kind: str) -> None:
    other = "0x" + "bb" * 32
    calls: list[Any] = [("eth_getBlockByHash", [one, False]) for one in (HASH, other)]

    def check(first: Any, second: Any, settled: Any, stats: ProviderStats) -> None:
        first["result"]["transactions"].append("changed")
        assert second["result"] == {"hash": HASH, "transactions": []}
        assert [one.value["hash"] for one in settled] == [HASH, other]
        assert (stats.calls, stats.requests, stats.cached) == (4, 2, 2)

    with FaultServer(respond_with_block) as server:
        if kind == "sync":
            with KeyrailProvider(server.url, cache=Cache(), stats=True) as provider:
                first = provider.make_request(*calls[0])
                second = provider.make_request(*calls[0])
                check(first, second, provider.batch_settled(calls), provider.stats())
        else:

            async def run() -> None:
                async with AsyncKeyrailProvider(server.url, cache=Cache(), stats=True) as provider:
                    first = await provider.make_request(*calls[0])
                    second = await provider.make_request(*calls[0])
                    check(first, second, await provider.batch_settled(calls), provider.stats())

            asyncio.run(run())
        assert [request.json["params"][0] for request in server.requests] == [HASH, other]


def test_the_memory_is_bounded_and_keeps_what_is_used() -> None:
    memory = CacheMemory(20_000)
    memory.set("used", "x" * 100)
    for at in range(1_000):
        memory.set(f"key {at}", json.dumps(at) * 50)
        assert memory.get("used") == "x" * 100
    assert memory.get("key 0") is None
    assert memory.get("key 999") is not None
    memory.set("too large", "x" * 20_000)
    assert memory.get("too large") is None
