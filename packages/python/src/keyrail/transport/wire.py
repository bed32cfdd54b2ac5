"""The bytes of a connection: plain, or in TLS, which may be inside of the TLS of a proxy. It knows no sockets, so both providers use it.

TLS is applied to bytes in memory, so that it works inside of TLS, in every event loop, and without a connection.
"""

from __future__ import annotations

import ssl
from collections.abc import Generator

from .http_failure import check_tunnel
from .request_target import Route
from .response_reader import CutError, ResponseReader

_PIECE = 65_536


class _Tls:
    def __init__(self, context: ssl.SSLContext, name: str) -> None:
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_hostname=name)
        self.is_ended = False

    def shake_hands(self, data: bytes) -> bool:
        """Continue the handshake with received bytes, and return whether it is complete."""
        self._received.write(data)
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def encrypt(self, data: bytes) -> bytes:
        """Encrypt data. The result starts with what TLS itself has to send."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        return self._to_send.read()

    def decrypt(self, data: bytes) -> bytes:
        self._received.write(data)
        parts: list[bytes] = []
        while True:
            try:
                part = self._tls.read(_PIECE)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLZeroReturnError:
                part = b""
            if not part:
                self.is_ended = True
                break
            parts.append(part)
        return b"".join(parts)


class Wire:
    """Encrypts what a connection sends, and decrypts what it receives."""

    def __init__(self) -> None:
        self.is_plain = True
        """Whether there is no TLS."""
        # The one of the proxy first.
        self._layers: list[_Tls] = []

    @property
    def is_ended(self) -> bool:
        """Whether the server ended TLS."""
        return not self.is_plain and any(layer.is_ended for layer in self._layers)

    def encrypt(self, data: bytes = b"") -> bytes:
        """Return what has to be sent. Without data, this is what TLS itself has to send, often nothing."""
        for layer in reversed(self._layers):
            data = layer.encrypt(data)
        return data

    def decrypt(self, data: bytes) -> bytes:
        """Return the data in what was received.

        Raises:
            ssl.SSLError: If it is not TLS.

        """
        for layer in self._layers:
            data = layer.decrypt(data)
        return data

    def set_up(self, route: Route, ssl_context: ssl.SSLContext | None) -> Generator[bytes, bytes, None]:
        """Create the steps after a socket was connected: they yield what to send, and get what was received next, or nothing
        if the connection was closed.

        Args:
            route: The server, and the proxy.
            ssl_context: The TLS settings, if TLS is used.

        Raises:
            OSError: If TLS fails, or if the proxy rejects the tunnel.
            CutError: If the connection was closed.
            NotHttpError: If the response of the proxy is not HTTP.

        """
        if ssl_context is None:
            return
        if route.connects_to.is_tls:
            yield from self._start_tls(ssl_context, route.connects_to.tls_name)
        if route.tunnel is not None:
            reader = ResponseReader(0, has_body=False)
            to_send = self.encrypt(route.tunnel)
            while not reader.is_complete:
                reader.feed((yield from self._exchange(to_send)))
                to_send = self.encrypt()
            check_tunnel(reader)
            yield from self._start_tls(ssl_context, route.origin.tls_name)

    def _start_tls(self, ssl_context: ssl.SSLContext, name: str) -> Generator[bytes, bytes, None]:
        tls = _Tls(ssl_context, name)
        data = b""
        while not tls.shake_hands(data):
            data = yield from self._exchange(self.encrypt(tls.encrypt(b"")))
        # The end of the handshake is sent with the first request.
        self._layers.append(tls)
        self.is_plain = False

    def _exchange(self, to_send: bytes) -> Generator[bytes, bytes, bytes]:
        if self.is_ended:
            raise CutError
        data = yield to_send
        if not data:
            raise CutError
        return self.decrypt(data)
