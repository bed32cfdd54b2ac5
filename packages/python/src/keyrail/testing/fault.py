"""Faults that a test schedules."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

from ..failure.check import check, check_range
from ..failure.kinds import FailureKind

_Special: TypeAlias = Literal[
    "hang",
    "slow",
    "truncated",
    "empty",
    "htmlPage",
    "wrongId",
    "stringId",
    "nullId",
    "missingId",
    "duplicateId",
    "missingResponse",
    "shuffled",
    "laggingHead",
    "wrongChain",
]
FaultKind: TypeAlias = FailureKind | _Special
"""What ``fail`` can simulate: every kind of failure except ``aborted``, and faults of the response."""
ProviderName: TypeAlias = Literal["keyrail", "alchemy", "infura", "quicknode", "ankr", "drpc", "node"]
"""The provider whose limits and error responses a mock node imitates. ``node`` is a node without a provider in front."""

# The mock node of TypeScript uses the same file.
PROVIDERS: dict[str, Any] = json.loads(files(__package__).joinpath("providers.json").read_text("utf-8"))
_NOT_ERRORS = (*get_args(_Special), "network", "badResponse", "unconfirmed")
_KINDS = (*PROVIDERS["node"]["errors"], *_NOT_ERRORS)
# Faults that need a batch.
_OF_BATCHES = ("batchTooLarge", "shuffled", "missingResponse", "duplicateId")
# The methods that a kind applies to unless others are named.
_METHODS = {
    "range": ("eth_getLogs",),
    "revert": ("eth_call", "eth_estimateGas"),
    "txKnown": ("eth_sendRawTransaction",),
    "txRejected": ("eth_sendRawTransaction",),
    "unconfirmed": ("eth_sendRawTransaction", "eth_getTransactionByHash"),
    "wrongChain": ("eth_chainId", "net_version"),
}


@dataclass(frozen=True, slots=True)
class FaultResponse:
    """A custom HTTP response.

    Attributes:
        status: The HTTP status.
        body: Text, or a value that is sent as JSON with each id 1 replaced by the id of the call.
        headers: Additional headers.

    """

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Fault:
    """A scheduled fault. The fields are the arguments of ``MockNode.fail``."""

    kind: FaultKind | FaultResponse
    methods: Sequence[str] | None
    left: float
    skip: int
    provider: str | None
    status: int | None
    retry_after_ms: float | None
    message: str | None
    data: Any
    delay_ms: float
    blocks: int

    @property
    def name(self) -> str:
        """The name of the fault in the list of received calls."""
        return f"status {self.kind.status}" if isinstance(self.kind, FaultResponse) else self.kind

    def get_error(self, provider: str) -> Mapping[str, Any] | None:
        """Return the error response of a provider; None if the fault is not an error response."""
        if isinstance(self.kind, FaultResponse) or self.kind in _NOT_ERRORS:
            return None
        return get_provider_error(self.provider or provider, self.kind, self.status)


class FaultPlan:
    """The scheduled faults, in order."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(
        self, kind: FaultKind | FaultResponse, method: str | Sequence[str] | None, fault: Callable[..., Fault]
    ) -> Fault:
        """Add a fault, with the methods that it applies to."""
        methods = (method,) if isinstance(method, str) else method
        if methods is None and isinstance(kind, str):
            methods = _METHODS.get(kind)
        added = fault(kind=kind, methods=methods)
        self._faults.append(added)
        return added

    def take(self, method: str, *, in_batch: bool) -> Fault | None:
        """Return the fault of a call, if any, and count it."""
        for fault in self._faults:
            applies = fault.methods is None or method in fault.methods
            if fault.left <= 0 or not applies or (not in_batch and fault.kind in _OF_BATCHES):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.left -= 1
            return fault
        return None

    def clear(self) -> None:
        """Remove all faults."""
        self._faults.clear()


def create_fault(
    kind: Any, methods: Sequence[str] | None, times: float | None, after: int, provider: str | None, **options: Any
) -> Fault:
    """Create a fault. The arguments are those of ``MockNode.fail``.

    Raises:
        KeyrailError: With kind ``invalidRequest`` for an unknown kind or a wrong option.

    """
    check(kind != "aborted", 'fail() cannot simulate "aborted". Cancel the call in your test.')
    check(
        isinstance(kind, FaultResponse) or kind in _KINDS,
        f"Unknown fault. Use one of {', '.join(_KINDS)}, or a FaultResponse.",
    )
    if times != float("inf"):
        check_range("times", times, 1, 10**9, whole=True)
    check_range("after", after, 0, 10**9, whole=True)
    if provider is not None:
        check_provider(provider)
    # A lost transaction stays lost, however often the client looks it up.
    default = float("inf") if kind == "unconfirmed" else 1
    return Fault(
        kind=kind, methods=methods, left=default if times is None else times, skip=after, provider=provider, **options
    )


def check_provider(provider: Any) -> None:
    """Reject an unknown provider."""
    check(provider in PROVIDERS, f"Unknown provider. Use one of {', '.join(PROVIDERS)}.")


def get_provider_error(provider: str, kind: str, status: int | None = None) -> Mapping[str, Any]:
    """Return the error response of a provider for a kind of failure, or that of a node without a provider.

    Args:
        provider: The name of the provider.
        kind: The kind of failure.
        status: The HTTP status, if the provider has several responses for the kind.

    """
    known = PROVIDERS[provider]["errors"].get(kind) or PROVIDERS["node"]["errors"][kind]
    found = next((error for error in known if status is None or error["status"] == status), None)
    return found or {**known[0], "status": status}
