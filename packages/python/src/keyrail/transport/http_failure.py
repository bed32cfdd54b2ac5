"""Describes why an HTTP request failed, in the same way for both providers."""

from __future__ import annotations

from ..failure.facts import Facts
from .http_request import BROKEN, CUT, INVALID_URL, NOT_HTTP, describe_error
from .response_reader import NotHttpError, ResponseReader


class TunnelRejectedError(OSError):
    """A proxy did not open a tunnel."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


def check_tunnel(reader: ResponseReader) -> None:
    """Check the response of a proxy to CONNECT. Raises ``TunnelRejectedError``."""
    if not 200 <= reader.status < 300:
        raise TunnelRejectedError(reader.status)


def describe_failure(error: BaseException, reader: ResponseReader, connected: bool) -> Facts:
    """Describe why there is no response.

    Args:
        error: The exception.
        reader: The part of the response that arrived.
        connected: Whether there was a connection, so that the server may have received the request.

    """
    if isinstance(error, NotHttpError):
        return Facts(kind="network", text=NOT_HTTP, unsent=not connected)
    if not connected:
        if isinstance(error, ValueError) and not isinstance(error, OSError):
            # Python cannot encode the name of the host.
            return Facts(kind="invalidRequest", text=INVALID_URL)
        return Facts(kind="network", text=describe_error(error), unsent=True)
    return Facts(kind="network", text=BROKEN if reader.status == 0 else CUT)
