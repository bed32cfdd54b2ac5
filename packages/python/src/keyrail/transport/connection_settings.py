"""The options for connections: proxies and TLS. Both providers use them in the same way."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from ..failure.check import check, describe, invalid

# Scheme, credentials, host with port. Stricter than URLs may be, so that no part of it is misread.
_PROXY = re.compile(
    r"(https?)://(?:[^/?#@:\\\s]*(?::[^/?#@\\\s]*)?@)?(?:\[[\da-f:.]+\]|[^\s\x00-\x1f\x7f/?#@\\:;%&=\[\]{}]+)(?::\d{1,5})?/?",
    re.IGNORECASE | re.ASCII,
)
# As in requests, which web3.py's HTTPProvider uses. Python itself reads SSL_CERT_FILE and SSL_CERT_DIR.
_BUNDLE_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(slots=True, frozen=True)
class ConnectionSettings:
    """How connections are made."""

    proxy: str | None = field(repr=False)
    """The URL of the proxy with its credentials; None for direct connections."""
    get_ssl_context: Callable[[], ssl.SSLContext]
    """Returns the TLS settings. Created on first use, because that reads all certificates."""


def create_connection_settings(url: str, *, proxy: Any = None, ssl_context: Any = None) -> ConnectionSettings:
    """Check the options, and read the settings in the environment.

    Args:
        url: The redacted URL of the endpoint.
        proxy: The URL of a proxy, False for none, or None for the one in the environment.
        ssl_context: The TLS settings, or None for the default.

    Raises:
        KeyrailError: With kind ``invalidRequest``. The message names the option and how to fix it.

    """
    check(
        ssl_context is None or isinstance(ssl_context, ssl.SSLContext),
        f"ssl_context must be an ssl.SSLContext, such as ssl.create_default_context(cafile=…), not {describe(ssl_context)}.",
    )
    name = "proxy"
    if proxy is None:
        name = "The proxy in the environment (HTTPS_PROXY, HTTP_PROXY or ALL_PROXY)"
        proxy = _find_proxy(url)
    if proxy is False:
        proxy = None
    if proxy is not None:
        _check_proxy(name, proxy)
        proxy = _add_password(proxy)
    bundle = next(((one, os.environ[one]) for one in _BUNDLE_VARIABLES if os.environ.get(one)), None)
    if bundle is not None and ssl_context is None:
        check(
            os.path.exists(bundle[1]), f"{bundle[0]} names a file that does not exist. Correct it, or pass ssl_context."
        )

    @cache
    def get_ssl_context() -> ssl.SSLContext:
        return ssl_context or _create_ssl_context(bundle[1] if bundle else None)

    return ConnectionSettings(proxy, get_ssl_context)


def _check_proxy(name: str, given: Any) -> None:
    """Check the URL of a proxy without showing it, because it may contain a password."""
    url: Url | None = None
    if isinstance(given, str) and _PROXY.fullmatch(given):
        with suppress(LocationParseError):
            url = parse_url(given)
    if url is None:
        raise invalid(f"{name} must be a URL such as http://host:3128 or http://user:password@host:3128.")
    check(
        all(ord(char) < 256 for char in unquote(url.auth or "")),
        f"{name} has credentials with characters outside Latin-1, which HTTP cannot send. "
        "Use another user name or password.",
    )


def _add_password(proxy: str) -> str:
    """Add an empty password to a user without one. RFC 7617 section 2 requires the colon, and so does websockets."""
    return re.sub("//([^/@:]+)@", r"//\1:@", proxy.replace("//@", "//"), count=1)


def _find_proxy(url: str) -> str | None:
    """Return the proxy for a URL in the environment, or in the system settings of macOS and Windows."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None  # The HTTP library rejects the URL.
    host = (parts.hostname or "").rstrip(".")
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or not host or _bypasses_proxy(host, parts.port):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _bypasses_proxy(host: str, port: int | None) -> bool:
    if proxy_bypass(host) or (port is not None and proxy_bypass(f"{host}:{port}")):
        return True
    # Python compares only names. Ranges such as 10.0.0.0/8 are respected as well, as by requests, also those of IPv6.
    with suppress(ValueError):
        address = ip_address(host)
        for name in (os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or "").split(","):
            with suppress(ValueError):
                if address in ip_network(name.strip().replace("[", "").replace("]", ""), strict=False):
                    return True
    return False


def _create_ssl_context(bundle: str | None) -> ssl.SSLContext:
    if bundle is not None:
        is_folder = os.path.isdir(bundle)
        return ssl.create_default_context(cafile=None if is_folder else bundle, capath=bundle if is_folder else None)
    context = ssl.create_default_context()
    found = ssl.get_default_verify_paths()
    if not context.cert_store_stats()["x509_ca"] and not found.cafile and not found.capath:
        # Some installations of Python have no certificates of the system.
        import certifi

        context.load_verify_locations(certifi.where())
    return context
