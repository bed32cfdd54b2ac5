"""How many blocks to ask for at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

_FIRST = 1_000
_LARGEST = 100_000
# A window that held more logs is followed by a smaller one: an answer should fit well into memory.
_MANY_LOGS = 10_000
# Growth that proves too large is tried again after ever more windows, up to this many.
_MOST_PATIENCE = 32


@dataclass(slots=True)
class _Learned:
    cap: float = float("inf")
    """No request may span more: the provider named this number."""
    size: int = _FIRST
    """What was served last."""
    tried: bool = False
    """Whether anything was ever served, so that the size is more than a guess."""


_known: WeakKeyDictionary[Any, _Learned] = WeakKeyDictionary()


class WindowSize:
    """As large as is served, doubling while it is, never above a cap that the provider named.

    Args:
        owner: Whose cap it is: the same provider for all that goes over it.
        max_blocks: The caller's own limit.

    """

    def __init__(self, owner: Any, max_blocks: int | None) -> None:
        self._learned = _known.setdefault(owner, _Learned())
        self._most = max_blocks or _LARGEST
        self._size = self._bounded(self._learned.size)
        self._patience = 1
        self._streak = 0
        self._grown = False

    def _bounded(self, blocks: float) -> int:
        return max(1, int(min(blocks, self._most, self._learned.cap)))

    @property
    def tried(self) -> bool:
        """Whether the size is more than a guess."""
        return self._learned.tried

    def current(self) -> int:
        """How many blocks the next request may span."""
        return self._bounded(self._size)

    def served(self, blocks: int, logs: int) -> None:
        """Learn from a request that was served."""
        self._learned.tried = True
        if logs > _MANY_LOGS:
            self._size = min(self._size, self._bounded(blocks * _MANY_LOGS / logs))
            self._streak = 0
        elif blocks >= self._size:
            if self._grown:
                self._patience = max(1, self._patience // 2)
            self._grown = False
            # Only while the doubled window would still hold few enough logs.
            if logs * 2 <= _MANY_LOGS:
                self._streak += 1
                if self._streak >= self._patience:
                    grown = self._bounded(self._size * 2)
                    self._grown = grown > self._size
                    self._size = grown
                    self._streak = 0
        self._learned.size = self._size

    def refused(self, blocks: int, span: float | None, cap: int | None) -> None:
        """Learn from a request that was refused.

        Args:
            blocks: How many it spanned: 2 or more.
            span: How many would be taken, where the refusal says so.
            cap: The cap that it names.

        """
        if cap is not None:
            self._learned.cap = min(self._learned.cap, cap)
        smaller = self._bounded(span if span is not None and span < blocks else blocks / 2)
        if smaller >= self._size:
            return
        self._size = smaller
        self._streak = 0
        self._grown = False
        self._patience = min(self._patience * 2, _MOST_PATIENCE)
