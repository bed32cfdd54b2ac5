"""Sends calls to one of several endpoints, and to another one when it fails."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from ..failure.error import KeyrailError
from ..failure.is_read_method import is_read_method
from ..failure.kinds import FailureKind
from ..message.response import Result
from ..observe.endpoint_state import EndpointState
from .batch_limits import BatchLimits
from .deadline import Deadline
from .endpoint_choice import OPEN_COST, EndpointChoice
from .endpoint_sender import EndpointSender
from .failover import Failover
from .head_query import HeadQuery
from .heads import FRESH_HEAD_MS, Heads, parse_block_number, reports_head
from .route_block import BlockRead, create_lagging_failure, is_behind, read_block
from .route_failure import choose_failure, create_all_excluded_failure, may_try_next_endpoint
from .sender import Group
from .steps import Call, Effect, Steps, now_ms

# The endpoint works, it only lacks this method or this state, or has an error that nobody knows, so a group stays there.
_KINDS_OF_ONE_CALL = frozenset({"methodUnavailable", "missingData", "unknown"})


class Route:
    """Combines several endpoints into one, which chooses an endpoint for each call and another one if the first one fails.

    **Choice.** Endpoints are tried in the order given or, with ``order="latency"``, the fastest first. If any has a weight, calls are
    sent in proportion to the weights. An endpoint whose circuit breaker is open, or whose budget would make the call wait longer than
    ``acceptable_wait_ms``, is skipped while another one is available. If none is, the call goes to the one with the shortest wait. If
    all circuit breakers are open, it goes to the first endpoint all the same.

    **Failure.** A read that failed in a way that another endpoint may not fail in is sent to the next one at once, to each endpoint
    once. Waiting between tries is left to the retry layer above. A write moves on only if it cannot have run. An endpoint whose
    response proves that it is on another chain is not used again.

    **Groups.** Calls of one group stay at one endpoint, because two nodes are rarely at the same block. A group moves when its
    endpoint fails or is behind. If the endpoint lacks a method or old state, only the call that needs it moves.

    **min_block.** Behind one URL there are often many nodes, so choosing an endpoint by its reported head guarantees nothing. A call
    that reads at the head is therefore sent with the tag replaced by a number: a head that this endpoint reported within the last
    second, at or above the lowest block. If there is none, the head is requested first. Any node behind the URL can then only respond
    from that block, or report that it does not have it, which moves the call on. The ``pending`` block has no number: such a call is
    sent as it is.

    Args:
        endpoints: 1 to 30 endpoints, all on one chain.
        options: How endpoints are chosen.

    """

    def __init__(self, endpoints: Sequence[EndpointSender], options: Failover) -> None:
        self._endpoints = endpoints
        self._options = options
        self._heads = Heads(len(endpoints))
        self._choice = EndpointChoice(
            endpoints, options.acceptable_wait_ms, self._heads, prefers_fastest=options.order == "latency"
        )
        self._head_queries = [HeadQuery(endpoint) for endpoint in endpoints]
        # How each endpoint failed last.
        self._last_kinds: dict[int, FailureKind] = {}

    @property
    def limits(self) -> BatchLimits:
        """How large a batch may be at the first endpoint."""
        return self._endpoints[0].limits

    def get_states(self) -> list[EndpointState]:
        """Return the state of each endpoint."""
        states: list[EndpointState] = []
        for at, endpoint in enumerate(self._endpoints):
            exclusion = self._choice.get_exclusion(at)
            states.append(endpoint.get_state(self._heads.get(at).seen, str(exclusion) if exclusion else None))
        return states

    def send(
        self,
        calls: Sequence[Call],
        deadline: Deadline,
        *,
        attempt_ms: float | None = None,
        group: Group | None = None,
    ) -> Steps:
        """Send calls, as a batch if there are several. See ``Sender``."""
        min_block = self._get_min_block(calls[0])
        blocks = [read_block(call.method, call.params) if min_block else None for call in calls]
        outcomes: list[Any] = [None] * len(calls)
        failures: list[list[KeyrailError]] = [[] for _ in calls]
        tried: list[int] = []
        pending: Sequence[int] = range(len(calls))
        at = self._choice.choose(calls, group, tried, min_block, float("inf"))
        if at < 0:
            skipped = self._list_untried(tried)
            return [create_all_excluded_failure(call.method, self._endpoints[0].name, skipped) for call in calls]
        while True:
            tried.append(at)
            if group is not None and group.at < 0:
                group.at = at
            sent = [calls[one] for one in pending]
            limit_ms = self._get_attempt_ms(sent[0].method, deadline) if attempt_ms is None else attempt_ms
            results = yield from self._send_to(
                at, sent, [blocks[one] for one in pending], min_block, deadline, limit_ms
            )
            failed: list[int] = []
            for one, outcome in zip(pending, results, strict=True):
                call = calls[one]
                if isinstance(outcome, Result):
                    if min_block == 0 or not is_behind(call.method, blocks[one], min_block, outcome.value):
                        outcomes[one] = outcome
                        continue
                    outcome = create_lagging_failure(call.method, min_block, self._endpoints[at].redacted_url)
                self._record_failure(at, outcome)
                outcomes[one] = outcome
                if not may_try_next_endpoint(call.method, outcome):
                    continue
                failures[one].append(outcome)
                failed.append(one)
                if group is not None and group.at == at and outcome.kind not in _KINDS_OF_ONE_CALL:
                    group.at = -1
            if not failed:
                return outcomes
            failed_calls = [calls[one] for one in failed]
            is_over = deadline.left_ms() <= 0
            following = -1 if is_over else self._choice.choose(failed_calls, group, tried, min_block, OPEN_COST - 1)
            if following < 0:
                skipped = [] if is_over else self._list_untried(tried)
                for one in failed:
                    outcomes[one] = choose_failure(failures[one], skipped)
                return outcomes
            for one in failed:
                observed = calls[one].observed
                if observed is not None:
                    observed.reroute(self._endpoints[at].redacted_url, failures[one][-1].kind)
            pending, at = failed, following

    def _get_min_block(self, call: Call) -> int:
        """Return the lowest block that the result of a call may be from; 0 for any."""
        min_block = self._options.min_block if call.min_block is None else call.min_block
        return self._heads.get_highest() if min_block is True else int(min_block)

    def _send_to(
        self,
        at: int,
        calls: Sequence[Call],
        blocks: Sequence[BlockRead | None],
        min_block: int,
        deadline: Deadline,
        attempt_ms: float | None,
    ) -> Steps:
        """Send calls to one endpoint. Those that read at the head get its number, which is requested first if it is not known."""
        endpoint = self._endpoints[at]
        # An endpoint with an open circuit breaker is chosen only if there is no better one.
        bypasses_breaker = not endpoint.admits(calls[0].method)
        ready = list(calls)
        outcomes: list[Any] = [None] * len(calls)
        at_head = [(one, block) for one, block in enumerate(blocks) if block is not None and block.at_head]
        if at_head:
            head: int | KeyrailError = self._heads.get(at).number
            is_fresh = now_ms() - self._heads.get(at).at < FRESH_HEAD_MS
            if not is_fresh or self._heads.get(at).number < min_block:
                head = yield from self._query_head(at, calls[at_head[0][0]], deadline, attempt_ms, bypasses_breaker)
            for one, block in at_head:
                call = calls[one]
                if isinstance(head, KeyrailError):
                    outcomes[one] = head
                elif head < min_block:
                    outcomes[one] = create_lagging_failure(call.method, min_block, endpoint.redacted_url)
                else:
                    ready[one] = replace(call, params=block.pin(head))
        places = [one for one, outcome in enumerate(outcomes) if outcome is None]
        if places:
            sent = yield from endpoint.send(
                [ready[one] for one in places], deadline, attempt_ms=attempt_ms, bypasses_breaker=bypasses_breaker
            )
            for one, outcome in zip(places, sent, strict=True):
                outcomes[one] = outcome
                if isinstance(outcome, Result) and reports_head(ready[one].method):
                    self._heads.learn(at, ready[one], outcome.value)
        return outcomes

    def _query_head(
        self, at: int, call: Call, deadline: Deadline, attempt_ms: float | None, bypasses_breaker: bool
    ) -> Generator[Effect, Any, int | KeyrailError]:
        """Request the head. Returns its number, or the failure."""
        outcome = yield from self._head_queries[at].send(call, deadline, attempt_ms, bypasses_breaker)
        if not isinstance(outcome, Result):
            return outcome
        self._heads.learn(at, Call("eth_blockNumber", "[]"), outcome.value)
        return parse_block_number(outcome.value)

    def _get_attempt_ms(self, method: str, deadline: Deadline) -> float | None:
        """Return how long an attempt that starts now may take. Only reads are limited, because a write must not be sent twice."""
        if not is_read_method(method):
            return None
        if self._options.attempt_timeout_ms is not None:
            return self._options.attempt_timeout_ms
        return max(1, deadline.left_ms() / 3) if len(self._endpoints) > 1 else None

    def _record_failure(self, at: int, failure: KeyrailError) -> None:
        """Record how an endpoint failed."""
        # An open circuit breaker reports nothing new about the endpoint.
        if not (failure.kind == "unavailable" and failure.source == "client"):
            self._last_kinds[at] = failure.kind
        # The response proves that the endpoint is on another chain.
        if len(self._endpoints) > 1 and failure.kind == "wrongNetwork" and failure.source == "client":
            self._choice.exclude(at, failure)

    def _list_untried(self, tried: Sequence[int]) -> list[tuple[str, str]]:
        """Return the endpoints that a call was not sent to, each with the reason."""
        skipped: list[tuple[str, str]] = []
        for at, endpoint in enumerate(self._endpoints):
            if at in tried:
                continue
            kind = self._last_kinds.get(at)
            reason = f"circuit breaker open{f' after {kind}' if kind else ''}"
            skipped.append((endpoint.redacted_url, "wrongNetwork" if self._choice.get_exclusion(at) else reason))
        return skipped
