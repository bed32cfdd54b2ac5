"""A bounded map of texts that keeps the most recently used ones."""

from __future__ import annotations

import sys
import threading

from .fork import watch_forks

# The size of an entry besides its texts.
_ENTRY_BYTES = 64


class CacheMemory:
    """A map of two generations, each with half of the bytes.

    A text that is read moves to the young generation. When that is full, the old one is dropped. So each operation takes constant time.

    Args:
        max_bytes: The size of the map, in bytes.

    """

    def __init__(self, max_bytes: int) -> None:
        self._max_young_bytes = max_bytes / 2
        self._young: dict[str, str] = {}
        self._old: dict[str, str] = {}
        self._young_bytes = 0
        self._lock = threading.Lock()
        watch_forks(self)

    def get(self, key: str) -> str | None:
        """Return the text of a key."""
        text = self._young.get(key)
        if text is None:
            text = self._old.get(key)
            if text is not None:
                self.set(key, text)
        return text

    def set(self, key: str, text: str) -> None:
        """Store a text. Texts never change, so a key that is known keeps its text."""
        size = sys.getsizeof(key) + sys.getsizeof(text) + _ENTRY_BYTES
        if size > self._max_young_bytes:
            return
        with self._lock:
            if key in self._young:
                return
            if self._young_bytes + size > self._max_young_bytes:
                self._old = self._young
                self._young = {}
                self._young_bytes = 0
            self._young[key] = text
            self._young_bytes += size

    def _after_fork(self) -> None:
        # A thread of the parent may hold the lock.
        self._lock = threading.Lock()
