"""The columns of a Parquet file with logs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .event_abi import AbiParameter
from .event_decoder import EventDecoder, UndecodableLogError, is_hashed, map_value

# Larger integers are text: uint256 has up to 78 digits, and Parquet readers support 38 (Spark, DuckDB) or 76 (Arrow).
_MAX_BITS = 64
_MAX_TOPICS = 4
# The data of a log of the event with a parameter that cannot be decoded, as hex; null for other logs.
_UNDECODED = "undecodedData"


def import_pyarrow(module: str = "pyarrow") -> Any:
    """Import a module of pyarrow.

    Raises:
        ImportError: If pyarrow is not installed. The message says how to install it.

    """
    if "pyarrow" not in sys.modules:
        # Arrow's own pools retain much of what they free. The variable is read when Arrow is loaded.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("to_parquet() needs pyarrow. Install it with: pip install 'keyrail[parquet]'") from error


class ParquetColumns:
    """Converts logs to record batches.

    Args:
        decoder: Decodes the logs, if the columns are the parameters of an event and not topics and data.

    """

    def __init__(self, decoder: EventDecoder | None) -> None:
        self._arrow = arrow = import_pyarrow()
        self._decoder = decoder
        columns = [
            ("blockNumber", arrow.int64()),
            ("blockHash", arrow.string()),
            ("blockTimestamp", arrow.timestamp("ms", tz="UTC")),
            ("transactionHash", arrow.string()),
            ("transactionIndex", arrow.int64()),
            ("logIndex", arrow.int64()),
            ("address", arrow.string()),
        ]
        if decoder is None:
            columns += [(f"topic{at}", arrow.string()) for at in range(_MAX_TOPICS)] + [("data", arrow.string())]
        else:
            taken = {name for name, _ in columns} | {_UNDECODED}
            for name, parameter in zip(decoder.names, decoder.event.parameters, strict=True):
                columns.append((f"arg_{name}" if name in taken else name, self._get_type(parameter)))
            columns.append((_UNDECODED, arrow.string()))
        self.schema = arrow.schema(columns)

    def to_row(self, log: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Convert a log of ``RawEth`` to the values of the columns; None if it is not of the event."""
        timestamp = log["blockTimestamp"]
        common = (
            log["blockNumber"],
            log["blockHash"],
            None if timestamp is None else timestamp * 1_000,
            log["transactionHash"],
            log["transactionIndex"],
            log["logIndex"],
            log["address"],
        )
        if self._decoder is None:
            topics = log["topics"]
            return (*common, *topics, *[None] * (_MAX_TOPICS - len(topics)), log["data"])
        parameters = self._decoder.event.parameters
        undecoded: str | None = None

        def to_cell(kind: str, value: Any) -> Any:
            nonlocal undecoded
            if kind == "string" and isinstance(value, bytes):
                undecoded = log["data"]
                return None
            return _to_cell(kind, value)

        try:
            values = self._decoder.decode(log)
        except UndecodableLogError:
            return (*common, *[None] * len(parameters), log["data"])
        if values is None:
            return None
        cells = [map_value(parameter, value, to_cell) for parameter, value in zip(parameters, values, strict=True)]
        return (*common, *cells, undecoded)

    def is_undecoded(self, row: tuple[Any, ...]) -> bool:
        """Check whether a row is of a log of the event with a parameter that could not be decoded."""
        return self._decoder is not None and row[-1] is not None

    def to_batch(self, rows: list[tuple[Any, ...]]) -> Any:
        """Convert rows to a record batch."""
        arrays = [
            self._arrow.array(values, column.type)
            for values, column in zip(zip(*rows, strict=True), self.schema, strict=True)
        ]
        return self._arrow.record_batch(arrays, schema=self.schema)

    def _get_type(self, parameter: AbiParameter) -> Any:
        arrow, kind = self._arrow, parameter.type
        if parameter.indexed and is_hashed(parameter):
            return arrow.string()
        if kind.endswith("]"):
            return arrow.list_(self._get_type(AbiParameter("", kind[: kind.rindex("[")], False, parameter.members)))
        if kind.endswith(")"):
            return arrow.struct(
                [(one.name or f"arg{at}", self._get_type(one)) for at, one in enumerate(parameter.members)]
            )
        if kind == "bool":
            return arrow.bool_()
        if _is_small_integer(kind):
            return arrow.uint64() if kind == "uint64" else arrow.int64()
        return arrow.string()


def _is_small_integer(kind: str) -> bool:
    name, bits = kind.rstrip("0123456789"), kind.lstrip("uint")
    return name in ("uint", "int") and int(bits) <= _MAX_BITS


def _to_cell(kind: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, int) and not isinstance(value, bool) and not _is_small_integer(kind):
        return str(value)
    # Such as the decimals of fixed128x18.
    return value if isinstance(value, (int, str)) else str(value)
