"""Sends calls to one endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..failure.error import KeyrailError
from ..observe.endpoint_state import EndpointState
from .batch_limits import BatchLimits, divide, get_max_bytes
from .breaker import CircuitBreaker
from .call_settings import CallSettings
from .deadline import Deadline
from .endpoint_budget import EndpointBudget
from .sender import Group
from .steps import Attempt, AttemptResult, Call, Outcome, Steps, now_ms

# Failures of a whole batch that apply to each of its calls. Other failures may be the fault of one call.
_COMMON = frozenset(
    {
        "auth",
        "forbidden",
        "throttled",
        "quota",
        "wrongNetwork",
        "unavailable",
        "timeout",
        "network",
        "badResponse",
    }
)
_PAYLOAD_TOO_LARGE = 413


class EndpointSender:
    """Sends calls to one endpoint, as its budget and its circuit breaker allow.

    Args:
        redacted_url: The URL of the endpoint without its secrets.
        settings: The settings of calls.
        at: The position of the endpoint.
        name: Its name in statistics. Default: its redacted URL.
        weight: Its share of the calls. None means 1.
        breaker: Its circuit breaker, if it has one.
        budget: Its budget, if it has one.

    """

    def __init__(
        self,
        redacted_url: str,
        settings: CallSettings,
        *,
        at: int = 0,
        name: str | None = None,
        weight: float | None = None,
        breaker: CircuitBreaker | None = None,
        budget: EndpointBudget | None = None,
    ) -> None:
        self.redacted_url = redacted_url
        self.name = redacted_url if name is None else name
        self.weight = weight
        self.limits = BatchLimits(settings)
        self._at = at
        self._breaker = breaker
        self._budget = budget

    def admits(self, method: str) -> bool:
        """Check whether the circuit breaker lets a call through."""
        return self._breaker is None or self._breaker.admits(method)

    @property
    def average_ms(self) -> float | None:
        """The average response time that the circuit breaker has measured, in milliseconds, if there is one."""
        return None if self._breaker is None else self._breaker.average_ms

    def get_wait_ms(self, call: Call) -> float:
        """Return how long a call would wait for the budget."""
        return 0 if self._budget is None else self._budget.get_wait_ms(call)

    def send(
        self,
        calls: Sequence[Call],
        deadline: Deadline,
        *,
        attempt_ms: float | None = None,
        group: Group | None = None,  # noqa: ARG002 - all calls go to this endpoint
        bypasses_breaker: bool = False,
    ) -> Steps:
        """Send calls, as a batch if there are several. See ``Sender``.

        Args:
            calls: The calls. Several must all be reads.
            deadline: Their deadline.
            attempt_ms: The time limit of one attempt, in milliseconds. Default: the remaining time.
            group: The group that the calls belong to.
            bypasses_breaker: Whether the calls are sent even if the circuit breaker is open.

        """
        # Not a generator itself: most calls pass neither a budget nor a circuit breaker, and each generator costs time.
        if self._budget is None:
            return self._send_guarded(calls, deadline, attempt_ms, bypasses_breaker)
        return self._send_within(self._budget, calls, deadline, attempt_ms, bypasses_breaker)

    def get_state(self, head: int = 0, out: str | None = None) -> EndpointState:
        """Return the state of the endpoint.

        Args:
            head: The highest block that it is known to have.
            out: Why it is not used any more, if so.

        """
        health = self._breaker.get_health() if self._breaker is not None else None
        budget = self._budget.get_stats() if self._budget is not None else None
        return EndpointState(
            name=self.name, redacted_url=self.redacted_url, head=head, out=out, health=health, budget=budget
        )

    def get_states(self) -> list[EndpointState]:
        """Return the state of the endpoint, as the only one. See ``Sender``."""
        return [self.get_state()]

    def _send_within(
        self,
        budget: EndpointBudget,
        calls: Sequence[Call],
        deadline: Deadline,
        attempt_ms: float | None,
        bypasses_breaker: bool,
    ) -> Steps:
        """Send calls in as many requests as the budget needs."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(calls):
            rest = calls[len(outcomes) :]
            part = rest[: budget.count_fitting(rest)]
            send = partial(self._send_guarded, part, deadline, attempt_ms, bypasses_breaker)
            outcomes += yield from budget.send(part, deadline, send)
        return outcomes

    def _send_guarded(
        self, calls: Sequence[Call], deadline: Deadline, attempt_ms: float | None, bypasses_breaker: bool
    ) -> Steps:
        """Send calls if the circuit breaker lets them through."""
        if self._breaker is None:
            return self._send_once(calls, deadline, attempt_ms)
        return self._send_through(self._breaker, calls, deadline, attempt_ms, bypasses_breaker)

    def _send_through(
        self,
        breaker: CircuitBreaker,
        calls: Sequence[Call],
        deadline: Deadline,
        attempt_ms: float | None,
        bypasses_breaker: bool,
    ) -> Steps:
        sent = breaker.enter(calls[0].method, bypasses_breaker)
        if sent is None:
            return [breaker.create_rejection(call.method) for call in calls]
        outcomes: list[Outcome] = []
        try:
            outcomes = yield from self._send_once(calls, deadline, attempt_ms)
            return outcomes
        finally:
            breaker.leave(sent, outcomes)

    def _create_attempt(self, calls: Sequence[Call], deadline: Deadline, attempt_ms: float | None) -> Attempt:
        if attempt_ms is not None:
            until = now_ms() + attempt_ms
            if until < deadline.until:
                return Attempt(calls, until, deadline.limit_ms, attempt_ms, self._at)
        return Attempt(calls, deadline.until, deadline.limit_ms, None, self._at)

    def _send_once(self, calls: Sequence[Call], deadline: Deadline, attempt_ms: float | None) -> Steps:
        send = self._send_batch if len(calls) > 1 else self._send_single
        return send(calls, deadline, attempt_ms)

    def _send_single(self, calls: Sequence[Call], deadline: Deadline, attempt_ms: float | None) -> Steps:
        result: AttemptResult = yield self._create_attempt(calls, deadline, attempt_ms)
        return list(result.outcomes)

    def _send_batch(self, calls: Sequence[Call], deadline: Deadline, attempt_ms: float | None) -> Steps:
        """Send each call once, or more often if batches are rejected."""
        limits = self.limits
        outcomes: list[Any] = [None] * len(calls)
        queue = divide(calls, range(len(calls)), limits.cap.get(), limits)
        while queue:
            part = queue.pop(0)
            max_calls = limits.cap.get()
            if len(part) > max_calls:
                # The maximum was lowered after this part was queued.
                queue[:0] = divide(calls, part, max_calls, limits)
                continue
            result = yield self._create_attempt([calls[at] for at in part], deadline, attempt_ms)
            rejected: list[int] = []
            next_size = len(part)
            unclear = False
            for item, at in enumerate(part):
                outcome = result.outcomes[item]
                if len(part) == 1 or not isinstance(outcome, KeyrailError):
                    outcomes[at] = outcome
                elif outcome.kind == "batchTooLarge":
                    rejected.append(at)
                    named = result.limits[item]
                    next_size = named if named is not None else max(1, len(part) >> 1)
                    if result.blames_batch:
                        if named is not None:
                            limits.cap.set_limit(named)
                        elif len(rejected) == 1:
                            limits.cap.reject(len(part))
                    elif outcome.status == _PAYLOAD_TOO_LARGE and len(rejected) == 1:
                        limits.max_bytes = min(limits.max_bytes, sum(get_max_bytes(calls[one]) for one in part) // 2)
                elif result.whole and outcome.kind not in _COMMON:
                    rejected.append(at)
                    unclear = True
                else:
                    outcomes[at] = outcome
            if not unclear:
                if rejected:
                    queue[:0] = divide(calls, rejected, min(next_size, limits.cap.get()), limits)
                continue
            # The calls are sent one by one to find the faulty one. If all succeed, the endpoint rejects batches.
            for at in rejected:
                result = yield self._create_attempt((calls[at],), deadline, attempt_ms)
                (outcomes[at],) = result.outcomes
            if not any(isinstance(outcomes[at], KeyrailError) for at in rejected):
                limits.cap.reject(len(part))
        return outcomes
