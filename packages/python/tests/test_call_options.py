"""Options for some calls only."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest, respond_with_one

from keyrail import AsyncKeyrailProvider, Endpoint, KeyrailError, KeyrailProvider, call_options
from keyrail.transport.call_options import get_call_options

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


def get_failure(kind: str, options: dict[str, Any], own: dict[str, Any]) -> KeyrailError:
    """Make a call in a block with options, and return its failure."""

    def run_sync() -> None:
        with KeyrailProvider(**options) as provider, call_options(**own):
            provider.make_request("eth_gasPrice", [])  # type: ignore[arg-type]

    async def run() -> None:
        async with AsyncKeyrailProvider(**options) as provider:
            with call_options(**own):
                await provider.make_request("eth_gasPrice", [])  # type: ignore[arg-type]

    with pytest.raises(KeyrailError) as caught:
        run_sync() if kind == "sync" else asyncio.run(run())
    assert get_call_options() is None
    return caught.value


@BOTH
def test_timeout_ms_limits_one_call(kind: str) -> None:
    with FaultServer(lambda request, connection: connection.hang()) as server:
        failure = get_failure(kind, {"url": server.url}, {"timeout_ms": 150})
    assert failure.kind == "timeout"
    assert "no response within 150 ms" in str(failure)


@BOTH
def test_retries_limits_one_call(kind: str) -> None:
    with FaultServer(lambda request, connection: connection.respond(503, "")) as server:
        failure = get_failure(kind, {"url": server.url, "retry": {"base_ms": 1}}, {"retries": 1})
        assert len(server.requests) == 2
    assert failure.kind == "unavailable"


@BOTH
def test_min_block_rejects_older_results(kind: str) -> None:
    def script(request: ReceivedRequest, connection: Connection) -> None:
        if request.methods == ["eth_blockNumber"]:
            connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "result": "0x63"})
        else:
            respond_with_one(request, connection)

    with FaultServer(script) as server:
        options: dict[str, Any] = {"endpoints": [Endpoint(server.url)], "retry": False}
        if kind == "sync":
            with KeyrailProvider(**options) as provider:
                with call_options(min_block=99):
                    provider.make_request("eth_getBalance", ["0x1", "latest"])  # type: ignore[arg-type]
                with call_options(min_block=100), pytest.raises(KeyrailError) as caught:
                    provider.make_request("eth_getBalance", ["0x1", "latest"])  # type: ignore[arg-type]
        else:

            async def run() -> None:
                async with AsyncKeyrailProvider(**options) as provider:
                    with call_options(min_block=99):
                        await provider.make_request("eth_getBalance", ["0x1", "latest"])  # type: ignore[arg-type]
                    with call_options(min_block=100):
                        await provider.make_request("eth_getBalance", ["0x1", "latest"])  # type: ignore[arg-type]

            with pytest.raises(KeyrailError) as caught:
                asyncio.run(run())
        balances = [request for request in server.requests if request.methods == ["eth_getBalance"]]
        assert [request.json["params"] for request in balances] == [["0x1", "0x63"]]
    assert caught.value.kind == "lagging"


def test_min_block_needs_endpoints() -> None:
    with KeyrailProvider("https://node.example") as provider, call_options(min_block=True):
        with pytest.raises(KeyrailError, match="min_block works only with endpoints"):
            provider.make_request("eth_blockNumber", [])  # type: ignore[arg-type]
        with pytest.raises(KeyrailError, match="min_block works only with endpoints"):
            provider.batch_settled([("eth_blockNumber", [])])


def test_an_inner_block_keeps_the_options_of_the_outer_one() -> None:
    with call_options(timeout_ms=5_000, retries=2):
        with call_options(retries=0, priority="poll"):
            options = get_call_options()
            assert options is not None
            assert (options.timeout_ms, options.retries, options.priority) == (5_000, 0, "poll")
        outer = get_call_options()
        assert outer is not None
        assert (outer.retries, outer.priority) == (2, None)


def test_other_threads_and_tasks_keep_their_own_options() -> None:
    async def get_in_task(retries: int) -> int | None:
        with call_options(retries=retries):
            await asyncio.sleep(0.01)
            options = get_call_options()
            assert options is not None
            return options.retries

    async def run() -> list[int | None]:
        return await asyncio.gather(*(get_in_task(retries) for retries in range(5)))

    assert asyncio.run(run()) == list(range(5))
    with call_options(retries=0), ThreadPoolExecutor(1) as pool:
        assert pool.submit(get_call_options).result() is None
