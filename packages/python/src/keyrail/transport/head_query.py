"""Requests the head of an endpoint."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future
from typing import Any

from ..failure.create_failure import create_failure
from ..failure.error import KeyrailError, replace_fields
from ..failure.facts import Facts
from .deadline import Deadline
from .endpoint_sender import EndpointSender
from .fork import watch_forks
from .steps import Call, Effect, Outcome, Wait


class HeadQuery:
    """Requests the head of an endpoint. Calls that wait for it share one ``eth_blockNumber``.

    Args:
        endpoint: The endpoint.

    """

    def __init__(self, endpoint: EndpointSender) -> None:
        self._endpoint = endpoint
        self._shared: Future[Outcome | None] | None = None
        watch_forks(self)

    def send(
        self, call: Call, deadline: Deadline, attempt_ms: float | None, bypasses_breaker: bool
    ) -> Generator[Effect, Any, Outcome]:
        """Request the head for a call.

        Args:
            call: The call that waits for it.
            deadline: The deadline of that call.
            attempt_ms: The time limit of the request, in milliseconds. None for the remaining time.
            bypasses_breaker: Whether the request is sent even if the circuit breaker is open.

        """
        while True:
            shared = self._shared
            if shared is not None:
                yield Wait(shared, deadline.left_ms())
                outcome = shared.result() if shared.done() else None
                if outcome is None and deadline.left_ms() > 0:
                    # The call that sent the request was cancelled or interrupted.
                    continue
            else:
                shared = self._shared = Future()
                outcome = None
                try:
                    head_call = Call("eth_blockNumber", "[]", call.observed)
                    (outcome,) = yield from self._endpoint.send(
                        (head_call,), deadline, attempt_ms=attempt_ms, bypasses_breaker=bypasses_breaker
                    )
                finally:
                    if self._shared is shared:
                        self._shared = None
                    shared.set_result(outcome)
            if outcome is None:
                facts = Facts(kind="timeout", text=f"no response within {deadline.limit_ms:.0f} ms")
                return create_failure(facts, method=call.method, redacted_url=self._endpoint.redacted_url)
            # Its message names eth_blockNumber, its method is that of the caller.
            return replace_fields(outcome, method=call.method) if isinstance(outcome, KeyrailError) else outcome

    def _after_fork(self) -> None:
        # The request belongs to a thread of the parent.
        self._shared = None
