"""The fixtures that web3.py's tests of its modules need: a chain with contracts, and both kinds of ``w3``.

The environment has the URL of the node, and the library whose providers are tested: ``keyrail`` or ``web3.py``.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from eth_account import Account
from hexbytes import HexBytes
from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3
from web3._utils.contract_sources.contract_data._custom_contract_data import EMITTER_ENUM
from web3._utils.contract_sources.contract_data.emitter_contract import EMITTER_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.math_contract import MATH_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.offchain_lookup import OFFCHAIN_LOOKUP_DATA
from web3._utils.contract_sources.contract_data.panic_errors_contract import PANIC_ERRORS_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.revert_contract import REVERT_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.storage_contract import STORAGE_CONTRACT_DATA
from web3._utils.module_testing.utils import RequestMocker

from keyrail import AsyncKeyrailProvider, KeyrailProvider

URL = os.environ["MODULES_URL"]
IS_KEYRAIL = os.environ["MODULES_LIBRARY"] == "keyrail"
# The first account of anvil.
KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
TIMEOUT_S = 30
CONTRACTS: dict[str, Any] = {
    "math": MATH_CONTRACT_DATA,
    "emitter": EMITTER_CONTRACT_DATA,
    "offchain_lookup": OFFCHAIN_LOOKUP_DATA,
    "panic_errors": PANIC_ERRORS_CONTRACT_DATA,
    "revert": REVERT_CONTRACT_DATA,
    "storage": STORAGE_CONTRACT_DATA,
}
LOOP = asyncio.new_event_loop()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine. All of them share one loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    LOOP.run_until_complete(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.fixture(scope="session")
def node() -> Web3:
    """What prepares the chain, always with web3.py's own provider."""
    return Web3(HTTPProvider(URL))


@pytest.fixture(scope="session")
def chain(node: Web3) -> dict[str, Any]:
    """Deploy the contracts and mine some blocks."""
    sender = Account.from_key(KEY).address
    made: dict[str, Any] = {}
    for name, data in CONTRACTS.items():
        tx_hash = node.eth.contract(**data).constructor().transact({"from": sender})
        made[f"{name}_hash"] = tx_hash
        made[name] = node.eth.wait_for_transaction_receipt(tx_hash)["contractAddress"]
    node.provider.make_request("evm_mine", [])  # type: ignore[arg-type]
    made["empty_block"] = node.eth.get_block("latest")
    sent = node.eth.send_transaction({"from": sender, "to": sender, "value": 1})  # type: ignore[typeddict-item]
    made["mined"] = sent.to_0x_hex()
    made["block_with_txn"] = node.eth.get_block(node.eth.wait_for_transaction_receipt(sent)["blockNumber"])
    emitter = node.eth.contract(address=made["emitter"], abi=EMITTER_CONTRACT_DATA["abi"])
    logged = emitter.functions.logDouble(which=EMITTER_ENUM["LogDoubleWithIndex"], arg0=12345, arg1=54321).transact(
        {"from": sender}
    )
    made["logged"] = logged.to_0x_hex()
    made["block_with_txn_with_log"] = node.eth.get_block(node.eth.wait_for_transaction_receipt(logged)["blockNumber"])
    return made


@pytest.fixture(autouse=True)
def mine_empty_block(request: pytest.FixtureRequest, node: Web3, chain: dict[str, Any]) -> None:
    """Let tests of filters start at an empty block, however late anvil mines what the test before them sent."""
    if "filter" in request.node.name:
        node.provider.make_request("anvil_mine", [2])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def w3() -> Iterator[Web3]:
    if IS_KEYRAIL:
        with KeyrailProvider(URL, timeout_ms=TIMEOUT_S * 1_000) as provider:
            yield Web3(provider)
    else:
        yield Web3(HTTPProvider(URL, request_kwargs={"timeout": TIMEOUT_S}))


@pytest.fixture(scope="module")
def async_w3() -> Iterator[AsyncWeb3[Any]]:
    provider: Any = AsyncKeyrailProvider(URL, timeout_ms=TIMEOUT_S * 1_000) if IS_KEYRAIL else AsyncHTTPProvider(URL)
    yield AsyncWeb3(provider)
    LOOP.run_until_complete(provider.disconnect())


def define(name: str, create: Callable[..., Any], **options: Any) -> None:
    """Define a fixture."""
    globals()[name] = pytest.fixture(name=name, scope="module", **options)(create)


def create_contract(name: str) -> Callable[[Web3, dict[str, Any]], Any]:
    return lambda w3, chain: w3.eth.contract(address=chain[name], abi=CONTRACTS[name]["abi"])


def create_async_contract(name: str) -> Callable[[Any, dict[str, Any]], Any]:
    return lambda async_w3, chain: async_w3.eth.contract(address=chain[name], abi=CONTRACTS[name]["abi"])


def get_from_chain(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda chain: chain[name]


for each in CONTRACTS:
    define(f"{each}_contract", create_contract(each))
    define(f"async_{each}_contract", create_async_contract(each))
for prefix in ("", "async_"):
    for each in ("empty_block", "block_with_txn", "block_with_txn_with_log"):
        define(f"{prefix}{each}", get_from_chain(each))
    for each in ("math", "emitter"):
        define(f"{prefix}{each}_contract_address", get_from_chain(each))
    define(f"{prefix}skip_if_testrpc", lambda: lambda _: None)
    define(f"{prefix}keyfile_account_address", lambda: Account.from_key(KEY).address)
    # As text and as bytes.
    define(
        f"{prefix}keyfile_account_address_dual_type",
        lambda request: request.param(Account.from_key(KEY).address),
        params=[str, HexBytes],
        ids=["text", "bytes"],
    )
define("math_contract_deploy_txn_hash", get_from_chain("math_hash"))
define("mined_txn_hash", get_from_chain("mined"))
define("txn_hash_with_log", get_from_chain("logged"))
define("keyfile_account_pkey", lambda: KEY)
define("request_mocker", lambda: RequestMocker)
