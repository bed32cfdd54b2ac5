"""A program that uses the whole package. Type checkers find nothing, and infer what ``assert_type`` says."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, assert_type

from web3 import AsyncWeb3, Web3

from keyrail import (
    AsyncKeyrailProvider,
    Breaker,
    Budget,
    Cache,
    Endpoint,
    Failover,
    FailureEvent,
    FailureKind,
    Hooks,
    KeyrailError,
    KeyrailProvider,
    LogCursor,
    Settled,
    SettledError,
    SettledValue,
    async_logs,
    call_options,
    logs,
)


def show_failure(event: FailureEvent) -> None:
    """Print an event."""
    assert_type(event.kind, FailureKind)
    assert_type(event.status, int | None)


def connect(key: str) -> KeyrailProvider:
    """Create a provider with each option."""
    return KeyrailProvider(
        base_url={"mainnet": "https://node.example/mainnet", "sepolia": "https://node.example/sepolia"},
        api_key=lambda: key,
        network="sepolia",
        chain_id={"sepolia": 11155111},
        jwt="a.b.c",
        headers={"x-team": "wallet"},
        proxy=False,
        ssl_context=ssl.create_default_context(),
        timeout_ms=10_000,
        retry={"retries": 2, "base_ms": 100},
        batch={"max_calls": 50},
        max_response_bytes=10**6,
        max_in_flight=8,
        resends=1,
        hooks=Hooks(on_failure=show_failure, on_retry=lambda event: print(event.wait_ms)),
        stats=True,
        tracing=True,
        cache=Cache(max_bytes=2**20, finality_depth=64),
        cache_allowed_requests=True,
        request_cache_validation_threshold=None,
    )


def connect_to_several(key: str) -> KeyrailProvider:
    """Create a provider with several endpoints."""
    endpoints = [
        Endpoint("https://one.example", weight=3, name="main", budget=Budget(requests_per_second=25)),
        Endpoint(base_url="https://two.example/{network}", api_key=lambda: key, weight=1),
    ]
    failover = Failover(attempt_timeout_ms=2_000, min_block=True, breaker=Breaker(failures=3))
    budget = Budget(compute_units_per_second=300, compute_units={"eth_call": 30}, max_wait_ms=5_000)
    return KeyrailProvider(endpoints=endpoints, failover=failover, budget=budget, network="sepolia", chain_id=11155111)


def show(outcome: Settled) -> str:
    """Narrow an outcome by ``error``, ``ok`` and class."""
    if outcome.ok is True:
        assert_type(outcome.error, None)
    if isinstance(outcome, SettledError):
        assert_type(outcome.error, KeyrailError)
    if outcome.error is None:
        assert_type(outcome, SettledValue)
        return str(outcome.value)
    assert_type(outcome, SettledError)
    assert_type(outcome.error.kind, FailureKind)
    return outcome.error.kind


def read(provider: KeyrailProvider, cursor: LogCursor | None = None) -> None:
    """Use the synchronous provider."""
    w3 = Web3(provider)
    try:
        for log in logs(w3, from_block=0, to_block="finalized", cursor=cursor):
            print(log["blockNumber"])
    except KeyrailError as error:
        if error.reorg is not None:
            assert_type(error.reorg.from_block, int)
        assert_type(error.retry_after_ms, float | None)
    with call_options(timeout_ms=2_000, retries=0, min_block=100, priority="poll"):
        assert_type(w3.eth.chain_id, int)
    for outcome in provider.batch_settled([("eth_chainId", [])]):
        print(show(outcome))
    assert_type(provider.redacted_url, str)
    stats = provider.stats()
    assert_type(stats.latency.p95_ms, float | None)
    for state in stats.endpoint_states:
        assert_type(state.head, int)
        assert_type(state.out, str | None)
        if state.health is not None:
            assert_type(state.health.success_rate, float | None)
        if state.budget is not None:
            assert_type(state.budget.queued["read"], int)
    assert_type(stats.endpoints[provider.redacted_url].requests, int)


async def get_headers() -> dict[str, str]:
    """Return the headers of a request."""
    await asyncio.sleep(0)
    return {"x-token": "token"}


async def read_async(key: str) -> None:
    """Use the asynchronous provider."""
    async with AsyncKeyrailProvider("https://node.example/rpc", headers=get_headers) as provider:
        assert_type(provider, AsyncKeyrailProvider)
        w3: AsyncWeb3[Any] = AsyncWeb3(provider)
        async for log in async_logs(w3, from_block=0):
            print(log["logIndex"])
        print([show(outcome) for outcome in await provider.batch_settled([("eth_chainId", [])])])
    AsyncKeyrailProvider(rpc_url="https://node.example/rpc", api_key=key)


KeyrailProvider(timeout=5)  # type: ignore[arg-type]
KeyrailProvider(base_url=5)  # type: ignore[arg-type]
KeyrailProvider("https://node.example", {})  # type: ignore[arg-type]
KeyrailProvider(headers=get_headers)  # type: ignore[arg-type]
call_options(priority="urgent")  # type: ignore[arg-type]
