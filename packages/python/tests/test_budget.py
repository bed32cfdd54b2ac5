"""Budgets, over HTTP with both providers."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest, respond_with_one

from keyrail import (
    AsyncKeyrailProvider,
    Budget,
    BudgetStats,
    Endpoint,
    Hooks,
    KeyrailError,
    KeyrailProvider,
    ResponseEvent,
    RpcRequest,
)

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


@BOTH
def test_concurrent_calls_are_spaced_out_and_their_wait_is_counted(kind: str) -> None:
    responses: list[ResponseEvent] = []
    options: dict[str, Any] = {
        "budget": Budget(requests_per_second=1, burst=1),
        # Less than the last call waits.
        "timeout_ms": 3_500,
        "hooks": Hooks(on_response=responses.append),
        "stats": True,
    }
    started = time.monotonic()
    with FaultServer() as server:
        if kind == "sync":
            with KeyrailProvider(server.url, **options) as provider, ThreadPoolExecutor(5) as pool:
                calls = [pool.submit(provider.make_request, "eth_getBalance", []) for _ in range(5)]  # type: ignore[arg-type]
                assert [call.result(30)["result"] for call in calls] == ["0x1"] * 5
                stats = provider.stats()
        else:

            async def run() -> Any:
                async with AsyncKeyrailProvider(server.url, **options) as provider:
                    await asyncio.gather(*(provider.make_request("eth_getBalance", []) for _ in range(5)))  # type: ignore[arg-type]
                    return provider.stats()

            stats = asyncio.run(run())
        assert len(server.requests) == 5
    assert time.monotonic() - started > 3.9
    assert 1 <= stats.queued <= 4
    # The last one waits for all others, even if a busy machine starts it late.
    assert stats.queued_ms > 900
    assert sum(event.queued_ms for event in responses) == pytest.approx(stats.queued_ms)
    budget = stats.endpoint_states[0].budget
    assert budget is not None
    assert (budget.unit, budget.rate, budget.used, budget.left_today) == ("requests", 1, 5, None)
    assert budget.queued == {"write": 0, "read": 0, "poll": 0}


@BOTH
def test_a_batch_is_divided_by_the_burst(kind: str) -> None:
    requests: list[RpcRequest] = [("eth_getBalance", [])] * 12
    budget = Budget(requests_per_second=100, burst=5, requests_per_day=11)
    with FaultServer() as server:
        if kind == "sync":
            with KeyrailProvider(server.url, budget=budget) as provider:
                settled = provider.batch_settled(requests)
        else:

            async def run() -> Any:
                async with AsyncKeyrailProvider(server.url, budget=budget) as provider:
                    return await provider.batch_settled(requests)

            settled = asyncio.run(run())
        assert [len(request.calls) for request in server.requests] == [5, 5, 1]
    assert [one.error.kind if one.error else one.value for one in settled] == ["0x1"] * 11 + ["quota"]


@BOTH
def test_throttling_pauses_all_calls(kind: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        if len(server.requests) == 1:
            connection.respond(429, "", {"retry-after": "0.3"})
        else:
            respond_with_one(request, connection)

    with FaultServer(script) as server:
        if kind == "sync":
            with KeyrailProvider(server.url, budget=Budget()) as provider:
                provider.make_request("eth_getBalance", [])  # type: ignore[arg-type]
        else:

            async def run() -> None:
                async with AsyncKeyrailProvider(server.url, budget=Budget()) as provider:
                    await provider.make_request("eth_getBalance", [])  # type: ignore[arg-type]

            asyncio.run(run())
        first, second = server.requests
        assert second.at - first.at > 0.29


def test_a_cancelled_call_leaves_the_queue() -> None:
    async def run(server: FaultServer) -> None:
        budget = Budget(requests_per_second=0.5, burst=1)
        async with AsyncKeyrailProvider(server.url, budget=budget, stats=True) as provider:

            def get_budget() -> BudgetStats:
                found = provider.stats().endpoint_states[0].budget
                assert found is not None
                return found

            calls = [asyncio.create_task(provider.make_request("eth_getBalance", [])) for _ in range(4)]  # type: ignore[arg-type]
            while get_budget().queued["read"] < 3:
                await asyncio.sleep(0.01)
            for call in calls[1:3]:
                call.cancel()
            done = await asyncio.gather(*calls, return_exceptions=True)
            assert [isinstance(one, asyncio.CancelledError) for one in done] == [False, True, True, False]
            assert get_budget().used == 2
            assert get_budget().queued["read"] == 0

    with FaultServer() as server:
        asyncio.run(run(server))
        assert len(server.requests) == 2


def test_several_event_loops_share_one_budget() -> None:
    with FaultServer() as server:
        provider = AsyncKeyrailProvider(server.url, budget=Budget(requests_per_second=20, burst=1))

        async def run() -> None:
            await asyncio.gather(*(provider.make_request("eth_getBalance", []) for _ in range(3)))  # type: ignore[arg-type]

        threads = [threading.Thread(target=lambda: asyncio.run(run())) for _ in range(3)]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.requests) == 9
        assert time.monotonic() - started > 0.39


@BOTH
def test_a_call_goes_to_another_endpoint_rather_than_wait(kind: str) -> None:
    with FaultServer() as one, FaultServer() as two:
        endpoints = [Endpoint(one.url, budget=Budget(requests_per_second=1, burst=1)), Endpoint(two.url)]
        if kind == "sync":
            with KeyrailProvider(endpoints=endpoints) as provider:
                for _ in range(3):
                    provider.make_request("eth_getBalance", [])  # type: ignore[arg-type]
        else:

            async def run() -> None:
                async with AsyncKeyrailProvider(endpoints=endpoints) as provider:
                    for _ in range(3):
                        await provider.make_request("eth_getBalance", [])  # type: ignore[arg-type]

            asyncio.run(run())
        assert (len(one.requests), len(two.requests)) == (1, 2)


def test_a_rejected_call_was_not_sent() -> None:
    budget = Budget(requests_per_day=1)
    with FaultServer() as server, KeyrailProvider(server.url, budget=budget) as provider:
        provider.make_request("eth_getBalance", [])  # type: ignore[arg-type]
        with pytest.raises(KeyrailError) as caught:
            provider.make_request("eth_sendRawTransaction", ["0x02c0"])  # type: ignore[arg-type]
        assert len(server.requests) == 1
    failure = caught.value
    assert (failure.kind, failure.source) == ("quota", "client")
    assert failure.retry_after_ms is not None
    assert 0 < failure.retry_after_ms <= 86_400_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_does_not_wait_for_calls_of_its_parent() -> None:
    with FaultServer() as server:
        provider = KeyrailProvider(server.url, budget=Budget(requests_per_second=1_000))
        sender: Any = provider._calls._sender
        with sender._budget._lock:
            child = os.fork()
            if child == 0:
                os._exit(int(provider.make_request("eth_gasPrice", [])["result"], 16))  # type: ignore[arg-type]
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        provider.close()
