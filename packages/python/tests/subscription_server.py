"""A chain that tests change, served over HTTP and over WebSockets with cursors, as a service of Keyrail does."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Self

from aiohttp import WSMsgType, web


def block_hash(number: int, branch: int) -> str:
    return f"0x{branch:032x}{number:032x}"


class Chain:
    """Blocks of branches. A block's logs are as many as its number says, modulo 3."""

    def __init__(self) -> None:
        self.blocks: list[tuple[int, str]] = []
        self.by_hash: dict[str, dict[str, Any]] = {}
        self.mine(3)

    @property
    def head(self) -> int:
        return len(self.blocks) - 1

    def mine(self, count: int, branch: int = 0) -> None:
        for _ in range(count):
            number = len(self.blocks)
            parent = self.blocks[-1][1] if self.blocks else "0x" + "0" * 64
            own = block_hash(number, branch)
            header = {
                "number": hex(number),
                "hash": own,
                "parentHash": parent,
                "timestamp": hex(1_700_000_000 + number),
                "gasLimit": "0x1",
            }
            self.by_hash[own] = header
            self.blocks.append((number, own))

    def reorg(self, depth: int, count: int, branch: int) -> None:
        del self.blocks[len(self.blocks) - depth :]
        self.mine(count, branch)

    def header(self, number: int) -> dict[str, Any]:
        return self.by_hash[self.blocks[number][1]]

    def logs(self, own: str) -> list[dict[str, Any]]:
        number = int(self.by_hash[own]["number"], 16)
        return [
            {
                "address": "0x" + "11" * 20,
                "topics": [],
                "data": "0x",
                "blockNumber": hex(number),
                "blockHash": own,
                "transactionHash": own,
                "transactionIndex": "0x0",
                "logIndex": hex(index),
                "removed": False,
            }
            for index in range(number % 3)
        ]

    def respond(self, method: str, params: list[Any]) -> Any:
        if method == "eth_getBlockByNumber":
            tags = {"latest": self.head, "safe": self.head, "finalized": self.head, "earliest": 0}
            number = tags[params[0]] if params[0] in tags else int(params[0], 16)
            return {**self.header(number), "transactions": [], "size": "0x1"} if number <= self.head else None
        if method == "eth_getBlockByHash":
            found = self.by_hash.get(params[0])
            return {**found, "transactions": []} if found else None
        if method == "eth_getLogs":
            return self.logs(params[0]["blockHash"])
        if method == "eth_getFilterChanges":
            return ["0x" + "c" * 64]
        return {"eth_chainId": "0x1", "eth_newPendingTransactionFilter": "0x1"}.get(method)


Script = Callable[["Socket"], Awaitable[None]]


class Socket:
    """A subscription of a client."""

    def __init__(self, ws: web.WebSocketResponse, params: list[Any]) -> None:
        self.ws = ws
        self.params = params

    async def notify(self, **members: Any) -> None:
        params = {"subscription": "0xabc", **members}
        await self.ws.send_str(json.dumps({"jsonrpc": "2.0", "method": "eth_subscription", "params": params}))

    async def position(self, chain: Chain, number: int) -> None:
        await self.notify(position={"number": hex(number), "hash": chain.blocks[number][1]})


class SubscriptionServer:
    """Serves a chain. ``script`` runs for each subscription; None rejects WebSockets."""

    def __init__(self, chain: Chain, script: Script | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.chain = chain
        self.script = script
        self.tls = tls
        self.status = 404
        self.location: str | None = None
        self.error: dict[str, Any] | None = None
        self.before_response: list[str | bytes] = []
        """Messages that each WebSocket sends before the response to ``eth_subscribe``."""
        self.calls: list[str] = []
        self.subscribed: list[list[Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.failing = False
        self.failing_status = 503

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self.tls)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        self.url = f"https://localhost:{port}" if self.tls else f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            body = await request.json()
            calls = body if isinstance(body, list) else [body]
            self.calls += [call["method"] for call in calls]
            if self.failing:
                return web.Response(status=self.failing_status)
            responses = []
            for call in calls:
                found = self.chain.respond(call["method"], call["params"])
                members = found if isinstance(found, dict) and "error" in found else {"result": found}
                responses.append({"jsonrpc": "2.0", "id": call["id"], **members})
            return web.json_response(responses if isinstance(body, list) else responses[0])
        self.paths.append(request.path)
        self.headers.append(dict(request.headers))
        if self.script is None:
            return web.Response(status=self.status, headers={"location": self.location} if self.location else None)
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        message = await ws.receive()
        if message.type is not WSMsgType.TEXT:
            return ws
        call = json.loads(message.data)
        self.subscribed.append(call["params"])
        for one in self.before_response:
            await (ws.send_str(one) if isinstance(one, str) else ws.send_bytes(one))
        if self.error is not None:
            await ws.send_json({"jsonrpc": "2.0", "id": call["id"], "error": self.error})
            await ws.close()
            return ws
        await ws.send_json({"jsonrpc": "2.0", "id": call["id"], "result": "0xabc"})
        script = asyncio.ensure_future(self.script(Socket(ws, call["params"])))
        # While nobody reads, nothing responds to the client's close frame, and the client waits.
        reading = asyncio.ensure_future(ws.receive())
        try:
            await asyncio.wait((script, reading), return_when=asyncio.FIRST_COMPLETED)
            if script.done():
                script.result()
            await asyncio.sleep(0)
        finally:
            script.cancel()
            reading.cancel()
            await ws.close()
        return ws
