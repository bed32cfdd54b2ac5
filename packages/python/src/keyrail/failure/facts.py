"""What is known of a failure before it has a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .kinds import FailureKind


@dataclass(slots=True)
class Facts:
    """Gathered by whoever saw the failure, judged by ``create_failure``. Nothing in it is masked yet."""

    text: str
    """What the server said, on one line and without tags, or what happened in our own words."""
    kind: FailureKind | None = None
    """Set where the kind is known already and nothing is left to judge."""
    status: int | None = None
    rpc_error: dict[str, Any] | None = None
    """The JSON-RPC error object, where the answer had one."""
    retry_after: str | None = None
    """The ``retry-after`` header."""
    date: str | None = None
    """The ``date`` header: an HTTP-date in ``retry-after`` is counted from it, because clocks differ."""
    unsent: bool = False
    """True where not a byte of the request can have reached the server."""
    batch: bool = False
    """True where the call was sent as part of a batch."""
    final: bool = False
    """True where the same call would end the same way, whatever its kind says: a redirect, a body over the limit."""
