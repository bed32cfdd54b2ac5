"""Contracts by their ABI, whose functions are Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from ..failure.check import check
from ..logs.event_abi import AbiParameter, EventAbi, parse_event, parse_item
from ..logs.event_decoder import is_hashed, map_value

_ERROR_SELECTOR = "08c379a0"
_PANIC_SELECTOR = "4e487b71"


class Reverted(Exception):
    """Ends a call with revert data."""

    def __init__(self, data: str) -> None:
        super().__init__("execution reverted")
        self.data = data


@dataclass(slots=True)
class LogEntry:
    """A log that a call emits."""

    address: str
    topics: list[str]
    data: str


@dataclass(slots=True)
class ContractCall:
    """A call of a contract, the first argument of each handler.

    Attributes:
        sender: The address that calls, with a checksum.
        address: The address of the contract, with a checksum.
        value: The value in wei.
        data: The input, in hex.
        is_transaction: Whether a transaction makes the call; False for ``eth_call`` and ``eth_estimateGas``.
        state: The state of the contract, which handlers may change. A revert, a reorganization and ``eth_call`` undo changes.

    """

    sender: str
    address: str
    value: int
    data: str
    is_transaction: bool
    state: dict[Any, Any]
    contract: MockContract
    logs: list[LogEntry] = field(default_factory=list)

    def emit(self, event: str, args: Mapping[str, Any]) -> None:
        """Emit an event of the ABI.

        Args:
            event: The name of the event.
            args: The values of its parameters by name.

        """
        self.logs.append(self.contract.encode_event(event, args))

    def revert(self, reason: str | None = None, args: Sequence[Any] = ()) -> NoReturn:
        """Revert the call.

        Args:
            reason: The name of an error of the ABI, or a text. Default: without data.
            args: The values of the parameters of the error.

        """
        raise Reverted(self.contract.encode_revert(reason, args))

    def panic(self, code: int) -> NoReturn:
        """Revert the call with a panic, such as 0x11 for an overflow.

        Args:
            code: The code of the panic.

        """
        raise Reverted(f"0x{_PANIC_SELECTOR}{encode(['uint256'], [code]).hex()}")


Emit = Callable[[LogEntry], str]


class MockContract:
    """A contract of a mock node. ``MockNode.mock_contract`` creates it.

    Attributes:
        address: The address, with a checksum.

    """

    def __init__(self, address: str, abi: Sequence[Mapping[str, Any]], handlers: Mapping[str, Any], emit: Emit) -> None:
        self.address: str = to_checksum_address(address)
        self._emit = emit
        self._handlers = dict(handlers)
        functions = [_Function(item) for item in abi if item.get("type") == "function"]
        self._functions = {function.selector: function for function in functions}
        self._errors = {item["name"]: _Function(item) for item in abi if item.get("type") == "error"}
        self._events = {item["name"]: parse_event(item) for item in abi if item.get("type") == "event"}
        known = {name for function in functions for name in (function.name, function.signature)}
        for name in handlers:
            check(name in known, f'The ABI has no function "{name}". It has {", ".join(sorted(known))}.')

    def emit(self, event: str, args: Mapping[str, Any]) -> str:
        """Emit an event in a transaction of the node, and return the hash of the transaction.

        Args:
            event: The name of the event.
            args: The values of its parameters by name.

        """
        return self._emit(self.encode_event(event, args))

    def run(self, call: ContractCall) -> str:
        """Run a call and return its output in hex. Raises ``Reverted``."""
        function = self._functions.get(call.data[2:10])
        name = function.signature if function else call.data[:10]
        handler = function and self._handlers.get(function.signature, self._handlers.get(function.name, _MISSING))
        if function is None or handler is _MISSING:
            call.revert(f"No handler for {name} of {self.address}. Add one with node.mock_contract()")
        try:
            args = function.decode_inputs(call.data)
        except (DecodingError, ValueError):
            call.revert()
        return function.encode_outputs(handler(call, *args) if callable(handler) else handler)

    def encode_event(self, event: str, args: Mapping[str, Any]) -> LogEntry:
        """Encode a log of an event of the ABI."""
        check(event in self._events, f'The ABI has no event "{event}". It has {", ".join(self._events) or "none"}.')
        abi = self._events[event]
        names = [one.name or f"arg{at}" for at, one in enumerate(abi.parameters)]
        check(set(args) == set(names), f"{event} has the parameters {', '.join(names)}, not {', '.join(args)}.")
        return _encode_log(self.address, abi, [args[name] for name in names])

    def encode_revert(self, reason: str | None, args: Sequence[Any]) -> str:
        """Encode revert data."""
        if reason is None:
            return "0x"
        error = self._errors.get(reason)
        if error is None:
            return f"0x{_ERROR_SELECTOR}{encode(['string'], [reason]).hex()}"
        return f"0x{error.selector}{_encode(error.inputs, args)}"


_MISSING = object()


class _Function:
    """A function or an error of an ABI."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        self.name: str = item["name"]
        self.inputs = [parse_item(one) for one in item.get("inputs", [])]
        self._outputs = [parse_item(one) for one in item.get("outputs", [])]
        self.signature = f"{self.name}({','.join(one.type for one in self.inputs)})"
        self.selector = keccak(text=self.signature)[:4].hex()

    def decode_inputs(self, data: str) -> list[Any]:
        values = decode([one.type for one in self.inputs], bytes.fromhex(data[10:]))
        return [map_value(one, value, _to_argument) for one, value in zip(self.inputs, values, strict=True)]

    def encode_outputs(self, result: Any) -> str:
        # As in Python, several values are a tuple.
        values = [result] if len(self._outputs) == 1 else [] if result is None else list(result)
        return f"0x{_encode(self._outputs, values)}"


def _to_argument(kind: str, value: Any) -> Any:
    return to_checksum_address(value) if kind == "address" else value


def _encode(parameters: Sequence[AbiParameter], values: Sequence[Any]) -> str:
    pairs = zip(parameters, values, strict=True)
    return encode([one.type for one in parameters], [_to_tuples(one, value) for one, value in pairs]).hex()


def _to_tuples(parameter: AbiParameter, value: Any) -> Any:
    """Convert structs that are dicts to tuples."""
    kind = parameter.type
    if kind.endswith("]"):
        element = AbiParameter("", kind[: kind.rindex("[")], False, parameter.members)
        return [_to_tuples(element, one) for one in value]
    if kind.endswith(")"):
        members = [value[one.name] for one in parameter.members] if isinstance(value, Mapping) else value
        return tuple(_to_tuples(one, member) for one, member in zip(parameter.members, members, strict=True))
    return value


def _encode_log(address: str, event: EventAbi, values: Sequence[Any]) -> LogEntry:
    pairs = list(zip(event.parameters, values, strict=True))
    topics = [] if event.topic is None else [event.topic]
    for parameter, value in pairs:
        if parameter.indexed and is_hashed(parameter):
            check(
                parameter.type in ("string", "bytes"),
                f"An indexed {parameter.type} cannot be encoded. Emit its topics with node.emit().",
            )
            topics.append(f"0x{keccak(value.encode() if isinstance(value, str) else bytes(value)).hex()}")
        elif parameter.indexed:
            topics.append(f"0x{_encode([parameter], [value])}")
    others = [(parameter, value) for parameter, value in pairs if not parameter.indexed]
    data = _encode([parameter for parameter, _ in others], [value for _, value in others])
    return LogEntry(address.lower(), topics, f"0x{data}")
