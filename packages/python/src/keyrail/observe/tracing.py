"""Creates an OpenTelemetry span for each call."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import urlsplit

from ..failure.check import check, describe, invalid
from .events import CallEvent, FailureEvent, RequestEvent, ResponseEvent

_INSTRUMENTATION = "keyrail"
_DEFAULT_PORTS = {"http": 80, "https": 443}
# The attributes of an event, for its span or its span event. Values of 0, False and None are left out.
_ATTRIBUTES = {
    "kind": "error.type",
    "attempt": "keyrail.attempt",
    "batch_size": "keyrail.batch_size",
    "wait_ms": "keyrail.wait_ms",
    "attempts": "keyrail.attempts",
    "queued_ms": "keyrail.queued_ms",
    "cached": "keyrail.cached",
    "status": "http.response.status_code",
}


class Tracer(Protocol):
    """The part of OpenTelemetry's ``Tracer`` by which type checkers recognize it."""

    def start_span(self, name: str) -> object:
        """Start a span."""


def _get_server_attributes(redacted_url: str) -> dict[str, Any]:
    """Return host and port of a redacted URL. Spans hold nothing else of a URL."""
    try:
        parts = urlsplit(redacted_url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return {}
    return {"server.address": parts.hostname, "server.port": port} if parts.hostname and port else {}


def _get_attributes(event: CallEvent) -> dict[str, Any]:
    attributes = _get_server_attributes(event.redacted_url)
    for name, attribute in _ATTRIBUTES.items():
        value = getattr(event, name, None)
        if value:
            attributes[attribute] = value
    if isinstance(event, FailureEvent) and event.code is not None:
        attributes["rpc.response.status_code"] = str(event.code)
    return attributes


def create_tracing_listener(tracing: Any, on_error: Callable[[], None]) -> Callable[[CallEvent], None]:
    """Create a function that turns the events of calls into spans of kind CLIENT: one for each call, with an event for each attempt.

    Spans hold the host and port of the endpoint, but no params, no results and no error messages of the node. If the tracer or a span
    raises an exception, the call continues without a span, and ``on_error`` is called. See the semantic conventions:
    https://opentelemetry.io/docs/specs/semconv/rpc/json-rpc/

    Args:
        tracing: True, or the tracer that creates the spans.
        on_error: Called if the tracer or a span has raised an exception.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if OpenTelemetry is not installed, or the value is not a tracer.

    """
    check(
        tracing is True or callable(getattr(tracing, "start_span", None)),
        f"tracing must be True, False or an OpenTelemetry Tracer, not {describe(tracing)}.",
    )
    api = _import_api()
    tracer: Any = api.get_tracer(_INSTRUMENTATION) if tracing is True else tracing
    # The spans of the calls in flight.
    spans: dict[int, Any] = {}

    def record(event: CallEvent) -> None:
        if isinstance(event, RequestEvent):
            attributes = {
                "rpc.system.name": "jsonrpc",
                "rpc.method": event.method,
                "jsonrpc.protocol.version": "2.0",
                **_get_server_attributes(event.redacted_url),
            }
            spans[event.id] = tracer.start_span(event.method, kind=api.SpanKind.CLIENT, attributes=attributes)
            return
        is_end = isinstance(event, (ResponseEvent, FailureEvent))
        span = spans.pop(event.id, None) if is_end else spans.get(event.id)
        if span is None:
            return
        if not is_end:
            span.add_event(f"keyrail.{event.type}", _get_attributes(event))
            return
        try:
            span.set_attributes(_get_attributes(event))
            if isinstance(event, FailureEvent):
                span.set_status(api.StatusCode.ERROR)
        finally:
            span.end()

    def notify(event: CallEvent) -> None:
        # Span processors are the user's code, and can raise exceptions.
        try:
            record(event)
        except Exception:
            on_error()

    return notify


def _import_api() -> Any:
    try:
        return import_module("opentelemetry.trace")
    except ImportError:
        failure = invalid("tracing needs OpenTelemetry. Install it: pip install opentelemetry-api opentelemetry-sdk.")
    raise failure
