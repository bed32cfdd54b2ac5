"""Refuses what is not as it must be, in words that name the option and the mend."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from .error import KeyrailError, make_error


def invalid(message: str) -> KeyrailError:
    """Make a failure on this side, before anything was sent: a wrong option or a wrong call."""
    return make_error(message, kind="invalidRequest", source="client", retryable=False)


def check(ok: object, message: str) -> None:
    """Raise ``message`` as a failure of kind ``invalidRequest`` unless ``ok``."""
    if not ok:
        raise invalid(message)


def check_range(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    """Refuse a number that is out of range. None passes: it means the default.

    What is no number may be a misplaced secret, and is not repeated.
    """
    if value is None:
        return
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    ok = number and least <= value <= most and (not whole or value == int(value))
    given = value if number else f"of type {type(value).__name__}"
    check(ok, f"{name} must be a {'whole ' if whole else ''}number from {least} to {most}, not {given}")


def check_names(
    of: str, given: Mapping[str, Any], known: tuple[str, ...], meant: Mapping[str, str] | None = None
) -> None:
    """Reject names that do not exist, because a misspelt option would have no effect, and suggest the nearest one.

    Args:
        of: What the options belong to, for the message.
        given: The options.
        known: The names that exist.
        meant: Names that programs bring along from elsewhere, and ours that take their place.

    """
    for name in given:
        if name in known:
            continue
        nearest = (meant or {}).get(name) or _nearest(name, known)
        if nearest:
            raise invalid(f'Unknown option "{name}". Did you mean "{nearest}"?')
        raise invalid(f'Unknown option "{name}" of {of}. Its options are {", ".join(known)}.')


def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    # As in maxRetries, max-retries or MAX_RETRIES.
    bare = {one.replace("_", ""): one for one in known}
    asked = str(name).replace("_", "").replace("-", "").lower()
    found = get_close_matches(asked, bare, n=1, cutoff=0.65)
    return bare[found[0]] if found else None
