"""Events by signature or ABI: their topics, their values, and logs of the wrong shape."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from chain_server import ChainServer
from eth_abi.abi import encode
from web3 import AsyncWeb3, Web3

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, async_logs, logs
from keyrail.logs.event_abi import parse_event
from keyrail.logs.event_decoder import EventDecoder

BOTH = pytest.mark.parametrize("kind", ["sync", "async"])
TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"
TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
TRANSFER_ABI = {
    "type": "event",
    "name": "Transfer",
    "anonymous": False,
    "inputs": [
        {"name": "from", "type": "address", "indexed": True},
        {"name": "to", "type": "address", "indexed": True},
        {"name": "value", "type": "uint256", "indexed": False},
    ],
}
ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20


def to_topic(kind: str, value: Any) -> str:
    return "0x" + encode([kind], [value]).hex()


def create_transfer(number: int, index: int) -> dict[str, Any]:
    """Each block of logs has a transfer of ERC-20 and one of ERC-721, whose value is a topic."""
    topics = [TRANSFER_TOPIC, to_topic("address", ALICE), to_topic("address", BOB)]
    value = to_topic("uint256", 2**255 + number)
    return {"topics": topics, "data": value} if index == 0 else {"topics": [*topics, value], "data": "0x"}


@pytest.mark.parametrize(
    ("event", "signature"),
    [
        (TRANSFER, "Transfer(address,address,uint256)"),
        (f"  event {TRANSFER};", "Transfer(address,address,uint256)"),
        (TRANSFER_ABI, "Transfer(address,address,uint256)"),
        ("Sync()", "Sync()"),
        (
            "Filled((uint id, (bytes32, int)[2] parts)[] indexed orders, uint8)",
            "Filled((uint256,(bytes32,int256)[2])[],uint8)",
        ),
        ("Filled(tuple(uint id) order, string)", "Filled((uint256),string)"),
        (
            {
                "type": "event",
                "name": "Filled",
                "inputs": [{"name": "order", "type": "tuple[]", "components": [{"name": "id", "type": "uint256"}]}],
            },
            "Filled((uint256)[])",
        ),
    ],
)
def test_an_event_has_its_canonical_signature(event: Any, signature: str) -> None:
    assert parse_event(event).signature == signature


def test_the_first_topic_is_the_hash_of_the_signature() -> None:
    assert parse_event(TRANSFER).topic == TRANSFER_TOPIC
    assert parse_event("Transfer(uint a) anonymous").topic is None


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("Transfer", "cannot be parsed"),
        ("Transfer(uint a", "cannot be parsed"),
        ("Transfer(uint7 a)", "unknown type: uint7"),
        ("Transfer(adress)", "unknown type: adress"),
        ("Transfer(uint a,)", "empty parameter"),
        ("Transfer(uint a b)", "cannot be parsed"),
        ("T(uint indexed a, uint indexed b, uint indexed c, uint indexed d)", "4 indexed"),
        ({"type": "function", "name": "transfer"}, 'the type "event"'),
        ({"type": "event", "name": "Transfer", "inputs": [{"name": "a"}]}, "without a type"),
        (7, "not 7"),
    ],
)
def test_a_wrong_event_is_rejected(event: Any, message: str) -> None:
    with pytest.raises(KeyrailError, match=message) as caught:
        parse_event(event)
    assert caught.value.kind == "invalidRequest"


def read(kind: str, url: str, **options: Any) -> list[Any]:
    if kind == "sync":
        with KeyrailProvider(url=url) as provider:
            return list(logs(Web3(provider), **options))

    async def run() -> list[Any]:
        async with AsyncKeyrailProvider(url=url) as provider:
            return [log async for log in async_logs(AsyncWeb3(provider), **options)]

    return asyncio.run(run())


@BOTH
@pytest.mark.parametrize("event", [TRANSFER, TRANSFER_ABI], ids=["signature", "abi"])
def test_logs_of_an_event_have_the_args_of_web3(kind: str, event: Any) -> None:
    with ChainServer([1, 2, 0, 2]) as server:
        server.log_members = create_transfer
        found = read(kind, server.url, from_block=0, event=event, topics=[None, to_topic("address", ALICE)])
        sent = server.get_calls("eth_getLogs")[0][0]
    # Both have the same first topic, but those of ERC-721 have another parameter indexed.
    assert [(log["blockNumber"], log["logIndex"]) for log in found] == [(1, 0), (2, 0), (4, 0)]
    assert sent["topics"] == [TRANSFER_TOPIC, to_topic("address", ALICE)]
    contract = Web3().eth.contract(abi=[TRANSFER_ABI])
    for log in found:
        expected = contract.events.Transfer().process_log(log)
        assert (log["event"], log["args"]) == (expected["event"], expected["args"])
    assert found[0].args.value == 2**255 + 1


def test_values_of_each_type_are_decoded() -> None:
    event = parse_event("E(string indexed s, (uint8 n, bytes b)[] list, bool, int16[2] pair, string text)")
    types = ["(uint8,bytes)[]", "bool", "int16[2]", "string"]
    data = encode(types, [[(7, b"\x01"), (8, b"")], True, [-1, 2], "é"])
    assert event.topic
    log = {"topics": [event.topic, "0x" + "22" * 32], "data": "0x" + data.hex()}
    assert EventDecoder(event).add_args(log)["args"] == {
        "s": b"\x22" * 32,
        "list": [{"n": 7, "b": b"\x01"}, {"n": 8, "b": b""}],
        "arg2": True,
        "pair": [-1, 2],
        "text": "é",
    }


@pytest.mark.parametrize(
    "broken", [{"topics": []}, {"topics": ["0x" + "11" * 32]}, {"topics": [TRANSFER_TOPIC]}], ids=range(3)
)
def test_a_log_of_another_shape_is_not_of_the_event(broken: dict[str, Any]) -> None:
    decoder = EventDecoder(parse_event(TRANSFER))
    assert decoder.decode(create_transfer(1, 0)) is not None
    assert decoder.decode({**create_transfer(1, 0), **broken}) is None


NAMED = "Named(address indexed owner, string name, bytes data, uint256 expires)"
NAMED_TOPIC = str(parse_event(NAMED).topic)
OWNER = "0x" + "00" * 12 + "22" * 20


def encode_named(name: bytes, data: bytes = b"") -> str:
    return "0x" + encode(["bytes", "bytes", "uint256"], [name, data, 7]).hex()


NOT_UTF_8 = encode_named(b"a\xff\xfe")
UNDECODABLE = [NOT_UTF_8, "0x", "0x01", encode_named(b"a" * 40)[:-100], "0x" + "ff" * 128]


def create_named(data: str) -> dict[str, Any]:
    return {"blockNumber": 5, "logIndex": 3, "topics": [NAMED_TOPIC, OWNER], "data": data}


def test_data_is_decoded_leniently() -> None:
    decoder = EventDecoder(parse_event(NAMED))
    owner = "0x" + "22" * 20
    assert decoder.decode(create_named(NOT_UTF_8)) == [owner, b"a\xff\xfe", b"", 7]
    # Without the zeros at the end.
    assert decoder.decode(create_named(encode_named(b"", b"ab")[: -2 * 30])) == [owner, "", b"ab", 7]
    # With other bytes than zeros.
    assert decoder.decode(create_named(encode_named(b"", b"ab")[: -2 * 30] + "ff" * 30)) == [owner, "", b"ab", 7]


@pytest.mark.parametrize("data", UNDECODABLE[1:], ids=range(4))
def test_a_log_of_the_event_that_cannot_be_decoded_is_a_failure_with_its_place(data: str) -> None:
    with pytest.raises(KeyrailError, match="Log 3 of block 5 is a Named event, but its data does not match") as caught:
        EventDecoder(parse_event(NAMED)).add_args(create_named(data))
    assert caught.value.kind == "badResponse"
    dirty = {**create_transfer(1, 0), "topics": [TRANSFER_TOPIC, "0x" + "ff" * 32, "0x" + "ff" * 32]}
    with pytest.raises(KeyrailError, match="is a Transfer event, but its data"):
        EventDecoder(parse_event(TRANSFER)).add_args({**dirty, "blockNumber": 1, "logIndex": 0})


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_no_log_of_an_event_is_lost(kind: str) -> None:
    with ChainServer([1, 1, 1]) as server:
        data = [encode_named(b"a"), "0x01", NOT_UTF_8]
        server.log_members = lambda number, _: {
            **create_named(data[number - 1]),
            "blockNumber": hex(number),
            "logIndex": "0x0",
        }
        names: list[Any] = []
        failures: list[str] = []
        cursor = None
        while cursor is None or cursor["next_block"] <= 3:
            found: Any = read_named(kind, server.url, cursor)
            names += found[0]
            failures += found[1]
            cursor = found[2]
    assert names == ["a", b"a\xff\xfe"]
    assert failures == ["badResponse"]


def read_named(kind: str, url: str, cursor: Any) -> tuple[list[Any], list[str], Any]:
    names: list[Any] = []
    failures: list[str] = []
    options: dict[str, Any] = {"from_block": 0, "event": NAMED, "cursor": cursor}
    if kind == "sync":
        with KeyrailProvider(url) as provider, logs(Web3(provider), **options) as iterator:
            try:
                for log in iterator:
                    names.append(log["args"]["name"])
            except KeyrailError as failure:
                failures.append(failure.kind)
            return names, failures, iterator.cursor

    async def run() -> Any:
        async with AsyncKeyrailProvider(url) as provider, async_logs(AsyncWeb3(provider), **options) as iterator:
            try:
                async for log in iterator:
                    names.append(log["args"]["name"])
            except KeyrailError as failure:
                failures.append(failure.kind)
            return iterator.cursor

    return names, failures, asyncio.run(run())
