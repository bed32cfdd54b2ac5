"""Code that catches the exceptions of web3.py's HTTP providers catches failures of ours too."""

from __future__ import annotations

import asyncio
import copy
import pickle
import socket
from collections.abc import Callable
from typing import Any, get_args

import aiohttp
import pytest
import requests
from fault_server import Connection, FaultServer, ReceivedRequest
from web3 import AsyncHTTPProvider, HTTPProvider
from web3.exceptions import BadResponseFormat, MethodUnavailable, RequestTimedOut, Web3RPCError
from web3.types import RPCEndpoint

from keyrail import AsyncKeyrailProvider, FailureKind, KeyrailError, KeyrailProvider
from keyrail.failure.error import create_error

METHOD = RPCEndpoint("eth_gasPrice")


def respond(status: int, body: Any) -> Callable[[ReceivedRequest, Connection], None]:
    return lambda _, connection: connection.respond(status, body)


def hang(_: ReceivedRequest, connection: Connection) -> None:
    connection.hang()


def cut(_: ReceivedRequest, connection: Connection) -> None:
    connection.reset()


# What web3.py's synchronous and asynchronous provider raise, and how code reads it.
CASES: dict[str, tuple[Any, tuple[type[Exception], ...], tuple[type[Exception], ...]]] = {
    "refused": (None, (requests.ConnectionError, OSError), (aiohttp.ClientOSError, OSError)),
    "cut": (cut, (requests.ConnectionError, OSError), (aiohttp.ClientOSError, OSError)),
    "timeout": (hang, (requests.Timeout, OSError), (asyncio.TimeoutError,)),
    "429": (respond(429, "slow down"), (requests.HTTPError, OSError), (aiohttp.ClientResponseError,)),
    "403": (respond(403, {"message": "no"}), (requests.HTTPError,), (aiohttp.ClientResponseError,)),
    "500": (respond(500, "<p>oops"), (requests.HTTPError,), (aiohttp.ClientResponseError,)),
    "html": (respond(200, "<p>hello"), (ValueError,), (ValueError,)),
}


def get_refusing_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def catch(provider: Any) -> Exception:
    async def run() -> None:
        try:
            await provider.make_request(METHOD, [])
        finally:
            await provider.disconnect()

    try:
        if provider.is_async:
            asyncio.run(run())
        else:
            provider.make_request(METHOD, [])
    except Exception as error:
        return error
    raise AssertionError("no exception")


def get_timeout_s(name: str) -> float:
    return 0.3 if name == "timeout" else 30


def get_error(name: str, create: Callable[[str], Any]) -> Exception:
    script = CASES[name][0]
    if script is None:
        return catch(create(get_refusing_url()))
    with FaultServer(script) as server:
        return catch(create(server.url))


@pytest.mark.parametrize("name", CASES)
def test_the_synchronous_provider_raises_what_http_provider_raises(name: str) -> None:
    theirs = get_error(
        name,
        lambda url: HTTPProvider(
            url, request_kwargs={"timeout": get_timeout_s(name)}, exception_retry_configuration=None
        ),
    )
    ours = get_error(name, lambda url: KeyrailProvider(url, timeout_ms=get_timeout_s(name) * 1_000, retry=False))
    assert isinstance(ours, KeyrailError)
    for expected in CASES[name][1]:
        assert isinstance(theirs, expected)
        assert isinstance(ours, expected)
    if isinstance(theirs, requests.HTTPError):
        assert isinstance(ours, requests.HTTPError)
        assert ours.response is not None
        assert theirs.response is not None
        assert ours.response.status_code == theirs.response.status_code == ours.status


@pytest.mark.parametrize("name", CASES)
def test_the_asynchronous_provider_raises_what_async_http_provider_raises(name: str) -> None:
    timeout = aiohttp.ClientTimeout(total=get_timeout_s(name))
    theirs = get_error(
        name,
        lambda url: AsyncHTTPProvider(url, request_kwargs={"timeout": timeout}, exception_retry_configuration=None),
    )
    ours = get_error(name, lambda url: AsyncKeyrailProvider(url, timeout_ms=get_timeout_s(name) * 1_000, retry=False))
    assert isinstance(ours, KeyrailError)
    for expected in CASES[name][2]:
        assert isinstance(theirs, expected)
        assert isinstance(ours, expected)
    if isinstance(theirs, aiohttp.ClientResponseError):
        assert theirs.status == ours.status


CAUGHT: dict[str, tuple[type[Exception], ...]] = {
    "network": (ConnectionError, requests.ConnectionError, aiohttp.ClientConnectionError),
    "timeout": (TimeoutError, asyncio.TimeoutError, RequestTimedOut, requests.Timeout),
    "badResponse": (ValueError, BadResponseFormat),
    "invalidRequest": (ValueError,),
    "methodUnavailable": (MethodUnavailable,),
}
ALL = {one for each in CAUGHT.values() for one in each} | {requests.HTTPError, aiohttp.ClientResponseError, OSError}


@pytest.mark.parametrize("status", [None, 200, 429, 503])
@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_each_kind_inherits_what_the_table_says_and_nothing_else(kind: FailureKind, status: int | None) -> None:
    error = create_error("boom", kind=kind, source="node", retryable=False, status=status)
    assert isinstance(error, Web3RPCError)
    expected = set(CAUGHT.get(kind, ()))
    if status is not None and status >= 400:
        expected |= {requests.HTTPError, aiohttp.ClientResponseError}
    allowed = {one for one in ALL for given in expected if issubclass(given, one)}
    assert {one for one in ALL if isinstance(error, one)} == allowed
    assert str(error) == "boom"
    assert repr(error) == "KeyrailError('boom')"
    assert type(error).__name__ == "KeyrailError"
    for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(copied) is type(error)
        assert (str(copied), copied.fields) == ("boom", error.fields)
