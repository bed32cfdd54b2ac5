"""The default time limits of calls."""

from ..methods import find_methods, to_namespace

_EXPENSIVE = find_methods("expensive", True)


def get_timeout_ms(method: str, timeout_ms: float | None) -> float:
    """Return the time limit of a call with all its retries, in milliseconds: by default 10,000, and 60,000 for expensive methods."""
    if timeout_ms is not None:
        return timeout_ms
    return 60_000 if method in _EXPENSIVE or to_namespace(method) in _EXPENSIVE else 10_000
