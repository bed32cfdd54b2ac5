"""WebSockets of the mock node, under subscriptions of Keyrail and of web3.py."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from test_mock_node import ABI, TOKEN
from test_subscribe import take
from web3 import AsyncWeb3, Web3, WebSocketProvider
from web3.exceptions import Web3RPCError
from web3.utils.subscriptions import LogsSubscription, NewHeadsSubscription

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailPersistentProvider, subscribe
from keyrail.testing import MockNode

pytest_plugins = ["keyrail.testing.fixtures"]

FAST: dict[str, Any] = {"polling_interval_ms": 10}


async def wait_until(is_true: Callable[[], object]) -> None:
    async def poll() -> None:
        while not is_true():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(poll(), 30)


async def start(node: MockNode, subscription: Any, count: int) -> asyncio.Task[list[str]]:
    """Read the next events. It returns when the node has received ``eth_subscribe``."""
    taken = asyncio.ensure_future(take(subscription, count))
    await wait_until(lambda: node.calls("eth_subscribe"))
    return taken


def follow(node: MockNode, test: Callable[[Any], Awaitable[None]], **what: Any) -> None:
    """Run a test with a subscription of Keyrail's."""

    async def main() -> None:
        async with AsyncKeyrailProvider(node.url) as provider, subscribe(AsyncWeb3(provider), **what) as subscription:
            await test(subscription)

    asyncio.run(main())


def transfer(node: MockNode) -> None:
    node.emit(TOKEN, ["0x" + "22" * 32])


def test_blocks_are_streamed_through_reorganizations_and_lost_connections(mock_node: MockNode) -> None:
    async def test(blocks: Any) -> None:
        assert await take(blocks, 1) == ["+0"]
        mock_node.mine(2)
        assert await take(blocks, 2) == ["+1", "+2"]
        mock_node.reorg(1)
        mock_node.mine()
        assert await take(blocks, 3) == ["<1 -2", "+2", "+3"]
        mock_node.disconnect()
        mock_node.reorg(2)
        mock_node.mine()
        assert await take(blocks, 4) == ["<1 -3,2", "+2", "+3", "+4"]
        mock_node.assert_called("eth_subscribe", params=mock_node.calls("eth_subscribe")[0].params)
        assert {call.outcome for call in mock_node.calls("eth_subscribe")} == {"result"}

    follow(mock_node, test, blocks=True, from_block=0, **FAST)


def test_logs_are_streamed_and_removed_again(mock_node: MockNode) -> None:
    token = mock_node.mock_contract(TOKEN, ABI)

    async def test(found: Any) -> None:
        transfer(mock_node)
        assert await take(found, 1) == ["+1.0"]
        following = await start(mock_node, found, 1)
        # Another topic: not reported.
        token.emit("Transfer", {"from": TOKEN, "to": TOKEN, "value": 7})
        transfer(mock_node)
        assert await following == ["+3.0"]
        snapshot = mock_node.snapshot()
        mock_node.mine(10)
        mock_node.revert(snapshot)
        mock_node.reorg(2)
        transfer(mock_node)
        assert await take(found, 2) == ["<1 -3.0", "+4.0"]
        # The cursor stays recent, although no block has a log.
        mock_node.mine(300)
        mock_node.disconnect()
        transfer(mock_node)
        assert await take(found, 1) == ["+305.0"]

    follow(mock_node, test, logs={"address": TOKEN, "topics": [["0x" + "22" * 32]]}, from_block=0, **FAST)


@pytest.mark.slow
def test_a_program_may_mine_many_blocks_while_its_loop_reads_nothing(mock_node: MockNode) -> None:
    async def test(blocks: Any) -> None:
        await take(blocks, 1)
        following = await start(mock_node, blocks, 10_000)
        mock_node.mine(10_000)
        assert (await following)[-1] == "+10000"

    follow(mock_node, test, blocks=True, from_block=0, **FAST)


def test_pending_transactions_are_streamed(mock_node: MockNode) -> None:
    async def test(pending: Any) -> None:
        sender, to = (one.address for one in mock_node.accounts[:2])
        first = await start(mock_node, pending, 2)
        async with AsyncKeyrailProvider(mock_node.url) as provider:
            w3 = AsyncWeb3(provider)
            tx: Any = {"from": sender, "to": to, "value": 1}
            sent = [(await w3.eth.send_transaction(tx)).to_0x_hex() for _ in range(2)]
        assert await first == sent

    follow(mock_node, test, pending=True, **FAST)


def test_providers_without_cursors_reject_them(mock_node: MockNode) -> None:
    mock_node.provider = "alchemy"

    async def test(blocks: Any) -> None:
        assert await take(blocks, 1) == ["+0"]
        mock_node.mine()
        assert await take(blocks, 1) == ["+1"]
        assert [call.outcome for call in mock_node.calls("eth_subscribe")] == ["error"]

    follow(mock_node, test, blocks=True, from_block=0, **FAST)


def test_faults_apply_to_subscriptions(mock_node: MockNode) -> None:
    seen: list[str] = []
    mock_node.fail("network", method="eth_subscribe")
    mock_node.fail("unavailable", method="eth_subscribe")

    async def test(blocks: Any) -> None:
        # Blocks are polled while there is no connection.
        while len(mock_node.calls("eth_subscribe")) < 3:
            assert await take(blocks, 1) == [f"+{mock_node.block_number}"]
            mock_node.mine()
        assert [call.fault for call in mock_node.calls("eth_subscribe")] == ["network", "unavailable", None]
        assert seen == ["network", "unavailable"]

    follow(mock_node, test, blocks=True, from_block=0, on_error=lambda error: seen.append(error.kind), **FAST)


