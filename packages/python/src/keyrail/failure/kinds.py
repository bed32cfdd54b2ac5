"""The closed lists of what a failure can be."""

from typing import Literal

FailureKind = Literal[
    "auth",
    "forbidden",
    "throttled",
    "quota",
    "range",
    "batchTooLarge",
    "methodUnavailable",
    "wrongNetwork",
    "lagging",
    "missingData",
    "revert",
    "txKnown",
    "txRejected",
    "unconfirmed",
    "invalidRequest",
    "badResponse",
    "unavailable",
    "network",
    "timeout",
    "aborted",
    "unknown",
]
"""Every way a call can fail, by the same words as in TypeScript. The list is only ever appended to."""

FailureSource = Literal["client", "transport", "service", "node"]
"""Where a failure arose: on this side, on the way, at the access service, or in the node itself."""
