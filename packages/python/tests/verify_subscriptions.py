"""Subscriptions yield exactly the chain of anvil: over the gateway's WebSocket, by polling it, and on anvil itself."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from service import Service, start_service
from vectors import TOP
from web3 import AsyncWeb3
from web3.middleware import SignAndSendRawMiddlewareBuilder

from keyrail import AsyncKeyrailProvider, subscribe

ARTIFACTS = json.loads((TOP / "contracts/artifacts/artifacts.json").read_text("utf-8"))
# All tests share one node and one gateway.
pytestmark = pytest.mark.xdist_group("subscriptions")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with start_service() as started:
        yield started


def to_options(service: Service, way: str) -> dict[str, Any]:
    if way == "node":
        return {"url": service.node_url}
    return {"base_url": service.app["baseUrl"], "api_key": service.app["apiKey"]}


WAYS = pytest.mark.parametrize("way", ["web_socket", "polling", "node"])


class Follower:
    """Applies the events of a subscription, and subscribes again with its cursor at random."""

    def __init__(self, w3: Any, way: str, what: dict[str, Any], first: int, chance: float) -> None:
        self.applied: list[tuple[Any, ...]] = []
        self.reorgs = 0
        self._options = {"from_block": first, "web_socket": way != "polling", "polling_interval_ms": 20, **what}
        self._w3 = w3
        self._random = random.Random(7)
        self._chance = chance

    def _apply(self, event: Any) -> None:
        if event.type == "block":
            self.applied.append((event.header.number, event.header.hash))
        elif event.type == "log":
            self.applied.append((event.log.blockNumber, event.log.blockHash, event.log.logIndex))
        else:
            self.reorgs += 1
            while self.applied and self.applied[-1][0] > event.ancestor.number:
                self.applied.pop()

    async def run(self) -> None:
        cursor = None
        while True:
            async with subscribe(self._w3, cursor=cursor, **self._options) as subscription:
                async for event in subscription:
                    self._apply(event)
                    cursor = subscription.cursor()
                    if self._random.random() < self._chance:
                        break


async def follow(follower: Follower, steps: Callable[[], Any], expected: Callable[[], Any]) -> None:
    running = asyncio.create_task(follower.run())
    try:
        async for _ in steps():
            wanted = await expected()
            for _ in range(300):
                if follower.applied == wanted:
                    break
                assert not running.done(), running.exception()
                await asyncio.sleep(0.05)
            assert follower.applied == wanted
    finally:
        running.cancel()


@WAYS
def test_blocks_are_exactly_those_of_the_chain(service: Service, way: str) -> None:
    rng = random.Random(5)

    async def main() -> None:
        async with AsyncKeyrailProvider(**to_options(service, way)) as provider:
            w3 = AsyncWeb3(provider)
            first = int(service.node("eth_blockNumber"), 16) + 1
            service.node("anvil_mine", "0x1")

            async def steps() -> Any:
                for _ in range(12):
                    snapshot = service.node("evm_snapshot")
                    service.node("anvil_mine", hex(rng.randint(1, 4)), hex(rng.randint(1, 9)))
                    yield
                    if rng.random() < 0.5:
                        service.node("evm_revert", snapshot)
                        service.node("anvil_mine", hex(rng.randint(1, 5)), hex(rng.randint(10, 30)))
                        yield

            async def expected() -> Any:
                head = int(service.node("eth_blockNumber"), 16)
                blocks = [await w3.eth.get_block(number) for number in range(first, head + 1)]
                return [(block["number"], block["hash"]) for block in blocks]

            follower = Follower(w3, way, {"blocks": True}, first, 0.1)
            await follow(follower, steps, expected)
            assert follower.reorgs > 0

    asyncio.run(main())


@WAYS
def test_logs_are_exactly_those_of_the_chain(service: Service, way: str) -> None:
    async def main() -> None:
        async with (
            AsyncKeyrailProvider(**to_options(service, way)) as provider,
            AsyncKeyrailProvider(service.node_url) as direct,
        ):
            w3, node = AsyncWeb3(provider), AsyncWeb3(direct)
            account = node.eth.account.from_key("0x" + secrets.token_hex(32))
            service.node("anvil_setBalance", account.address, hex(10**22))
            node.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
            node.eth.default_account = account.address
            artifact = ARTIFACTS["ManyEvents"]
            deployed = node.eth.contract(**artifact)
            receipt = await node.eth.wait_for_transaction_receipt(await deployed.constructor().transact())
            address: Any = receipt["contractAddress"]
            emitter: Any = node.eth.contract(address=address, abi=artifact["abi"])
            first = receipt["blockNumber"]

            async def emit(count: int) -> None:
                await node.eth.wait_for_transaction_receipt(
                    await emitter.functions.emitMany(count, b"\x5e" * 32, "x").transact()
                )

            async def steps() -> Any:
                for step in range(6):
                    snapshot = service.node("evm_snapshot")
                    await emit(step + 1)
                    service.node("anvil_mine", "0x2")
                    yield
                    if step % 2:
                        service.node("evm_revert", snapshot)
                        service.node("anvil_mine", "0x1", hex(20 + step))
                        await emit(step)
                        yield

            async def expected() -> Any:
                found = await node.eth.get_logs({"address": address, "fromBlock": first})
                return [(log["blockNumber"], log["blockHash"], log["logIndex"]) for log in found]

            follower = Follower(w3, way, {"logs": {"address": address}}, first, 0.1)
            await follow(follower, steps, expected)
            assert follower.reorgs > 0

    asyncio.run(main())
