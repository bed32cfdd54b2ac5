"""Responses are read in the same way whether they arrive at once or in pieces."""

from __future__ import annotations

import gc
import gzip
import http.client
import io
import random
import weakref
import zlib
from dataclasses import dataclass
from typing import Any

import pytest

from keyrail.failure.facts import Facts
from keyrail.transport.http_request import UNDECODABLE
from keyrail.transport.response_reader import CutError, NotHttpError, ResponseReader, to_response
from keyrail.transport.steps import now_ms

MAX_BYTES = 1_000
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


@dataclass
class Read:
    """What is known after a response was fed."""

    outcome: str
    """``complete``, ``open``, ``cut`` or ``not HTTP``."""
    status: int = 200
    body: bytes = b""
    reusable: bool = True


def feed(pieces: list[bytes], ends: bool = False, max_bytes: int = MAX_BYTES) -> tuple[Read, ResponseReader]:
    reader = ResponseReader(max_bytes)
    outcome = "open"
    try:
        for piece in pieces:
            reader.feed(piece)
        if ends:
            reader.end()
    except NotHttpError:
        outcome = "not HTTP"
    except CutError:
        outcome = "cut"
    if reader.is_complete:
        outcome = "complete"
    return Read(outcome, reader.status, bytes(reader.body), reader.is_reusable), reader


