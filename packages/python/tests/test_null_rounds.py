"""Chains that skip numbers, as Filecoin does in a round without a miner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chain_server import ChainServer, NodeError
from null_rounds import add_null_rounds, to_round
from subscription_server import Chain, SubscriptionServer
from web3 import AsyncWeb3, Web3

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, ReorgEvent, async_logs, logs, subscribe

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
RESPONSES = pytest.mark.parametrize("response", ["error", "null"])
FAST: dict[str, Any] = {"polling_interval_ms": 10}
CODE = 12


def rounds(first: int, last: int) -> list[int]:
    return [to_round(index) for index in range(first, last + 1)]


# Subscriptions


def create_chain(response: str) -> Chain:
    chain: Any = Chain()

    def respond_to_missing(method: str, message: str) -> Any:
        is_null = response == "null" and method == "eth_getBlockByNumber"
        return None if is_null else {"error": {"code": CODE, "message": message}}

    chain.respond = add_null_rounds(chain.respond, respond_to_missing)
    created: Chain = chain
    return created


def follow(chain: Chain, test: Callable[[AsyncWeb3[Any]], Any]) -> None:
    async def main() -> None:
        server = SubscriptionServer(chain)
        async with server, AsyncKeyrailProvider(server.url, retry=False) as provider:
            await asyncio.wait_for(test(AsyncWeb3(provider)), 60)

    asyncio.run(main())


async def take_numbers(subscription: Any, count: int) -> list[int]:
    events = [await subscription.__anext__() for _ in range(count)]
    return [event.header.number if event.type == "block" else event.log.blockNumber for event in events]


@RESPONSES
def test_blocks_are_followed_by_the_hashes_of_their_parents(response: str) -> None:
    chain = create_chain(response)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=2, **FAST) as subscription:
            assert await take_numbers(subscription, 1) == [2]
            chain.mine(7)
            assert await take_numbers(subscription, 7) == rounds(3, 9)
            cursor = subscription.cursor()
        # Also from a number without a block, and from a cursor.
        async with subscribe(w3, blocks=True, from_block=4, **FAST) as subscription:
            assert await take_numbers(subscription, 6) == rounds(4, 9)
        chain.mine(1)
        async with subscribe(w3, blocks=True, cursor=cursor, **FAST) as subscription:
            assert await take_numbers(subscription, 1) == rounds(10, 10)

    follow(chain, test)


@RESPONSES
def test_logs_of_all_blocks_are_reported(response: str) -> None:
    chain = create_chain(response)
    chain.mine(20)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, logs={}, from_block=4, **FAST) as subscription:
            expected = [to_round(index) for index in range(4, 23) for _ in range(index % 3)]
            assert await take_numbers(subscription, len(expected)) == expected

    follow(chain, test)


@RESPONSES
def test_a_reorganization_across_a_gap_is_followed(response: str) -> None:
    chain = create_chain(response)
    chain.mine(3)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=3, **FAST) as subscription:
            assert await take_numbers(subscription, 3) == rounds(3, 5)
            chain.reorg(2, 3, branch=1)
            event = await subscription.__anext__()
            assert isinstance(event, ReorgEvent)
            assert (event.ancestor["number"], event.ancestor["hash"].to_0x_hex()) == (3, chain.blocks[3][1])
            assert [one.number for one in event.removed] == [to_round(5), to_round(4)]
            assert await take_numbers(subscription, 3) == rounds(4, 6)

    follow(chain, test)


def test_a_node_that_lacks_a_block_is_behind() -> None:
    chain: Any = Chain()
    chain.mine(3)
    respond = chain.respond
    is_behind = True
    chain.respond = lambda method, params: (
        None if is_behind and method == "eth_getBlockByNumber" and params[0] == "0x4" else respond(method, params)
    )
    failures: list[KeyrailError] = []

    def on_error(failure: KeyrailError) -> None:
        nonlocal is_behind
        failures.append(failure)
        is_behind = len(failures) < 2

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=3, on_error=on_error, **FAST) as subscription:
            assert await take_numbers(subscription, 3) == [3, 4, 5]
        assert [failure.kind for failure in failures] == ["lagging", "lagging"]

    follow(chain, test)


def test_a_head_far_above_the_blocks_of_a_node_does_not_cause_endless_requests() -> None:
    chain: Any = Chain()
    respond = chain.respond

    def far_head(method: str, params: Any) -> Any:
        found = respond(method, params)
        is_latest = method == "eth_getBlockByNumber" and params[0] == "latest"
        return {**found, "number": hex(2**50)} if is_latest else found

    chain.respond = far_head

    async def test(w3: AsyncWeb3[Any]) -> None:
        failures: list[KeyrailError] = []

        class Enough(Exception):
            pass

        def on_error(failure: KeyrailError) -> None:
            failures.append(failure)
            raise Enough

        with pytest.raises(Enough):
            async for _ in subscribe(w3, blocks=True, from_block=1, on_error=on_error, **FAST):
                pass
        assert failures[0].kind == "lagging"

    follow(chain, test)


# Ranges


def read_logs(kind: str, url: str, options: dict[str, Any]) -> tuple[list[int], Any]:
    """Return the numbers of the blocks of the logs, and the cursor."""
    if kind == "sync":
        with KeyrailProvider(url, retry=False) as provider:
            iteration = logs(Web3(provider), **options)
            return [log["blockNumber"] for log in iteration], iteration.cursor

    async def run() -> tuple[list[int], Any]:
        async with AsyncKeyrailProvider(url, retry=False) as provider:
            iteration = async_logs(AsyncWeb3(provider), **options)
            return [log["blockNumber"] async for log in iteration], iteration.cursor

    return asyncio.run(run())


@pytest.fixture
def server() -> Iterator[ChainServer]:
    with ChainServer([1] * 12) as server:
        yield server


def skip_numbers(server: ChainServer, response: str) -> None:
    valid = server.call

    def call(method: str, params: Any) -> Any:
        result = valid(method, params)
        if method == "eth_getBlockByNumber" and result:
            number = int(result["number"], 16)
            result["parentHash"] = server.get_hash(number - 1) if number else "0x" + "0" * 64
        return result

    def respond_to_missing(method: str, message: str) -> Any:
        if response == "null" and method == "eth_getBlockByNumber":
            return None
        raise NodeError(CODE, message)

    patched: Any = server
    patched.call = add_null_rounds(call, respond_to_missing)


@BOTH
@RESPONSES
@pytest.mark.parametrize("check_reorg", [False, True])
@pytest.mark.parametrize("max_blocks", [1, 2, 3, 100])
def test_a_range_is_read(server: ChainServer, kind: str, response: str, check_reorg: bool, max_blocks: int) -> None:
    skip_numbers(server, response)
    options = {"from_block": 4, "max_blocks": max_blocks, "check_reorg": check_reorg}
    assert read_logs(kind, server.url, options)[0] == rounds(4, 12)
    assert read_logs(kind, server.url, {**options, "from_block": 1, "to_block": 8})[0] == [1, 2, 3, 6, 7]


@RESPONSES
def test_a_range_is_exported(server: ChainServer, response: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'keyrail[parquet]'")
    skip_numbers(server, response)
    with KeyrailProvider(server.url, retry=False) as provider:
        exported = logs(Web3(provider), from_block=4, max_blocks=2, check_reorg=True).to_parquet(
            tmp_path / "logs.parquet"
        )
    assert exported.logs == 9


@BOTH
@RESPONSES
def test_a_reorganization_of_the_blocks_around_a_gap_is_noticed(server: ChainServer, kind: str, response: str) -> None:
    skip_numbers(server, response)
    numbers, cursor = read_logs(kind, server.url, {"from_block": 1, "to_block": 5, "check_reorg": True})
    assert numbers == [1, 2, 3]
    resumed = {"from_block": 1, "check_reorg": True, "cursor": cursor}
    assert read_logs(kind, server.url, resumed)[0] == rounds(4, 12)
    server.reorg(10)
    with pytest.raises(KeyrailError) as caught:
        read_logs(kind, server.url, resumed)
    assert caught.value.reorg is not None


@BOTH
def test_a_node_without_a_block_of_a_range_is_behind(server: ChainServer, kind: str) -> None:
    valid = server.call
    patched: Any = server
    patched.call = lambda method, params: (
        None
        if method == "eth_getBlockByNumber" and params[0] not in ("latest", "0x0", "0x1", "0x2")
        else valid(method, params)
    )
    with pytest.raises(KeyrailError) as caught:
        read_logs(kind, server.url, {"from_block": 1, "to_block": 5, "check_reorg": True})
    assert (caught.value.kind, caught.value.retryable) == ("lagging", True)


@BOTH
@pytest.mark.parametrize("message", ["requested epoch was a null round", "null round (77)", "null round (100)"])
def test_a_range_that_the_node_does_not_name_is_not_skipped(kind: str, message: str) -> None:
    with ChainServer([1] * 30) as server:

        def before(method: str, _: Any) -> None:
            if method == "eth_getLogs":
                raise NodeError(CODE, message)

        server.before = before
        with pytest.raises(KeyrailError, match="null round"):
            read_logs(kind, server.url, {"from_block": 1, "to_block": 20})
        assert len(server.get_calls("eth_getLogs")) == 1


@BOTH
def test_a_node_that_names_every_block_does_not_cause_endless_requests(kind: str) -> None:
    with ChainServer([1] * 500) as server:

        def before(method: str, params: Any) -> None:
            if method == "eth_getLogs":
                raise NodeError(CODE, f"null round ({params[0]['fromBlock']})")

        server.before = before
        with pytest.raises(KeyrailError, match="null round"):
            read_logs(kind, server.url, {"from_block": 1, "to_block": 400})
        assert len(server.get_calls("eth_getLogs")) == 65
