"""What to do about a failure."""

from .error import KeyrailError, altered

HINTS = {
    "auth": "Check the key.",
    "forbidden": "Check the settings of the key.",
    "throttled": "Slow down.",
    "quota": "Wait for the reset or raise the limit.",
    "range": "Ask for fewer blocks.",
    "batchTooLarge": "Send smaller batches.",
    "methodUnavailable": "Check its spelling, or ask another endpoint.",
    "wrongNetwork": "Check the network of the key, or chain_id.",
    "lagging": "Ask again.",
    "missingData": "Ask an archive node.",
    "txKnown": "Look up its hash.",
    "txRejected": "Check nonce, fee and balance.",
    "unconfirmed": "Look up its hash.",
    "invalidRequest": "Check the call and the address.",
    "badResponse": "Check the address and what stands in between.",
    "unavailable": "Ask again.",
    "network": "Check the address.",
    "timeout": "Ask for less or raise timeout_ms.",
}
"""By kind; nothing where only the caller can know."""


def with_hint(failure: KeyrailError) -> KeyrailError:
    """Put the hint on a failure, and at the end of its message; what has none is given back as it is."""
    hint = HINTS.get(failure.kind)
    return altered(failure, f"{failure} {hint}", hint=hint) if hint and not failure.hint else failure
