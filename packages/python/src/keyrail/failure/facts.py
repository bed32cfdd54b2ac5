"""What is known about a failure before it is classified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .kinds import FailureKind


@dataclass(slots=True)
class Facts:
    """The input of ``create_failure``. Secrets are not masked yet."""

    text: str
    """The server's message, on one line and without HTML tags, or our own description."""
    kind: FailureKind | None = None
    """Set if the kind is known already, so that nothing is left to classify."""
    status: int | None = None
    rpc_error: dict[str, Any] | None = None
    """The JSON-RPC error object of the response."""
    retry_after: str | None = None
    """The ``retry-after`` header."""
    date: str | None = None
    """The ``date`` header. An HTTP-date in ``retry-after`` is relative to it, because clocks differ."""
    unsent: bool = False
    """Whether the server cannot have received any part of the request."""
    batch: bool = False
    """Whether the call was part of a batch."""
    final: bool = False
    """Whether a retry would fail in the same way, regardless of the kind: a redirect, or a response over the size limit."""
