"""An endpoint whose options are valid, and how it is used."""

from __future__ import annotations

from dataclasses import dataclass

from ..endpoint.create_endpoint import CheckedEndpoint
from .budget import Budget
from .connection_settings import ConnectionSettings


@dataclass(slots=True, frozen=True)
class ParsedEndpoint:
    """An endpoint with its connections."""

    endpoint: CheckedEndpoint
    connections: ConnectionSettings
    weight: float | None = None
    """Its share of the calls. None means 1."""
    name: str | None = None
    """Its name in statistics. None means its redacted URL."""
    budget: Budget | None = None
    """Its limits, if it has any."""
