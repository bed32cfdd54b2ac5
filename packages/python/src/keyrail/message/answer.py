"""What came back by HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class Answer:
    """One answer, read whole. It may hold anything, the key included: it is never kept."""

    status: int
    text: str
    headers: Mapping[str, str]
    """A mapping that passes over the case of names."""


@dataclass(slots=True, frozen=True)
class Result:
    """What a call was answered."""

    value: object
