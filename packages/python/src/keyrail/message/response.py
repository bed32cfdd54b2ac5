"""HTTP responses and JSON-RPC results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class HttpResponse:
    """A complete HTTP response. It may contain anything, including the key, so it is never stored."""

    status: int
    text: str
    headers: Mapping[str, str]
    """A case-insensitive mapping."""


@dataclass(slots=True, frozen=True)
class Result:
    """The result of a call."""

    value: object
