"""The connections of the synchronous provider to one server."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from weakref import finalize

from .connection import Connection
from .http_request import KEEP_ALIVE_S
from .steps import now_ms


class ConnectionPool:
    """Reuses connections, and limits how many are in use at a time. Threads can share it.

    Args:
        create: Creates a connection that is not connected yet.
        max_in_use: The maximum number of connections in use.

    """

    def __init__(self, create: Callable[[], Connection], max_in_use: int) -> None:
        self._create = create
        self._lock = threading.Lock()
        self._free = max_in_use
        # The locks of the threads that wait. Each is released when its thread has its turn.
        self._waiting: deque[threading.Lock] = deque()
        # Connections, and when they were last used. The one used last is reused first, so that those that are no longer needed expire.
        self._idle: list[tuple[Connection, float]] = []
        self._closed = False
        finalize(self, _close_all, self._idle)

    def take(self, timeout_s: float) -> Connection | None:
        """Return an open connection if there is an idle one, else a new one. Threads have their turns in order.

        Args:
            timeout_s: How long to wait while too many connections are in use. None is returned afterwards.

        """
        if not self._wait_for_turn(timeout_s):
            return None
        try:
            return self._find_idle() or self._create()
        except BaseException:
            self._end_turn()
            raise

    def give_back(self, connection: Connection, reusable: bool) -> None:
        """Keep a connection for the next request, or close it if it is not reusable. Each taken connection must be given back."""
        if reusable:
            self._idle.append((connection, now_ms()))
        else:
            connection.close()
        if self._closed:
            _close_all(self._idle)
        self._end_turn()

    def close(self) -> None:
        """Close all idle connections now, and the others when they are given back."""
        self._closed = True
        _close_all(self._idle)

    def _find_idle(self) -> Connection | None:
        while True:
            try:
                connection, used_at = self._idle.pop()
            except IndexError:
                return None
            # After a long time, a firewall may have dropped the connection without a notice.
            if now_ms() - used_at < KEEP_ALIVE_S * 1_000 and connection.is_idle:
                return connection
            connection.close()

    def _wait_for_turn(self, timeout_s: float) -> bool:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return True
            # With a semaphore, the thread that ended its turn would often get the next one too, and the others would time out.
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        has_turn = False
        try:
            has_turn = turn.acquire(timeout=timeout_s)
        finally:
            if not has_turn:
                self._stop_waiting(turn)
        return has_turn

    def _stop_waiting(self, turn: threading.Lock) -> None:
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        # The turn came after the timeout or the interrupt.
        self._end_turn()

    def _end_turn(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


def _close_all(idle: list[tuple[Connection, float]]) -> None:
    while True:
        try:
            connection, _ = idle.pop()
        except IndexError:
            return
        connection.close()
