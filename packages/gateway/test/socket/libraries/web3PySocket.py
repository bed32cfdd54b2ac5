"""Subscribes with web3.py as its documentation shows, and prints each event as a line of JSON, until standard input ends."""

import asyncio
import json
import sys

from web3 import AsyncWeb3, WebSocketProvider
from websockets.exceptions import ConnectionClosed


def show(**event):
    print(json.dumps(event), flush=True)


async def watch(url):
    async for w3 in AsyncWeb3(WebSocketProvider(url)):
        try:
            number = await w3.eth.block_number
            heads = await w3.eth.subscribe("newHeads")
            logs = await w3.eth.subscribe("logs", {})
            await w3.eth.subscribe("newPendingTransactions")
            show(kind="ready", number=number)
            async for message in w3.socket.process_subscriptions():
                result = message["result"]
                if message["subscription"] == heads:
                    show(kind="head", number=result["number"], hash=result["hash"].to_0x_hex())
                elif message["subscription"] == logs:
                    show(kind="log", hash=result["blockHash"].to_0x_hex(), removed=result["removed"])
                else:
                    show(kind="pending", hash=result.to_0x_hex())
        except ConnectionClosed as error:
            show(kind="closed", text=str(error))


async def main():
    task = asyncio.create_task(watch(sys.argv[1]))
    end = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await asyncio.wait([task, end], return_when=asyncio.FIRST_COMPLETED)
    if task.done() and task.exception() is not None:
        show(kind="error", text=repr(task.exception()))


asyncio.run(main())
