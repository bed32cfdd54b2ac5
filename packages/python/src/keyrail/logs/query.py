"""Queries to web3.py as values: steps yield them, and a synchronous or asynchronous driver makes them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar


@dataclass(slots=True, frozen=True)
class Query:
    """A query to web3.py. The driver sends back the result, or the exception that was raised."""

    run: Callable[[Any], Any]
    """Called with the ``eth`` module of a synchronous or asynchronous web3.py."""


Value = TypeVar("Value")
QuerySteps: TypeAlias = Generator[Query, Any, Value]
"""Steps that yield queries and return a value."""


def run_query(run: Callable[[Any], Any]) -> QuerySteps[Any]:
    """Make a query, and raise the exception if it failed."""
    result = yield Query(run)
    if isinstance(result, Exception):
        raise result
    return result