def test_a_rejected_subscription_ends_the_iteration(mock_node: MockNode) -> None:
    mock_node.fail("auth", method="eth_subscribe")

    async def test(blocks: Any) -> None:
        with pytest.raises(KeyrailError) as caught:
            await take(blocks, 2)
        assert caught.value.kind == "auth"

    follow(mock_node, test, blocks=True, from_block=0, **FAST)


def test_the_subscription_manager_of_web3_uses_it(mock_node: MockNode) -> None:
    seen: list[Any] = []

    async def handle_log(context: Any) -> None:
        log = context.result
        seen.append((log["blockNumber"], log["removed"]))
        if len(seen) == 3:
            await context.subscription.unsubscribe()

    async def main() -> None:
        async with AsyncWeb3(WebSocketProvider(mock_node.ws_url)) as w3:
            await w3.subscription_manager.subscribe(
                LogsSubscription(address=Web3.to_checksum_address(TOKEN), handler=handle_log)
            )
            handling = asyncio.ensure_future(w3.subscription_manager.handle_subscriptions())
            transfer(mock_node)
            mock_node.reorg(1)
            transfer(mock_node)
            await asyncio.wait_for(handling, 30)
            assert seen == [(1, False), (1, True), (2, False)]
            assert await w3.eth.block_number == 2
            mock_node.assert_called("eth_unsubscribe", times=1)

    asyncio.run(main())


def test_headers_and_whole_transactions_arrive_at_the_provider_of_web3(mock_node: MockNode) -> None:
    async def main() -> None:
        async with AsyncWeb3(WebSocketProvider(mock_node.ws_url)) as w3:
            heads = await w3.eth.subscribe("newHeads")
            pending = await w3.eth.subscribe("newPendingTransactions", True)
            sender, to = (one.address for one in mock_node.accounts[:2])
            tx: Any = {"from": sender, "to": to, "value": 3}
            sent = await w3.eth.send_transaction(tx)
            received: dict[Any, Any] = {}
            async for message in w3.socket.process_subscriptions():
                received[message["subscription"]] = message["result"]
                if len(received) == 2:
                    break
            assert received[heads]["number"] == 1
            assert "size" not in received[heads]
            assert (received[pending]["hash"], received[pending]["value"]) == (sent, 3)
            with pytest.raises(Web3RPCError, match='no "newCats" subscription'):
                await w3.eth.subscribe("newCats")

    asyncio.run(main())


def test_keyrails_provider_for_the_subscription_manager_uses_it(mock_node: MockNode) -> None:
    seen: list[int] = []

    async def handle(context: Any) -> None:
        seen.append(context.result["number"])
        if len(seen) == 3:
            await context.subscription.unsubscribe()

    async def main() -> None:
        provider = KeyrailPersistentProvider(AsyncKeyrailProvider(mock_node.url), **FAST)
        async with AsyncWeb3(provider) as w3:
            await w3.subscription_manager.subscribe(NewHeadsSubscription(handler=handle))
            handling = asyncio.ensure_future(w3.subscription_manager.handle_subscriptions())
            await wait_until(lambda: mock_node.calls("eth_subscribe"))
            mock_node.mine(2)
            mock_node.reorg(1)
            await asyncio.wait_for(handling, 30)
        await wait_until(lambda: mock_node.connections == 0)

    asyncio.run(main())
    assert seen == [1, 2, 2]


@pytest.mark.parametrize(("code", "seen_code"), [(1006, 1006), (1012, 1012), (4000, 4000)])
def test_a_client_sees_the_close_code(mock_node: MockNode, code: int, seen_code: int) -> None:
    async def main() -> None:
        async with aiohttp.ClientSession() as session, session.ws_connect(mock_node.ws_url) as socket:
            await wait_until(lambda: mock_node.connections == 1)
            # In two frames, and after a ping.
            await socket.ping()
            await socket.send_str('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}')
            assert (await socket.receive_json(timeout=30))["result"] == "0x0"
            await socket.send_str("cat")
            assert (await socket.receive_json(timeout=30))["error"]["code"] == -32700
            mock_node.disconnect(code, "bye")
            assert mock_node.connections == 0
            assert (await socket.receive(timeout=30)).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
            assert socket.close_code == seen_code

    asyncio.run(main())


def test_a_request_that_is_no_handshake_is_rejected(mock_node: MockNode) -> None:
    async def main() -> None:
        async with aiohttp.ClientSession() as session, session.get(mock_node.url) as response:
            assert response.status == 426

    asyncio.run(main())
    with pytest.raises(KeyrailError, match="code"):
        mock_node.disconnect(5)


def test_a_closed_node_ends_its_connections() -> None:
    async def main() -> None:
        with MockNode() as node:
            async with aiohttp.ClientSession() as session, session.ws_connect(node.ws_url) as socket:
                node.close()
                assert (await socket.receive(timeout=30)).type is aiohttp.WSMsgType.CLOSED

    asyncio.run(main())


def test_a_snapshot_has_the_balances_of_its_latest_block(mock_node: MockNode) -> None:
    mock_node.set_balance(TOKEN, 1)
    snapshot = mock_node.snapshot()
    mock_node.set_balance(TOKEN, 2)
    mock_node.revert(snapshot)
    w3 = Web3(Web3.HTTPProvider(mock_node.url))
    assert w3.eth.get_balance(Web3.to_checksum_address(TOKEN)) == 1
