"""The exceptions that existing code catches for a failure, because web3.py's HTTP providers raise them."""

from __future__ import annotations

from functools import cache
from typing import Any

import aiohttp
import requests
from web3.exceptions import BadResponseFormat, MethodUnavailable, RequestTimedOut


class _HttpStatusError(aiohttp.ClientResponseError, requests.HTTPError):
    """What aiohttp and requests raise for a status of 400 or more, without what contains the URL: the request and its headers."""

    request_info: Any = None
    history = ()
    headers = None

    def __init__(self, message: str) -> None:
        requests.HTTPError.__init__(self, message)

    @property
    def response(self) -> requests.Response:
        """A response with the status only, because existing code reads ``error.response.status_code``."""
        response = requests.Response()
        response.status_code = self.status
        return response

    @response.setter
    def response(self, _: object) -> None:
        """Ignore the None that requests assigns."""


_BY_KIND: dict[str, tuple[type[Exception], ...]] = {
    "network": (requests.ConnectionError, aiohttp.ClientOSError, ConnectionError),
    "timeout": (RequestTimedOut, requests.Timeout, TimeoutError),
    "badResponse": (BadResponseFormat, ValueError),
    "invalidRequest": (ValueError,),
    "methodUnavailable": (MethodUnavailable,),
}


def get_error_class(base: Any, kind: str, status: int | None) -> Any:
    """Return the subclass of an error class that existing code catches.

    Args:
        base: The error class.
        kind: The kind of the failure.
        status: The HTTP status, if there was a response.

    """
    return _create_class(base, kind, status is not None and status >= 400)


@cache
def _create_class(base: Any, kind: str, has_error_status: bool) -> Any:
    caught = _BY_KIND.get(kind, ()) + ((_HttpStatusError,) if has_error_status else ())
    # Users see one class name.
    return type(base.__name__, (base, *caught), {"__module__": base.__module__}) if caught else base
