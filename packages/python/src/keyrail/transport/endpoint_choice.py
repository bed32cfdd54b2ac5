"""Chooses endpoints for calls. Endpoints are named by their position."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ..failure.error import KeyrailError
from .endpoint_sender import EndpointSender
from .fork import watch_forks
from .heads import FRESH_HEAD_MS, Heads
from .sender import Group
from .steps import Call, now_ms

# What is added to the cost of an endpoint that is known to be behind the lowest block.
_BEHIND_COST = 1e12
OPEN_COST = 1e15
"""What is added to the cost of an endpoint whose circuit breaker is open. It is above every other cost."""


class EndpointChoice:
    """The choice between endpoints.

    It is the first one whose circuit breaker lets the call through and whose budget has room within ``acceptable_wait_ms``, or one of
    them in proportion to the weights. If there is none, it is the one of the lowest cost.

    Args:
        endpoints: The endpoints in the order in which they are tried.
        acceptable_wait_ms: An endpoint at which the call would wait longer is skipped while another one is available.
        heads: The heads of these endpoints.

    """

    def __init__(self, endpoints: Sequence[EndpointSender], acceptable_wait_ms: float, heads: Heads) -> None:
        self._endpoints = endpoints
        self._acceptable_wait_ms = acceptable_wait_ms
        self._heads = heads
        self._is_weighted = any(endpoint.weight is not None for endpoint in endpoints)
        self._credits = [0.0] * len(endpoints)
        self._exclusions: dict[int, KeyrailError] = {}
        self._lock = threading.Lock()
        watch_forks(self)

    def choose(
        self, calls: Sequence[Call], group: Group | None, tried: Sequence[int], min_block: int, max_cost: float
    ) -> int:
        """Choose the endpoint that calls are sent to next.

        Args:
            calls: The calls.
            group: The group that they belong to.
            tried: The endpoints that they were sent to already.
            min_block: The lowest block that the response may be from; 0 for any.
            max_cost: The highest cost that is acceptable if no endpoint is at most ``acceptable_wait_ms``.

        Returns:
            The position of the endpoint, or -1 if there is none.

        """
        with self._lock:
            of_group = self._choose_for_group(group, calls, tried)
            if of_group >= 0:
                return of_group
            chosen = -1
            lowest_cost = float("inf")
            total_weight = 0.0
            for at, endpoint in enumerate(self._endpoints):
                if at in tried or at in self._exclusions:
                    continue
                cost = self._get_cost(at, calls, min_block)
                if cost <= self._acceptable_wait_ms:
                    if not self._is_weighted:
                        return at
                    # Smooth weighted round robin: the proportions are exact, and the calls are spread evenly.
                    weight = 1 if endpoint.weight is None else endpoint.weight
                    self._credits[at] += weight
                    if total_weight == 0 or self._credits[at] > self._credits[chosen]:
                        chosen = at
                    total_weight += weight
                elif total_weight == 0 and cost < lowest_cost and cost <= max_cost:
                    lowest_cost = cost
                    chosen = at
            if total_weight > 0:
                self._credits[chosen] -= total_weight
            return chosen

    def exclude(self, at: int, failure: KeyrailError) -> None:
        """Never choose an endpoint again, because a response proved that it is on another chain."""
        self._exclusions[at] = failure
        self._heads.drop(at)

    def get_exclusion(self, at: int) -> KeyrailError | None:
        """Return the failure for which an endpoint was excluded."""
        return self._exclusions.get(at)

    def _after_fork(self) -> None:
        # A thread of the parent may hold the lock.
        self._lock = threading.Lock()

    def _choose_for_group(self, group: Group | None, calls: Sequence[Call], tried: Sequence[int]) -> int:
        """Return the endpoint of a group, or -1. A group leaves an endpoint that is excluded or whose circuit breaker is open."""
        if group is None or group.at < 0 or group.at in tried:
            return -1
        if group.at not in self._exclusions and self._get_cost(group.at, calls, 0) < OPEN_COST:
            return group.at
        group.at = -1
        return -1

    def _get_cost(self, at: int, calls: Sequence[Call], min_block: int) -> float:
        """Return the cost of sending calls to an endpoint, lower is better."""
        endpoint = self._endpoints[at]
        cost = endpoint.get_wait_ms(calls[0])
        if endpoint.weight == 0:
            cost = max(cost, self._acceptable_wait_ms + 1)
        head = self._heads.get(at)
        if min_block > head.number and now_ms() - head.at < FRESH_HEAD_MS:
            cost += _BEHIND_COST
        if not endpoint.admits(calls[0].method):
            cost += OPEN_COST
        return cost
