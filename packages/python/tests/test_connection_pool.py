"""The connections of the synchronous provider."""

from __future__ import annotations

from typing import Any

from keyrail.transport.connection_pool import ConnectionPool


class FakeConnection:
    """A connection without a socket."""

    def __init__(self) -> None:
        self.is_connected = True
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
    used.is_connected = False
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
