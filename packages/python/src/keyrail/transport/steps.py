"""The steps of a call: generators that yield what to do next and do no I/O.

The synchronous and the asynchronous provider run the same steps. A generator never contains a secret: the runner makes an attempt,
reads and masks the response, and sends back the outcome. So a traceback has no frame with a secret.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..failure.error import KeyrailError
from ..message.response import Result
from ..observe.observer import ObservedCall, observe_steps

Outcome: TypeAlias = Result | KeyrailError
"""The outcome of a call. A failure is a value here; the provider raises it."""


Priority = Literal["write", "read", "poll"]
"""How urgent a call is."""


@dataclass(slots=True)
class Call:
    """A call."""

    method: str
    params: str
    """As JSON."""
    observed: ObservedCall | None = None
    """Receives the events of the call; None if nothing observes calls."""
    priority: Priority | None = None
    """Its place in the queue of a budget. None means ``write`` if it sends a transaction, else ``read``."""
    min_block: int | bool | None = None
    """The lowest block that the result may be from, True for the highest block seen, None for the option of the provider."""


@dataclass(slots=True, frozen=True)
class Attempt:
    """Makes one HTTP request for one call, or for several calls as a batch."""

    calls: Sequence[Call]
    until: float
    """The deadline for the response, by ``now_ms``."""
    limit_ms: float
    """The time limit of the whole call, for messages."""
    own_limit_ms: float | None = None
    """The time limit of this attempt, if it is before the deadline of the call, for messages."""
    at: int = 0
    """The position of the endpoint."""


@dataclass(slots=True, frozen=True)
class AttemptResult:
    """The outcomes of an attempt."""

    outcomes: Sequence[Outcome]
    """In the order of the calls."""
    whole: bool = False
    """Whether one error response rejected the whole batch."""
    limits: Sequence[int | None] = ()
    """For each call that failed because the batch was too large: the maximum size, if the server named it."""
    blames_batch: bool = False
    """Whether such a failure mentions batches."""


@dataclass(slots=True, frozen=True)
class Pause:
    """Waits for a time."""

    ms: float


@dataclass(slots=True, frozen=True)
class Wait:
    """Waits until a future is done, or for a time. The steps check afterwards whether it is done."""

    future: Future[Any]
    ms: float


Steps: TypeAlias = Generator["Effect", Any, list[Outcome]]
"""Steps that return the outcomes of calls, in the order of the calls."""


@dataclass(slots=True, frozen=True)
class Parallel:
    """Runs several steps, concurrently if possible. Returns a list with the outcomes of each."""

    steps: Sequence[Steps]


Effect: TypeAlias = Attempt | Pause | Wait | Parallel


def observe_calls(calls: Sequence[Call], steps: Steps) -> Steps:
    """Report the outcomes of calls to what observes them."""
    observed = [call.observed for call in calls if call.observed is not None]
    return observe_steps(steps, observed) if observed else steps


def now_ms() -> float:
    """Return the time of a monotonic clock, in milliseconds."""
    return time.monotonic() * 1_000


def wall_ms() -> float:
    """Return the date, in milliseconds since 1970."""
    return time.time() * 1_000
