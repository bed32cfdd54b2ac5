"""Reads HTTP responses from the bytes of a connection. It knows no sockets, so both providers use it. RFC 9112."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

from ..failure.facts import Facts
from ..message.response import HttpResponse
from .http_request import UNDECODABLE, UNREADABLE_BODY, decode_body, describe_size_limit
from .steps import now_ms

_MAX_HEAD_BYTES = 65_536
_MAX_LINE_BYTES = 8_192
_START = b"HTTP/1."
# Some servers end lines without the carriage return. RFC 9112 section 2.2 allows to read them.
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9]\d\d)(?: .*)?")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)")
_CHUNK_SIZE = re.compile(rb"0*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")
_SWITCHING_PROTOCOLS = 101
_MAX_INTERIM = 100
# Longer numbers are not lengths, and Python cannot parse very long ones.
_MAX_DIGITS = 18
_WITHOUT_BODY = frozenset({_SWITCHING_PROTOCOLS, 204, 304})
# All values of these count. Of other headers, the first one is used.
_LISTS = frozenset({"connection", "content-length", "transfer-encoding"})
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

    Args:
        max_bytes: Of a larger body, the rest is not read.
        has_body: Whether the response can have a body. The one to CONNECT cannot.

    """

    def __init__(self, max_bytes: int, *, has_body: bool = True) -> None:
        self.status = 0
        """0 until the head was read."""
        self.headers: dict[str, str] = {}
        """With names in lower case."""
        self.body: bytes | bytearray = b""
        """As it was sent, which may be compressed."""
        self.is_complete = False
        self.is_reusable = False
        """Whether the connection can be used for another request."""
        self.is_too_large = False
        self._max_bytes = max_bytes
        self._has_body = has_body
        self._read: Callable[[bytes], None] = self._read_head
        # The start of a head or a line whose end is still missing.
        self._start = b""
        # How much of the body or of a chunk is missing.
        self._left = 0
        self._read_line = self._read_chunk_size
        self._trailer_bytes = 0
        self._interim = 0

    def feed(self, data: bytes) -> None:
        """Read the next bytes.

        Raises:
            NotHttpError: If they are not HTTP.

        """
        if self.is_complete:
            # The server sent something that was not requested.
            self.is_reusable = False
        else:
            self._read(data)

    def end(self) -> None:
        """Read the end of the connection.

        Raises:
            CutError: If it came too early.

        """
        if self.is_complete:
            return
        if self._read != self._read_rest:
            raise CutError
        self.is_complete = True

    def _read_head(self, data: bytes) -> None:
        # Only the new bytes are searched, because a server may send them one by one.
        searched = max(0, len(self._start) - 3)
        data, self._start = self._start + data, b""
        while data:
            if not data.startswith(_START[: len(data)]):
                raise NotHttpError
            end = _END_OF_HEAD.search(data, searched)
            searched = 0
            if (end.start() if end else len(data)) > _MAX_HEAD_BYTES:
                raise NotHttpError
            if end is None:
                self._start = data
                return
            version, status = self._parse_head(data[: end.start()].decode("latin-1"))
            data = data[end.end() :]
            if not 100 <= status < 200 or status == _SWITCHING_PROTOCOLS:
                self.status = status
                options = [one.strip().lower() for one in self.headers.get("connection", "").split(",")]
                self.is_reusable = "close" not in options if version == "1" else "keep-alive" in options
                self._choose_body()
                if data:
                    self.feed(data)
                return
            self.headers = {}
            self._interim += 1
            if self._interim > _MAX_INTERIM:
                raise NotHttpError

    def _parse_head(self, head: str) -> tuple[str, int]:
        first, *lines = (line.removesuffix("\r") for line in head.split("\n"))
        found = _STATUS_LINE.fullmatch(first)
        if found is None:
            raise NotHttpError
        name = ""
        for line in lines:
            if line[:1] in (" ", "\t") and name:
                # A value of several lines, which older servers send.
                self.headers[name] = f"{self.headers[name]} {line.strip()}"
                continue
            header = _HEADER.fullmatch(line)
            if header is None:
                raise NotHttpError
            name, value = header[1].lower(), header[2].strip(" \t")
            if name in self.headers and name in _LISTS:
                self.headers[name] += f", {value}"
            else:
                self.headers.setdefault(name, value)
        return found[1], int(found[2])

    def _choose_body(self) -> None:
        """Find out how long the body is. RFC 9112 section 6.3."""
        encoding = self.headers.get("transfer-encoding")
        length = self.headers.get("content-length")
        if self.status in _WITHOUT_BODY or not self._has_body:
            self.is_complete = True
            self.is_reusable = self.is_reusable and self.status != _SWITCHING_PROTOCOLS
            return
        if encoding is not None:
            # Some application servers behind a proxy send the header twice.
            if {one.strip().lower() for one in encoding.split(",")} != {"chunked"}:
                raise NotHttpError
            # Two lengths can mean that the server and a proxy disagree about where the response ends.
            self.is_reusable = self.is_reusable and length is None and "," not in encoding
            self.body = bytearray()
            self._read = self._read_chunks
        elif length is not None:
            lengths = {one.strip() for one in length.split(",")}
            text = lengths.pop()
            if lengths or not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
                raise NotHttpError
            self._left = int(text)
            self._read = self._read_fixed
            if self._left > self._max_bytes:
                self._give_up()
            self.is_complete = self.is_complete or self._left == 0
        else:
            self.is_reusable = False
            self.body = bytearray()
            self._read = self._read_rest

    def _read_fixed(self, data: bytes) -> None:
        if len(data) > self._left:
            self.is_reusable = False
            data = data[: self._left]
        self._left -= len(data)
        self.is_complete = self._left == 0
        if self.is_complete and not self.body:
            # Nearly every response comes in one piece.
            self.body = data
            return
        if not isinstance(self.body, bytearray):
            self.body = bytearray()
        self.body += data

    def _read_rest(self, data: bytes) -> None:
        self._add(data)

    def _read_chunks(self, data: bytes) -> None:
        data = self._start + data
        self._start = b""
        at = 0
        while at < len(data) and not self.is_complete:
            if self._left > 0:
                part = data[at : at + self._left]
                self._add(part)
                self._left -= len(part)
                at += len(part)
                continue
            end = data.find(b"\n", at)
            if (len(data) if end < 0 else end) - at > _MAX_LINE_BYTES:
                raise NotHttpError
            if end < 0:
                self._start = data[at:]
                return
            self._read_line(data[at:end].removesuffix(b"\r"))
            at = end + 1
        if at < len(data):
            self.is_reusable = False

    def _read_chunk_size(self, line: bytes) -> None:
        size = _CHUNK_SIZE.fullmatch(line)
        if size is None:
            raise NotHttpError
        self._left = int(size[1], 16)
        self._read_line = self._read_end_of_chunk if self._left > 0 else self._read_trailer

    def _read_end_of_chunk(self, line: bytes) -> None:
        if line:
            raise NotHttpError
        self._read_line = self._read_chunk_size

    def _read_trailer(self, line: bytes) -> None:
        self._trailer_bytes += len(line)
        if self._trailer_bytes > _MAX_HEAD_BYTES:
            raise NotHttpError
        self.is_complete = not line

    def _add(self, part: bytes) -> None:
        self.body += part
        if len(self.body) > self._max_bytes:
            self._give_up()

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
