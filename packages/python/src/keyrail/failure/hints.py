"""What users can do about a failure."""

from .error import KeyrailError, replace_fields

HINTS = {
    "auth": "Check the API key.",
    "forbidden": "Check what the API key allows.",
    "throttled": "Send fewer requests per second.",
    "quota": "Wait until the quota resets, or raise it.",
    "range": "Request fewer blocks.",
    "batchTooLarge": "Send smaller batches.",
    "methodUnavailable": "Check the method name, or use another endpoint.",
    "wrongNetwork": "Check the network of the API key, or chain_id.",
    "lagging": "Retry later.",
    "missingData": "Use an archive node.",
    "txKnown": "Look up the transaction by its hash.",
    "txRejected": "Check nonce, fee and balance.",
    "unconfirmed": "Look up the transaction by its hash before you send another one.",
    "invalidRequest": "Check the method, its parameters and the URL.",
    "badResponse": "Check the URL, and any proxy between this program and the node.",
    "unavailable": "Retry later.",
    "network": "Check the URL and the network connection.",
    "timeout": "Request less, or raise timeout_ms.",
}
"""Hints by failure kind. A kind without a hint depends on what the caller does."""


def add_hint(failure: KeyrailError) -> KeyrailError:
    """Set the hint of a failure's kind, and append it to the message. A failure that has a hint is returned unchanged."""
    hint = HINTS.get(failure.kind)
    return replace_fields(failure, f"{failure} {hint}", hint=hint) if hint and not failure.hint else failure
