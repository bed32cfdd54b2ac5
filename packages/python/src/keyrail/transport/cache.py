"""Caches results that never change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..failure.check import check, check_range, describe
from ..message.response import Result
from ..observe.endpoint_state import EndpointState
from .batch_limits import BatchLimits
from .cache_memory import CacheMemory
from .cache_rule import CacheRule, get_cache_kind, get_cache_rule, names_tag, parse_block
from .deadline import Deadline
from .sender import Group, Sender
from .steps import Call, Steps


@dataclass(slots=True, frozen=True, kw_only=True)
class Cache:
    """A cache of results that never change.

    These are results for a block hash, for the number of a final block, or for the hash of a transaction in such a block, and the chain
    id. It never caches results for a tag, null, empty lists, pending data, or failures. Each caller gets its own copy.

    The cache learns which blocks are final from the responses for ``finalized`` that pass through it. It sends no requests of its own.

    Args:
        max_bytes: The size of the cache, in bytes. The least recently used results are removed first. Default: 16 MiB.
        finality_depth: How many blocks below the highest block seen count as final, for a chain without a ``finalized`` block. Choose a
            depth below which the chain never reorganizes. Default: only blocks up to the ``finalized`` block are final.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if an option is wrong.

    Example:
        >>> provider = KeyrailProvider("http://127.0.0.1:8545", cache=Cache(max_bytes=2**26))

    """

    max_bytes: int = 2**24
    finality_depth: int | None = None

    def __post_init__(self) -> None:
        check_range("max_bytes", self.max_bytes, 1, 2**40, whole=True)
        check_range("finality_depth", self.finality_depth, 1, 2**32, whole=True)


def check_cache(given: Any) -> None:
    """Reject a value that is not a cache. None passes.

    Raises:
        KeyrailError: With kind ``invalidRequest``.

    """
    check(
        given is None or isinstance(given, Cache),
        f"cache must be a Cache object, such as Cache(max_bytes=2**26), not {describe(given)}.",
    )


class CachingSender:
    """Sends the calls whose results are not cached.

    Args:
        sender: Sends them.
        options: What is cached.

    """

    def __init__(self, sender: Sender, options: Cache) -> None:
        self._sender = sender
        self._finality_depth = options.finality_depth
        self._memory = CacheMemory(options.max_bytes)
        self._final_block: float = -1

    @property
    def limits(self) -> BatchLimits:
        """How large a batch may be. See ``Sender``."""
        return self._sender.limits

    def get_states(self) -> list[EndpointState]:
        """Return the state of each endpoint. See ``Sender``."""
        return self._sender.get_states()

    def send(
        self,
        calls: Sequence[Call],
        deadline: Deadline,
        *,
        attempt_ms: float | None = None,
        group: Group | None = None,
    ) -> Steps:
        """Send the calls whose results are not cached, as a batch if there are several. See ``Sender``."""
        found = [self._get(call) for call in calls]
        missing = [at for at, text in enumerate(found) if text is None]
        outcomes: list[Any] = [None if text is None else Result(json.loads(text)) for text in found]
        if missing:
            # The value at the time of the request: a result from before its block became final may be from another fork.
            final_block = self._final_block
            sent = [calls[at] for at in missing]
            results = yield from self._sender.send(sent, deadline, attempt_ms=attempt_ms, group=group)
            for at, outcome in zip(missing, results, strict=True):
                outcomes[at] = outcome
                if isinstance(outcome, Result):
                    self._learn(calls[at], outcome.value, final_block)
        for call, text in zip(calls, found, strict=True):
            if text is not None and call.observed is not None:
                call.observed.use_cache()
        return outcomes

    def _get(self, call: Call) -> str | None:
        return self._memory.get(call.method + call.params) if _is_cacheable(call) else None

    def _learn(self, call: Call, value: Any, final_block: float) -> None:
        """Cache a result if its rule allows that, and learn which block is final."""
        rule: CacheRule | None = get_cache_rule(call.method, call.params) if _is_cacheable(call) else None
        if rule is not None and rule(value, final_block):
            self._memory.set(call.method + call.params, json.dumps(value, separators=(",", ":")))
        depth = self._get_depth(call)
        if depth is None:
            return
        number = parse_block(value.get("number") if isinstance(value, dict) else value)
        if number is not None:
            self._final_block = max(self._final_block, number - depth)

    def _get_depth(self, call: Call) -> int | None:
        """Return how many blocks below the block of this call's result are final; None if the result does not show that."""
        if call.method == "eth_blockNumber":
            return self._finality_depth
        if call.method not in ("eth_getBlockByNumber", "eth_getHeaderByNumber"):
            return None
        if call.params.startswith('["finalized"'):
            return 0
        return self._finality_depth if call.params.startswith('["latest"') else None


def _is_cacheable(call: Call) -> bool:
    kind = get_cache_kind(call.method)
    return kind is not None and not (kind == "block" and names_tag(call.method, call.params))
