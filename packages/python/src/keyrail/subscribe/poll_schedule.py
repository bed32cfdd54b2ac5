"""When to poll again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

_SHORTEST_MS = 250
_LONGEST_MS = 12_000
# The longest delay while a block is due.
_LONGEST_STEP_MS = 4_000
_LONGEST_BACKOFF_MS = 30_000


def _bounded(ms: float) -> float:
    return min(max(ms, _SHORTEST_MS), _LONGEST_MS)


class PollSchedule:
    """Schedules polls: waits for 90 % of the block time, then polls in short steps, each 50 % longer than the one before.

    All delays are in milliseconds.

    Args:
        fixed_ms: A fixed interval to use instead.

    """

    def __init__(self, fixed_ms: float | None = None) -> None:
        self._fixed_ms = fixed_ms
        self._quiet = 0
        self.block_ms: float = 2_000
        """The measured time between two blocks."""

    def after_news(self, timestamps: Sequence[int]) -> float:
        """Return the delay after a poll that found new blocks. ``timestamps`` are those of the newest blocks, oldest first."""
        self._quiet = 0
        gaps = [later - earlier for earlier, later in pairwise(timestamps)]
        if gaps:
            # Timestamps are in whole seconds, so for blocks faster than one a second only the mean is meaningful. For slower blocks
            # it is the shortest gap: slots stay empty, and a chain that mines on demand may pause for any time.
            mean = sum(gaps) / len(gaps)
            self.block_ms = _bounded(1_000 * (mean if mean < 1 else min(gaps)))
        return self._fixed_ms if self._fixed_ms is not None else self.block_ms * 0.9

    def after_nothing(self) -> float:
        """Return the delay after a poll that found nothing new."""
        if self._fixed_ms is not None:
            return self._fixed_ms
        step = _bounded(self.block_ms / 8 * 1.5 ** min(self._quiet, 60))
        self._quiet += 1
        return min(step, _LONGEST_STEP_MS)

    def after_failure(self, failures: int, retry_after_ms: float | None) -> float:
        """Return the delay after a number of failures in a row: what the server requests, or a random part of a growing time."""
        if retry_after_ms is not None:
            return retry_after_ms
        limit: float = min(500 * 2 ** min(failures, 10), _LONGEST_BACKOFF_MS)
        # So that not all clients return at the same moment. S311: spreads load, no cryptography.
        return random.uniform(limit / 4, limit)  # noqa: S311
