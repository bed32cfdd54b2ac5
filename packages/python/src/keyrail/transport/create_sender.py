"""Creates what sends the calls of a provider."""

from __future__ import annotations

from collections.abc import Sequence

from .breaker import Breaker, CircuitBreaker
from .cache import Cache, CachingSender
from .call_settings import CallSettings
from .endpoint_budget import EndpointBudget
from .endpoint_sender import EndpointSender
from .failover import Failover
from .parsed_endpoint import ParsedEndpoint
from .route import Route
from .sender import Sender


def create_sender(
    endpoints: Sequence[ParsedEndpoint], failover: Failover | None, cache: Cache | None, settings: CallSettings
) -> Sender:
    """Create what sends the calls of a provider.

    Args:
        endpoints: The endpoints.
        failover: How an endpoint is chosen. None for a single one, which has no circuit breaker and follows no heads.
        cache: What is cached. None for no cache.
        settings: The settings of calls.

    """
    breaker: Breaker | None = None
    if failover is not None:
        given = len(endpoints) > 1 if failover.breaker is None else failover.breaker
        breaker = given if isinstance(given, Breaker) else Breaker() if given else None
    senders = [
        EndpointSender(
            one.endpoint.redacted_url,
            settings,
            at=at,
            name=one.name,
            weight=one.weight,
            breaker=None if breaker is None else CircuitBreaker(breaker, one.endpoint.redacted_url),
            budget=None if one.budget is None else EndpointBudget(one.budget, one.endpoint.redacted_url),
        )
        for at, one in enumerate(endpoints)
    ]
    sender: Sender = senders[0] if failover is None else Route(senders, failover)
    return sender if cache is None else CachingSender(sender, cache)
