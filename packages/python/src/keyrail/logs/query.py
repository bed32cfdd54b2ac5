"""Queries to web3.py as values: steps yield them, and a synchronous or asynchronous driver makes them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from ..failure.error import KeyrailError, create_error


@dataclass(slots=True, frozen=True)
class Query:
    """A query to web3.py. The driver sends back the result, or the exception that was raised."""

    method: str
    """The JSON-RPC method, for failures."""
    run: Callable[[Any], Any]
    """Called with the ``eth`` module of a synchronous or asynchronous web3.py."""


Value = TypeVar("Value")
QuerySteps: TypeAlias = Generator[Query, Any, Value]
"""Steps that yield queries and return a value."""


def run_query(method: str, run: Callable[[Any], Any], is_valid: Callable[[Any], bool]) -> QuerySteps[Any]:
    """Make a query, and raise the exception if it failed.

    Args:
        method: The JSON-RPC method, for failures.
        run: Called with the ``eth`` module of web3.py.
        is_valid: Checks the result.

    Raises:
        KeyrailError: With kind ``badResponse`` if the result is not valid.

    """
    result = yield Query(method, run)
    if isinstance(result, Exception):
        raise result
    if not is_valid(result):
        raise create_invalid_result_error(method)
    return result


def create_invalid_result_error(method: str) -> KeyrailError:
    """Create the failure for a result that is not valid."""
    return create_error(
        f"{method} returned a result that is not valid. Use another endpoint.",
        kind="badResponse",
        source="node",
        retryable=False,
        method=method,
    )
