"""Hooks and counters."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest, Script, respond_with_one

from keyrail import AsyncKeyrailProvider, CallEvent, Hooks, KeyrailError, KeyrailProvider, ProviderStats
from keyrail.observe.latency_histogram import LatencyHistogram

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
KEY = "notARealKeyAtAll1234"


def run(kind: str, options: dict[str, Any], *calls: Any) -> ProviderStats:
    """Make calls, each a method or a list of methods for a batch. Failures are ignored. Returns the counters."""
    if kind == "sync":
        with KeyrailProvider(**options) as provider:
            for call in calls:
                if isinstance(call, list):
                    provider.batch_settled([(method, []) for method in call])
                    continue
                try:
                    provider.make_request(call, [])
                except KeyrailError:
                    continue
            return provider.stats()

    async def run_async() -> ProviderStats:
        async with AsyncKeyrailProvider(**options) as provider:
            for call in calls:
                if isinstance(call, list):
                    await provider.batch_settled([(method, []) for method in call])
                    continue
                try:
                    await provider.make_request(call, [])
                except KeyrailError:
                    continue
            return provider.stats()

    return asyncio.run(run_async())


def record(events: list[CallEvent]) -> Hooks:
    add: Callable[[CallEvent], None] = events.append
    return Hooks(on_request=add, on_attempt=add, on_retry=add, on_reroute=add, on_response=add, on_failure=add)


def fail_first(status: int, body: Any = "") -> Script:
    seen: list[ReceivedRequest] = []

    def script(request: ReceivedRequest, connection: Connection) -> None:
        seen.append(request)
        if len(seen) == 1:
            connection.respond(status, body)
        else:
            respond_with_one(request, connection)

    return script


@BOTH
def test_a_call_has_a_request_event_an_attempt_event_and_a_response_event(kind: str) -> None:
    events: list[CallEvent] = []
    with FaultServer() as server:
        url = server.url
        run(kind, {"url": url, "hooks": record(events)}, "eth_blockNumber", "eth_gasPrice")
    shown = [(event.id, event.type, event.method) for event in events]
    methods = ["eth_blockNumber", "eth_gasPrice"]
    assert shown == [(at + 1, t, m) for at, m in enumerate(methods) for t in ("request", "attempt", "response")]
    response = events[2]
    assert response.type == "response"
    assert (response.attempts, response.queued_ms, response.cached) == (1, 0, False)
    assert 0 < response.duration_ms < 5_000
    assert response.redacted_url == url


@BOTH
def test_a_retry_is_an_event_and_is_counted(kind: str) -> None:
    events: list[CallEvent] = []
    with FaultServer(fail_first(503)) as server:
        url = server.url
        options = {"url": url, "hooks": record(events), "stats": True, "retry": {"base_ms": 1}}
        stats = run(kind, options, "eth_blockNumber")
    assert [event.type for event in events] == ["request", "attempt", "retry", "attempt", "response"]
    first, retry, second = events[1:4]
    assert first.type == second.type == "attempt"
    assert retry.type == "retry"
    assert (first.attempt, first.kind, first.batch_size) == (1, "unavailable", 1)
    assert (retry.attempt, retry.kind) == (1, "unavailable")
    assert (second.attempt, second.kind) == (2, None)
    assert (stats.calls, stats.answered, stats.failed, stats.requests, stats.retries) == (1, 1, 0, 2, 1)
    endpoint = stats.endpoints[url]
    assert (endpoint.requests, endpoint.failed, endpoint.failed_by_kind) == (2, 1, {"unavailable": 1})
    assert (stats.latency.count, endpoint.latency.count) == (1, 2)


@BOTH
def test_a_failure_event_has_the_facts_of_the_error(kind: str) -> None:
    events: list[CallEvent] = []
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "the method does not exist"}}
    with FaultServer(fail_first(200, error)) as server:
        stats = run(kind, {"url": server.url, "hooks": record(events), "stats": True}, "eth_noSuchMethod")
    failure = events[-1]
    assert failure.type == "failure"
    assert (failure.kind, failure.source, failure.status, failure.code) == ("methodUnavailable", "node", 200, -32601)
    assert (stats.failed, stats.failed_by_kind, stats.in_flight) == (1, {"methodUnavailable": 1}, 0)


@BOTH
def test_each_call_of_a_batch_has_events_and_the_batch_is_one_request(kind: str) -> None:
    events: list[CallEvent] = []
    with FaultServer() as server:
        options = {"url": server.url, "hooks": record(events), "stats": True}
        stats = run(kind, options, ["eth_blockNumber", "eth_gasPrice", "eth_syncing"])
    assert [event.type for event in events] == ["request"] * 3 + ["attempt"] * 3 + ["response"] * 3
    attempt = events[3]
    assert attempt.type == "attempt"
    assert attempt.batch_size == 3
    assert (stats.calls, stats.requests, stats.batches, stats.batched_calls) == (3, 1, 1, 3)


@BOTH
def test_a_known_chain_id_is_a_cached_response(kind: str) -> None:
    events: list[CallEvent] = []
    with FaultServer() as server:
        options = {"url": server.url, "hooks": record(events), "stats": True}
        stats = run(kind, options, "eth_chainId", "eth_chainId")
    last = events[-1]
    assert last.type == "response"
    assert (last.cached, last.attempts) == (True, 0)
    assert (stats.calls, stats.requests, stats.cached) == (2, 1, 1)


@BOTH
def test_an_exception_of_a_hook_is_counted_and_changes_nothing(kind: str) -> None:
    def fail(_: CallEvent) -> None:
        raise RuntimeError("a bug of the user")

    with FaultServer() as server:
        stats = run(kind, {"url": server.url, "hooks": Hooks(on_request=fail, on_response=fail)}, "eth_blockNumber")
    assert (stats.answered, stats.hook_errors) == (1, 2)


@BOTH
def test_look_ups_of_a_transaction_are_attempts_of_its_call(kind: str) -> None:
    raw = "0x02" + "c0"
    events: list[CallEvent] = []

    def script(request: ReceivedRequest, connection: Connection) -> None:
        if request.methods == ["eth_sendRawTransaction"]:
            connection.respond(503, "")
        else:
            transaction = {"hash": request.json["params"][0]}
            connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": transaction})

    with FaultServer(script) as server:
        options: dict[str, Any] = {"url": server.url, "hooks": record(events)}
        if kind == "sync":
            with KeyrailProvider(**options) as provider:
                provider.make_request("eth_sendRawTransaction", [raw])  # type: ignore[arg-type]
        else:

            async def send() -> None:
                async with AsyncKeyrailProvider(**options) as provider:
                    await provider.make_request("eth_sendRawTransaction", [raw])  # type: ignore[arg-type]

            asyncio.run(send())
    assert [event.type for event in events] == ["request", "attempt", "attempt", "response"]
    assert {event.method for event in events} == {"eth_sendRawTransaction"}


def test_a_cancelled_call_ends_with_the_kind_aborted() -> None:
    events: list[CallEvent] = []

    async def cancel(provider: AsyncKeyrailProvider, server: FaultServer) -> None:
        calls = [
            asyncio.create_task(provider.make_request("eth_blockNumber", [])),  # type: ignore[arg-type]
            asyncio.create_task(provider.batch_settled([("eth_gasPrice", []), ("eth_sign", [])])),
        ]
        while len(server.requests) < 3:
            await asyncio.sleep(0.01)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    async def run_async(server: FaultServer) -> ProviderStats:
        async with AsyncKeyrailProvider(server.url, hooks=record(events), stats=True) as provider:
            await cancel(provider, server)
            return provider.stats()

    with FaultServer(lambda request, connection: connection.hang()) as server:
        stats = asyncio.run(run_async(server))
    failures = [event for event in events if event.type == "failure"]
    assert {(event.method, event.kind, event.source) for event in failures} == {
        (method, "aborted", None) for method in ("eth_blockNumber", "eth_gasPrice", "eth_sign")
    }
    assert (stats.failed, stats.in_flight) == (3, 0)


@BOTH
def test_no_event_and_no_counter_contains_the_key_or_the_params(kind: str) -> None:
    events: list[CallEvent] = []
    body = {"jsonrpc": "2.0", "id": 1, "error": {"code": 3, "message": f"{KEY} reverted", "data": KEY}}
    with FaultServer(fail_first(200, body)) as server:
        options = {"base_url": server.url, "api_key": lambda: KEY, "hooks": record(events), "stats": True}
        stats = run(kind, options, "eth_blockNumber", "eth_gasPrice")
    assert len(events) == 6
    shown = repr(events) + json.dumps(asdict(stats))
    assert KEY not in shown
    assert "…1234" in shown or "\\u20261234" in shown


def test_key_rotation_does_not_grow_the_counters() -> None:
    keys = iter(f"notARealKeyAtAll{at:04}" for at in range(100))
    with (
        FaultServer() as server,
        KeyrailProvider(base_url=server.url, api_key=lambda: next(keys), stats=True) as provider,
    ):
        for _ in range(100):
            provider.make_request("eth_blockNumber", [])  # type: ignore[arg-type]
        stats = provider.stats()
    assert len(stats.endpoints) == 65
    assert stats.endpoints["(others)"].requests == 36


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_can_use_the_counters_of_its_parent() -> None:
    with FaultServer() as server, KeyrailProvider(server.url, stats=True) as provider:
        assert provider._observer is not None
        with provider._observer.lock:
            child = os.fork()
            if child == 0:
                provider.make_request("eth_blockNumber", [])  # type: ignore[arg-type]
                os._exit(provider.stats().answered)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_stats_needs_its_option() -> None:
    with pytest.raises(KeyrailError, match="Pass stats=True"):
        KeyrailProvider("https://node.example").stats()


def test_percentiles_are_estimated_from_the_buckets() -> None:
    histogram = LatencyHistogram()
    assert histogram.snapshot().p50_ms is None
    for ms in [1] * 90 + [120] * 10:
        histogram.add(ms)
    stats = histogram.snapshot()
    assert (stats.count, stats.sum_ms, stats.max_ms) == (100, 1_290, 120)
    assert stats.p50_ms == pytest.approx(0.7 + 0.3 * 50 / 90)
    assert stats.p95_ms == pytest.approx(120)
    assert len(stats.bounds_ms) == 37
    assert (stats.bounds_ms[0], stats.bounds_ms[-1], len(stats.counts)) == (0.1, 100_000, 38)
