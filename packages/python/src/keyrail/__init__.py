"""Keyrail for web3.py: safe access to blockchain nodes behind an API key."""

from .async_provider import AsyncKeyrailProvider
from .endpoint.create_endpoint import AsyncHeaders, AsyncSecret, Headers, Network, PerNetwork, Secret
from .failure.error import KeyrailError, RpcErrorObject
from .failure.kinds import FailureKind, FailureSource
from .failure.reorg import Reorg
from .logs.log_cursor import LogCursor
from .logs.log_reader import LogsProgress
from .logs.logs import AsyncLogs, Logs, async_logs, logs
from .provider import KeyrailProvider
from .transport.call_settings import BatchOptions, RetryOptions
from .transport.calls import RpcRequest, Settled, SettledError, SettledValue

__all__ = [
    "AsyncHeaders",
    "AsyncKeyrailProvider",
    "AsyncLogs",
    "AsyncSecret",
    "BatchOptions",
    "FailureKind",
    "FailureSource",
    "Headers",
    "KeyrailError",
    "KeyrailProvider",
    "LogCursor",
    "Logs",
    "LogsProgress",
    "Network",
    "PerNetwork",
    "Reorg",
    "RetryOptions",
    "RpcErrorObject",
    "RpcRequest",
    "Secret",
    "Settled",
    "SettledError",
    "SettledValue",
    "async_logs",
    "logs",
]
