"""Where the requests of an endpoint are sent, and how they start. Both providers write their requests in this way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote

from urllib3.util import Url, make_headers, parse_url

from ..endpoint.create_endpoint import ResolvedEndpoint
from .connection_settings import ConnectionSettings
from .http_request import GZIP, USER_AGENT, split_url

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(slots=True, frozen=True)
class Address:
    """A server."""

    host: str
    """A name, or an IP address without brackets."""
    port: int
    is_tls: bool

    @property
    def tls_name(self) -> str:
        """The name that the certificate must have."""
        return self.host.rstrip(".")


@dataclass(slots=True, frozen=True)
class Route:
    """How a connection to a server is opened."""

    origin: Address
    connects_to: Address
    """The proxy, or the origin if there is none."""
    tunnel: bytes | None = field(repr=False)
    """The request for a tunnel to the origin. None if the proxy gets the requests itself, or if there is no proxy."""

    @property
    def uses_tls(self) -> bool:
        """Whether the TLS settings are needed."""
        return self.origin.is_tls or self.connects_to.is_tls


@dataclass(slots=True, frozen=True)
class RequestTarget:
    """Where the requests of an endpoint are sent."""

    endpoint: ResolvedEndpoint
    route: Route
    head: bytes = field(repr=False)
    """The request line and the headers, except for the number after ``content-length:``."""

    def write(self, body: bytes) -> bytes:
        """Write a request."""
        return b"%b %d\r\n\r\n%b" % (self.head, len(body), body)


def create_target_finder(
    connections: ConnectionSettings, *, always_tunnels: bool = False
) -> Callable[[ResolvedEndpoint], RequestTarget]:
    """Create a function that returns the target of an endpoint. It raises ``ValueError`` if the URL is not valid.

    Args:
        connections: The proxy and the TLS settings.
        always_tunnels: Whether a proxy opens a tunnel to a server without TLS as well, as a WebSocket needs it. RFC 6455 section 4.1.

    """
    proxy = parse_url(connections.proxy) if connections.proxy else None
    proxy_headers = make_headers(proxy_basic_auth=unquote(proxy.auth)) if proxy is not None and proxy.auth else {}
    # The target of the last request. It changes only with the key or the headers of the endpoint.
    last: RequestTarget | None = None

    def create_target(endpoint: ResolvedEndpoint) -> RequestTarget:
        name, path = split_url(endpoint.url)
        url = parse_url(name)
        origin = _to_address(url)
        headers = {"accept-encoding": GZIP, "user-agent": USER_AGENT, **endpoint.headers}
        tunnel = None
        if proxy is not None and (origin.is_tls or always_tunnels):
            authority = f"{_to_host(url)}:{origin.port}"
            tunnel = _write_head(f"CONNECT {authority}", {"host": authority, **proxy_headers}) + b"\r\n\r\n"
        elif proxy is not None:
            # The host in ASCII, which ``name`` may not be.
            path = url.url + path
            headers.update(proxy_headers)
        route = Route(origin, origin if proxy is None else _to_address(proxy), tunnel)
        host = _to_host(url)
        if url.port not in (None, _DEFAULT_PORTS[url.scheme or "http"]):
            host += f":{url.port}"
        head = _write_head(f"POST {path}", {"host": host, **headers}) + b"\r\ncontent-length:"
        return RequestTarget(endpoint, route, head)

    def find(endpoint: ResolvedEndpoint) -> RequestTarget:
        nonlocal last
        target = last
        if target is None or target.endpoint is not endpoint:
            target = last = create_target(endpoint)
        return target

    return find


def _to_address(url: Url) -> Address:
    scheme = url.scheme or "http"
    return Address((url.host or "").strip("[]"), url.port or _DEFAULT_PORTS[scheme], scheme == "https")


def _to_host(url: Url) -> str:
    return (url.host or "").rstrip(".")


def _write_head(start: str, headers: dict[str, str]) -> bytes:
    # None of them contains a line break: headers were checked, and the path is quoted.
    lines = [f"{start} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("latin-1")
