"""Keyrail for web3.py: safe access to blockchain nodes behind an API key."""

from .async_provider import AsyncKeyrailProvider
from .endpoint.create_endpoint import AsyncHeaders, AsyncSecret, Headers, Network, PerNetwork, Secret
from .failure.error import KeyrailError, RpcErrorObject
from .failure.kinds import FailureKind, FailureSource
from .failure.reorg import Reorg
from .logs.log_cursor import LogCursor
from .logs.log_reader import LogsProgress
from .logs.logs import AsyncLogs, Logs, async_logs, logs
from .persistent_provider import KeyrailPersistentProvider
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
    "FailureKind",
    "FailureSource",
    "Headers",
    "KeyrailError",
    "KeyrailPersistentProvider",
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
