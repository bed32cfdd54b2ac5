"""Decides whether a failed write was run. The same rule as in TypeScript: ``packages/core/src/failure/isRejectedBeforeRun.ts``."""

from .error import KeyrailError

# Kinds of failure with which a server rejects a call before a node runs it. "throttled" is not one of them: the words "too many
# requests" may come from a proxy that has forwarded the call already. If the status or the code proves that the call was not
# forwarded, the failure is retryable.
_REJECTION_KINDS = frozenset(
    {
        "auth",
        "forbidden",
        "quota",
        "methodUnavailable",
        "wrongNetwork",
        "invalidRequest",
        "batchTooLarge",
        "aborted",
    }
)
# Codes of JSON-RPC 2.0 with which a server rejects a request that it cannot run. They decide under any HTTP status.
_REJECTION_CODES = frozenset({-32700, -32600, -32601, -32602})
_SERVER_ERROR = 500


def is_rejected_before_run(failure: KeyrailError) -> bool:
    """Check whether no node can have run a failed write, so that nobody has to look for its result.

    An HTTP status of 5xx proves nothing, because a proxy may write such a page after it forwarded the call, with any words in it.

    Args:
        failure: The failure of a call that is not a read. If it is ``retryable``, the write was not run.

    """
    if failure.retryable:
        return True
    # Our own queue rejected the call, so it was not sent.
    if failure.kind == "throttled" and failure.source == "client":
        return True
    code = (failure.rpc_error or {}).get("code")
    return failure.kind in _REJECTION_KINDS and ((failure.status or 0) < _SERVER_ERROR or code in _REJECTION_CODES)
