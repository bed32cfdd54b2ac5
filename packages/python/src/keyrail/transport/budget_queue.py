"""The queue of a budget."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from ..methods import find_methods
from .budget_pace import Rejection
from .deadline import Deadline
from .steps import Call, Priority

_WRITES = find_methods("access", "write")
_PRIORITIES: tuple[Priority, ...] = ("write", "read", "poll")
# How many calls in a row may go before a call that has waited longer.
_MAX_PASSED = 9


@dataclass(slots=True, eq=False)
class Waiter:
    """Calls that are sent in one request, and wait in the queue."""

    calls: Sequence[Call]
    cost: float
    deadline: Deadline
    since: float
    future: Future[None] = field(default_factory=Future)
    """Done when the waiter has to look whether it may go."""
    rejection: tuple[Rejection, float] | None = None
    """Why the waiter has to give up, and how long the endpoint is paused, in milliseconds."""

    def wake(self) -> None:
        """Let the waiter look whether it may go."""
        if not self.future.done():
            self.future.set_result(None)


class BudgetQueue:
    """The calls that wait, by priority. Not thread-safe: the budget has a lock.

    Writes go before reads, and reads before polls: a late transaction costs more than a late screen, and a late screen more than a late
    poll. One call in ten is the one that has waited longest, so that many reads slow polling down to a tenth at most, and lose no
    more than a tenth themselves.
    """

    def __init__(self) -> None:
        self._queues: list[OrderedDict[int, Waiter]] = [OrderedDict() for _ in _PRIORITIES]
        self._costs = [0.0] * len(_PRIORITIES)
        self._passed = 0

    def __bool__(self) -> bool:
        return any(self._queues)

    def enter(self, waiter: Waiter) -> None:
        """Add a waiter."""
        at = _get_priority(waiter.calls[0])
        self._queues[at][id(waiter)] = waiter
        self._costs[at] += waiter.cost

    def leave(self, waiter: Waiter) -> None:
        """Remove a waiter."""
        at = _get_priority(waiter.calls[0])
        del self._queues[at][id(waiter)]
        self._costs[at] = self._costs[at] - waiter.cost if self._queues[at] else 0

    def is_next(self, waiter: Waiter) -> bool:
        """Check whether a waiter goes next."""
        return waiter is self._choose()[0]

    def count_turn(self, waiter: Waiter) -> None:
        """Count that a waiter goes."""
        self._passed = 0 if waiter is self._choose()[1] else self._passed + 1

    def wake_next(self) -> None:
        """Wake the waiter that goes next, if there is one."""
        if self:
            self._choose()[0].wake()

    def get_all(self) -> list[Waiter]:
        """Return all waiters."""
        return [waiter for queue in self._queues for waiter in queue.values()]

    def get_cost_ahead(self, call: Call) -> float:
        """Return the cost of what goes before a call that comes now."""
        return sum(self._costs[: _get_priority(call) + 1])

    def count(self) -> dict[Priority, int]:
        """Return how many wait, by priority."""
        return {name: len(queue) for name, queue in zip(_PRIORITIES, self._queues, strict=True)}

    def _choose(self) -> tuple[Waiter, Waiter]:
        """Return the waiter that goes next, and the one that has waited longest."""
        first = [next(iter(queue.values())) for queue in self._queues if queue]
        oldest = min(first, key=lambda waiter: waiter.since)
        return first[0] if self._passed < _MAX_PASSED else oldest, oldest


def _get_priority(call: Call) -> int:
    if call.priority is not None:
        return _PRIORITIES.index(call.priority)
    return 0 if call.method in _WRITES else 1
