"""Keyrail for web3.py: nodes behind an API key, reached safely."""

from .address.open_address import AsyncSecret, Network, PerNetwork, Secret
from .async_provider import AsyncKeyrailProvider
from .failure.error import KeyrailError, RpcErrorObject
from .failure.kinds import FailureKind, FailureSource
from .provider import KeyrailProvider
from .transport.options import BatchOptions, RetryOptions
from .transport.walks import Request, Settled

__all__ = [
    "AsyncKeyrailProvider",
    "AsyncSecret",
    "BatchOptions",
    "FailureKind",
    "FailureSource",
    "KeyrailError",
    "KeyrailProvider",
    "Network",
    "PerNetwork",
    "Request",
    "RetryOptions",
    "RpcErrorObject",
    "Secret",
    "Settled",
]
