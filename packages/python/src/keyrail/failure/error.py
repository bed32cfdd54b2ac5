"""The one error of Keyrail."""

from __future__ import annotations

from typing import Any, TypedDict

from web3.exceptions import MethodUnavailable, RequestTimedOut, Web3RPCError
from web3.types import RPCResponse

from .kinds import FailureKind, FailureSource
from .reorg import Reorg


class RpcErrorObject(TypedDict, total=False):
    """The JSON-RPC error object as the node or service sent it, with secrets masked. JSON-RPC 2.0 section 5.1."""

    code: int
    message: str
    data: Any


class KeyrailError(Web3RPCError):
    """The one error class of Keyrail. Branch on ``kind``, not on the message.

    It is a ``Web3RPCError``, so what catches web3.py's errors catches it too; of kind ``methodUnavailable`` it is also a
    ``MethodUnavailable``, of kind ``timeout`` a ``RequestTimedOut``. It has neither cause nor context on purpose: what lies
    below (an error of the HTTP library) can hold the address, and the address holds the key.

    Attributes:
        kind: How it failed.
        source: Where it arose.
        retryable: Whether the same call may succeed if it is made again, and making it again does no harm.
        retry_after_ms: How long the server asked to wait, in milliseconds.
        hint: What to do about it.
        method: The JSON-RPC method of the call.
        label: The printable form of the address: never holds the key.
        status: The HTTP status, where an answer came.
        rpc_error: The error object that the node or service sent.
        transaction_hash: The transaction that the failure is about, where its hash is known.
        reorg: Where the chain was reorganized under an iteration over logs, and the cursor to go on from.

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
        label: str | None = None,
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
        self.label = label
        self.status = status
        self.rpc_error = rpc_error
        self.transaction_hash = transaction_hash
        self.reorg = reorg

    @property
    def fields(self) -> dict[str, Any]:
        """All of it but the message, by name: for logs, and to make another of it."""
        return {name: getattr(self, name) for name in _FIELDS}

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (str(self), self.fields))


def _as_response(response: Any) -> RPCResponse | None:
    held: RPCResponse | None = response
    return held


_FIELDS = (
    "kind",
    "source",
    "retryable",
    "retry_after_ms",
    "hint",
    "method",
    "label",
    "status",
    "rpc_error",
    "transaction_hash",
    "reorg",
)


class _MethodUnavailable(KeyrailError, MethodUnavailable):
    """So that ``except MethodUnavailable`` goes on working."""


class _RequestTimedOut(KeyrailError, RequestTimedOut):
    """So that ``except RequestTimedOut`` goes on working."""


_CLASSES: dict[str, type[KeyrailError]] = {"methodUnavailable": _MethodUnavailable, "timeout": _RequestTimedOut}
for _class in _CLASSES.values():
    # It is one error, under one name.
    _class.__name__ = _class.__qualname__ = "KeyrailError"


def make_error(message: str, **fields: Any) -> KeyrailError:
    """Make the error, of the class that web3.py knows for its kind."""
    return _CLASSES.get(fields["kind"], KeyrailError)(message, **fields)


def altered(error: KeyrailError, message: str | None = None, **fields: Any) -> KeyrailError:
    """Make another of an error, with some of it changed."""
    return make_error(str(error) if message is None else message, **{**error.fields, **fields})


def _again(message: str, fields: dict[str, Any]) -> KeyrailError:
    return make_error(message, **fields)
