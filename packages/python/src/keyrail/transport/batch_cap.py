"""How many calls a batch may hold at one endpoint."""

from __future__ import annotations

_SPLITS_BEFORE_TRIAL = 8
_MOST_SPLITS_BEFORE_TRIAL = 8_192


class BatchCap:
    """Begins with what was configured, and learns what the endpoint takes.

    A number that it names is never exceeded again. One that is guessed grows back by rare trials, because what was refused
    once, in unclear words, may have been a hiccup.
    """

    def __init__(self, most: int) -> None:
        self._limit: float = most
        self._guess = float("inf")
        self._splits = 0
        self._splits_before_trial = _SPLITS_BEFORE_TRIAL // 2

    def calls(self) -> int:
        """How many calls one request may hold now."""
        return int(min(self._limit, self._guess))

    def said(self, calls: int) -> None:
        """Learn the number that the endpoint named."""
        self._limit = min(self._limit, calls)

    def refused(self, size: int) -> None:
        """Learn that so many were refused, and nobody said how many would be taken: half of them, for now."""
        self._guess = min(self._guess, max(1, size >> 1))
        self._splits = 0
        self._splits_before_trial = min(self._splits_before_trial * 2, _MOST_SPLITS_BEFORE_TRIAL)

    def exceeded(self) -> None:
        """Note that more calls than that would have gone in one."""
        if self._guess >= self._limit:
            return
        self._splits += 1
        if self._splits >= self._splits_before_trial:
            self._guess *= 2
            self._splits = 0
