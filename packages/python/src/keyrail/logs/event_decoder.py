"""Decodes the parameters of logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from eth_abi.codec import ABICodec
from eth_abi.decoding import ByteStringDecoder
from eth_abi.exceptions import DecodingError, InsufficientDataBytes
from eth_abi.registry import registry
from eth_utils.address import to_checksum_address

from ..failure.error import create_error
from .event_abi import AbiParameter, EventAbi

_WORD = 32


class UndecodableLogError(ValueError):
    """A log of an event whose topics or data do not match the ABI. Contracts can emit any data."""


class _BytesDecoder(ByteStringDecoder):
    """Decodes bytes, also without zeros after them, which older compilers and contracts in assembly leave out."""

    def decode(self, stream: Any) -> Any:
        length = int.from_bytes(_read(stream, _WORD), "big")
        return _read(stream, length)

    @classmethod
    def from_type_str(cls, *_: Any) -> Any:
        return cls()


class _StringDecoder(_BytesDecoder):
    """Decodes a string. One that is not UTF-8 stays bytes."""

    def decode(self, stream: Any) -> Any:
        data = super().decode(stream)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data


def _read(stream: BytesIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise InsufficientDataBytes(f"{length} bytes are missing")
    return data


def _create_codec() -> ABICodec:
    lenient: Any = registry.copy()  # type: ignore[no-untyped-call]
    for name, decoder in (("bytes", _BytesDecoder), ("string", _StringDecoder)):
        lenient.unregister_decoder(name)
        lenient.register_decoder(name, decoder, label=name)
    return ABICodec(lenient)


_codec = _create_codec()


class EventDecoder:
    """Decodes the logs of one event.

    Args:
        event: The event.

    """

    def __init__(self, event: EventAbi) -> None:
        self.event = event
        self._topic = event.topic
        self._data = [one for one in event.parameters if not one.indexed]
        self._data_types = [one.type for one in self._data]
        indexed = [one for one in event.parameters if one.indexed]
        # The topic of a string, bytes, an array or a struct is its hash.
        self._topic_types = ["bytes32" if is_hashed(one) else one.type for one in indexed]
        self._names = [one.name or f"arg{at}" for at, one in enumerate(event.parameters)]

    @property
    def names(self) -> list[str]:
        """The names of the parameters. One without a name is called by its position, as ``arg0``."""
        return self._names

    def decode(self, log: Mapping[str, Any]) -> list[Any] | None:
        """Return the values of the parameters; None if the log is not of this event.

        That is so for an event with the same signature but other indexed parameters, as ``Transfer`` of ERC-20 and ERC-721 have. A string
        that is not UTF-8 is returned as bytes.

        Args:
            log: A log with topics and data, each as bytes or hex.

        Raises:
            UndecodableLogError: If the log is of this event, but its topics or data do not match the ABI.

        """
        topics = [_to_bytes(one) for one in log["topics"]]
        if self._topic is not None:
            if not topics or topics[0].hex() != self._topic[2:]:
                return None
            del topics[0]
        if len(topics) != len(self._topic_types):
            return None
        try:
            indexed = iter(
                [_codec.decode([kind], topic)[0] for kind, topic in zip(self._topic_types, topics, strict=True)]
            )
            others = iter(_codec.decode(self._data_types, _to_bytes(log["data"])))
        except (DecodingError, OverflowError):
            if self._topic is None:
                # Any event without a name may have such topics.
                return None
            raise UndecodableLogError from None
        return [next(indexed if one.indexed else others) for one in self.event.parameters]

    def add_args(self, log: Any) -> Any:
        """Return a copy of a log with ``event`` and ``args`` as web3.py's contracts have them; None if it is not of this event.

        Raises:
            KeyrailError: With kind ``badResponse`` if its topics or data do not match the ABI.

        """
        try:
            values = self.decode(log)
        except UndecodableLogError:
            raise create_error(
                f"Log {log['logIndex']} of block {log['blockNumber']} is a {self.event.name} event, but its data does not match the ABI. "
                "Continue after it from the cursor, or read the logs without event.",
                kind="badResponse",
                source="node",
                retryable=False,
                method="eth_getLogs",
            ) from None
        if values is None:
            return None
        pairs = zip(self._names, self.event.parameters, values, strict=True)
        args = {name: _with_checksums(one, value) for name, one, value in pairs}
        # A log of web3.py is an AttributeDict, unless a middleware changed that.
        return type(log)({**log, "event": self.event.name, "args": type(log)(args)})


def is_hashed(parameter: AbiParameter) -> bool:
    """Check whether an indexed parameter appears only as a hash."""
    return parameter.type in ("string", "bytes") or parameter.type.endswith(("]", ")"))


def map_value(parameter: AbiParameter, value: Any, convert: Callable[[str, Any], Any]) -> Any:
    """Convert each elementary value of a parameter.

    Args:
        parameter: The parameter.
        value: Its value. Arrays are converted to lists, and structs to dicts.
        convert: Converts a value, given its type.

    """
    if parameter.indexed and is_hashed(parameter):
        return convert("bytes32", value)
    kind = parameter.type
    if kind.endswith("]"):
        element = AbiParameter(parameter.name, kind[: kind.rindex("[")], False, parameter.members)
        return [map_value(element, one, convert) for one in value]
    if kind.endswith(")"):
        members = zip(parameter.members, value, strict=True)
        return {one.name or f"arg{at}": map_value(one, member, convert) for at, (one, member) in enumerate(members)}
    return convert(kind, value)


def _with_checksums(parameter: AbiParameter, value: Any) -> Any:
    return map_value(parameter, value, lambda kind, one: to_checksum_address(one) if kind == "address" else one)


def _to_bytes(value: Any) -> bytes:
    return bytes.fromhex(value[2:]) if isinstance(value, str) else bytes(value)
