"""The state of an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

BreakerState = Literal["closed", "open", "half_open"]
"""Whether calls are sent: all of them (``closed``), none (``open``), or one read at a time as a probe (``half_open``)."""


@dataclass(slots=True, frozen=True, kw_only=True)
class Health:
    """The recent health of an endpoint, measured by the calls that were sent to it."""

    state: BreakerState
    calls: float
    """Requests in the window; each call of a batch adds its share. While the breaker is open these are the ones that opened it."""
    failures: float
    """How many of them failed: the endpoint did not respond, or rejected the key. An error from the node counts as a response."""
    success_rate: float | None
    """The part of the requests that did not fail, from 0 to 1; None if there were none."""
    latency_ms: float | None
    """The average response time, in milliseconds; None before the first response."""


@dataclass(slots=True, frozen=True, kw_only=True)
class BudgetStats:
    """How much of a budget is used, and how much is left."""

    unit: Literal["requests", "compute_units"]
    rate: float | None
    """Units per second now; None if there is no limit."""
    used: float
    """Units sent since the provider was created."""
    used_today: float
    """Sent since 00:00 UTC, in the unit of the limit per day."""
    left_today: float | None
    """Units left until 00:00 UTC; None if no limit per day is set."""
    queued: Mapping[Literal["write", "read", "poll"], int]
    """How many requests wait, by priority."""
    paused_until: float | None
    """Until when no calls are sent because the endpoint asked for a pause, in seconds since 1970; None without a pause."""


@dataclass(slots=True, frozen=True, kw_only=True)
class EndpointState:
    """The state of one endpoint of a provider."""

    name: str
    """Its name, or its redacted URL."""
    redacted_url: str
    head: int
    """The highest block that it is known to have; 0 before its first report, and for a provider without ``endpoints``."""
    out: str | None
    """Why the endpoint is not used any more: it proved to be on another chain."""
    health: Health | None
    """None if it has no circuit breaker."""
    budget: BudgetStats | None
    """None if it has no budget."""
