"""What is done on the way of a call, without doing it: generators that yield what is to be done next.

The same steps are taken by the synchronous provider and by the asynchronous one. A generator never holds a secret: an attempt
is made, read and masked elsewhere, and only its outcome comes back. So nothing is in a frame that a traceback could show.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..failure.error import KeyrailError
from ..message.answer import Result

Outcome: TypeAlias = Result | KeyrailError
"""How a call ended. A failure is a value here, and is raised only at the door."""


@dataclass(slots=True, frozen=True)
class Call:
    """One call."""

    method: str
    params: str
    """As JSON."""


@dataclass(slots=True, frozen=True)
class Attempt:
    """Makes one HTTP request for calls, as a batch where they are several."""

    calls: Sequence[Call]
    until: float
    """When the answer must be there, by ``now_ms``."""
    limit_ms: float
    """The time that the whole call may take, to be told."""


@dataclass(slots=True, frozen=True)
class Told:
    """What came of an attempt."""

    outcomes: Sequence[Outcome]
    """In the order of the calls."""
    whole: bool = False
    """One refusal speaks of all calls of the batch."""
    limits: Sequence[int | None] = ()
    """For each call that failed as a batch too large: how many would be taken, where that was said."""
    blames_batch: bool = False
    """Such a failure speaks of batches in so many words."""


@dataclass(slots=True, frozen=True)
class Pause:
    """Waits."""

    ms: float


Steps: TypeAlias = Generator["Effect", Any, list[Outcome]]
"""Steps that end with the outcomes of calls."""


@dataclass(slots=True, frozen=True)
class Together:
    """Takes several walks, at the same time where that is possible. Gives their outcomes, walk by walk."""

    walks: Sequence[Steps]


Effect: TypeAlias = Attempt | Pause | Together


def now_ms() -> float:
    """Tell the time of a clock that only goes forward, in milliseconds."""
    return time.monotonic() * 1_000
