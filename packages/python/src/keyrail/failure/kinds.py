"""The kinds and sources of failures."""

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
"""Every kind of failure, with the names of the TypeScript packages. Later versions only add to the list."""

FailureSource = Literal["client", "transport", "service", "node"]
"""Where a failure happened: in this client, between client and server, in the access service, or in the node."""
