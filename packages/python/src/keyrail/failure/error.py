"""The error class of Keyrail."""

from __future__ import annotations

from typing import Any, TypedDict

from web3.exceptions import Web3RPCError
from web3.types import RPCResponse

from .caught_classes import get_error_class
from .kinds import FailureKind, FailureSource
from .reorg import Reorg


class RpcErrorObject(TypedDict, total=False):
    """The JSON-RPC error object as the node or service sent it, with secrets masked. JSON-RPC 2.0 section 5.1."""

    code: int
    message: str
    data: Any


class KeyrailError(Web3RPCError):
    """The error class of Keyrail. Branch on ``kind``, not on the message.

    It is a ``Web3RPCError``, so code that catches web3.py's errors catches it too. It also inherits what web3.py's HTTP providers
    raise for the same failure: with kind ``network`` it is a ``ConnectionError``, with kind ``timeout`` a ``TimeoutError``, and
    with a ``status`` of 400 or more an ``HTTPError`` of requests. It has no cause and no context on purpose: an error of the
    HTTP library can contain the URL, and the URL contains the key.

    Attributes:
        kind: The kind of failure.
        source: Where the failure happened.
        retryable: Whether the same call may succeed on a retry, and a retry does no harm.
        retry_after_ms: The delay that the server requested, in milliseconds.
        hint: How to fix it.
        method: The JSON-RPC method of the call.
        redacted_url: The URL of the endpoint without its secrets.
        status: The HTTP status, if there was a response.
        rpc_error: The JSON-RPC error that the node or service sent.
        transaction_hash: The hash of the transaction that the call sent, if known.
        reorg: The reorganization that was found while logs were read, with the cursor to resume from.

    Example:
        >>> try:
        ...     w3.eth.block_number
        ... except KeyrailError as error:
        ...     print(error.kind, error.hint)

    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        source: FailureSource,
        retryable: bool,
        retry_after_ms: float | None = None,
        hint: str | None = None,
        method: str | None = None,
        redacted_url: str | None = None,
        status: int | None = None,
        rpc_error: RpcErrorObject | None = None,
        transaction_hash: str | None = None,
        reorg: Reorg | None = None,
    ) -> None:
        response: Any = {"jsonrpc": "2.0", "id": None, "error": rpc_error} if rpc_error else None
        super().__init__(message, rpc_response=_as_response(response), user_message=hint or message)
        self.kind: FailureKind = kind
        self.source: FailureSource = source
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.hint = hint
        self.method = method
        self.redacted_url = redacted_url
        self.status = status
        self.rpc_error = rpc_error
        self.transaction_hash = transaction_hash
        self.reorg = reorg

    @property
    def fields(self) -> dict[str, Any]:
        """All attributes as a dict, for logs."""
        return {name: getattr(self, name) for name in _FIELDS}

    # Some of the inherited exceptions format themselves from attributes that a failure does not have.
    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"KeyrailError({self.message!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle, (str(self), self.fields))


def _as_response(response: Any) -> RPCResponse | None:
    typed: RPCResponse | None = response
    return typed


_FIELDS = (
    "kind",
    "source",
    "retryable",
    "retry_after_ms",
    "hint",
    "method",
    "redacted_url",
    "status",
    "rpc_error",
    "transaction_hash",
    "reorg",
)


def create_error(message: str, **fields: Any) -> KeyrailError:
    """Create an error, of the subclass that existing code catches for such a failure."""
    error_class: type[KeyrailError] = get_error_class(KeyrailError, fields["kind"], fields.get("status"))
    return error_class(message, **fields)


def replace_fields(error: KeyrailError, message: str | None = None, **fields: Any) -> KeyrailError:
    """Create a copy of an error with another message or other attributes."""
    return create_error(str(error) if message is None else message, **{**error.fields, **fields})


def _unpickle(message: str, fields: dict[str, Any]) -> KeyrailError:
    return create_error(message, **fields)
