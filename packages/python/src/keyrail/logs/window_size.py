"""The number of blocks per request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

# The first window would have many logs if each block had this many.
_LOGS_PER_BLOCK = 10
_MAX_BLOCKS = 100_000
# After a rejected growth, the next attempt to grow comes later: after at most this many windows.
_MAX_PATIENCE = 32


@dataclass(slots=True)
class _Learned:
    size: int
    """The size of the last successful request."""
    cap: float = float("inf")
    """The maximum number of blocks that the provider named."""
    confirmed: bool = False
    """Whether a request succeeded before, so that the size is not a guess."""


_known: WeakKeyDictionary[Any, _Learned] = WeakKeyDictionary()


class WindowSize:
    """The size of the next window. It doubles while requests succeed, up to the maximum that the provider named.

    Args:
        owner: The provider. All iterations over it share what they learn.
        max_blocks: The limit that the user set.
        many_logs: After a window with more logs, the next one is smaller.

    """

    def __init__(self, owner: Any, max_blocks: int | None, many_logs: int) -> None:
        self._learned = _known.setdefault(owner, _Learned(many_logs // _LOGS_PER_BLOCK))
        self._max = max_blocks or _MAX_BLOCKS
        self._many_logs = many_logs
        self._size = self._bounded(self._learned.size)
        self._patience = 1
        self._streak = 0
        self._grown = False

    def _bounded(self, blocks: float) -> int:
        return max(1, int(min(blocks, self._max, self._learned.cap)))

    @property
    def confirmed(self) -> bool:
        """Whether the size is not just a guess."""
        return self._learned.confirmed

    def get(self) -> int:
        """Return the number of blocks of the next request."""
        return self._bounded(self._size)

    def succeed(self, blocks: int, logs: int) -> None:
        """Learn from a successful request."""
        self._learned.confirmed = True
        if logs > self._many_logs:
            self._size = min(self._size, self._bounded(blocks * self._many_logs / logs))
            self._streak = 0
        elif blocks >= self._size:
            if self._grown:
                self._patience = max(1, self._patience // 2)
            self._grown = False
            # Only if a window of twice the size would not have too many logs.
            if logs * 2 <= self._many_logs:
                self._streak += 1
                if self._streak >= self._patience:
                    grown = self._bounded(self._size * 2)
                    self._grown = grown > self._size
                    self._size = grown
                    self._streak = 0
        self._learned.size = self._size

    def reject(self, blocks: int, accepted: float | None, cap: int | None) -> None:
        """Learn from a rejected request.

        Args:
            blocks: Its number of blocks, 2 or more.
            accepted: The number of blocks that the node would accept, if the rejection says so.
            cap: The maximum for every request, if the rejection names it.

        """
        if cap is not None:
            self._learned.cap = min(self._learned.cap, cap)
        smaller = self._bounded(accepted if accepted is not None and accepted < blocks else blocks / 2)
        if smaller >= self._size:
            return
        self._size = smaller
        self._streak = 0
        self._grown = False
        self._patience = min(self._patience * 2, _MAX_PATIENCE)
