"""What clients of other chains send, read through web3.py over this provider: packages/vectors/chains."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fault_server import Connection, FaultServer, ReceivedRequest
from vectors import TOP, read_vectors
from web3 import AsyncWeb3, Web3
from web3.exceptions import BlockNotFound, ExtraDataLengthError
from web3.middleware import ExtraDataToPOAMiddleware

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider

HASH = "0x" + "a1" * 32

FIXTURES = [
    (f"{chain['chain']} ({chain['client']}): {fixture['name']}", fixture)
    for chain in (read_vectors(f"chains/{path.name}") for path in sorted((TOP / "vectors/chains").glob("*.json")))
    for fixture in chain["fixtures"]
]
RESULTS = [(title, fixture) for title, fixture in FIXTURES if fixture["kind"] != "error"]
ERRORS = [(title, fixture) for title, fixture in FIXTURES if fixture["kind"] == "error"]

# Blocks whose extraData has more than 32 bytes: web3.py needs ExtraDataToPOAMiddleware for them. docs/chains.md names the chains.
LONG_EXTRA_DATA = {
    "Avalanche C-Chain (coreth): a block",
    "Celo (celo-blockchain, op-geth): a block from before the Gingerbread fork",
    "Ethereum (Nethermind): a block of Goerli",
    "Polygon PoS (Bor): a block",
}


def to_params(fixtures: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    return [pytest.param(title, fixture, id=title, marks=pytest.mark.vector) for title, fixture in fixtures]


def serve(fixture: dict[str, Any]) -> FaultServer:
    """Start a node that responds to each call with the fixture."""

    def script(request: ReceivedRequest, connection: Connection) -> None:
        member = "error" if fixture["kind"] == "error" else "result"
        responses = [{"jsonrpc": "2.0", "id": call["id"], member: fixture[member]} for call in request.calls]
        connection.respond(200, responses if isinstance(request.json, list) else responses[0])

    return FaultServer(script)


def read(w3: Any, fixture: dict[str, Any]) -> Any:
    """Read the fixture as a user does. Return a coroutine if the provider is asynchronous."""
    if fixture["kind"] == "block":
        return w3.eth.get_block(HASH)
    return w3.eth.get_transaction(HASH) if fixture["kind"] == "transaction" else w3.eth.get_transaction_receipt(HASH)


def add_middleware(w3: Any, title: str) -> None:
    if title in LONG_EXTRA_DATA:
        w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)


def check_decoded(decoded: Any, fixture: dict[str, Any]) -> None:
    sent = fixture["result"]
    # web3.py's name for the extraData of such a block.
    names = {"extraData": "proofOfAuthorityData"} if "proofOfAuthorityData" in decoded else {}
    # No member is lost, and none is invented.
    assert {names.get(name, name) for name in sent} == set(decoded)
    numbers = {
        "block": ["number", "timestamp"],
        "transaction": ["blockNumber", "nonce"],
        "receipt": ["blockNumber", "status"],
    }
    for name in numbers[fixture["kind"]]:
        assert decoded[name] == int(sent[name], 16), name
    for name in fixture["extra"]:
        # web3.py decodes the members that it knows; the others are as the node sent them.
        expected = int(sent[name], 16) if isinstance(decoded[name], int) and isinstance(sent[name], str) else sent[name]
        assert to_plain(decoded[name]) == expected, name


def to_plain(value: Any) -> Any:
    """Convert web3.py's lists and dicts to plain ones."""
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return {name: to_plain(item) for name, item in value.items()} if hasattr(value, "items") else value


@pytest.mark.parametrize(("title", "fixture"), to_params(RESULTS))
def test_a_result_is_decoded(title: str, fixture: dict[str, Any]) -> None:
    with serve(fixture) as server, KeyrailProvider(url=server.url) as provider:
        w3 = Web3(provider)
        add_middleware(w3, title)
        check_decoded(read(w3, fixture), fixture)


@pytest.mark.parametrize(("title", "fixture"), to_params(RESULTS))
def test_a_result_is_decoded_asynchronously(title: str, fixture: dict[str, Any]) -> None:
    async def run(url: str) -> None:
        async with AsyncKeyrailProvider(url=url) as provider:
            w3 = AsyncWeb3(provider)
            add_middleware(w3, title)
            check_decoded(await read(w3, fixture), fixture)

    with serve(fixture) as server:
        asyncio.run(run(server.url))


def test_web3_rejects_long_extra_data_without_its_middleware() -> None:
    rejected = set()
    for title, fixture in RESULTS:
        with serve(fixture) as server, KeyrailProvider(url=server.url) as provider:
            try:
                read(Web3(provider), fixture)
            except ExtraDataLengthError:
                rejected.add(title)
    assert rejected == LONG_EXTRA_DATA


@pytest.mark.parametrize(("title", "fixture"), to_params(ERRORS))
def test_an_error_has_its_kind(title: str, fixture: dict[str, Any]) -> None:
    with serve(fixture) as server, KeyrailProvider(url=server.url, retry=False) as provider:
        [settled] = provider.batch_settled([(fixture["method"], [])])
    assert isinstance(settled.error, KeyrailError)
    assert settled.error.kind == fixture["expect"]
    assert settled.error.rpc_error == fixture["error"]


@pytest.mark.parametrize(
    ("title", "fixture"), to_params([one for one in ERRORS if one[1]["method"] == "eth_getBlockByNumber"])
)
def test_an_error_of_get_block_has_its_kind(title: str, fixture: dict[str, Any]) -> None:
    with (
        serve(fixture) as server,
        KeyrailProvider(url=server.url, retry=False) as provider,
        pytest.raises(KeyrailError) as caught,
    ):
        Web3(provider).eth.get_block("finalized")
    assert caught.value.kind == fixture["expect"]


def test_a_missing_block_of_get_block_receipts_is_web3s_own_exception() -> None:
    fixture = {"kind": "error", "error": {"code": -32000, "message": "block not found"}}
    with (
        serve(fixture) as server,
        KeyrailProvider(url=server.url, retry=False) as provider,
        pytest.raises(BlockNotFound),
    ):
        Web3(provider).eth.get_block_receipts("finalized")


def test_there_are_fixtures_of_each_kind() -> None:
    assert len(RESULTS) >= 35
    assert len(ERRORS) >= 5
