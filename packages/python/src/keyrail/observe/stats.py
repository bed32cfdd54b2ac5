"""Counters of the calls of a provider."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..failure.kinds import FailureKind
from .endpoint_state import EndpointState
from .latency_histogram import LatencyHistogram, LatencyStats

# The number of endpoints with counters of their own. Key rotation changes the redacted URL, so the number must be bounded.
_MAX_ENDPOINTS = 64
_OTHERS = "(others)"


@dataclass(slots=True, frozen=True, kw_only=True)
class EndpointStats:
    """Counts of the traffic of an endpoint."""

    requests: int
    """HTTP requests. A batch is one request, and each attempt counts."""
    batches: int
    """HTTP requests with more than one call."""
    batched_calls: int
    """Calls that were sent in batches."""
    queued: int
    """Waits in the queue of a budget. A call can wait more than once."""
    queued_ms: float
    """Total time of these waits, in milliseconds."""
    rerouted: int
    """Calls that were sent to another endpoint because this one failed."""
    failed: int
    """Failed attempts. Each call of a batch counts separately."""
    failed_by_kind: Mapping[FailureKind, int]
    """Failed attempts by kind of failure; a kind that never occurred is missing."""
    latency: LatencyStats
    """Durations of attempts, failed ones included, in milliseconds."""


@dataclass(slots=True, frozen=True, kw_only=True)
class ProviderStats(EndpointStats):
    """Counts of a provider since it was created. Counts only grow, except ``in_flight``. ``dataclasses.asdict`` makes it a dict.

    ``failed``, ``failed_by_kind`` and ``latency`` are those of calls: a call that succeeds on a retry has not failed.
    """

    since: float
    """When counting started, in seconds since 1970."""
    calls: int
    """Calls that were started."""
    in_flight: int
    """Calls that have not completed yet."""
    answered: int
    """Calls that got their result, from a node or from the cache."""
    retries: int
    """Retried attempts."""
    cached: int
    """Calls whose result came from the cache."""
    hook_errors: int
    """Exceptions of hooks, tracers and spans."""
    endpoints: Mapping[str, EndpointStats]
    """Counts of each endpoint, by its redacted URL. At most 64; further ones share ``(others)``."""
    endpoint_states: Sequence[EndpointState]
    """The head and the circuit breaker of each endpoint."""


class Counters:
    """Counts of traffic. Not thread-safe: the observer has a lock."""

    def __init__(self) -> None:
        self._requests = 0.0
        self._batches = 0.0
        self._batched_calls = 0
        self._queued = 0
        self._queued_ms = 0.0
        self._rerouted = 0
        self.failed = 0
        self._failed_by_kind: dict[FailureKind, int] = {}
        self._latency = LatencyHistogram()

    def send(self, batch_size: int) -> None:
        """Count a call that is sent. Each call of a batch of n adds 1 / n request."""
        self._requests += 1 / batch_size
        if batch_size > 1:
            self._batches += 1 / batch_size
            self._batched_calls += 1

    def wait(self, wait_ms: float) -> None:
        """Count a wait in a queue."""
        self._queued += 1
        self._queued_ms += wait_ms

    def reroute(self) -> None:
        """Count a call that is sent to another endpoint."""
        self._rerouted += 1

    def end(self, duration_ms: float, kind: FailureKind | None) -> None:
        """Count the end of an attempt or of a call, with the kind of its failure."""
        self._latency.add(duration_ms)
        if kind is not None:
            self.failed += 1
            self._failed_by_kind[kind] = self._failed_by_kind.get(kind, 0) + 1

    def snapshot(self) -> dict[str, Any]:
        """Copy the counts: the fields of ``EndpointStats``."""
        return {
            # The sums are whole but for rounding errors.
            "requests": round(self._requests),
            "batches": round(self._batches),
            "batched_calls": self._batched_calls,
            "queued": self._queued,
            "queued_ms": self._queued_ms,
            "rerouted": self._rerouted,
            "failed": self.failed,
            "failed_by_kind": dict(self._failed_by_kind),
            "latency": self._latency.snapshot(),
        }


class StatsCounters:
    """The counters of a provider. Not thread-safe: the observer has a lock."""

    def __init__(self) -> None:
        self._since = time.time()
        self.all = Counters()
        self._endpoints: dict[str, Counters] = {}
        self.calls = 0
        self.answered = 0
        self.retries = 0
        self.cached = 0
        self.hook_errors = 0

    def get_endpoint(self, redacted_url: str) -> Counters:
        """Return the counters of an endpoint."""
        counters = self._endpoints.get(redacted_url)
        if counters is None:
            name = redacted_url if len(self._endpoints) < _MAX_ENDPOINTS else _OTHERS
            counters = self._endpoints.setdefault(name, Counters())
        return counters

    def snapshot(self, endpoint_states: Sequence[EndpointState]) -> ProviderStats:
        """Copy all counts."""
        return ProviderStats(
            **self.all.snapshot(),
            since=self._since,
            calls=self.calls,
            in_flight=self.calls - self.answered - self.all.failed,
            answered=self.answered,
            retries=self.retries,
            cached=self.cached,
            hook_errors=self.hook_errors,
            endpoints={url: EndpointStats(**counters.snapshot()) for url, counters in self._endpoints.items()},
            endpoint_states=endpoint_states,
        )