def in_pieces(data: bytes) -> list[list[bytes]]:
    """Return the data at once, one byte at a time, and cut in two at each of at most 200 bytes."""
    cut = [[data[:at], data[at:]] for at in range(1, len(data), len(data) // 200 + 1)]
    return [[data], [data[at : at + 1] for at in range(len(data))], *cut]


# Complete responses

COMPLETE: dict[str, tuple[bytes, Read]] = {
    "with a length": (OK + b"content-length: 5\r\n\r\nhello", Read("complete", 200, b"hello")),
    "without a body": (OK + b"content-length: 0\r\n\r\n", Read("complete")),
    "without a reason": (b"HTTP/1.1 503\r\nContent-Length:2\r\n\r\nno", Read("complete", 503, b"no")),
    "204": (b"HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n", Read("complete", 204)),
    "304": (b"HTTP/1.1 304 Not Modified\r\n\r\n", Read("complete", 304)),
    "another protocol": (b"HTTP/1.1 101 Switching\r\n\r\n", Read("complete", 101, reusable=False)),
    "another protocol, named": (
        b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        Read("complete", 101, reusable=False),
    ),
    "an offer of another protocol": (
        OK + b"connection: upgrade\r\nupgrade: h2c\r\ncontent-length: 2\r\n\r\nhi",
        Read("complete", 200, b"hi"),
    ),
    "close": (OK + b"connection: x, Close\r\ncontent-length: 2\r\n\r\nhi", Read("complete", 200, b"hi", False)),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi", Read("complete", 200, b"hi", False)),
    "HTTP/1.0 that stays open": (
        b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nhi",
        Read("complete", 200, b"hi"),
    ),
    "after an empty line": (b"\r\n" + OK + b"content-length: 2\r\n\r\nhi", Read("complete", 200, b"hi")),
    "after interim responses": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: </a>\r\ncontent-length: 9\r\n\r\n"
        + OK
        + b"content-length: 2\r\n\r\nhi",
        Read("complete", 200, b"hi"),
    ),
    "after an interim response in chunks": (
        b"HTTP/1.1 102 Processing\r\ntransfer-encoding: chunked\r\n\r\n" + OK + b"content-length: 2\r\n\r\nhi",
        Read("complete", 200, b"hi"),
    ),
    "in chunks": (CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", Read("complete", 200, b"hello")),
    "in chunks with extensions and trailers": (
        CHUNKED + b"A;name=value\r\n0123456789\r\n00\r\nx-sum: 1\r\ny: 2\r\n\r\n",
        Read("complete", 200, b"0123456789"),
    ),
    "in no chunks": (CHUNKED + b"0\r\n\r\n", Read("complete")),
    "in chunks, said twice": (
        OK + b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0002\r\nhi\r\n0\r\n\r\n",
        Read("complete", 200, b"hi", False),
    ),
    "after many interim responses": (
        b"HTTP/1.1 103\r\n\r\n" * 100 + OK + b"content-length: 0\r\n\r\n",
        Read("complete"),
    ),
    "larger than allowed": (OK + b"content-length: 1001\r\n\r\n", Read("complete", reusable=False)),
}


@pytest.mark.parametrize("name", COMPLETE)
def test_a_response_is_read_until_it_is_complete(name: str) -> None:
    data, expected = COMPLETE[name]
    for pieces in in_pieces(data):
        assert feed(pieces)[0] == expected
    # What comes afterwards belongs to no request.
    for pieces in ([data + b"H"], [data, b"H"]):
        read, _ = feed(pieces)
        assert (read.outcome, read.body, read.reusable) == ("complete", expected.body, False)


def test_a_response_without_a_length_ends_with_the_connection() -> None:
    for pieces in in_pieces(OK + b"server: x\r\n\r\nhello"):
        assert feed(pieces)[0] == Read("open", 200, b"hello", False)
        assert feed(pieces, ends=True)[0] == Read("complete", 200, b"hello", False)


def test_the_first_value_of_a_header_is_used() -> None:
    head = b"Retry-After: 1\r\nRETRY-AFTER: 2\r\nx-empty:\r\nx-last:\t d \r\ncontent-length: 0\r\n\r\n"
    _, reader = feed([OK + head])
    assert reader.headers == {
        "retry-after": "1",
        "x-empty": "",
        "x-last": "d",
        "content-length": "0",
    }


def test_the_response_to_connect_has_no_body() -> None:
    reader = ResponseReader(0, has_body=False)
    reader.feed(b"HTTP/1.1 200 Connection established\r\ncontent-length: 5\r\n\r\n")
    assert (reader.status, reader.is_complete, reader.is_reusable) == (200, True, True)


def test_spaces_in_a_header_take_linear_time() -> None:
    # A regular expression that removes the spaces would try each of them as the start of the end: 11 s.
    value = b"x" + b" " * 60_000 + b"x"
    _, reader = feed([OK + b"x-a: " + value + b" \r\ncontent-length: 0\r\n\r\n"])
    assert reader.headers["x-a"] == value.decode()


# Other data


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9\r\n",
        b"\x15\x03\x01\x00\x02\x02\x28",
        b"HTTP/1.1 200 OK\ncontent-length: 2\n\nhi",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.2 200 OK\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 000 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 103\r\n\r\n" * 101,
        b"HTTP/1.1  200 OK\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b"space : x\r\n\r\n",
        OK + b" folded: x\r\n\r\n",
        OK + b"x: a\r\n folded\r\n\r\n",
        OK + b": x\r\n\r\n",
        OK + b"content-length: " + b"1" * 5_000 + b"\r\n\r\n",
        OK + b"content-length: -1\r\n\r\n",
        OK + b"content-length: +5\r\n\r\n",
        OK + b"content-length: 5_0\r\n\r\n",
        OK + "content-length: \u00b2\r\n\r\n".encode("latin-1"),
        OK + b"content-length:\r\n\r\n",
        OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\n",
        OK + b"content-length: 5\r\ncontent-length: 5\r\n\r\n",
        OK + b"content-length: 5, 6\r\n\r\n",
        OK + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n",
        OK + b"transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n\r\n",
        OK + b"transfer-encoding: gzip, chunked\r\n\r\n",
        OK + b"transfer-encoding: identity\r\n\r\n",
        CHUNKED + b"x\r\n",
        CHUNKED + b"\r\n",
        CHUNKED + b"-1\r\n",
        CHUNKED + b"0x1\r\n",
        CHUNKED + b"1\r\nab\r\n",
        CHUNKED + b"2 \r\nhi\r\n",
        CHUNKED + b"1" * 17 + b"\r\n",
    ],
)
def test_other_data_is_not_http(data: bytes) -> None:
    for pieces in in_pieces(data):
        assert feed(pieces)[0].outcome == "not HTTP"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTT",
        OK,
        OK + b"content-length: 5\r\n\r\n",
        OK + b"content-length: 5\r\n\r\nhell",
        CHUNKED,
        CHUNKED + b"5\r\nhell",
        CHUNKED + b"5\r\nhello\r\n",
        CHUNKED + b"5\r\nhello\r\n0\r\n",
        b"HTTP/1.1 103 Hints\r\n\r\n",
    ],
)
def test_a_response_that_ends_too_early_is_cut(data: bytes) -> None:
    assert feed([data])[0].outcome == "open"
    assert feed([data], ends=True)[0].outcome == "cut"


@pytest.mark.parametrize(
    ("start", "endless"),
    [
        (OK, b"x-a: b\r\n"),
        (OK + b"x-a: ", b"b" * 100),
        (CHUNKED + b"1;", b"a" * 100),
        (CHUNKED + b"0\r\n", b"x-a: b\r\n"),
    ],
)
def test_lines_without_an_end_are_not_collected(start: bytes, endless: bytes) -> None:
    reader = ResponseReader(MAX_BYTES)
    reader.feed(start)

    def feed_much() -> None:
        for _ in range(140_000 // len(endless)):
            reader.feed(endless)

    with pytest.raises(NotHttpError):
        feed_much()


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (CHUNKED, b"64\r\n" + b"x" * 100 + b"\r\n"),
        (CHUNKED, b"ffffffffff\r\n" + b"x" * 100),
        (OK + b"\r\n", b"x" * 100),
    ],
)
def test_a_body_is_read_up_to_its_limit(start: bytes, part: bytes) -> None:
    reader = ResponseReader(MAX_BYTES)
    reader.feed(start)
    for _ in range(10):
        reader.feed(part)
        assert not reader.is_complete
        part = part if part.startswith(b"64") else b"x" * 100
    reader.feed(part)
    assert (reader.is_complete, reader.is_too_large, reader.is_reusable) == (True, True, False)
    assert isinstance(to_response(reader, MAX_BYTES, now_ms() + 60_000), Facts)


