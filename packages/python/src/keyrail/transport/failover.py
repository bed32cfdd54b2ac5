"""The options for several endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..failure.check import check, check_range, describe
from .breaker import Breaker

_MAX_MS = 2**31 - 1


@dataclass(slots=True, frozen=True, kw_only=True)
class Failover:
    """How an endpoint is chosen for a call, and another one if the first one fails.

    Args:
        order: Which of the endpoints that work is tried first: ``"given"`` for the first one given, or ``"latency"`` for the one with the
            shortest recent response time. A read is then sent to another endpoint from time to time, to measure it. It needs the circuit
            breaker, and no weights other than 0. Default: ``"given"``.
        attempt_timeout_ms: How long one attempt at one endpoint may take, in milliseconds; reads only. Default: no separate limit with
            one endpoint, a third of the call's remaining time with several.
        acceptable_wait_ms: If a call would wait longer than this for the budget of an endpoint, another one is preferred, in
            milliseconds. Default: 100.
        min_block: Whether results from nodes that are behind the highest block seen by this provider are rejected. Default: False.
        breaker: Whether the provider stops sending calls to an endpoint for a while when it fails, or a ``Breaker`` with the options
            of that. Default: True with several endpoints, False with one.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong.

    Example:
        >>> endpoints = [Endpoint("https://one.example"), Endpoint("https://two.example", weight=0)]
        >>> provider = KeyrailProvider(endpoints=endpoints, failover=Failover(min_block=True))

    """

    order: Literal["given", "latency"] = "given"
    attempt_timeout_ms: float | None = None
    acceptable_wait_ms: float = 100
    min_block: bool = False
    breaker: bool | Breaker | None = None

    def __post_init__(self) -> None:
        check(self.order in ("given", "latency"), f'order must be "given" or "latency", not {describe(self.order)}.')
        check_range("attempt_timeout_ms", self.attempt_timeout_ms, 1, _MAX_MS)
        check_range("acceptable_wait_ms", self.acceptable_wait_ms, 0, _MAX_MS)
        check(isinstance(self.min_block, bool), f"min_block must be True or False, not {describe(self.min_block)}.")
        check(
            self.order == "given" or self.breaker is not False,
            'order="latency" needs the circuit breaker, which measures the response times. Remove breaker=False, or the order.',
        )
        check(
            self.breaker is None or isinstance(self.breaker, (bool, Breaker)),
            f"breaker must be True, False, or a Breaker object, such as Breaker(open_ms=10_000), not {describe(self.breaker)}.",
        )
