"""Reads logs without web3.py's formatters, which take most of the time and memory of an export."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from web3.exceptions import BlockNotFound, Web3RPCError

from .query import create_invalid_result_error

_MAX_TOPICS = 4


class RawEth:
    """The part of web3.py's ``eth`` module that reads logs. The results are as the node sent them, with numbers as int.

    Args:
        provider: A synchronous or asynchronous provider. With an asynchronous one, the results are awaitable.

    """

    def __init__(self, provider: Any) -> None:
        self._request: Callable[[str, list[Any]], Any] = provider.make_request

    @property
    def block_number(self) -> Any:
        """The number of the latest block."""
        return self._call("eth_blockNumber", [], lambda result: int(result, 16))

    @property
    def chain_id(self) -> Any:
        """The chain id."""
        return self._call("eth_chainId", [], lambda result: int(result, 16))

    def get_block(self, block: int | str) -> Any:
        """Get a block, with its number, its hash and that of its parent."""
        return self._call(
            "eth_getBlockByNumber",
            [hex(block) if isinstance(block, int) else block, False],
            lambda result: _parse_block(block, result),
        )

    def get_logs(self, parameters: Mapping[str, Any]) -> Any:
        """Get the logs of a range."""
        return self._call("eth_getLogs", [parameters], _parse_logs)

    def _call(self, method: str, params: list[Any], convert: Callable[[Any], Any]) -> Any:
        response = self._request(method, params)
        if inspect.isawaitable(response):
            return _call_async(method, response, convert)
        return _convert(method, response, convert)


async def _call_async(method: str, response: Awaitable[Any], convert: Callable[[Any], Any]) -> Any:
    return _convert(method, await response, convert)


def _convert(method: str, response: Mapping[str, Any], convert: Callable[[Any], Any]) -> Any:
    if "error" in response:
        raise Web3RPCError(str(response["error"]))
    try:
        return convert(response["result"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise create_invalid_result_error(method) from None


def _parse_block(block: int | str, result: Any) -> dict[str, Any]:
    if result is None:
        raise BlockNotFound(f"Block with id: {block!r} not found.")
    return {"number": int(result["number"], 16), "hash": str(result["hash"]), "parentHash": result.get("parentHash")}


def _parse_logs(result: Any) -> list[dict[str, Any]]:
    if not isinstance(result, list):
        raise TypeError
    return [_parse_log(log) for log in result]


def _parse_log(log: Any) -> dict[str, Any]:
    topics = [_parse_hex(topic) for topic in log["topics"]]
    if len(topics) > _MAX_TOPICS:
        raise ValueError("too many topics")
    return {
        "blockNumber": int(log["blockNumber"], 16),
        "blockHash": _parse_hex(log["blockHash"]),
        "blockTimestamp": int(log["blockTimestamp"], 16) if log.get("blockTimestamp") else None,
        "transactionHash": _parse_hex(log["transactionHash"]),
        "transactionIndex": int(log["transactionIndex"], 16),
        "logIndex": int(log["logIndex"], 16),
        "address": _parse_hex(log["address"]),
        "topics": topics,
        "data": _parse_hex(log["data"]),
    }


def _parse_hex(text: Any) -> str:
    if not text.startswith("0x"):
        raise ValueError("not hex")
    # Fails for anything but hex.
    bytes.fromhex(text[2:])
    return str(text)
