"""Keyrail for web3.py: safe access to blockchain nodes behind an API key."""

from typing import TYPE_CHECKING

from .async_provider import AsyncKeyrailProvider
from .endpoint.create_endpoint import AsyncHeaders, AsyncSecret, Headers, Network, PerNetwork, Secret
from .endpoint.endpoint import Endpoint
from .failure.error import KeyrailError, RpcErrorObject
from .failure.find_failure import find_failure
from .failure.kinds import FailureKind, FailureSource
from .failure.reorg import Reorg
from .logs.event_abi import EventInput
from .logs.log_cursor import LogCursor
from .logs.log_reader import LogsProgress
from .logs.logs import AsyncLogs, DecodedLog, Logs, async_logs, logs
from .logs.parquet_export import ExportResult
from .observe.endpoint_state import BreakerState, BudgetStats, EndpointState, Health
from .observe.events import (
    AttemptEvent,
    CallEvent,
    FailureEvent,
    RequestEvent,
    RerouteEvent,
    ResponseEvent,
    RetryEvent,
)
from .observe.hooks import Hooks
from .observe.latency_histogram import LatencyStats
from .observe.stats import EndpointStats, ProviderStats
from .observe.tracing import Tracer
from .persistent_provider import KeyrailPersistentProvider
from .provider import KeyrailProvider
from .subscribe.events import BlockEvent, LogEvent, ReorgEvent, SubscriptionEvent, TransactionEvent
from .subscribe.subscribe import Subscription, subscribe
from .transport.breaker import Breaker
from .transport.budget import Budget
from .transport.cache import Cache
from .transport.call_options import call_options
from .transport.call_settings import BatchOptions, RetryOptions
from .transport.calls import RpcRequest, Settled, SettledError, SettledValue
from .transport.failover import Failover

__all__ = [
    "AsyncHeaders",
    "AsyncKeyrailProvider",
    "AsyncLogs",
    "AsyncSecret",
    "AttemptEvent",
    "BatchOptions",
    "BlockEvent",
    "Breaker",
    "BreakerState",
    "Budget",
    "BudgetStats",
    "Cache",
    "CallEvent",
    "DecodedLog",
    "Endpoint",
    "EndpointState",
    "EndpointStats",
    "EventInput",
    "ExportResult",
    "Failover",
    "FailureEvent",
    "FailureKind",
    "FailureSource",
    "Headers",
    "Health",
    "Hooks",
    "KeyrailError",
    "KeyrailPersistentProvider",
    "KeyrailProvider",
    "LatencyStats",
    "LogCursor",
    "LogEvent",
    "Logs",
    "LogsProgress",
    "Network",
    "PerNetwork",
    "ProviderStats",
    "Reorg",
    "ReorgEvent",
    "RequestEvent",
    "RerouteEvent",
    "ResponseEvent",
    "RetryEvent",
    "RetryOptions",
    "RpcErrorObject",
    "RpcRequest",
    "Secret",
    "Settled",
    "SettledError",
    "SettledValue",
    "Subscription",
    "SubscriptionEvent",
    "Tracer",
    "TransactionEvent",
    "async_logs",
    "call_options",
    "find_failure",
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
