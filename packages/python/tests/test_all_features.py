"""With failover, cache, budget, hooks and statistics on: threads, forks, event loops and cancelled calls get their own responses."""

from __future__ import annotations

import asyncio
import os
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from test_event_loops import client_sockets, needs_fds
from test_fork import Child, busy_threads
from test_subscribe import take
from web3 import AsyncWeb3

from keyrail import (
    AsyncKeyrailProvider,
    Budget,
    Cache,
    CallEvent,
    Endpoint,
    Failover,
    Hooks,
    KeyrailProvider,
    subscribe,
)
from keyrail.testing import MockNode

pytest_plugins = ["keyrail.testing.fixtures"]

LOOPS = 60
HEAD = "0x64"
# A final block, so that results are cached, and a recent one.
BLOCKS = ("0x1", "0x63")


def respond(request: ReceivedRequest, connection: Connection) -> None:
    """Fail now and then; otherwise return the first param of each call."""
    if random.random() < 0.05:
        connection.respond(503, "")
        return
    entries = [
        {"jsonrpc": "2.0", "id": call["id"], "result": call["params"][0] if call["params"] else HEAD}
        for call in request.calls
    ]
    connection.respond(200, entries if isinstance(request.json, list) else entries[0])


class Events:
    """Counts the starts and the ends of calls."""

    def __init__(self) -> None:
        self.started = 0
        self.ended = 0
        self._lock = threading.Lock()

    def record(self, event: CallEvent) -> None:
        with self._lock:
            self.started += event.type == "request"
            self.ended += event.type in ("response", "failure")

    def create_hooks(self) -> Hooks:
        return Hooks(on_request=self.record, on_response=self.record, on_failure=self.record)


@contextmanager
def two_endpoints(events: Events) -> Iterator[tuple[list[FaultServer], dict[str, Any]]]:
    with FaultServer(respond) as one, FaultServer(respond) as two:
        options = {
            "endpoints": [Endpoint(one.url, weight=1), Endpoint(two.url, weight=1)],
            "failover": Failover(min_block=True, breaker=False),
            "cache": Cache(finality_depth=8),
            "budget": Budget(requests_per_second=2_000, burst=20),
            "hooks": events.create_hooks(),
            "stats": True,
            "retry": {"retries": 20, "base_ms": 1},
            "timeout_ms": 60_000,
        }
        yield [one, two], options


def create_calls(count: int) -> list[tuple[Any, list[str]]]:
    """Create calls with a marker as the first param, each of them twice, so that some are cached."""
    own = f"{os.getpid()} {threading.get_ident()} {random.random()}"
    calls: list[tuple[Any, list[str]]] = [
        ("eth_getBalance", [f"{own} {at}", random.choice(BLOCKS)]) for at in range(count)
    ]
    return [*calls, *calls]


def find_wrong(provider: KeyrailProvider) -> list[Any]:
    # The cache learns from it which blocks are final.
    assert provider.make_request("eth_blockNumber", [])["result"] == HEAD  # type: ignore[arg-type]
    calls = create_calls(3)
    wrong: list[Any] = []
    for method, params in calls:
        value = provider.make_request(method, params)["result"]
        wrong += [] if value == params[0] else [value]
    settled = provider.batch_settled(calls)
    return wrong + [one for one, (_, params) in zip(settled, calls, strict=True) if one.value != params[0]]


async def find_wrong_async(provider: AsyncKeyrailProvider, count: int = 3) -> list[Any]:
    assert (await provider.make_request("eth_blockNumber", []))["result"] == HEAD  # type: ignore[arg-type]
    calls = create_calls(count)
    responses = await asyncio.gather(*(provider.make_request(method, params) for method, params in calls))
    values = [response["result"] for response in responses]
    values += [one.value for one in await provider.batch_settled(calls)]
    return [value for value, (_, params) in zip(values, [*calls, *calls], strict=True) if value != params[0]]


