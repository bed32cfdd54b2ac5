"""Limits a rate."""

from __future__ import annotations

_ROUNDING_ERROR_MS = 1e-6


class TokenBucket:
    """A full token bucket. All times are in milliseconds, by ``now_ms``.

    In any time T, at most ``rate * T`` plus one full bucket is sent. A call that costs more than a full bucket is sent when the bucket
    is full, and the next calls wait longer. So no call waits forever, and the average rate holds. See ITU-T I.371 annex A: the same as
    a virtual clock, which needs one number and no filling.

    Args:
        rate: Units per second; infinity for no limit. May be changed at any time.
        burst_ms: The size of the bucket: as many units as the rate adds in this time.

    """

    def __init__(self, rate: float, burst_ms: float) -> None:
        self.rate = rate
        self._burst_ms = burst_ms
        self._full_at = float("-inf")

    def take(self, cost: float, time: float) -> None:
        """Take the cost of a call, even if the bucket holds less."""
        self._full_at = max(self._full_at, time) + self._to_ms(cost)

    def wait_ms(self, cost: float, time: float, ahead: float = 0) -> float:
        """Return how long until a call of this cost may be sent, after others of the cost ``ahead``."""
        # Without a limit no call waits, even if much was taken at an earlier rate.
        if self.rate == float("inf"):
            return 0
        ms = max(self._full_at - time, 0) + self._to_ms(ahead) - max(self._burst_ms - self._to_ms(cost), 0)
        # A wait that is only a rounding error would wake the queue for nothing.
        return ms if ms > _ROUNDING_ERROR_MS else 0

    def _to_ms(self, cost: float) -> float:
        return cost / self.rate * 1_000
