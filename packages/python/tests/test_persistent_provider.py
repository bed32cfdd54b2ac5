"""Subscriptions by web3.py's own interface."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from leak_walk import find_leaks
from subscription_server import Chain, Socket, SubscriptionServer
from web3 import AsyncWeb3
from web3.exceptions import Web3RPCError
from web3.types import RPCEndpoint
from web3.utils.subscriptions import (
    LogsSubscription,
    NewHeadsSubscription,
    PendingTxSubscription,
    SyncingSubscription,
)

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailPersistentProvider

KEY = "kr_persistent_0123456789"


def run(server: SubscriptionServer, test: Callable[[AsyncWeb3[Any]], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with server:
            provider = AsyncKeyrailProvider(base_url=server.url, api_key=KEY)
            async with AsyncWeb3(KeyrailPersistentProvider(provider, polling_interval_ms=10, **options)) as w3:
                await asyncio.wait_for(test(w3), 30)
            assert [task for task in asyncio.all_tasks() if "KeyrailPersistentProvider" in repr(task)] == []

    asyncio.run(main())


def test_handlers_receive_the_blocks_of_both_branches() -> None:
    chain = Chain()
    seen: list[str] = []

    async def handle(context: Any) -> None:
        seen.append(f"{context.result['number']} {context.result['hash'].hex()[:32].lstrip('0')}")
        if len(seen) == 2:
            chain.reorg(1, 2, branch=11)
        if len(seen) == 4:
            await context.subscription.unsubscribe()

    async def test(w3: AsyncWeb3[Any]) -> None:
        await w3.subscription_manager.subscribe(NewHeadsSubscription(handler=handle))
        handling = asyncio.create_task(w3.subscription_manager.handle_subscriptions())
        # The subscription has read its first head before the chain grows.
        while "eth_getBlockByNumber" not in server.calls:
            await asyncio.sleep(0.01)
        chain.mine(2)
        await handling
        assert seen == ["3 ", "4 ", "4 b", "5 b"]

    server = SubscriptionServer(chain)
    run(server, test)


def test_removed_logs_are_delivered_again_newest_first_over_a_web_socket() -> None:
    chain = Chain()
    chain.mine(2)

    async def script(socket: Socket) -> None:
        assert socket.params[1] == {"address": "0x" + "11" * 20, "topics": ["0x" + "22" * 32]}
        await socket.position(chain, chain.head)
        await release.wait()
        chain.mine(4)
        for number in (7, 8):
            for log in chain.logs(chain.blocks[number][1]):
                await socket.notify(result=log)
            await socket.position(chain, number)
        await socket.position(chain, 6)
        await asyncio.sleep(30)

    release = asyncio.Event()

    async def test(w3: AsyncWeb3[Any]) -> None:
        # As web3.py's users write them.
        logs = LogsSubscription(address=w3.to_checksum_address("0x" + "11" * 20), topics=["0x" + "22" * 32])
        await w3.subscription_manager.subscribe(logs)
        release.set()
        received = []
        async for message in w3.socket.process_subscriptions():
            log: Any = message["result"]
            received.append((log["blockNumber"], log["logIndex"], log["removed"]))
            if len(received) == 6:
                break
        assert received == [(7, 0, False), (8, 0, False), (8, 1, False), (8, 1, True), (8, 0, True), (7, 0, True)]

    run(SubscriptionServer(chain, script), test)


def test_pending_transactions_requests_and_batches() -> None:
    async def test(w3: AsyncWeb3[Any]) -> None:
        subscription = await w3.eth.subscribe("newPendingTransactions")
        async for message in w3.socket.process_subscriptions():
            assert message["subscription"] == subscription
            assert message["result"].hex() == "c" * 64
            break
        assert await w3.eth.chain_id == 1
        async with w3.batch_requests() as batch:
            batch.add(w3.eth.chain_id)
            batch.add(w3.eth.chain_id)
            responses: list[Any] = await batch.async_execute()
        assert responses == [1, 1]
        assert await w3.is_connected()
        assert await w3.eth.unsubscribe(subscription)
        again = await w3.provider.make_request(RPCEndpoint("eth_unsubscribe"), [subscription])
        assert again["result"] is False

    run(SubscriptionServer(Chain()), test)


def test_subscriptions_that_are_not_offered() -> None:
    async def test(w3: AsyncWeb3[Any]) -> None:
        for wanted in (SyncingSubscription(), PendingTxSubscription(full_transactions=True)):
            with pytest.raises(Web3RPCError, match="has no subscription"):
                await w3.subscription_manager.subscribe(wanted)
        with pytest.raises(KeyrailError, match="sends no messages of your own"):
            await w3.provider.socket_send(b"{}")

    run(SubscriptionServer(Chain()), test)


def test_a_failure_that_is_not_retryable_ends_the_stream_without_the_key() -> None:
    async def test(w3: AsyncWeb3[Any]) -> None:
        await w3.eth.subscribe("newHeads")
        server.failing, server.failing_status = True, 401
        with pytest.raises(KeyrailError) as caught:
            async for _ in w3.socket.process_subscriptions():
                pass
        assert caught.value.kind == "auth"
        assert find_leaks(caught.value, KEY) == []
        assert find_leaks(w3.provider, KEY) == []
        assert KEY not in f"{w3.provider} {w3.provider!r} {w3.provider.endpoint_uri}"

    server = SubscriptionServer(Chain())
    # web3.py raises it once more when it disconnects.
    with pytest.raises(KeyrailError):
        run(server, test)


@pytest.mark.parametrize(
    ("provider", "options", "message"),
    [
        ("url", {}, "provider must be an AsyncKeyrailProvider"),
        (None, {"reorg_depth": 0}, "reorg_depth"),
        (None, {"polling_interval_ms": 1}, "polling_interval_ms"),
        (None, {"subscription_response_queue_size": 0}, "subscription_response_queue_size"),
        (None, {"on_error": 1}, "on_error must be a function"),
    ],
)
def test_wrong_options(provider: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(KeyrailError, match=message):
        KeyrailPersistentProvider(provider or AsyncKeyrailProvider("http://127.0.0.1:9"), **options)
