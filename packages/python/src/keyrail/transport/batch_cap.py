"""The maximum number of calls in a batch at one endpoint."""

from __future__ import annotations

_SPLITS_BEFORE_TRIAL = 8
_MAX_SPLITS_BEFORE_TRIAL = 8_192


class BatchCap:
    """Starts with the configured maximum and learns the maximum of the endpoint.

    A maximum that the endpoint names is never exceeded again. A guessed maximum is raised by rare trials, because an unclear rejection
    may have had another reason.
    """

    def __init__(self, max_calls: int) -> None:
        self._limit: float = max_calls
        self._guess = float("inf")
        self._splits = 0
        self._splits_before_trial = _SPLITS_BEFORE_TRIAL // 2

    def get(self) -> int:
        """Return the current maximum."""
        return int(min(self._limit, self._guess))

    def set_limit(self, max_calls: int) -> None:
        """Set the maximum that the endpoint named."""
        self._limit = min(self._limit, max_calls)

    def reject(self, size: int) -> None:
        """Note that a batch of this size was rejected without a maximum: the guess becomes half of the size."""
        self._guess = min(self._guess, max(1, size >> 1))
        self._splits = 0
        self._splits_before_trial = min(self._splits_before_trial * 2, _MAX_SPLITS_BEFORE_TRIAL)

    def split(self) -> None:
        """Note that a larger batch was split because of the maximum. After many splits, a guess doubles."""
        if self._guess >= self._limit:
            return
        self._splits += 1
        if self._splits >= self._splits_before_trial:
            self._guess *= 2
            self._splits = 0
