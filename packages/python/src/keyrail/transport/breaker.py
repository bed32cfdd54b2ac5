"""The circuit breaker of an endpoint."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from ..failure.check import check_range
from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError
from ..failure.facts import Facts
from ..failure.is_read_method import is_read_method
from ..message.response import Result
from ..observe.endpoint_state import BreakerState, Health
from .fork import watch_forks
from .steps import Outcome, now_ms

_MAX_MS = 2**31 - 1
# The window is divided into this many parts. The oldest part is dropped as a whole.
_PARTS = 10
# A hundred hundredths add up to a little less than one.
_ROUNDING_ERROR = 1e-6
_OUTAGE_KINDS = frozenset({"network", "timeout", "unavailable", "badResponse"})
_FIRST_ERROR_STATUS = 300

_Evidence: TypeAlias = Literal["up", "down", "invalid_key", "forbidden", "none"]


@dataclass(slots=True, frozen=True, kw_only=True)
class Breaker:
    """When the circuit breaker of an endpoint opens, and for how long.

    Args:
        failures: How many failures in a row open it. Default: 5.
        failure_rate: The part of the calls in the window that must fail to open it, from 0 to 1. Default: 0.5.
        min_calls: How many calls the window must hold before ``failure_rate`` applies. Default: 20.
        window_ms: The length of the window, in milliseconds. Default: 30,000.
        open_ms: How long it stays open, in milliseconds; doubles each time a probe fails, to at most 12 times this. Default: 5,000.
        dead_ms: How long it stays open after the key was rejected, in milliseconds. Default: 300,000.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong.

    """

    failures: float = 5
    failure_rate: float = 0.5
    min_calls: float = 20
    window_ms: float = 30_000
    open_ms: float = 5_000
    dead_ms: float = 300_000

    def __post_init__(self) -> None:
        ranges = {"failures": (1, 10**6), "min_calls": (1, 10**6), "failure_rate": (0.01, 1)}
        for field in fields(self):
            least, most = ranges.get(field.name, (1, _MAX_MS))
            check_range(field.name, getattr(self, field.name), least, most)


@dataclass(slots=True, frozen=True)
class Sent:
    """A request that passed the circuit breaker."""

    period: int
    probes: bool
    at: float


def _get_evidence(outcome: Outcome) -> _Evidence:
    """Return what the outcome of a call shows: the endpoint works, is down, rejected the key as invalid or as not allowed, or nothing."""
    if isinstance(outcome, Result):
        return "up"
    if outcome.kind == "auth":
        return "invalid_key"
    # A service reports the wrong network if the key is for another one. If a response proved it, the endpoint is excluded.
    if outcome.kind == "forbidden" or (outcome.kind == "wrongNetwork" and outcome.source != "client"):
        return "forbidden"
    # An error object under a good status, such as "internal error", comes from the node: the endpoint works.
    if outcome.kind in _OUTAGE_KINDS:
        return "up" if outcome.rpc_error and (outcome.status or 0) < _FIRST_ERROR_STATUS else "down"
    return "none" if outcome.source == "client" else "up"


class CircuitBreaker:
    """Opens when the endpoint fails, so that calls go to another endpoint at once instead of waiting for the next failure.

    After a time it sends one read at a time as a probe, and it closes when a probe gets a response. It sends no requests of its own.

    It opens on failures that show that the endpoint is down: no connection, a broken one, a timeout, HTTP 5xx, an unreadable response.
    An invalid key (401) opens it for longer, at once, and so does a rejection as forbidden ``failures`` times in a row. It does not
    open on responses of the node (reverts, errors), on wrong calls, or on throttling, which the budget handles.

    Only a failed probe makes the wait longer. Calls that were in flight when it opened or closed are ignored: they neither open nor
    close it.

    Args:
        options: When it opens, and for how long.
        redacted_url: The URL of the endpoint without its secrets.

    """

    def __init__(self, options: Breaker, redacted_url: str) -> None:
        self._options = options
        self._redacted_url = redacted_url
        self._lock = threading.RLock()
        self._total = [0.0] * _PARTS
        self._failed = [0.0] * _PARTS
        # Requests for which the key was rejected.
        self._rejected = [0.0] * _PARTS
        self._part = 0
        self._in_row = 0.0
        self._rejections = 0.0
        self._opened = False
        self._openings = 0
        # How often it has opened or closed: calls of an earlier period are ignored.
        self._period = 0
        self._opened_at = float("-inf")
        self._open_for_ms = 0.0
        self._probing = False
        self._latency_ms: float | None = None
        watch_forks(self)

    @property
    def average_ms(self) -> float | None:
        """The average response time, in milliseconds; None before the first response."""
        return self._latency_ms

    def admits(self, method: str) -> bool:
        """Check whether a call would be sent now."""
        if not self._opened:
            return True
        with self._lock:
            return self._state() == "half_open" and not self._probing and is_read_method(method)

    def enter(self, method: str, bypass: bool) -> Sent | None:
        """Let a request pass, or return None if the circuit breaker is open.

        Args:
            method: The method of the call, or of the first call of a batch.
            bypass: Whether the request is sent in any case.

        """
        with self._lock:
            probes = self._opened and self.admits(method)
            if self._opened and not probes and not bypass:
                return None
            self._probing = self._probing or probes
            return Sent(self._period, probes, now_ms())

    def leave(self, sent: Sent, outcomes: list[Outcome]) -> None:
        """Learn from the outcomes of a request. There are none if it was cancelled or interrupted."""
        with self._lock:
            if sent.probes:
                self._probing = False
            ms = now_ms() - sent.at
            average = self._latency_ms
            # A request that was cancelled after more than the average time would have taken longer. Without these, an endpoint whose
            # slow calls are cancelled would seem fast.
            if any(isinstance(outcome, Result) for outcome in outcomes) or (
                not outcomes and average is not None and ms > average
            ):
                self._latency_ms = ms if average is None else average + (ms - average) / 8
            for outcome in outcomes:
                self._learn(_get_evidence(outcome), sent, 1 / len(outcomes))

    def create_rejection(self, method: str) -> KeyrailError:
        """Create the failure of a call that was not sent."""
        text = "not sent: the circuit breaker is open, because this endpoint keeps failing"
        facts = Facts(kind="unavailable", text=text, unsent=True)
        return create_failure(facts, method=method, redacted_url=self._redacted_url)

    def get_health(self) -> Health:
        """Return the recent health of the endpoint."""
        with self._lock:
            self._slide(now_ms())
            calls = _add_up(self._total)
            failures = min(calls, _add_up(self._failed) + _add_up(self._rejected))
            return Health(
                state=self._state(),
                calls=calls,
                failures=failures,
                success_rate=1 - failures / calls if calls else None,
                latency_ms=self._latency_ms,
            )

    def _after_fork(self) -> None:
        # A thread of the parent may hold the lock, or send the probe.
        self._lock = threading.RLock()
        self._probing = False

    def _state(self) -> BreakerState:
        if not self._opened:
            return "closed"
        return "open" if now_ms() < self._opened_at + self._open_for_ms else "half_open"

    def _slide(self, time: float) -> int:
        """Drop the parts that have left the window, and return the current part."""
        current = math.floor(time * _PARTS / self._options.window_ms)
        for at in range(max(self._part + 1, current - _PARTS + 1), current + 1):
            self._total[at % _PARTS] = self._failed[at % _PARTS] = self._rejected[at % _PARTS] = 0
        self._part = current
        return current % _PARTS

    def _open(self, time: float, ms: float) -> None:
        self._opened = True
        self._period += 1
        self._opened_at = time
        self._open_for_ms = ms
        self._in_row = self._rejections = 0

    def _learn(self, evidence: _Evidence, sent: Sent, share: float) -> None:
        if evidence == "none" or sent.period != self._period:
            return
        options = self._options
        time = now_ms()
        at = self._slide(time)
        self._total[at] += share
        if evidence == "down":
            self._failed[at] += share
            self._in_row += share
            if self._opened and not sent.probes:
                return
            calls = _add_up(self._total)
            is_over = self._in_row > options.failures - _ROUNDING_ERROR
            is_rate_over = calls >= options.min_calls and _add_up(self._failed) >= options.failure_rate * calls
            if self._opened or is_over or is_rate_over:
                self._open(time, options.open_ms * min(12, 2 ** min(self._openings, 4)))
                self._openings += 1
            return
        if evidence != "up":
            self._rejected[at] += share
        self._in_row = 0
        self._rejections = self._rejections + share if evidence == "forbidden" else 0
        still_forbidden = self._opened and self._open_for_ms == options.dead_ms and evidence == "forbidden"
        is_forbidden = self._rejections > options.failures - _ROUNDING_ERROR
        if evidence == "invalid_key" or is_forbidden or still_forbidden:
            self._open(time, options.dead_ms)
            return
        if not self._opened:
            return
        self._opened = False
        self._period += 1
        self._openings = 0
        # Failures from before it closed must not open it again.
        for counts in (self._total, self._failed, self._rejected):
            counts[:] = [0.0] * _PARTS
        self._in_row = self._rejections = 0
        self._total[at] = share


def _add_up(counts: list[float]) -> float:
    return round(sum(counts), 6)