def test_many_tiny_chunks_in_one_piece_take_linear_time() -> None:
    # With a copy of the rest for each chunk, this would copy 17 GB.
    count = 100_000
    reader = ResponseReader(count)
    reader.feed(CHUNKED + b"1\r\nx\r\n" * count + b"0\r\n\r\n")
    assert reader.is_complete
    assert len(reader.body) == count


def test_a_line_break_after_a_response_belongs_to_no_response() -> None:
    # llhttp skips it before the next response, as RFC 9112 section 2.2 says for requests.
    read, _ = feed([OK + b"content-length: 2\r\n\r\nhi\r\n"])
    assert read == Read("complete", 200, b"hi")
    read, _ = feed([OK + b"content-length: 2\r\n\r\nhi", b"\r\n"])
    assert read == Read("complete", 200, b"hi", False)


@pytest.mark.parametrize("data", [OK + b"content-length: 2\r\n\r\nhi", b"SSH-2.0\r\n", OK + b"\r\nhello"])
def test_a_reader_is_freed_with_its_last_reference(data: bytes) -> None:
    gc.disable()
    try:
        _, reader = feed([data], ends=True)
        freed = weakref.ref(reader)
        del reader
        assert freed() is None
    finally:
        gc.enable()


def test_an_interrupt_while_a_header_is_read_is_raised() -> None:
    class Interrupted(ResponseReader):
        def on_header(self, name: bytes, value: bytes) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Interrupted(MAX_BYTES).feed(OK + b"x: y\r\n\r\n")


# Compression


def test_compressed_bodies() -> None:
    data = gzip.compress(b"a" * 500) + gzip.compress(b"b" * 500)

    def read(body: bytes, encoding: bytes = b"gzip") -> Any:
        head = b"content-encoding: %b\r\ncontent-length: %d\r\n\r\n" % (encoding, len(body))
        _, reader = feed([OK + head + body])
        return to_response(reader, MAX_BYTES, now_ms() + 60_000)

    assert read(data).text == "a" * 500 + "b" * 500
    assert read(data, b"GZIP").text == read(data, b"x-gzip").text == "a" * 500 + "b" * 500
    assert read(b"").text == ""
    assert read(b"plain", b"identity").text == "plain"
    assert read(zlib.compress(b"a" * 500), b"deflate").text == "a" * 500
    # A charset, and an encoding that only the stored file had.
    assert read(b"plain", b"utf-8").text == read(b"plain", b"aws-chunked").text == "plain"
    too_large = read(data + gzip.compress(b"c"))
    assert isinstance(too_large, Facts)
    assert "larger than max_response_bytes (1,000)" in too_large.text
    for damaged in (b"plain", data[:-1], data + b"x"):
        assert read(damaged).text == UNDECODABLE


# Random data


class _Sock:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def read_with_http_client(data: bytes) -> tuple[int, bytes] | None:
    response = http.client.HTTPResponse(_Sock(data), method="POST")  # type: ignore[arg-type]
    try:
        response.begin()
        return response.status, response.read()
    except (http.client.HTTPException, ValueError):
        return None


def test_changed_responses_are_read_in_the_same_way_in_any_pieces_and_as_by_http_client() -> None:
    rng = random.Random(1)
    bases = [data for name, (data, _) in COMPLETE.items() if "interim" not in name]
    alphabet = b"\r\n :;,0123af\t\x00\xff"
    outcomes: dict[str, int] = {}
    for _ in range(2_000):
        data = bytearray(rng.choice(bases))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(data))
            kind = rng.randrange(3)
            if kind == 0:
                data[at] = rng.choice(alphabet)
            elif kind == 1:
                data.insert(at, rng.choice(alphabet))
            else:
                del data[at]
        whole, _ = feed([bytes(data)], ends=True)
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 6)))
        pieces = [
            bytes(data[start:end]) for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True) if end > start
        ]
        parts, _ = feed(pieces, ends=True)
        assert parts.outcome == whole.outcome, bytes(data)
        if whole.outcome == "complete":
            assert parts == whole, bytes(data)
            theirs = read_with_http_client(bytes(data))
            # http.client accepts more, but not another body.
            assert theirs is None or len(whole.body) == 0 or theirs == (whole.status, whole.body), bytes(data)
        outcomes[whole.outcome] = outcomes.get(whole.outcome, 0) + 1
    assert set(outcomes) == {"complete", "cut", "not HTTP"}
    # llhttp rejects most of what is wrong before it misses anything.
    assert min(outcomes.values()) > 10
