"""The cases of batches.json: an answer of a server to a batch, and what must become of each call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fault_server import FaultServer, Seen, Wire
from vectors import params_of, read_vectors

from keyrail import AsyncKeyrailProvider, KeyrailProvider, Request, Settled

AGAIN = "sent again"


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("case", params_of(read_vectors("batches.json")))
def test_batch(case: dict[str, Any], kind: str) -> None:
    given, wanted = case["answer"], case["expect"]

    def script(seen: Seen, wire: Wire) -> None:
        if len(server.seen) == 1:
            assert [call["id"] for call in seen.calls] == list(range(1, len(case["methods"]) + 1))
            wire.answer(given["status"], given["body"], given.get("headers", {}))
            return
        answers = [{"jsonrpc": "2.0", "id": call["id"], "result": AGAIN} for call in seen.calls]
        wire.answer(200, answers if isinstance(seen.json, list) else answers[0])

    requests: list[Request] = [(method, []) for method in case["methods"]]
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
        again = [len(seen.calls) for seen in server.seen[1:]]
    seen = []
    for one, want in zip(settled, wanted["calls"], strict=True):
        if one.error is None:
            seen.append({"again": True} if one.value == AGAIN else {"result": one.value})
        else:
            fields = one.error.fields
            seen.append({name: fields[name] for name in want if name in fields} or {"kind": one.error.kind})
    assert seen == wanted["calls"], case["why"]
    assert sum(again) == sum("again" in want for want in wanted["calls"])
    if "limit" in wanted:
        assert max(again) <= wanted["limit"]
        assert max(again) == min(wanted["limit"], sum(again))
