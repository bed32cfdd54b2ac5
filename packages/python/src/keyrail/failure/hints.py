"""What users can do about a failure."""

from ..methods import TABLE
from .check import find_nearest_name
from .error import KeyrailError, replace_fields

HINTS = {
    "auth": "Check the API key or token.",
    "forbidden": "Check the allow lists and the plan of the key.",
    "throttled": "Send fewer requests per second, or lower max_in_flight.",
    "quota": "Wait for the reset, or raise the limit.",
    "range": "Request fewer blocks.",
    "batchTooLarge": "Send smaller batches.",
    "methodUnavailable": "Check its spelling, or use another endpoint.",
    "wrongNetwork": "Check the network of the key, or chain_id.",
    "lagging": "Try again.",
    "revert": "Contract calls through web3.py decode it.",
    "missingData": "Use an archive node.",
    "txKnown": "Look up the transaction by its hash.",
    "txRejected": "Check nonce, fee and balance.",
    "unconfirmed": "Look up the transaction by its hash.",
    "invalidRequest": "Check the call and the endpoint URL.",
    "badResponse": "Check the endpoint URL, and proxies in between.",
    "unavailable": "Try again later.",
    "network": "Check the endpoint URL and the connection.",
    "timeout": "Request less, or raise timeout_ms.",
}
"""Hints by failure kind, the same as in TypeScript. A kind without a hint depends on what the caller does."""


# Without the rows of whole namespaces.
_KNOWN_METHODS = frozenset(name for name in TABLE if not name.endswith("*"))


def _find_spelling(failure: KeyrailError) -> str | None:
    """Suggest the nearest name of a method that does not exist. Providers have methods of their own, so only very similar names count."""
    method = failure.method
    if failure.kind != "methodUnavailable" or method is None or method in _KNOWN_METHODS:
        return None
    nearest = find_nearest_name(method, _KNOWN_METHODS, cutoff=0.88)
    return nearest and f'Did you mean "{nearest}"?'


def add_hint(failure: KeyrailError) -> KeyrailError:
    """Set the hint of a failure's kind, and append it to the message. A failure that has a hint is returned unchanged."""
    hint = _find_spelling(failure) or HINTS.get(failure.kind)
    return replace_fields(failure, f"{failure} {hint}", hint=hint) if hint and not failure.hint else failure
