"""OpenTelemetry spans, with stand-ins for its modules: it is not a dependency."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest, respond_with_one

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, ProviderStats

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
KEY = "notARealKeyAtAll1234"


@dataclass
class Span:
    name: str
    kind: str
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    status: str | None = None
    ends: int = 0

    def add_event(self, name: str, attributes: dict[str, Any]) -> None:
        self.events.append((name, attributes))

    def set_attributes(self, attributes: dict[str, Any]) -> None:
        self.attributes.update(attributes)

    def set_status(self, status: str) -> None:
        self.status = status

    def end(self) -> None:
        self.ends += 1


class Tracer:
    """Records spans. Raises an exception in the named methods of spans."""

    def __init__(self, *failing: str) -> None:
        self.spans: list[Span] = []
        self._failing = failing

    def start_span(self, name: str, kind: str = "", attributes: dict[str, Any] | None = None) -> Span:
        def fail(*_: Any) -> None:
            raise RuntimeError("a bug of a span processor")

        if "start_span" in self._failing:
            fail()
        span = Span(name, kind, dict(attributes or {}))
        for method in self._failing:
            setattr(span, method, fail)
        self.spans.append(span)
        return span


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Tracer:
    """The tracer that ``tracing=True`` uses."""
    created = Tracer()
    api = SimpleNamespace(
        get_tracer=lambda name: created if name == "keyrail" else None,
        SpanKind=SimpleNamespace(CLIENT="client"),
        StatusCode=SimpleNamespace(ERROR="error"),
    )
    monkeypatch.setitem(sys.modules, "opentelemetry", SimpleNamespace(trace=api))
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", api)
    return created


def call(kind: str, options: dict[str, Any], *methods: str) -> ProviderStats:
    if kind == "sync":
        with KeyrailProvider(**options) as provider:
            for method in methods:
                try:
                    provider.make_request(method, [])  # type: ignore[arg-type]
                except KeyrailError:
                    continue
            return provider.stats()

    async def run() -> ProviderStats:
        async with AsyncKeyrailProvider(**options) as provider:
            for method in methods:
                try:
                    await provider.make_request(method, [])  # type: ignore[arg-type]
                except KeyrailError:
                    continue
            return provider.stats()

    return asyncio.run(run())


def fail_first(request: ReceivedRequest, connection: Connection) -> None:
    if request.connection == 1 and request.methods == ["eth_gasPrice"]:
        error = {"code": -32601, "message": f"{request.path} has no such method"}
        connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "error": error})
    else:
        respond_with_one(request, connection)


@BOTH
def test_each_call_has_a_span(kind: str, tracer: Tracer) -> None:
    with FaultServer(fail_first) as server:
        port = int(server.url.split(":")[2])
        options = {"base_url": server.url, "api_key": KEY, "tracing": True}
        call(kind, options, "eth_blockNumber", "eth_gasPrice")
    first, second = tracer.spans
    server_attributes = {"server.address": "127.0.0.1", "server.port": port}
    common = {"rpc.system.name": "jsonrpc", "jsonrpc.protocol.version": "2.0", "keyrail.attempts": 1}
    attempt = {"keyrail.attempt": 1, "keyrail.batch_size": 1}
    assert (first.name, first.kind, first.status, first.ends) == ("eth_blockNumber", "client", None, 1)
    assert first.attributes == {**common, **server_attributes, "rpc.method": "eth_blockNumber"}
    assert first.events == [("keyrail.attempt", {**server_attributes, **attempt})]
    assert (second.status, second.ends) == ("error", 1)
    failure = {
        "error.type": "methodUnavailable",
        "http.response.status_code": 200,
        "rpc.response.status_code": "-32601",
    }
    assert second.attributes == {**common, **server_attributes, **failure, "rpc.method": "eth_gasPrice"}
    assert KEY not in repr(tracer.spans)


@BOTH
@pytest.mark.parametrize("failing", ["start_span", "add_event", "set_attributes", "end"])
def test_a_failing_tracer_does_not_fail_the_call(kind: str, failing: str, tracer: Tracer) -> None:
    own = Tracer(failing)
    with FaultServer() as server:
        stats = call(kind, {"url": server.url, "tracing": own}, "eth_blockNumber")
    assert (stats.answered, stats.hook_errors) == (1, 1)
    assert tracer.spans == []


def test_a_cancelled_call_ends_its_span(tracer: Tracer) -> None:
    async def run(server: FaultServer) -> None:
        async with AsyncKeyrailProvider(server.url, tracing=True) as provider:
            task = asyncio.create_task(provider.make_request("eth_blockNumber", []))  # type: ignore[arg-type]
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    with FaultServer(lambda request, connection: connection.hang()) as server:
        asyncio.run(run(server))
    (span,) = tracer.spans
    assert (span.status, span.ends, span.attributes["error.type"]) == ("error", 1, "aborted")


@BOTH
def test_instrumentations_of_http_libraries_are_off_while_a_request_is_sent(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would record the URL, which contains the key."""
    current: list[dict[str, Any]] = [{}]
    during: list[dict[str, Any]] = []

    def set_value(key: str, value: Any, context: dict[str, Any]) -> dict[str, Any]:
        return {**context, key: value}

    context = SimpleNamespace(
        _SUPPRESS_INSTRUMENTATION_KEY="suppress_instrumentation-1",
        get_current=lambda: current[-1],
        set_value=set_value,
        attach=current.append,
        detach=lambda _: current.pop(),
    )
    monkeypatch.setitem(sys.modules, "opentelemetry.context", context)

    def script(request: ReceivedRequest, connection: Connection) -> None:
        during.append(current[-1])
        respond_with_one(request, connection)

    with FaultServer(script) as server:
        call(kind, {"url": server.url, "stats": True}, "eth_blockNumber")
    assert during == [{"suppress_instrumentation": True, "suppress_instrumentation-1": True}]
    assert current == [{}]


def test_tracing_needs_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(KeyrailError, match="pip install opentelemetry-api"):
        KeyrailProvider("https://node.example", tracing=True)
