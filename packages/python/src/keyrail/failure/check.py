"""Rejects wrong options and arguments with a message that says how to fix them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .error import KeyrailError, create_error

# A longer name may be a misplaced secret.
_MAX_NAME_LENGTH = 24
# Names that are more alike differ by a letter or two.
_ALMOST_EQUAL = 0.9
_MIN_CUT_LENGTH = 4


def invalid(message: str) -> KeyrailError:
    """Create a failure for a wrong option or a wrong call, before anything is sent."""
    return create_error(message, kind="invalidRequest", source="client", retryable=False)


def check(ok: object, message: str) -> None:
    """Raise a failure of kind ``invalidRequest`` with the message unless ``ok`` is true."""
    if not ok:
        raise invalid(message)


def describe(value: Any) -> str:
    """Describe a wrong value for a message. Only numbers, booleans and None are shown: anything else may be a misplaced secret."""
    if value is None or isinstance(value, (int, float)):
        return str(value)
    return f"a value of type {type(value).__name__}"


def check_range(name: str, value: Any, least: float, most: float, *, whole: bool = False) -> None:
    """Reject a value that is not a number in a range. None passes, because it means the default."""
    if value is None:
        return
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    ok = is_number and least <= value <= most and (not whole or value == int(value))
    kind = "whole number" if whole else "number"
    check(ok, f"{name} must be a {kind} from {least:,} to {most:,}, not {describe(value)}.")


def check_bool(name: str, value: Any) -> None:
    """Reject a value that is neither True nor False."""
    check(isinstance(value, bool), f"{name} must be True or False, not {describe(value)}.")


def check_names(owner: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Reject unknown options, because a misspelled option would have no effect, and suggest the nearest name.

    Args:
        owner: What the options belong to, for the message.
        given: The options.
        known: The names that exist.

    """
    for name in given:
        if name in known:
            continue
        shown = name if len(name) <= _MAX_NAME_LENGTH else "…"
        nearest = find_nearest_name(name, known)
        if nearest:
            raise invalid(f'Unknown option "{shown}". Did you mean "{nearest}"?')
        raise invalid(f'Unknown option "{shown}". The options of {owner} are {", ".join(known)}.')


def find_nearest_name(name: object, known: Iterable[str], cutoff: float = 0.65) -> str | None:
    """Find the known name that is most like a misspelled one.

    Args:
        name: The misspelled name.
        known: The names that exist.
        cutoff: How alike the names must be, from 0 to 1.

    """
    # Nothing else that web3.py imports uses it.
    from difflib import get_close_matches

    # Other spellings are maxRetries, max-retries and MAX_RETRIES.
    by_letters = {one.replace("_", "").lower(): one for one in known}
    letters = str(name).replace("_", "").replace("-", "").lower()
    matches = get_close_matches(letters, by_letters, n=1, cutoff=max(cutoff, _ALMOST_EQUAL))
    # A name that was cut short, such as eth_getBlock, is nearer to its whole forms than to another short name.
    if not matches and len(letters) >= _MIN_CUT_LENGTH:
        matches = sorted((one for one in by_letters if one.startswith(letters)), key=len)
    matches = matches or get_close_matches(letters, by_letters, n=1, cutoff=cutoff)
    return by_letters[matches[0]] if matches else None
