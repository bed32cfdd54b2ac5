"""What sends calls: one endpoint, or a route over several endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..observe.endpoint_state import EndpointState
from .batch_limits import BatchLimits
from .deadline import Deadline
from .steps import Call, Steps


@dataclass(slots=True)
class Group:
    """Calls that are sent to the same endpoint, because two nodes are rarely at the same block."""

    at: int = -1
    """The position of the endpoint; -1 for none."""


class Sender(Protocol):
    """Sends calls once. The layers above retry them."""

    @property
    def limits(self) -> BatchLimits:
        """How large a batch may be, as far as it is known."""

    def send(
        self,
        calls: Sequence[Call],
        deadline: Deadline,
        *,
        attempt_ms: float | None = None,
        group: Group | None = None,
    ) -> Steps:
        """Send calls, as a batch if there are several.

        Args:
            calls: The calls. Several must all be reads.
            deadline: Their deadline.
            attempt_ms: The time limit of one attempt, in milliseconds. Default: the remaining time.
            group: The group that the calls belong to.

        """

    def get_states(self) -> list[EndpointState]:
        """Return the state of each endpoint."""
