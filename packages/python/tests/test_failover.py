"""Several endpoints, over HTTP with both providers."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest, Script
from leak_walk import find_leaks

from keyrail import (
    AsyncKeyrailProvider,
    Breaker,
    CallEvent,
    Endpoint,
    Failover,
    Hooks,
    KeyrailError,
    KeyrailProvider,
    ProviderStats,
    Settled,
)

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
KEYS = ("notARealKeyAtAll1234", "anotherKeyNotReal5678")
RAW = "0x02c0"


def respond_with(results: dict[str, Any]) -> Script:
    """Respond with a result, or with ``{"error": …}``, by method."""

    def script(request: ReceivedRequest, connection: Connection) -> None:
        def one(call: dict[str, Any]) -> dict[str, Any]:
            found = results.get(call["method"], "0x1")
            found = found(call) if callable(found) else found
            member = found if isinstance(found, dict) and "error" in found else {"result": found}
            return {"jsonrpc": "2.0", "id": call["id"], **member}

        responses = [one(call) for call in request.calls]
        connection.respond(200, responses if isinstance(request.json, list) else responses[0])

    return script


def respond_with_status(status: int) -> Script:
    return lambda request, connection: connection.respond(status, "")


@contextmanager
def two_servers(first: Script, second: Script) -> Iterator[tuple[FaultServer, FaultServer]]:
    with FaultServer(first) as one, FaultServer(second) as two:
        yield one, two


def use(kind: str, options: dict[str, Any], run: Callable[[Any, Callable[[Any], Any]], Any]) -> Any:
    """Run a function with a provider. Its second argument waits for what a method of the provider returns."""
    if kind == "sync":
        with KeyrailProvider(**options) as provider:
            return run(provider, lambda value: value)

    async def run_async() -> Any:
        async with AsyncKeyrailProvider(**options) as provider:
            loop = asyncio.get_running_loop()

            def wait(awaitable: Any) -> Any:
                return asyncio.run_coroutine_threadsafe(awaitable, loop).result(20)

            return await asyncio.to_thread(run, provider, wait)

    return asyncio.run(run_async())


def call(kind: str, options: dict[str, Any], *calls: tuple[str, list[Any]]) -> tuple[list[Any], ProviderStats]:
    """Make calls one after another, and return their results and the counters."""

    def run(provider: Any, wait: Callable[[Any], Any]) -> tuple[list[Any], ProviderStats]:
        results = [wait(provider.make_request(method, params))["result"] for method, params in calls]
        return results, provider.stats()

    results: tuple[list[Any], ProviderStats] = use(kind, {"stats": True, **options}, run)
    return results


@BOTH
def test_a_call_goes_to_the_next_endpoint_and_later_ones_skip_the_failing_one(kind: str) -> None:
    events: list[CallEvent] = []
    with two_servers(respond_with_status(502), respond_with({"eth_blockNumber": "0x2"})) as (one, two):
        options = {
            "endpoints": [Endpoint(one.url, name="main"), Endpoint(two.url, weight=0)],
            "failover": Failover(breaker=Breaker(failures=2)),
            "hooks": Hooks(on_reroute=events.append),
        }
        results, stats = call(kind, options, *[("eth_blockNumber", [])] * 5)
        assert results == ["0x2"] * 5
        assert (len(one.requests), len(two.requests)) == (2, 5)
        first, second = stats.endpoint_states
        assert (first.name, second.name) == ("main", two.url)
        assert first.health is not None
        assert (first.health.state, first.health.failures) == ("open", 2)
        assert (first.head, second.head) == (0, 2)
        assert (stats.rerouted, stats.endpoints[one.url].rerouted) == (2, 2)
        reroutes = [(event.redacted_url, event.kind) for event in events if event.type == "reroute"]
        assert reroutes == [(one.url, "unavailable")] * 2


@BOTH
def test_the_failed_calls_of_a_batch_go_to_the_next_endpoint(kind: str) -> None:
    unknown = {"error": {"code": -32601, "message": "the method does not exist"}}
    with two_servers(respond_with({"eth_gasPrice": unknown}), respond_with({"eth_gasPrice": "0x2"})) as (one, two):
        endpoints = [Endpoint(one.url), Endpoint(two.url)]

        def run(provider: Any, wait: Callable[[Any], Any]) -> list[Settled]:
            methods = ("eth_blockNumber", "eth_gasPrice", "eth_syncing")
            settled: list[Settled] = wait(provider.batch_settled([(method, []) for method in methods]))
            return settled

        settled = use(kind, {"endpoints": endpoints}, run)
        assert [one.value for one in settled] == ["0x1", "0x2", "0x1"]
        assert [request.methods for request in two.requests] == [["eth_gasPrice"]]
        assert len(one.requests) == 1


@BOTH
def test_a_transaction_that_may_have_arrived_is_looked_up_where_it_was_sent(kind: str) -> None:
    def first(request: ReceivedRequest, connection: Connection) -> None:
        if request.methods == ["eth_sendRawTransaction"]:
            connection.respond(503, "too many requests")
        else:
            respond_with({"eth_getTransactionByHash": lambda call: {"hash": call["params"][0]}})(request, connection)

    with two_servers(first, respond_with({})) as (one, two):
        results, _ = call(
            kind, {"endpoints": [Endpoint(one.url), Endpoint(two.url)]}, ("eth_sendRawTransaction", [RAW])
        )
        assert len(results[0]) == 66
        assert one.methods == ["eth_sendRawTransaction", "eth_getTransactionByHash"]
        assert two.methods == []


@BOTH
def test_a_transaction_that_was_not_sent_goes_to_the_next_endpoint(kind: str) -> None:
    with FaultServer() as unused:
        refused = unused.url
    with FaultServer(respond_with({"eth_getTransactionByHash": lambda call: {"hash": call["params"][0]}})) as two:
        results, _ = call(
            kind, {"endpoints": [Endpoint(refused), Endpoint(two.url)]}, ("eth_sendRawTransaction", [RAW])
        )
        assert len(results[0]) == 66
        assert two.methods.count("eth_sendRawTransaction") == 1


@BOTH
def test_min_block_rejects_results_of_a_node_that_is_behind(kind: str) -> None:
    with two_servers(
        respond_with({"eth_blockNumber": "0x63"}), respond_with({"eth_blockNumber": "0x64", "eth_getBalance": "0x2"})
    ) as (one, two):
        endpoints = [Endpoint(one.url), Endpoint(two.url)]

        def run(provider: Any, wait: Callable[[Any], Any]) -> Any:
            one.script, script = respond_with_status(502), one.script
            wait(provider.make_request("eth_blockNumber", []))
            one.script = script
            return wait(provider.make_request("eth_getBalance", ["0x" + "11" * 20, "latest"]))["result"]

        assert use(kind, {"endpoints": endpoints, "failover": Failover(min_block=True)}, run) == "0x2"
        assert one.methods == ["eth_blockNumber"] * 2
        assert two.requests[-1].json["params"][1] == "0x64"


def test_threads_that_wait_for_the_head_share_one_request() -> None:
    several = threading.Event()

    def script(request: ReceivedRequest, connection: Connection) -> None:
        if len(server.requests) > 1 and request.methods == ["eth_blockNumber"]:
            several.wait(30)
        respond_with({"eth_blockNumber": "0x64"})(request, connection)

    with (
        FaultServer(script) as server,
        KeyrailProvider(endpoints=[Endpoint(server.url)], failover=Failover(min_block=True)) as provider,
        ThreadPoolExecutor(8) as pool,
    ):
        provider.make_request("eth_blockNumber", [])  # type: ignore[arg-type]
        threading.Event().wait(1.05)
        balances = [pool.submit(provider.make_request, "eth_getBalance", ["0x1", "latest"]) for _ in range(8)]  # type: ignore[arg-type]
        threading.Event().wait(0.2)
        several.set()
        assert [one.result(30)["result"] for one in balances] == ["0x1"] * 8
        assert server.methods.count("eth_blockNumber") == 2


def test_a_cancelled_probe_lets_the_next_read_probe() -> None:
    async def run(server: FaultServer) -> str:
        endpoints = [Endpoint(server.url), Endpoint(server.url + "/spare", weight=0)]
        failover = Failover(breaker=Breaker(failures=1, open_ms=50))
        async with AsyncKeyrailProvider(endpoints=endpoints, failover=failover, stats=True) as provider:
            await provider.make_request("eth_chainId", [])  # type: ignore[arg-type]
            await asyncio.sleep(0.1)
            probe = asyncio.create_task(provider.make_request("eth_gasPrice", []))  # type: ignore[arg-type]
            while "eth_gasPrice" not in server.methods:
                await asyncio.sleep(0.01)
            probe.cancel()
            await asyncio.gather(probe, return_exceptions=True)
            await provider.make_request("eth_blockNumber", [])  # type: ignore[arg-type]
            health = provider.stats().endpoint_states[0].health
            assert health is not None
            return health.state

    def script(request: ReceivedRequest, connection: Connection) -> None:
        if request.methods == ["eth_chainId"] and request.path == "/":
            connection.respond(502, "")
        elif request.methods == ["eth_gasPrice"]:
            connection.hang()
        else:
            respond_with({})(request, connection)

    with FaultServer(script) as server:
        assert asyncio.run(run(server)) == "closed"


@BOTH
def test_a_failure_of_all_endpoints_lists_them_without_keys(kind: str) -> None:
    def echo_keys(request: ReceivedRequest, connection: Connection) -> None:
        connection.respond(401, f"bad key in {request.path}")

    with two_servers(echo_keys, echo_keys) as (one, two):
        endpoints = [Endpoint(base_url=server.url, api_key=key) for server, key in zip((one, two), KEYS, strict=True)]
        with pytest.raises(KeyrailError) as caught:
            call(kind, {"endpoints": endpoints}, ("eth_blockNumber", []))
    failure = caught.value
    assert failure.kind == "auth"
    assert "2 endpoints were tried: " in str(failure)
    for key in KEYS:
        assert f"…{key[-4:]} (auth)" in str(failure)
        assert key not in str(failure)
        assert find_leaks(failure, key) == []
        assert find_leaks(endpoints, key) == []


def test_a_wrong_option_of_an_endpoint_does_not_show_the_key() -> None:
    for create in (
        lambda: Endpoint(base_url="https://node.example", api_key=KEYS[0], weight=-1),
        lambda: KeyrailProvider(endpoints=[Endpoint(base_url="https://node.example/", api_key=KEYS[0])]),
    ):
        with pytest.raises(KeyrailError) as caught:
            create()
        assert find_leaks(caught.value, KEYS[0]) == []


def test_network_and_chain_id_of_the_provider_hold_for_all_endpoints() -> None:
    def respond_on_chain(chain_id: int) -> Script:
        def script(request: ReceivedRequest, connection: Connection) -> None:
            body = {"jsonrpc": "2.0", "id": request.json["id"], "result": request.path}
            connection.respond(200, body, {"x-chain-id": str(chain_id)})

        return script

    with two_servers(respond_on_chain(5), respond_on_chain(1)) as (one, two):
        endpoints = [Endpoint(f"{one.url}/{{network}}"), Endpoint(f"{two.url}/other")]
        with KeyrailProvider(endpoints=endpoints, network="sepolia", chain_id=1, stats=True) as provider:
            assert provider.make_request("eth_gasPrice", [])["result"] == "/other"  # type: ignore[arg-type]
            assert provider.make_request("eth_gasPrice", [])["result"] == "/other"  # type: ignore[arg-type]
            first, second = provider.stats().endpoint_states
        assert [request.path for request in one.requests] == ["/sepolia"]
        assert "chain 5" in (first.out or "")
        assert second.out is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_can_use_the_endpoints_of_its_parent() -> None:
    with FaultServer(respond_with({})) as server:
        provider = KeyrailProvider(endpoints=[Endpoint(server.url), Endpoint(server.url)])
        sender: Any = provider._calls._sender
        with sender._choice._lock, sender._endpoints[0]._breaker._lock:
            child = os.fork()
            if child == 0:
                os._exit(int(provider.make_request("eth_gasPrice", [])["result"], 16))  # type: ignore[arg-type]
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        provider.close()
