"""Keyrail for web3.py: safe access to blockchain nodes behind an API key."""

from typing import TYPE_CHECKING

from .async_provider import AsyncKeyrailProvider
from .endpoint.create_endpoint import AsyncHeaders, AsyncSecret, Headers, Network, PerNetwork, Secret
from .failure.error import KeyrailError, RpcErrorObject
from .failure.kinds import FailureKind, FailureSource
from .failure.reorg import Reorg
from .logs.event_abi import EventInput
from .logs.log_cursor import LogCursor
from .logs.log_reader import LogsProgress
from .logs.logs import AsyncLogs, DecodedLog, Logs, async_logs, logs
from .logs.parquet_export import ExportResult
from .provider import KeyrailProvider
from .subscribe.events import BlockEvent, LogEvent, ReorgEvent, SubscriptionEvent, TransactionEvent
from .subscribe.subscribe import Subscription, subscribe
from .transport.call_settings import BatchOptions, RetryOptions
from .transport.calls import RpcRequest, Settled, SettledError, SettledValue

__all__ = [
    "AsyncHeaders",
    "AsyncKeyrailProvider",
    "AsyncLogs",
    "AsyncSecret",
    "BatchOptions",
    "BlockEvent",
    "DecodedLog",
    "EventInput",
    "ExportResult",
    "FailureKind",
    "FailureSource",
    "Headers",
    "KeyrailError",
    "KeyrailProvider",
    "LogCursor",
    "LogEvent",
    "Logs",
    "LogsProgress",
    "Network",
    "PerNetwork",
    "Reorg",
    "ReorgEvent",
    "RetryOptions",
    "RpcErrorObject",
    "RpcRequest",
    "Secret",
    "Settled",
    "SettledError",
    "SettledValue",
    "Subscription",
    "SubscriptionEvent",
    "TransactionEvent",
    "async_logs",
    "logs",
    "subscribe",
]

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Return the version. Read on demand, because that takes some milliseconds."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return version(__name__)
