"""The events that hooks receive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..failure.kinds import FailureKind, FailureSource


@dataclass(slots=True, frozen=True, kw_only=True)
class _Event:
    """The fields of every event. No event holds params, results, a key or a full URL."""

    id: int
    """Identifies the call within its provider: 1, 2, 3 and so on. All events of a call have the same ``id``."""
    method: str
    """The JSON-RPC method of the call, such as ``eth_call``."""
    redacted_url: str
    """The endpoint's URL without its secrets."""


@dataclass(slots=True, frozen=True, kw_only=True)
class RequestEvent(_Event):
    """A call starts."""

    type: Literal["request"] = "request"


@dataclass(slots=True, frozen=True, kw_only=True)
class AttemptEvent(_Event):
    """An HTTP request for a call has succeeded or failed."""

    attempt: int
    """Number of this attempt within the call, from 1."""
    batch_size: int
    """Number of calls in the HTTP request; 1 if it was not a batch."""
    duration_ms: float
    """Time from sending the HTTP request to its end, in milliseconds."""
    kind: FailureKind | None
    """The kind of failure; None if the attempt succeeded."""
    type: Literal["attempt"] = "attempt"


@dataclass(slots=True, frozen=True, kw_only=True)
class RetryEvent(_Event):
    """An attempt failed, and the provider will retry after a wait."""

    attempt: int
    """HTTP requests sent for the call so far."""
    kind: FailureKind
    """The kind of failure of the attempt."""
    wait_ms: float
    """The wait before the next attempt, in milliseconds."""
    type: Literal["retry"] = "retry"


@dataclass(slots=True, frozen=True, kw_only=True)
class RerouteEvent(_Event):
    """An endpoint failed, and the call is sent to another one. ``redacted_url`` is the URL of the endpoint that failed."""

    attempt: int
    """HTTP requests sent for the call so far."""
    kind: FailureKind
    """The kind of failure of the attempt."""
    type: Literal["reroute"] = "reroute"


@dataclass(slots=True, frozen=True, kw_only=True)
class _EndEvent(_Event):
    duration_ms: float
    """Time from the start of the call to its end, including waits, in milliseconds."""
    attempts: int
    """HTTP requests that were sent for the call; 0 if the result was cached."""
    queued_ms: float
    """Time in the queue of a budget, in milliseconds."""


@dataclass(slots=True, frozen=True, kw_only=True)
class ResponseEvent(_EndEvent):
    """A call got its result. ``redacted_url`` is the URL of the endpoint that responded."""

    cached: bool
    """Whether the result came from the cache."""
    type: Literal["response"] = "response"


@dataclass(slots=True, frozen=True, kw_only=True)
class FailureEvent(_EndEvent):
    """A call failed, after all its retries. ``redacted_url`` is the URL of the endpoint that failed."""

    kind: FailureKind
    """The kind of failure, as in ``KeyrailError``; ``aborted`` if the call was cancelled or interrupted."""
    source: FailureSource | None
    """Where the failure comes from, as in ``KeyrailError``; None for a call that was cancelled or interrupted."""
    status: int | None
    """The HTTP status of the response; None if there was none."""
    code: int | None
    """The code of the JSON-RPC error; None if there was none."""
    type: Literal["failure"] = "failure"


CallEvent: TypeAlias = RequestEvent | AttemptEvent | RetryEvent | RerouteEvent | ResponseEvent | FailureEvent
"""Any event of a call. Branch on ``type`` or on the class."""
