"""Finds a Keyrail failure in an exception of another library."""

from __future__ import annotations

from .error import KeyrailError


def find_failure(error: BaseException | None) -> KeyrailError | None:
    """Find the Keyrail failure in an exception: the exception itself, or one that it was raised from or during.

    Args:
        error: Any exception.

    Returns:
        None if the exception has nothing to do with a call, or web3.py has replaced the failure: a revert of a contract has none.

    Example:
        >>> try:
        ...     update_prices(w3)
        ... except PricesError as error:
        ...     failure = find_failure(error)
        ...     print(failure and failure.kind)

    """
    seen: set[int] = set()
    # Causes may form a circle.
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyrailError):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None
