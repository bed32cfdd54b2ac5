"""Observes the calls of a provider: counts them, and calls hooks."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

from ..failure.error import KeyrailError
from ..failure.kinds import FailureKind
from .endpoint_state import EndpointState
from .events import AttemptEvent, CallEvent, FailureEvent, RequestEvent, RerouteEvent, ResponseEvent, RetryEvent
from .stats import ProviderStats, StatsCounters

Notify: TypeAlias = Callable[[CallEvent], None]
"""Receives the events of calls, from ``request`` to ``response`` or ``failure``."""


class Observer:
    """Observes the calls of one provider. It never sees params, results, a key or a URL with its key."""

    def __init__(self, redacted_url: str) -> None:
        self.redacted_url = redacted_url
        self.listeners: list[Notify] = []
        self.counters = StatsCounters()
        self.lock = threading.Lock()
        self._ids = itertools.count(1)

    def start(self, method: str) -> ObservedCall:
        """Observe the start of a call."""
        return ObservedCall(self, next(self._ids), method)

    def count_hook_error(self) -> None:
        """Count an exception of a hook, a tracer or a span."""
        with self.lock:
            self.counters.hook_errors += 1

    def snapshot(self, endpoint_states: Sequence[EndpointState]) -> ProviderStats:
        """Copy all counts."""
        with self.lock:
            return self.counters.snapshot(endpoint_states)

    def after_fork(self) -> None:
        """Start over in a child: a thread of the parent may hold the lock."""
        self.lock = threading.Lock()


class ObservedCall:
    """A call that is observed, and the facts collected for its last event."""

    def __init__(self, observer: Observer, call_id: int, method: str) -> None:
        self._observer = observer
        self._id = call_id
        self._method = method
        self._started = time.monotonic()
        self._redacted_url = observer.redacted_url
        self._attempts = 0
        self._queued_ms = 0.0
        self._cached = False
        self._ended = False
        with observer.lock:
            observer.counters.calls += 1
        self._emit(RequestEvent, redacted_url=observer.redacted_url)

    def send(self, redacted_url: str, batch_size: int) -> None:
        """Report that the call is sent, with ``batch_size`` calls in the request."""
        self._attempts += 1
        counters = self._observer.counters
        with self._observer.lock:
            counters.all.send(batch_size)
            counters.get_endpoint(redacted_url).send(batch_size)

    def end_attempt(self, redacted_url: str, batch_size: int, duration_ms: float, kind: FailureKind | None) -> None:
        """Report that the request has ended, with the kind of its failure."""
        if kind is None:
            self._redacted_url = redacted_url
        with self._observer.lock:
            self._observer.counters.get_endpoint(redacted_url).end(duration_ms, kind)
        self._emit(
            AttemptEvent,
            redacted_url=redacted_url,
            attempt=self._attempts,
            batch_size=batch_size,
            duration_ms=duration_ms,
            kind=kind,
        )

    def retry(self, kind: FailureKind, wait_ms: float) -> None:
        """Report a retry after a wait."""
        with self._observer.lock:
            self._observer.counters.retries += 1
        self._emit(RetryEvent, redacted_url=self._redacted_url, attempt=self._attempts, kind=kind, wait_ms=wait_ms)

    def wait(self, redacted_url: str, wait_ms: float) -> None:
        """Report a wait in the queue of a budget."""
        self._queued_ms += wait_ms
        counters = self._observer.counters
        with self._observer.lock:
            counters.all.wait(wait_ms)
            counters.get_endpoint(redacted_url).wait(wait_ms)

    def reroute(self, redacted_url: str, kind: FailureKind) -> None:
        """Report that an endpoint failed, and that the call is sent to another one."""
        counters = self._observer.counters
        with self._observer.lock:
            counters.all.reroute()
            counters.get_endpoint(redacted_url).reroute()
        self._emit(RerouteEvent, redacted_url=redacted_url, attempt=self._attempts, kind=kind)

    def use_cache(self) -> None:
        """Report that the result comes from the cache."""
        self._cached = True
        with self._observer.lock:
            self._observer.counters.cached += 1

    def end(self, outcome: object) -> None:
        """Report the end of the call: its result, its failure, or None if it was cancelled or interrupted. Only the first end counts."""
        if self._ended:
            return
        self._ended = True
        duration_ms = (time.monotonic() - self._started) * 1_000
        failure = outcome if isinstance(outcome, KeyrailError) else None
        kind: FailureKind | None = failure.kind if failure else "aborted" if outcome is None else None
        counters = self._observer.counters
        with self._observer.lock:
            counters.all.end(duration_ms, kind)
            counters.answered += kind is None
        fields: dict[str, Any] = {
            "redacted_url": (failure and failure.redacted_url) or self._redacted_url,
            "duration_ms": duration_ms,
            "attempts": self._attempts,
            "queued_ms": self._queued_ms,
        }
        if kind is None:
            self._emit(ResponseEvent, **fields, cached=self._cached)
            return
        code = failure.rpc_error.get("code") if failure and failure.rpc_error else None
        status = failure.status if failure else None
        source = failure.source if failure else None
        self._emit(FailureEvent, **fields, kind=kind, source=source, status=status, code=code)

    def _emit(self, event_class: Callable[..., CallEvent], **fields: Any) -> None:
        # Most calls are only counted and need no event.
        if self._observer.listeners:
            event = event_class(id=self._id, method=self._method, **fields)
            for notify in self._observer.listeners:
                notify(event)


def observe_steps(
    steps: Generator[Any, Any, list[Any]], observed: Sequence[ObservedCall]
) -> Generator[Any, Any, list[Any]]:
    """Run steps, and report the outcome of each call. A call that is cancelled or interrupted ends here too."""
    outcomes: list[Any] = [None] * len(observed)
    try:
        outcomes = yield from steps
        return outcomes
    finally:
        for one, outcome in zip(observed, outcomes, strict=True):
            one.end(outcome)
