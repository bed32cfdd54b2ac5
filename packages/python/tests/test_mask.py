"""Secrets in the messages of a server, in any encoding."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import re
import string
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider
from keyrail.failure.mask import mask, mask_text

KEY = "kr_a7Hq2mZ9xT4vB6nR1cW8yL3pD5sF0gJkQeUi1a2B"
JWT = ".".join(base64.urlsafe_b64encode(random.Random(7).randbytes(60)).decode() for _ in range(3))
BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


def in_base64(part: str, before: str = "", after: str = "") -> str:
    return base64.b64encode((before + part + after).encode()).decode()


def in_base64url(part: str, before: str = "", after: str = "") -> str:
    return base64.urlsafe_b64encode((before + part + after).encode()).decode().rstrip("=")


def escaped(part: str, form: str) -> str:
    return "".join(form.format(ord(char)) for char in part)


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda part: part,
    "upper case": str.upper,
    "lower case": str.lower,
    "percent escapes": lambda part: escaped(part, "%{:02x}"),
    "percent escapes, upper case": lambda part: escaped(part, "%{:02X}"),
    "percent escapes twice": lambda part: escaped(part, "%25{:02X}"),
    "percent escapes three times": lambda part: escaped(part, "%2525{:02x}"),
    "percent escapes of percent escapes": lambda part: quote(escaped(part, "%{:02x}"), safe=""),
    "some percent escapes": lambda part: part[:3] + escaped(part[3:6], "%25{:02X}") + part[6:],
    "JSON escapes": lambda part: escaped(part, "\\u{:04x}"),
    "JSON escapes twice": lambda part: escaped(part, "\\\\u{:04x}"),
    "x escapes": lambda part: escaped(part, "\\x{:02x}"),
    "HTML entities": lambda part: escaped(part, "&#{};"),
    "HTML entities in hex": lambda part: escaped(part, "&#x{:x};"),
    "spaces": " ".join,
    "two spaces and a tab": " \t ".join,
    "line ends": "\n".join,
    "escaped line ends": "\\n".join,
    "percent-encoded spaces": "%20".join,
    "dashes": "-".join,
    "commas": ", ".join,
    "zero-width spaces": "\u200b".join,
    "groups of four": lambda part: " ".join(part[at : at + 4] for at in range(0, len(part), 4)),
    "hex": lambda part: part.encode().hex(),
    "hex, upper case": lambda part: part.encode().hex().upper(),
    "hex after 0x": lambda part: "0x" + part.encode().hex(),
    "hex with spaces": lambda part: part.encode().hex(" "),
    "hex with colons": lambda part: part.encode().hex(":"),
    "base64": in_base64,
    "base64 after one byte": lambda part: in_base64(part, "x", "y"),
    "base64 after two bytes": lambda part: in_base64(part, "xy", "zz"),
    "base64 of a header": lambda part: in_base64(part, "Authorization: Bearer ", "\r\n"),
    "base64 of credentials": lambda part: in_base64(part, "user:"),
    "base64 in lines": lambda part: "\n".join(re.findall(".{1,5}", in_base64(part, "x", "yz"))),
    "base64 with percent escapes": lambda part: quote(in_base64(part, "?>"), safe=""),
    "base64url": in_base64url,
    "base64url after one byte": lambda part: in_base64url(part, "?", ">"),
    "base64url after two bytes": lambda part: in_base64url(part, "?>", "~~~"),
}


def decode(text: str) -> list[str]:
    """Decode a text in every way that an attacker would try. Independent of mask: it shares no code with it."""
    found = [text]
    for _ in range(4):
        text = re.sub(r"%([\da-fA-F]{2})", lambda one: chr(int(one[1], 16)), text)
        text = re.sub(r"&#x([\da-fA-F]+);", lambda one: chr(int(one[1], 16)), text)
        text = re.sub(r"&#(\d+);", lambda one: chr(int(one[1])), text)
        text = re.sub(r"\\+(?:u00|x)([\da-fA-F]{2})", lambda one: chr(int(one[1], 16)), text)
        text = re.sub(r"\\+[nrt]", " ", text)
        found.append(text)
    for one in list(found):
        found.append(re.sub(r"[\W_]", "", one, flags=re.ASCII))
        for run in re.findall(r"(?:[\da-fA-F]\W{0,2}){16,}", one):
            digits = re.sub(r"[^\da-fA-F]", "", run)
            found += [bytes.fromhex(digits[at : (len(digits) - at) // 2 * 2 + at]).decode("latin-1") for at in (0, 1)]
        for run in re.findall(r"[\w+/\-\s]{10,}", one, re.ASCII):
            digits = re.sub(r"\s", "", run).replace("-", "+").replace("_", "/")
            for at in range(4):
                whole = digits[at : at + (len(digits) - at) // 4 * 4]
                found.append(base64.b64decode(whole).decode("latin-1"))
    return found


def contains(text: str, secret: str, run: int = 8) -> bool:
    read = "\0".join(decode(text)).lower()
    plain = secret.lower()
    bare = re.sub(r"[\W_]", "", plain, flags=re.ASCII)
    return any(
        one[at : at + run] in read for one in (plain, bare) for at in range(len(one) - run + 1) if len(one) >= run
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_secret_is_masked_in_every_encoding(encoding: str) -> None:
    for secret in (KEY, JWT):
        text = f"no app for {ENCODINGS[encoding](secret)} at this node"
        assert contains(text, secret)
        masked = mask_text(text, [secret])
        assert not contains(masked, secret)
        assert masked.startswith("no app for ")
        assert masked.endswith(" at this node")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_part_of_a_secret_is_masked_in_every_encoding(encoding: str) -> None:
    # Nine, because eight characters with a '_' have only seven letters and digits, and base64 digits span bytes.
    for at in range(len(KEY) - 8):
        for length in (9, 13, 16, len(KEY) - 1 - at):
            part = KEY[at : at + max(9, length)]
            text = f"key ({ENCODINGS[encoding](part)}) unknown"
            masked = mask_text(text, [KEY])
            assert not contains(masked, KEY), (part, masked)


def test_eight_characters_are_masked() -> None:
    for at in range(len(KEY) - 7):
        part = KEY[at : at + 8]
        for text in (part, part.encode().hex(), quote(quote(escaped(part, "%{:02x}"))), part.swapcase()):
            assert mask_text(f"<{text}>", [KEY]) == "<…>"
        for before in ("", "x", "xy"):
            assert "…" in mask_text(in_base64(part, before, "zzz"), [KEY])


def test_random_secrets_are_masked() -> None:
    rng = random.Random(15)
    for _ in range(300):
        letters = rng.choice([string.ascii_letters + string.digits, string.hexdigits, string.ascii_letters + "-_.~%!$"])
        secret = "".join(rng.choices(letters, k=rng.randrange(8, 60)))
        start = rng.randrange(len(secret) - 7)
        part = secret[start : start + rng.randrange(8, 60)]
        text = f"a {rng.choice(list(ENCODINGS.values()))(part)} b"
        masked = mask_text(text, ["another-secret-here", secret])
        assert not contains(masked, secret, 9), (secret, part, text, masked)


@pytest.mark.parametrize("secret", ["s3", "abc", "pass", "s3cret", "s3cretX"])
def test_a_short_secret_is_masked(secret: str) -> None:
    assert mask_text(f"no {secret} here", [secret]) == "no … here"
    assert mask_text(f"no {escaped(secret, '%25{:02x}')} here", [secret]) == "no … here"
    if len(secret) >= 4:
        assert secret.encode().hex() not in mask_text(f"no {secret.encode().hex()} here", [secret])
        assert in_base64(secret).rstrip("=") not in mask_text(f"no {in_base64(secret)} here", [secret])


HARMLESS: list[Any] = [
    "execution reverted: ERC20: transfer amount exceeds balance",
    "100 % of 20 %20 requests %zz \\ \\n \\u0041 &#65; &amp; \"quoted\" 'x' İıß…",
    "0x" + "ab" * 400,
    base64.b64encode(bytes(range(256))).decode(),
    "https://node.example/v2/?a=b&c=%2Fd",
    "eyJhbGciOiJIUzI1NiJ9",
    {"code": -32000, "data": {"a": [1, 2.5, None, True, "kr_a"], "reason": "key_unknown"}},
    [str(at) for at in range(1_000)],
    1234567890123456789,
    "kr_ a7H and q2mZ",
    "",
]


@pytest.mark.parametrize("value", HARMLESS, ids=range(len(HARMLESS)))
def test_other_text_is_unchanged(value: Any) -> None:
    assert mask(value, [KEY, JWT, "s3cretX"], "otherwise") == value


def test_only_the_secret_is_replaced() -> None:
    value = {"message": f"key  {KEY}  unknown\n", "data": [{KEY: 1}, "%20" + KEY + "%20", 7]}
    assert mask(value, [KEY], None) == {"message": "key  …  unknown\n", "data": [{"…": 1}, "%20…%20", 7]}


@pytest.mark.parametrize("part", ["%2525", "\\\\u00", KEY + " ", "kr_a7Hq", "k r _ "], ids=range(5))
def test_masking_takes_linear_time(part: str) -> None:
    def processor_seconds(size: int) -> float:
        text = (part * size)[:size]
        started = time.process_time()
        mask_text(text, [KEY])
        return time.process_time() - started

    # In quadratic time, a text 16 times as long would take 256 times as long, in each of the rounds.
    rounds = ((processor_seconds(2_000), processor_seconds(32_000)) for _ in range(20))
    assert any(longer < 100 * max(shorter, 0.001) for shorter, longer in rounds)


@pytest.mark.parametrize("encoding", ENCODINGS)
@BOTH
def test_an_error_does_not_show_a_key_that_the_server_repeats(encoding: str, kind: str) -> None:
    encoded = ENCODINGS[encoding](KEY)

    def script(request: ReceivedRequest, connection: Connection) -> None:
        error = {"code": -32000, "message": f"no app for {encoded}", "data": {"path": [encoded], encoded: 1}}
        connection.respond(200, {"jsonrpc": "2.0", "id": request.json["id"], "error": error})

    async def call(url: str) -> None:
        async with AsyncKeyrailProvider(base_url=url, api_key=KEY, retry=False) as provider:
            await provider.make_request("eth_call", [])  # type: ignore[arg-type]

    with FaultServer(script) as server, KeyrailProvider(base_url=server.url, api_key=KEY, retry=False) as provider:
        with pytest.raises(KeyrailError) as caught:
            asyncio.run(call(server.url)) if kind == "async" else provider.make_request("eth_call", [])  # type: ignore[arg-type]
        assert "no app for " in str(caught.value)
        assert "…" in str(caught.value)
        assert not contains(str(caught.value), KEY)
        assert not contains(json.dumps(caught.value.rpc_error, ensure_ascii=False), KEY)
