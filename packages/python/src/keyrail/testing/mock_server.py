"""The server of the mock node, for HTTP and WebSockets."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .mock_response import Reply
from .mock_socket import MockSocket
from .mock_subscriptions import Subscriptions
from .request_handler import RequestHandler

_ABNORMAL_CLOSURE = 1006


class MockServer:
    """Serves the calls of a mock node, each connection in a thread of its own.

    Args:
        requests: Responds to requests.
        create_subscriptions: Creates the subscriptions of a WebSocket.

    """

    def __init__(self, requests: RequestHandler, create_subscriptions: Callable[[], Subscriptions]) -> None:
        self._requests = requests
        self._create_subscriptions = create_subscriptions
        self._sockets: set[MockSocket] = set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            # The status, the headers and the body are written at once.
            wbufsize = -1

            def do_POST(self) -> None:
                reply = requests.respond(self.rfile.read(int(self.headers.get("content-length", "0"))))
                if reply is None:
                    _reset(self)
                else:
                    _send(self, reply)

            def do_GET(self) -> None:
                self.close_connection = True
                server._serve_socket(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                # The client closed the connection.
                pass

        self._http = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="keyrail-mock-node", daemon=True
        )
        self._thread.start()

    @property
    def connections(self) -> int:
        """The number of open WebSockets."""
        return len(self._sockets)

    def notify(self) -> None:
        """Send the notifications of what happened on the chain. The caller holds the lock."""
        for connection in self._sockets:
            _send_notifications(connection)

    def disconnect(self, code: int = _ABNORMAL_CLOSURE, reason: str = "") -> None:
        """End all WebSockets.

        Args:
            code: The close code. With 1006, no close frame is sent.
            reason: The reason, which clients may show.

        """
        with self._requests.lock:
            for connection in list(self._sockets):
                self._sockets.discard(connection)
                if code == _ABNORMAL_CLOSURE:
                    connection.abort()
                else:
                    connection.close(code, reason)

    def close(self) -> None:
        """Stop the server. Requests that hang end with a network error."""
        self._requests.clear_faults()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self.disconnect()

    def _serve_socket(self, http: BaseHTTPRequestHandler) -> None:
        lock = self._requests.lock
        with lock:
            connection = MockSocket(http, self._create_subscriptions())
            self._sockets.add(connection)
        try:
            for message in connection.read_messages():
                reply = self._requests.respond(message, connection.subscriptions)
                if reply is None:
                    connection.abort()
                    return
                with lock:
                    connection.send(reply.text)
                    connection.subscriptions.activate()
                    _send_notifications(connection)
        finally:
            with lock:
                self._sockets.discard(connection)
            connection.finish()


def _send_notifications(connection: MockSocket) -> None:
    for text in connection.subscriptions.take_notifications():
        connection.send(text)


def _send(http: BaseHTTPRequestHandler, reply: Reply) -> None:
    first = reply.text[:1]
    kind = "application/json" if first in ("{", "[") else "text/html" if first == "<" else "text/plain"
    body = reply.text.encode()
    http.send_response(reply.status)
    for name, value in {"content-type": kind, "content-length": str(len(body)), **reply.headers}.items():
        http.send_header(name, value)
    http.end_headers()
    http.wfile.write(body)


def _reset(http: BaseHTTPRequestHandler) -> None:
    """Break the connection in the middle of a response: clients repeat a request if its connection was closed before that."""
    http.send_response(200)
    http.send_header("content-length", "1000")
    http.end_headers()
    http.wfile.flush()
    http.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    http.close_connection = True
