"""Chooses endpoints for calls. Endpoints are named by their position."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

from ..failure.error import KeyrailError
from ..failure.is_read_method import is_read_method
from .endpoint_sender import EndpointSender
from .fork import watch_forks
from .heads import FRESH_HEAD_MS, Heads
from .sender import Group
from .steps import Call, now_ms

# What is added to the cost of an endpoint that is known to be behind the lowest block.
_BEHIND_COST = 1e12
OPEN_COST = 1e15
"""What is added to the cost of an endpoint whose circuit breaker is open. It is above every other cost."""

# How much shorter the known response time of an endpoint counts with each call that goes to another one. An endpoint that takes twice as
# long as the fastest one is measured again after 69 calls, one that takes ten times as long after 230.
_FADE = 0.99
# After this many calls that went to other endpoints, one that has not responded yet is tried again.
_CALLS_UNTIL_RETRY = 100


class EndpointChoice:
    """The choice between endpoints.

    It is the first one whose circuit breaker lets the call through and whose budget has room within ``acceptable_wait_ms``, the
    fastest of them, or one of them in proportion to the weights. If there is none, it is the one of the lowest cost.

    Args:
        endpoints: The endpoints in the order in which they are tried.
        acceptable_wait_ms: An endpoint at which the call would wait longer is skipped while another one is available.
        heads: The heads of these endpoints.
        prefers_fastest: Whether the endpoint with the shortest response time is preferred to the first one. Weights other than 0 do not
            count then.

    """

    def __init__(
        self,
        endpoints: Sequence[EndpointSender],
        acceptable_wait_ms: float,
        heads: Heads,
        *,
        prefers_fastest: bool = False,
    ) -> None:
        self._endpoints = endpoints
        self._acceptable_wait_ms = acceptable_wait_ms
        self._heads = heads
        self._is_weighted = any(endpoint.weight is not None for endpoint in endpoints)
        self._prefers_fastest = prefers_fastest
        self._credits = [0.0] * len(endpoints)
        # How many calls went to other endpoints since the last one to this endpoint.
        self._skipped: list[float] = [math.inf] * len(endpoints)
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
            # A write does not measure: it is sent to the fastest known endpoint. Nor does a batch or a group, which would stay.
            may_measure = group is None and len(calls) == 1 and is_read_method(calls[0].method)
            chosen = -1
            highest_rank = -math.inf
            lowest_cost = math.inf
            total_weight = 0.0
            for at, endpoint in enumerate(self._endpoints):
                if at in tried or at in self._exclusions:
                    continue
                cost = self._get_cost(at, calls, min_block)
                if cost <= self._acceptable_wait_ms:
                    if not self._is_weighted and not self._prefers_fastest:
                        return at
                    weight = 1 if endpoint.weight is None else endpoint.weight
                    if self._prefers_fastest:
                        rank = -self._get_latency(at, may_measure)
                    else:
                        # Smooth weighted round robin: the proportions are exact, and the calls are spread evenly.
                        self._credits[at] += weight
                        rank = self._credits[at]
                    if total_weight == 0 or rank > highest_rank:
                        highest_rank = rank
                        chosen = at
                    total_weight += weight
                elif total_weight == 0 and cost < lowest_cost and cost <= max_cost:
                    lowest_cost = cost
                    chosen = at
            if self._prefers_fastest:
                self._skipped = [0 if at == chosen else count + 1 for at, count in enumerate(self._skipped)]
            elif total_weight > 0:
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

    def _get_latency(self, at: int, may_measure: bool) -> float:
        """Return the response time by which an endpoint is chosen.

        If the call may measure, it is shorter the longer the endpoint was not measured.
        """
        average_ms = self._endpoints[at].average_ms
        skipped = self._skipped[at]
        if average_ms is None:
            return 0 if may_measure and skipped >= _CALLS_UNTIL_RETRY else math.inf
        return average_ms * _FADE**skipped if may_measure else average_ms

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
