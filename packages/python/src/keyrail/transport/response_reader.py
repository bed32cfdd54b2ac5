"""Reads HTTP responses from the bytes of a connection with llhttp, the parser of Node. It knows no sockets, so both providers use it."""

from __future__ import annotations

import zlib

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from ..failure.facts import Facts
from ..message.response import HttpResponse
from .http_request import UNDECODABLE, UNREADABLE_BODY, decode_body, describe_size_limit
from .steps import now_ms

# Of a head, of the line of a chunk, and of trailers, besides what arrives with their end.
_MAX_HEAD_BYTES = 65_536
_MAX_INTERIM = 100
_SWITCHING_PROTOCOLS = 101
_WITHOUT_BODY = frozenset({_SWITCHING_PROTOCOLS, 204, 304})
# As the ``wbits`` of zlib: gzip or deflate, whichever the data is.
_GZIP_OR_DEFLATE = 47
# Only gzip is requested, but some servers use deflate all the same. RFC 9110 section 8.4.1.
_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_PIECE = 65_536


class NotHttpError(ValueError):
    """What a server sent is not an HTTP response."""


class CutError(EOFError):
    """The connection was closed in the middle of a response."""


class ResponseReader:
    """Reads one response. Interim responses before it, such as 103, are skipped.

    The methods whose names start with ``on_`` are called by the parser.

    Args:
        max_bytes: Of a larger body, the rest is not read.
        has_body: Whether the response can have a body. The one to CONNECT cannot.

    """

    def __init__(self, max_bytes: int, *, has_body: bool = True) -> None:
        self.status = 0
        """0 until the head was read."""
        self.headers: dict[str, str] = {}
        """With names in lower case. The first value of each."""
        self.body: bytes | bytearray = b""
        """As it was sent, which may be compressed."""
        self.is_complete = False
        self.is_reusable = False
        """Whether the connection can be used for another request."""
        self.is_too_large = False
        self._max_bytes = max_bytes
        self._has_body = has_body
        # None after the response. The parser refers to this reader, which would live, with its body, until the next garbage collection.
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._is_broken = False
        self._interim = 0
        # How much arrived since the last head, chunk or part of the body.
        self._pending_bytes = 0

    def feed(self, data: bytes) -> None:
        """Read the next bytes.

        Raises:
            NotHttpError: If they are not HTTP.

        """
        if self._parser is None:
            # The server sent something that was not requested.
            self.is_reusable = False
            return
        self._pending_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            pass
        except HttpParserCallbackError as error:
            # The parser catches every exception of its callbacks, for example KeyboardInterrupt.
            raise error.__context__ or error from None
        except HttpParserError:
            self.is_reusable = False
            self._is_broken = True
        if self.is_complete:
            self._parser = None
        elif self._is_broken or self._pending_bytes > _MAX_HEAD_BYTES:
            self._parser = None
            raise NotHttpError

    def end(self) -> None:
        """Read the end of the connection.

        Raises:
            CutError: If it came too early.

        """
        if self.is_complete:
            return
        if self.status == 0 or "content-length" in self.headers or "transfer-encoding" in self.headers:
            raise CutError
        self.is_complete = True
        self._parser = None

    def on_message_begin(self) -> None:
        """Read the start of a response."""
        if self.is_complete:
            self.is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a header."""
        if self.status != 0:
            return  # Those after the body are not used.
        key, text = name.lower().decode("latin-1"), value.strip(b" \t").decode("latin-1")
        if key == "transfer-encoding" and key in self.headers:
            text = f"{self.headers.pop(key)}, {text}"
        self.headers.setdefault(key, text)

    def on_headers_complete(self) -> None:
        """Read the end of the headers."""
        parser = self._parser
        if self.is_complete or self._is_broken or parser is None:
            return
        self._pending_bytes = 0
        status = parser.get_status_code()
        if 100 <= status < 200 and status != _SWITCHING_PROTOCOLS:
            self.headers = {}
            self._interim += 1
            self._is_broken = self._interim > _MAX_INTERIM
        elif status < 100 or parser.get_http_version() not in ("1.0", "1.1"):
            self._is_broken = True
        else:
            self.status = status
            self.is_reusable = status != _SWITCHING_PROTOCOLS and parser.should_keep_alive()
            self.is_complete = status in _WITHOUT_BODY or not self._has_body
            if not self.is_complete:
                self._check_body()

    def _check_body(self) -> None:
        encoding = self.headers.get("transfer-encoding", "chunked").lower()
        if encoding != "chunked":
            # Some application servers behind a proxy send the header twice. With any other encoding, llhttp reads up to the end of the
            # connection.
            self._is_broken = encoding != "chunked, chunked"
            self.is_reusable = False
        elif int(self.headers.get("content-length", 0)) > self._max_bytes:
            self._give_up()

    def on_chunk_header(self) -> None:
        """Read the line before a chunk."""
        self._pending_bytes = 0

    def on_body(self, part: bytes) -> None:
        """Read a part of the body."""
        if self.is_complete:
            self.is_reusable = False
            return
        self._pending_bytes = 0
        if not self.body:
            # Nearly every response comes in one piece.
            self.body = part
        else:
            if not isinstance(self.body, bytearray):
                self.body = bytearray(self.body)
            self.body += part
        if len(self.body) > self._max_bytes:
            self._give_up()

    def on_message_complete(self) -> None:
        """Read the end of a response."""
        # Interim responses end too.
        if self.status and not self._is_broken:
            self.is_complete = True

    def _give_up(self) -> None:
        self.is_too_large = self.is_complete = True
        self.is_reusable = False


def to_response(reader: ResponseReader, max_bytes: int, until: float) -> HttpResponse | Facts:
    """Return a complete response without its compression, or the reason why it cannot be used.

    A body with an encoding that is not known is returned as it is, because some servers send a charset, or the encoding of the file
    that they store, in this header.

    Args:
        reader: The response.
        max_bytes: The maximum size.
        until: When to stop, by ``now_ms``.

    Raises:
        TimeoutError: If it could not be decompressed in time.

    """
    body = reader.body
    is_too_large = reader.is_too_large
    if not is_too_large and body and reader.headers.get("content-encoding", "").lower() in _ENCODINGS:
        try:
            body = decompress(body, max_bytes, until)
        except zlib.error:
            return to_bodyless_response(reader, Facts(kind="badResponse", text=UNDECODABLE))
        is_too_large = len(body) > max_bytes
    if is_too_large:
        return to_bodyless_response(reader, Facts(kind="badResponse", text=describe_size_limit(max_bytes), final=True))
    return HttpResponse(reader.status, decode_body(body), reader.headers)


def to_bodyless_response(reader: ResponseReader, problem: Facts) -> HttpResponse | Facts:
    """Return a response whose body cannot be read, without it; or the problem, if the status does not say what happened.

    The text of the problem is not in the response, because its words would be read as those of the server.

    Args:
        reader: The response.
        problem: Why its body cannot be read.

    """
    return HttpResponse(reader.status, UNREADABLE_BODY, reader.headers) if reader.status >= 300 else problem


def decompress(data: bytes | bytearray, max_bytes: int, until: float) -> bytes:
    """Decompress a body, and stop when it is larger than a number of bytes.

    Raises:
        zlib.error: If it is damaged.
        TimeoutError: If the time ended.

    """
    parts: list[bytes] = []
    total = 0
    decompressor = zlib.decompressobj(_GZIP_OR_DEFLATE)
    # In pieces, because the rest of the data is copied for each member.
    for start in range(0, len(data), _PIECE):
        # Thousands of empty members take seconds.
        if now_ms() > until:
            raise TimeoutError("timed out")
        rest = bytes(data[start : start + _PIECE])
        while rest and total <= max_bytes:
            if decompressor.eof:
                # A body may consist of several members.
                decompressor = zlib.decompressobj(_GZIP_OR_DEFLATE)
            parts.append(decompressor.decompress(rest, max_bytes + 1 - total))
            total += len(parts[-1])
            rest = decompressor.unused_data
    if total <= max_bytes and not decompressor.eof:
        raise zlib.error
    return b"".join(parts)
