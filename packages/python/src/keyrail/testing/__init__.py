"""A mock node for tests: a chain, contracts and faults, behind a URL of this machine."""

from .fault import FaultKind, FaultResponse, ProviderName
from .mock_contract import ContractCall, MockContract
from .mock_node import MockAccount, MockNode
from .request_handler import ReceivedCall
from .rpc_error import RpcError

__all__ = [
    "ContractCall",
    "FaultKind",
    "FaultResponse",
    "MockAccount",
    "MockContract",
    "MockNode",
    "ProviderName",
    "ReceivedCall",
    "RpcError",
]
