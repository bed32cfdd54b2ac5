"""Calls do not depend on the system clock."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

DAY_S = 86_400


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("jump_s", [-DAY_S, -1, 1, DAY_S, -1_000_000_000])
def test_calls_retries_and_deadlines_ignore_the_system_clock(kind: str, jump_s: int, monkeypatch: Any) -> None:
    real_time = time.time
    jumps = itertools.count()
    # The clock jumps each time it is read.
    monkeypatch.setattr(time, "time", lambda: real_time() + jump_s * next(jumps))

    def script(request: ReceivedRequest, connection: Connection) -> None:
        if request.methods == ["eth_gasPrice"]:
            connection.hang()
        if len(server.requests) % 2:
            connection.respond(429, {}, {"retry-after": "0.01"})
        else:
            connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": "0x1"})

    async def run(url: str) -> None:
        async with AsyncKeyrailProvider(url=url, retry={"base_ms": 1}) as provider:
            for _ in range(3):
                assert (await provider.make_request("eth_blockNumber", []))["result"] == "0x1"  # type: ignore[arg-type]
        async with AsyncKeyrailProvider(url=url, timeout_ms=150) as provider:
            await provider.make_request("eth_gasPrice", [])  # type: ignore[arg-type]

    def run_both(url: str) -> None:
        if kind == "async":
            asyncio.run(run(url))
            return
        with KeyrailProvider(url=url, retry={"base_ms": 1}) as provider:
            for _ in range(3):
                assert provider.make_request("eth_blockNumber", [])["result"] == "0x1"  # type: ignore[arg-type]
        with KeyrailProvider(url=url, timeout_ms=150) as provider:
            provider.make_request("eth_gasPrice", [])  # type: ignore[arg-type]

    with FaultServer(script) as server, pytest.raises(KeyrailError) as caught:
        run_both(server.url)
    assert caught.value.kind == "timeout"
    assert server.methods.count("eth_blockNumber") == 6
