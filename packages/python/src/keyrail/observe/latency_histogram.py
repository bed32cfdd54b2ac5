"""A histogram of durations."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

# Six buckets for each power of ten. The upper bound of a bucket is at most two thirds above its lower bound, which limits the error
# of an estimate.
_BOUNDS_MS = (
    *(float(f"{ten * step:.2g}") for ten in (0.1, 1, 10, 100, 1_000, 10_000) for step in (1, 1.5, 2, 3, 5, 7)),
    100_000.0,
)


@dataclass(slots=True, frozen=True, kw_only=True)
class LatencyStats:
    """A histogram of durations. Counts only grow: to measure an interval, subtract two snapshots."""

    count: int
    """Number of durations."""
    sum_ms: float
    """Sum of all durations, in milliseconds."""
    max_ms: float
    """The longest duration, in milliseconds; 0 if there is none."""
    p50_ms: float | None
    """The median in milliseconds, estimated from the buckets; None if there are no durations."""
    p95_ms: float | None
    """The 95th percentile in milliseconds, estimated from the buckets; None if there are no durations."""
    p99_ms: float | None
    """The 99th percentile in milliseconds, estimated from the buckets; None if there are no durations."""
    bounds_ms: Sequence[float]
    """Upper bounds of the buckets, in milliseconds, inclusive; always the same 37, from 0.1 to 100,000."""
    counts: Sequence[int]
    """Durations in each bucket: ``counts[i]`` holds those above ``bounds_ms[i - 1]``, up to ``bounds_ms[i]``. One more count at the end
    holds those above all bounds."""


class LatencyHistogram:
    """Counts durations in buckets, so its memory does not grow with traffic."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS_MS) + 1)
        self._sum_ms = 0.0
        self._max_ms = 0.0

    def add(self, ms: float) -> None:
        """Count one duration, in milliseconds."""
        self._sum_ms += ms
        self._max_ms = max(self._max_ms, ms)
        self._counts[bisect_left(_BOUNDS_MS, ms)] += 1

    def snapshot(self) -> LatencyStats:
        """Copy the counts; later durations do not change the copy."""
        return LatencyStats(
            count=sum(self._counts),
            sum_ms=self._sum_ms,
            max_ms=self._max_ms,
            p50_ms=self._estimate_percentile(50),
            p95_ms=self._estimate_percentile(95),
            p99_ms=self._estimate_percentile(99),
            bounds_ms=_BOUNDS_MS,
            counts=tuple(self._counts),
        )

    def _estimate_percentile(self, percentile: float) -> float | None:
        """Estimate a percentile, with linear interpolation within a bucket."""
        total = sum(self._counts)
        if total == 0:
            return None
        remaining = total * percentile / 100
        low = 0.0
        for high, count in zip(_BOUNDS_MS, self._counts, strict=False):
            if count > 0 and remaining <= count:
                return min(high, low + (high - low) * remaining / count, self._max_ms)
            remaining -= count
            low = high
        return min(_BOUNDS_MS[-1], self._max_ms)
