"""The cases of batches.json: the response of a server to a batch, and the expected outcome of each call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from vectors import read_vectors, to_params

from keyrail import AsyncKeyrailProvider, KeyrailProvider, RpcRequest, Settled

RESENT = "sent again"


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("case", to_params(read_vectors("batches.json")))
def test_batch(case: dict[str, Any], kind: str) -> None:
    response, expected = case["response"], case["expect"]

    def script(request: ReceivedRequest, connection: Connection) -> None:
        if len(server.requests) == 1:
            assert [call["id"] for call in request.calls] == list(range(1, len(case["methods"]) + 1))
            connection.respond(response["status"], response["body"], response.get("headers", {}))
            return
        responses = [{"jsonrpc": "2.0", "id": call["id"], "result": RESENT} for call in request.calls]
        connection.respond(200, responses if isinstance(request.json, list) else responses[0])

    requests: list[RpcRequest] = [(method, []) for method in case["methods"]]
    with FaultServer(script) as server:
        options: dict[str, Any] = {"url": server.url, "retry": False}
        settled: list[Settled]
        if kind == "sync":
            with KeyrailProvider(**options) as provider:
                settled = provider.batch_settled(requests)
        else:

            async def run() -> list[Settled]:
                async with AsyncKeyrailProvider(**options) as provider:
                    return await provider.batch_settled(requests)

            settled = asyncio.run(run())
        resent = [len(request.calls) for request in server.requests[1:]]
    actual = []
    for one, want in zip(settled, expected["calls"], strict=True):
        if one.error is None:
            actual.append({"resent": True} if one.value == RESENT else {"result": one.value})
        else:
            fields = one.error.fields
            actual.append({name: fields[name] for name in want if name in fields} or {"kind": one.error.kind})
    assert actual == expected["calls"], case["why"]
    assert sum(resent) == sum("resent" in want for want in expected["calls"])
    if "limit" in expected:
        assert max(resent) <= expected["limit"]
        assert max(resent) == min(expected["limit"], sum(resent))
