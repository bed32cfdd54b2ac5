"""The default time limits of calls."""

import re

_EXPENSIVE_METHOD = re.compile(r"(eth_getLogs\Z|eth_simulateV1\Z|debug_|trace_)")


def get_timeout_ms(method: str, timeout_ms: float | None) -> float:
    """Return the time limit of a call with all its retries, in milliseconds: by default 10,000, and 60,000 for expensive methods."""
    return timeout_ms if timeout_ms is not None else 60_000 if _EXPENSIVE_METHOD.match(method) else 10_000
