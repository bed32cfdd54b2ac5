"""The error response to a call."""

from __future__ import annotations

from typing import Any


class RpcError(Exception):
    """Makes the mock node respond to a call with an error.

    Args:
        code: The JSON-RPC error code.
        message: The message.
        data: The data of the error.
        status: The HTTP status.

    """

    def __init__(self, code: int, message: str, data: Any = None, status: int = 200) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message, **({} if data is None else {"data": data})}
        self.status = status