def test_threads_share_a_provider() -> None:
    events = Events()
    with (
        two_endpoints(events) as (servers, options),
        KeyrailProvider(**options) as provider,
        ThreadPoolExecutor(8) as pool,
    ):
        assert list(pool.map(lambda _: find_wrong(provider), range(24))) == [[]] * 24
        stats = provider.stats()
        assert all(server.requests for server in servers)
    assert events.started == events.ended == stats.calls
    assert stats.cached > 0
    assert all(state.budget and not any(state.budget.queued.values()) for state in stats.endpoint_states)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_children_share_a_provider_with_busy_threads_of_the_parent(kind: str) -> None:
    with two_endpoints(Events()) as (_, options), KeyrailProvider(**options) as provider:
        async_provider = AsyncKeyrailProvider(**options)

        def run() -> list[Any]:
            return find_wrong(provider) if kind == "sync" else asyncio.run(find_wrong_async(async_provider))

        with busy_threads(run, 4) as wrong_in_parent:
            for _ in range(4):
                children = [Child(run) for _ in range(3)]
                assert [child.result() for child in children] == [[]] * 3
        assert wrong_in_parent == []


@pytest.mark.slow
@needs_fds
def test_no_connection_is_open_after_each_of_many_runs() -> None:
    events = Events()
    with two_endpoints(events) as (servers, options):
        provider = AsyncKeyrailProvider(**options)
        for _ in range(LOOPS):
            assert asyncio.run(find_wrong_async(provider)) == []
            assert [client_sockets(server) for server in servers] == [0, 0]
    assert events.started == events.ended


@pytest.mark.slow
@needs_fds
def test_cancelled_calls_leave_nothing_behind() -> None:
    events = Events()

    async def run(provider: AsyncKeyrailProvider) -> None:
        tasks = [asyncio.create_task(find_wrong_async(provider, 5)) for _ in range(10)]
        for task in tasks[1:]:
            for _ in range(random.randrange(30)):
                await asyncio.sleep(0)
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        # A task that had ended was not cancelled.
        assert outcomes[0] == []
        assert all(one == [] or isinstance(one, asyncio.CancelledError) for one in outcomes)
        assert await find_wrong_async(provider, 5) == []

    with two_endpoints(events) as (servers, options):
        provider = AsyncKeyrailProvider(**options)
        for _ in range(8):
            asyncio.run(run(provider))
            assert [client_sockets(server) for server in servers] == [0, 0]
        stats = provider.stats()
    assert events.started == events.ended == stats.calls
    assert all(state.budget and not any(state.budget.queued.values()) for state in stats.endpoint_states)


@pytest.mark.slow
@needs_fds
@pytest.mark.parametrize("web_socket", [True, False])
def test_no_descriptor_is_open_after_many_subscriptions(web_socket: bool) -> None:
    async def run(node: MockNode, provider: AsyncKeyrailProvider, is_cancelled: bool) -> None:
        options: Any = {"polling_interval_ms": 10, "web_socket": web_socket}
        blocks = subscribe(AsyncWeb3(provider), blocks=True, from_block=node.block_number, **options)
        assert await take(blocks, 1) == [f"+{node.block_number}"]
        waiting = asyncio.ensure_future(take(blocks, 1))
        subscribed = len(node.calls("eth_subscribe"))
        while web_socket and len(node.calls("eth_subscribe")) == subscribed:
            await asyncio.sleep(0.001)
        if is_cancelled:
            waiting.cancel()
            await asyncio.wait([waiting])
        else:
            node.mine()
            assert await waiting == [f"+{node.block_number}"]
        await blocks.aclose()

    with MockNode() as node:
        provider = AsyncKeyrailProvider(node.url)
        for at in range(LOOPS):
            asyncio.run(run(node, provider, at % 2 == 0))
            assert client_sockets(node) == 0  # type: ignore[arg-type]


@needs_fds
def test_closing_a_subscription_closes_its_connection(mock_node: MockNode) -> None:
    async def run(**what: Any) -> None:
        async with AsyncKeyrailProvider(mock_node.url) as provider:
            events = subscribe(AsyncWeb3(provider), **what)
            waiting = asyncio.ensure_future(take(events, 1))
            subscribed = len(mock_node.calls("eth_subscribe"))
            while len(mock_node.calls("eth_subscribe")) == subscribed:
                await asyncio.sleep(0.001)
            sender = mock_node.accounts[0].address
            await AsyncWeb3(provider).eth.send_transaction({"from": sender, "to": sender})
            await waiting
            before = client_sockets(mock_node)  # type: ignore[arg-type]
            await events.aclose()
            # asyncio closes a socket in the next turn of its loop.
            await asyncio.sleep(0)
            assert client_sockets(mock_node) == before - 1  # type: ignore[arg-type]

    asyncio.run(run(pending=True))
    asyncio.run(run(blocks=True))
