"""Methods that may take a node seconds: they have more time."""

import re

_HEAVY = re.compile(r"(eth_getLogs\Z|eth_simulateV1\Z|debug_|trace_)")


def time_of(method: str, timeout_ms: float | None) -> float:
    """How long a call of a method may take in all, in milliseconds: 10,000, and 60,000 for heavy ones, where nothing was said."""
    return timeout_ms if timeout_ms is not None else 60_000 if _HEAVY.match(method) else 10_000
