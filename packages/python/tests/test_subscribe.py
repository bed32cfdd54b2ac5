"""Subscriptions yield the canonical chain, over a WebSocket with cursors and by polling."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from leak_walk import find_leaks
from subscription_server import Chain, Socket, SubscriptionServer
from web3 import AsyncWeb3

from keyrail import AsyncKeyrailProvider, KeyrailError, ReorgEvent, subscribe

KEY = "kr_a" + "k3Y" * 13
Events = list[str]


def describe(event: Any) -> str:
    if event.type == "block":
        return f"+{event.header['number']}"
    if event.type == "log":
        return f"+{event.log['blockNumber']}.{event.log['logIndex']}"
    if event.type == "transaction":
        return str(event.hash.to_0x_hex())
    removed = [
        f"{one['blockNumber']}.{one['logIndex']}" if "logIndex" in one else str(one["number"]) for one in event.removed
    ]
    return f"<{event.ancestor['number']} -{','.join(removed)}"


async def take(subscription: Any, count: int) -> Events:
    found: Events = []
    for _ in range(count):
        found.append(describe(await asyncio.wait_for(subscription.__anext__(), 30)))
    return found


def run(server: SubscriptionServer, test: Callable[[AsyncWeb3[Any]], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with server, AsyncKeyrailProvider(base_url=server.url, api_key=KEY, **options) as provider:
            await test(AsyncWeb3(provider))

    asyncio.run(main())


FAST: dict[str, Any] = {"polling_interval_ms": 10}

# By polling


def test_blocks_are_polled_and_a_reorg_is_reported() -> None:
    chain = Chain()
    server = SubscriptionServer(chain)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=1, **FAST) as subscription:
            assert await take(subscription, 2) == ["+1", "+2"]
            chain.mine(2)
            assert await take(subscription, 2) == ["+3", "+4"]
            chain.reorg(2, 3, branch=1)
            assert await take(subscription, 4) == ["<2 -4,3", "+3", "+4", "+5"]
            # The chain becomes shorter, and another node is only behind.
            chain.reorg(2, 1, branch=2)
            assert await take(subscription, 2) == ["<3 -5,4", "+4"]
        assert server.paths == [f"/v2/{KEY}"]

    run(server, test)


def test_logs_are_polled_by_block_hash_and_removed_ones_are_marked() -> None:
    chain = Chain()

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, logs={}, from_block="earliest", **FAST) as subscription:
            assert await take(subscription, 3) == ["+1.0", "+2.0", "+2.1"]
            chain.mine(2)
            assert await take(subscription, 1) == ["+4.0"]
            chain.reorg(3, 4, branch=1)
            event = await subscription.__anext__()
            assert isinstance(event, ReorgEvent)
            assert describe(event) == "<1 -4.0,2.1,2.0"
            assert all(log["removed"] is True for log in event.removed)
            assert event.ancestor["hash"].to_0x_hex() == chain.blocks[1][1]
            assert await take(subscription, 5) == ["+2.0", "+2.1", "+4.0", "+5.0", "+5.1"]

    run(SubscriptionServer(chain), test)


def test_events_have_the_types_of_web3() -> None:
    chain = Chain()

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=2, **FAST) as subscription:
            event = await subscription.__anext__()
            assert event.type == "block"
            assert event.header.hash == (await w3.eth.get_block(2))["hash"]
            assert (event.header.number, event.header.gasLimit) == (2, 1)
            assert "transactions" not in event.header
            assert "size" not in event.header

    run(SubscriptionServer(chain), test)


def test_without_a_start_only_new_blocks_are_reported() -> None:
    chain = Chain()

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3.provider, blocks=True, **FAST) as subscription:
            waiting = asyncio.create_task(take(subscription, 1))
            # The server has read the latest block when it records the call.
            while "eth_getBlockByNumber" not in server.calls:
                await asyncio.sleep(0.01)
            chain.mine(1)
            assert await waiting == ["+3"]

    server = SubscriptionServer(chain)
    run(server, test)


@pytest.mark.parametrize("what", [{"blocks": True}, {"logs": {}}])
def test_a_cursor_continues_after_each_event_in_another_process(what: dict[str, Any]) -> None:
    chain = Chain()
    chain.mine(6)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, from_block=0, **what, **FAST) as subscription:
            expected = await take(subscription, 9)
        cursor = None
        found: Events = []
        for _ in expected:
            async with subscribe(w3, from_block=0, cursor=cursor, **what, **FAST) as subscription:
                found += await take(subscription, 1)
                cursor = subscription.cursor()
        assert found == expected
        # A reorganization while there was no subscription.
        chain.reorg(2, 3, branch=1)
        async with subscribe(w3, cursor=cursor, **what, **FAST) as subscription:
            assert (await take(subscription, 1))[0].startswith("<6 -")

    run(SubscriptionServer(chain), test)


def test_polling_continues_through_retryable_failures() -> None:
    chain = Chain()
    server = SubscriptionServer(chain)
    failures: list[KeyrailError] = []

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=2, on_error=failures.append, **FAST) as subscription:
            assert await take(subscription, 1) == ["+2"]
            server.failing = True
            waiting = asyncio.create_task(take(subscription, 1))
            while not failures:
                await asyncio.sleep(0.01)
            server.failing = False
            chain.mine(1)
            assert await waiting == ["+3"]
        assert failures[0].kind == "unavailable"

    run(server, test, retry=False)


def test_a_reorg_deeper_than_reorg_depth_is_an_error() -> None:
    chain = Chain()
    chain.mine(10)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=2, reorg_depth=3, **FAST) as subscription:
            assert await take(subscription, 11) == [f"+{number}" for number in range(2, 13)]
            chain.reorg(6, 8, branch=1)
            with pytest.raises(KeyrailError, match=r"reorganized deeper than reorg_depth \(3 blocks\)") as caught:
                await subscription.__anext__()
            assert find_leaks(caught.value, KEY) == []
            with pytest.raises(StopAsyncIteration):
                await subscription.__anext__()

    run(SubscriptionServer(chain), test)


# Over a WebSocket


def test_blocks_arrive_over_a_web_socket() -> None:
    chain = Chain()

    async def script(socket: Socket) -> None:
        await socket.position(chain, 2)
        chain.mine(2)
        for number in (3, 4):
            await socket.notify(result=chain.header(number))
        chain.reorg(1, 2, branch=1)
        await socket.position(chain, 3)
        for number in (4, 5):
            await socket.notify(result=chain.header(number))
        await asyncio.sleep(30)

    server = SubscriptionServer(chain, script)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True) as subscription:
            assert await take(subscription, 5) == ["+3", "+4", "<3 -4", "+4", "+5"]
            before = len(server.calls)
            assert json.loads(subscription.cursor())["blocks"][0] == [5, chain.blocks[5][1]]
        assert len(server.calls) == before
        assert server.subscribed == [
            [
                "newHeads",
                {
                    "cursor": {
                        "number": "0x2",
                        "hashes": [chain.by_hash[chain.blocks[2][1]]["hash"], chain.blocks[1][1]],
                    }
                },
            ]
        ]
        assert server.headers[0]["x-team"] == "wallet"

    run(server, test, headers={"x-team": "wallet"})


def test_logs_arrive_over_a_web_socket_and_continue_after_it_was_closed() -> None:
    chain = Chain()
    connections = 0

    async def script(socket: Socket) -> None:
        nonlocal connections
        connections += 1
        if connections == 1:
            await socket.position(chain, 2)
            chain.mine(3)
            await socket.notify(result=chain.logs(chain.blocks[4][1])[0])
            await socket.position(chain, 4)
            # The connection ends between the two logs of a block.
            await socket.notify(result=chain.logs(chain.blocks[5][1])[0])
            await socket.ws.close(code=1012, message=b"service restart")
            return
        await socket.position(chain, 4)
        for log in chain.logs(chain.blocks[5][1]):
            await socket.notify(result=log)
        await socket.position(chain, 5)
        await asyncio.sleep(30)

    server = SubscriptionServer(chain, script)
    failures: list[KeyrailError] = []

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, logs={"address": "0x" + "11" * 20}, on_error=failures.append) as subscription:
            assert await take(subscription, 3) == ["+4.0", "+5.0", "+5.1"]
        assert server.subscribed[0][:2] == ["logs", {"address": "0x" + "11" * 20}]
        assert "code 1012, service restart" in str(failures[0])
        assert failures[0].kind == "network"
        for failure in failures:
            assert find_leaks(failure, KEY) == []

    run(server, test)


def test_a_reorg_while_the_connection_was_lost_is_undone() -> None:
    chain = Chain()
    connections = 0

    async def script(socket: Socket) -> None:
        nonlocal connections
        connections += 1
        if connections == 1:
            await socket.position(chain, 2)
            chain.mine(3)
            for number in (3, 4, 5):
                await socket.notify(result=chain.header(number))
            return
        chain.reorg(2, 2, branch=1)
        await socket.position(chain, 3)
        for number in (4, 5):
            await socket.notify(result=chain.header(number))
        await asyncio.sleep(30)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True) as subscription:
            assert await take(subscription, 6) == ["+3", "+4", "+5", "<3 -5,4", "+4", "+5"]

    run(SubscriptionServer(chain, script), test)


def test_notifications_that_do_not_continue_are_repaired() -> None:
    chain = Chain()
    chain.mine(3)
    connections = 0

    async def script(socket: Socket) -> None:
        nonlocal connections
        connections += 1
        await socket.position(chain, 5)
        if connections == 1:
            chain.mine(3)
            # Block 6 is missing.
            await socket.notify(result=chain.header(7))
        await asyncio.sleep(30)

    failures: list[KeyrailError] = []

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, on_error=failures.append) as subscription:
            assert await take(subscription, 3) == ["+6", "+7", "+8"]
        assert "A block does not continue the subscription." in str(failures[0])

    run(SubscriptionServer(chain, script), test)


OPEN = '{"jsonrpc":"2.0","id":1,"result":"0xabc"}'


@pytest.mark.parametrize(
    "message",
    [
        *("", " \r\n", "ping", "PONG", "heartbeat", "keep-alive", "1", "null", '""', "{}", "[]", b"", b"ping"),
        *("\ufeffping", '{"jsonrpc":"2.0","id":7,"result":"0x1"}', f"\ufeff{OPEN}", f"\ufeff{OPEN}".encode()),
    ],
    ids=repr,
)
def test_a_message_that_keeps_a_web_socket_alive_is_ignored(message: str | bytes) -> None:
    chain = Chain()

    async def script(socket: Socket) -> None:
        await (socket.ws.send_str(message) if isinstance(message, str) else socket.ws.send_bytes(message))
        await socket.position(chain, 2)
        chain.mine(1)
        await socket.notify(result=chain.header(3))
        await asyncio.sleep(30)

    server = SubscriptionServer(chain, script)
    server.before_response = [message]
    failures: list[KeyrailError] = []

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, on_error=failures.append) as subscription:
            assert await take(subscription, 1) == ["+3"]
        assert failures == []
        assert len(server.subscribed) == 1

    run(server, test)


@pytest.mark.parametrize(
    ("message", "text"),
    [("ping pong", "not JSON"), ("{", "not JSON"), ("x" * 101, "not JSON"), ("-" * 10**6 + "!", "not JSON")],
    ids=["two words", "cut", "long", "very long"],
)
def test_any_other_message_ends_the_connection(message: str, text: str) -> None:
    failure = find_failure_before_response([message])
    assert failure.kind == "badResponse"
    assert text in str(failure)


def test_notifications_without_a_response_end_the_connection() -> None:
    failure = find_failure_before_response(['{"method":"eth_subscription","params":{}}'] * 1_001)
    assert "too many notifications" in str(failure)


def find_failure_before_response(messages: list[str | bytes]) -> KeyrailError:
    """Send messages before the response to a subscription, check that it continues, and return its first failure."""
    chain = Chain()
    server = SubscriptionServer(chain, lambda _: asyncio.sleep(0))
    server.before_response = messages
    failures: list[KeyrailError] = []

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=1, on_error=failures.append, **FAST) as subscription:
            assert await take(subscription, 2) == ["+1", "+2"]
            chain.mine(1)
            assert await take(subscription, 1) == ["+3"]

    run(server, test)
    return failures[0]


@pytest.mark.parametrize("code", [-32602, -32601, -32600, -32006, -32608, 12])
def test_a_server_without_cursors_is_polled(code: int) -> None:
    chain = Chain()

    async def script(_: Socket) -> None:
        raise AssertionError("not called")

    server = SubscriptionServer(chain, script)
    server.error = {"code": code, "message": "eth_subscribe is not for you"}

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=1, **FAST) as subscription:
            assert await take(subscription, 2) == ["+1", "+2"]
            chain.mine(1)
            assert await take(subscription, 1) == ["+3"]
        assert len(server.subscribed) == 1

    run(server, test)


def test_a_server_that_ignores_the_cursor_is_polled() -> None:
    chain = Chain()

    async def script(socket: Socket) -> None:
        await socket.notify(result=chain.header(2))
        await asyncio.sleep(30)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=1, **FAST) as subscription:
            assert await take(subscription, 2) == ["+1", "+2"]
            chain.mine(1)
            assert await take(subscription, 1) == ["+3"]

    run(SubscriptionServer(chain, script), test)


def test_a_cursor_that_is_too_old_is_continued_by_polling() -> None:
    chain = Chain()
    chain.mine(5)

    async def script(socket: Socket) -> None:
        await socket.position(chain, chain.head)
        await asyncio.sleep(30)

    server = SubscriptionServer(chain, script)
    server.error = {"code": -32001, "message": "The cursor is too old: its newest block is 2."}

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=1, **FAST) as subscription:
            assert await take(subscription, 7) == [f"+{number}" for number in range(1, 8)]
            waiting = asyncio.create_task(take(subscription, 1))
            while len(server.subscribed) < 2:
                await asyncio.sleep(0.01)
            server.error = None
            chain.mine(1)
            assert await waiting == ["+8"]

    run(server, test)


def test_web_sockets_can_be_turned_off() -> None:
    server = SubscriptionServer(Chain())

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, blocks=True, from_block=1, web_socket=False, **FAST) as subscription:
            assert await take(subscription, 2) == ["+1", "+2"]
        assert server.paths == []

    run(server, test)


def test_pending_transactions_arrive_over_a_web_socket() -> None:
    async def script(socket: Socket) -> None:
        assert socket.params == ["newPendingTransactions"]
        for digit in "ab":
            await socket.notify(result="0x" + digit * 64)
        await asyncio.sleep(30)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, pending=True) as subscription:
            assert await take(subscription, 2) == ["0x" + "a" * 64, "0x" + "b" * 64]

    run(SubscriptionServer(Chain(), script), test)


def test_a_subscription_that_the_service_ends_has_the_error_of_the_service() -> None:
    error = {"code": -32001, "message": "Forbidden", "data": {"reason": "address_not_allowed"}}
    ended = {"jsonrpc": "2.0", "id": None, "error": error, "method": "eth_subscription"}

    async def script(socket: Socket) -> None:
        await socket.ws.send_str(json.dumps({**ended, "params": {"subscription": "0xabc"}}))

    server = SubscriptionServer(Chain(), script)

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, pending=True) as subscription:
            with pytest.raises(KeyrailError) as failure:
                await take(subscription, 1)
            assert failure.value.kind == "forbidden"

    run(server, test)


def test_pending_transactions_are_polled_while_connections_fail() -> None:
    server = SubscriptionServer(Chain())
    server.status = 503

    async def test(w3: AsyncWeb3[Any]) -> None:
        async with subscribe(w3, pending=True, **FAST) as subscription:
            # More than one attempt fails in this time.
            while len(server.paths) < 3:
                assert await take(subscription, 1) == ["0x" + "c" * 64]

    run(server, test)


def test_the_iteration_ends_when_its_task_is_cancelled_without_showing_the_key() -> None:
    async def script(socket: Socket) -> None:
        await socket.position(chain, 2)
        await asyncio.sleep(30)

    chain = Chain()

    async def test(w3: AsyncWeb3[Any]) -> None:
        subscription = subscribe(w3, blocks=True)
        waiting = asyncio.ensure_future(subscription.__anext__())
        while not server.subscribed:
            await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await waiting
        await subscription.aclose()
        assert find_leaks(caught.value, KEY) == []
        assert find_leaks(subscription, KEY) == []

    server = SubscriptionServer(chain, script)
    run(server, test)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "subscribe takes one of blocks=True, logs={…} and pending=True."),
    ({"blocks": True, "logs": {}}, "subscribe takes one of blocks=True, logs={…} and pending=True."),
    ({"blocks": False}, "blocks must be True, not False."),
    ({"pending": 1.5}, "pending must be True, not 1.5."),
    ({"logs": "0x11"}, 'logs must be a dict such as {"address": "0x…"}, not a value of type str.'),
    ({"logs": {"adress": "0x11"}}, 'Unknown option "adress". Did you mean "address"?'),
    (
        {"blocks": True, "from_block": -1},
        "from_block must be a block number, or one of latest, safe, finalized and earliest.",
    ),
    ({"blocks": True, "cursor": "{}"}, "cursor must be text that cursor() of a subscription returned."),
    ({"blocks": True, "reorg_depth": 0}, "reorg_depth must be a whole number from 1 to 1,024, not 0."),
    ({"blocks": True, "on_error": 5}, "on_error must be a function, not 5."),
    ({"pending": True, "from_block": 1}, "cursor and from_block are for blocks and logs only."),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_options_are_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KeyrailError) as caught:
        subscribe(AsyncKeyrailProvider("http://127.0.0.1:9"), **options)
    assert str(caught.value) == message
    assert caught.value.kind == "invalidRequest"


def test_only_a_keyrail_provider_has_subscriptions() -> None:
    with pytest.raises(KeyrailError, match=r"^subscribe takes the AsyncWeb3 of an AsyncKeyrailProvider\.$"):
        subscribe(AsyncWeb3(), blocks=True)
