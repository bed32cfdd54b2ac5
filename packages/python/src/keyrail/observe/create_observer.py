"""Creates the observer of a provider from its options."""

from __future__ import annotations

from typing import Any

from ..failure.check import check, check_bool, describe
from .hooks import Hooks, create_hooks_listener
from .observer import Observer


def create_observer(redacted_url: str, *, hooks: Any, stats: Any) -> Observer | None:
    """Check the options, and create the observer. Returns None if nothing observes calls, so that calls cost no more.

    Args:
        redacted_url: The URL of the endpoint without its secrets.
        hooks: Functions that are called with the events of calls, or None.
        stats: Whether calls are counted.

    Raises:
        KeyrailError: With kind ``invalidRequest``. The message names the option and how to fix it.

    """
    check(
        hooks is None or isinstance(hooks, Hooks),
        f"hooks must be a Hooks object, such as Hooks(on_failure=print), not {describe(hooks)}.",
    )
    check_bool("stats", stats)
    if hooks is None and not stats:
        return None
    observer = Observer(redacted_url)
    if hooks is not None:
        notify = create_hooks_listener(hooks, observer.count_hook_error)
        observer.listeners.append(notify)
    return observer
