"""Odd responses of servers: the set of the vectors, through both providers."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import socket
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from vectors import read_vectors, to_params

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

METHOD = "eth_blockNumber"
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}


def respond(odd: dict[str, Any], request: ReceivedRequest, connection: Connection) -> None:
    """Respond as ``core/test/oddResponseServer.ts`` does."""
    text = odd.get("body", "").replace("$id", str(request.json["id"]))
    body = base64.b64decode(odd["base64"]) if "base64" in odd else text.encode()
    if "compress" in odd:
        body = COMPRESSORS[odd["compress"]](body)
    body = body[: odd.get("cut")]
    framing = odd.get("framing", "length")
    headers = [*odd.get("headers", [])]
    if framing in ("chunked", "brokenChunks"):
        headers.append(["transfer-encoding", "chunked"])
        size = len(body) + (20 if framing == "brokenChunks" else 0)
        body = b"%x\r\n%b" % (size, body) + (b"\r\n0\r\n\r\n" if framing == "chunked" else b"")
    elif framing == "close":
        headers.append(["connection", "close"])
    else:
        headers.append(["content-length", str(len(body) + (20 if framing in ("broken", "reset") else 0))])
    interim = "".join(f"HTTP/1.1 {status} Early\r\n\r\n" for status in odd.get("interim", []))
    lines = [f"HTTP/1.1 {odd['status']} {odd.get('reason', 'Odd')}", *(f"{name}: {value}" for name, value in headers)]
    connection.send((interim + "\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)
    if framing == "reset":
        connection.reset()
    elif framing not in ("length", "chunked"):
        connection.sock.shutdown(socket.SHUT_RDWR)


def call(kind: str, options: dict[str, Any], method: Any, params: list[Any]) -> Any:
    if kind == "sync":
        with KeyrailProvider(**options, retry=False, chain_id=1) as provider:
            return provider.batch_settled([(method, params)])[0]

    async def run() -> Any:
        async with AsyncKeyrailProvider(**options, retry=False, chain_id=1) as provider:
            return (await provider.batch_settled([(method, params)]))[0]

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("case", to_params(read_vectors("oddResponses.json")))
def test_odd_response(case: dict[str, Any], kind: str) -> None:
    with FaultServer(lambda request, connection: respond(case["response"], request, connection)) as server:
        method = case.get("method", METHOD)
        params = ["0x02c0"] if method == "eth_sendRawTransaction" else []
        options = {"url": server.url, "max_response_bytes": case.get("maxResponseBytes")}
        settled = call(kind, options, method, params)
    expected = case["expect"]
    if "result" in expected:
        assert settled.value == expected["result"], settled.error
        return
    failure = settled.error
    assert isinstance(failure, KeyrailError)
    found = {
        "kind": failure.kind,
        "status": failure.status,
        "retryAfterMs": failure.retry_after_ms,
        "retryable": failure.retryable,
    }
    assert {name: found[name] for name in expected} == expected, json.dumps(case, indent=1)
