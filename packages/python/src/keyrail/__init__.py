"""Keyrail for web3.py: nodes behind an API key, reached safely."""

from .address.open_address import AsyncSecret, Network, PerNetwork, Secret
from .async_provider import AsyncKeyrailProvider
from .failure.error import KeyrailError, RpcErrorObject
from .failure.kinds import FailureKind, FailureSource
from .failure.reorg import Reorg
from .logs.log_cursor import LogCursor
from .logs.log_reader import LogsProgress
from .logs.logs import AsyncLogs, Logs, async_logs, logs
from .provider import KeyrailProvider
from .provider_options import AsyncProviderOptions, ProviderOptions
from .transport.options import BatchOptions, RetryOptions
from .transport.walks import Request, Settled

__all__ = [
    "AsyncKeyrailProvider",
    "AsyncLogs",
    "AsyncProviderOptions",
    "AsyncSecret",
    "BatchOptions",
    "FailureKind",
    "FailureSource",
    "KeyrailError",
    "KeyrailProvider",
    "LogCursor",
    "Logs",
    "LogsProgress",
    "Network",
    "PerNetwork",
    "ProviderOptions",
    "Reorg",
    "Request",
    "RetryOptions",
    "RpcErrorObject",
    "Secret",
    "Settled",
    "async_logs",
    "logs",
]
