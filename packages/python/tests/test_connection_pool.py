"""The connections of the synchronous provider."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from keyrail.transport.connection_pool import ConnectionPool


class FakeConnection:
    """A connection without a socket."""

    def __init__(self) -> None:
        self.is_idle = True
        self.closed = False

    def close(self) -> None:
        self.closed = True


def create_pool(max_in_use: int = 2) -> Any:
    create: Any = FakeConnection
    return ConnectionPool(create, max_in_use)


def test_the_connection_used_last_is_reused_first() -> None:
    pool = create_pool()
    first, second = pool.take(0), pool.take(0)
    pool.give_back(first, True)
    pool.give_back(second, True)
    assert pool.take(0) is second
    assert pool.take(0) is first


def test_no_more_connections_are_in_use_than_allowed() -> None:
    pool = create_pool()
    used = pool.take(0)
    pool.take(0)
    assert pool.take(0) is None
    pool.give_back(used, False)
    assert used.closed
    assert pool.take(0) is not None


def test_an_idle_connection_that_the_server_closed_is_replaced() -> None:
    pool = create_pool()
    used = pool.take(0)
    pool.give_back(used, True)
    used.is_idle = False
    assert pool.take(0) is not used
    assert used.closed


def test_a_closed_pool_closes_idle_connections_now_and_others_when_they_are_given_back() -> None:
    pool = create_pool()
    idle, used = pool.take(0), pool.take(0)
    pool.give_back(idle, True)
    pool.close()
    assert (idle.closed, used.closed) == (True, False)
    pool.give_back(used, True)
    assert used.closed


def test_idle_connections_are_closed_with_a_pool_that_is_garbage_collected() -> None:
    pool = create_pool()
    used = pool.take(0)
    pool.give_back(used, True)
    del pool
    assert used.closed


def test_a_thread_that_ended_its_turn_does_not_overtake_those_that_wait() -> None:
    pool = create_pool(max_in_use=1)
    order: list[str] = []
    used = pool.take(0)

    def wait() -> None:
        connection = pool.take(60)
        order.append("waited")
        pool.give_back(connection, True)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not pool._waiting:
        time.sleep(0.001)
    # In this order, without a pause in between, as in a thread that makes one call after another.
    pool.give_back(used, True)
    used = pool.take(60)
    order.append("took again")
    pool.give_back(used, True)
    waiting.join()
    assert order == ["waited", "took again"]


def test_a_thread_that_waited_too_long_or_was_interrupted_loses_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = create_pool(max_in_use=1)
    used = pool.take(0)
    assert pool.take(0.001) is None

    class Interrupted:
        """A lock at which a thread waits until a signal handler raises."""

        def acquire(self, timeout: float = -1) -> bool:
            if timeout < 0:
                return True
            # Its turn comes at the same time.
            pool.give_back(used, True)
            raise KeyboardInterrupt

        def release(self) -> None:
            pass

    with monkeypatch.context() as patched:
        patched.setattr("keyrail.transport.connection_pool.threading.Lock", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.take(60)
    assert pool.take(0) is used
    assert pool.take(0) is None


def test_a_connection_that_cannot_be_created_loses_no_turn() -> None:
    def fail() -> Any:
        raise MemoryError

    pool = ConnectionPool(fail, 1)
    for _ in range(2):
        with pytest.raises(MemoryError):
            pool.take(0)


def test_a_connection_that_was_idle_for_long_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("keyrail.transport.connection_pool.now_ms", lambda: now)
    pool = create_pool()
    used = pool.take(0)
    pool.give_back(used, True)
    now = 14_999
    assert pool.take(0) is used
    pool.give_back(used, True)
    now += 15_000
    assert pool.take(0) is not used
    assert used.closed
