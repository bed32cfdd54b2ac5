"""Both providers against anvil, through the real gateway."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from leak_walk import find_leaks
from service import Service, start_service
from vectors import TOP
from web3 import AsyncWeb3, Web3
from web3.exceptions import ContractCustomError, ContractLogicError, ContractPanicError, TransactionNotFound
from web3.middleware import SignAndSendRawMiddlewareBuilder

from keyrail import AsyncKeyrailProvider, KeyrailError, KeyrailProvider, LogsProgress, async_logs, logs

ARTIFACTS = json.loads((TOP / "contracts/artifacts/artifacts.json").read_text("utf-8"))
OPTION_SETS = ("app", "key")
# All tests share one node and one gateway.
pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with start_service() as started:
        yield started


def to_options(service: Service, which: str) -> dict[str, Any]:
    names = {"baseUrl": "base_url", "rpcUrl": "rpc_url", "apiKey": "api_key", "chainId": "chain_id"}
    return {names[name]: value for name, value in getattr(service, which).items()}


def create_account(service: Service, w3: Any) -> Any:
    account = w3.eth.account.from_key("0x" + secrets.token_hex(32))
    service.node("anvil_setBalance", account.address, hex(10**22))
    w3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
    w3.eth.default_account = account.address
    return account


@pytest.mark.parametrize("which", OPTION_SETS)
def test_reads_writes_and_reverts(service: Service, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with KeyrailProvider(**to_options(service, which)) as provider:
        w3 = Web3(provider)
        account = create_account(service, w3)
        service.node("methods")
        assert w3.eth.block_number >= 0
        assert w3.eth.chain_id == service.chain_id
        assert service.node("methods") == ["eth_blockNumber"]
        assert w3.eth.get_balance(account.address) == 10**22
        assert w3.eth.get_block("latest")["number"] >= 0
        assert provider.is_connected()
        with pytest.raises(TransactionNotFound):
            w3.eth.get_transaction("0x" + "ab" * 32)  # type: ignore[arg-type]

        def deploy(name: str, *args: Any) -> Any:
            contract = w3.eth.contract(**ARTIFACTS[name])
            receipt = w3.eth.wait_for_transaction_receipt(contract.constructor(*args).transact())
            return w3.eth.contract(address=receipt["contractAddress"], abi=ARTIFACTS[name]["abi"])

        token = deploy("Token", "Keyrail", "RAIL", 10**24)
        assert token.functions.name().call() == "Keyrail"
        assert token.functions.totalSupply().call() == 10**24
        recipient = Web3.to_checksum_address("0x" + "ab" * 20)
        receipt = w3.eth.wait_for_transaction_receipt(token.functions.transfer(recipient, 2**60 + 1).transact())
        (event,) = token.events.Transfer().process_receipt(receipt)
        assert event["args"] == {"from": account.address, "to": recipient, "value": 2**60 + 1}
        assert token.functions.balanceOf(recipient).call() == 2**60 + 1
        (found,) = token.events.Transfer().get_logs(from_block=receipt["blockNumber"])
        assert found["transactionHash"] == receipt["transactionHash"]

        reverts = deploy("Reverts").functions
        with pytest.raises(ContractCustomError) as custom:
            reverts.custom(recipient, 7, "not you").call()
        assert str(custom.value.data).startswith("0x")
        with pytest.raises(ContractCustomError):
            reverts.customEmpty().call()
        with pytest.raises(ContractLogicError, match="value must not be zero"):
            reverts.reason(0).call()
        with pytest.raises(ContractLogicError, match="execution reverted"):
            reverts.bare().call()
        with pytest.raises(ContractPanicError, match="0x11"):
            reverts.overflows(2**256 - 1).call()
        with pytest.raises(ContractCustomError):
            reverts.setLevel(11).transact()

        reader = deploy("OffchainReader", [service.url_of_get], bytes.fromhex("a1" * 40))
        # web3.py 8 does not allow CCIP requests to this machine, where the gateway of this test runs.
        monkeypatch.setattr("web3.utils.exception_handling.validate_ccip_url_host", lambda _: None, raising=False)
        provider.ccip_read_allow_http = True
        assert reader.functions.read(b"\x9a" * 32).call() == bytes.fromhex("a1" * 40)

        with w3.batch_requests() as batch:
            batch.add(w3.eth.get_balance(recipient))
            batch.add(token.functions.symbol())
            batch.add(w3.eth.get_block("latest"))
            results: Any = batch.execute()
        balance, symbol, block = results
        assert (balance, symbol) == (0, "RAIL")
        assert block["number"] == w3.eth.block_number


def test_asynchronous_reads_writes_and_reverts(service: Service) -> None:
    async def run() -> None:
        async with AsyncKeyrailProvider(**to_options(service, "app")) as provider:
            w3 = AsyncWeb3(provider)
            account = create_account(service, w3)
            service.node("methods")
            numbers = await asyncio.gather(*(w3.eth.block_number for _ in range(20)))
            assert len(set(numbers)) == 1
            assert await w3.eth.chain_id == service.chain_id
            assert service.node("methods") == ["eth_blockNumber"] * 20
            assert await w3.eth.get_balance(account.address) == 10**22
            contract = w3.eth.contract(**ARTIFACTS["Reverts"])
            receipt = await w3.eth.wait_for_transaction_receipt(await contract.constructor().transact())
            reverts = w3.eth.contract(address=receipt["contractAddress"], abi=ARTIFACTS["Reverts"]["abi"]).functions
            await w3.eth.wait_for_transaction_receipt(await reverts.setLevel(9).transact())
            assert await reverts.level().call() == 9
            with pytest.raises(ContractCustomError):
                await reverts.customEmpty().call()
            with pytest.raises(ContractLogicError, match="value must not be zero"):
                await reverts.reason(0).call()
            async with w3.batch_requests() as batch:
                batch.add(w3.eth.get_balance(account.address))
                batch.add(reverts.level())
                results: Any = await batch.async_execute()
            balance, level = results
            assert balance < 10**22
            assert level == 9
            settled = await provider.batch_settled([("eth_chainId", []), ("eth_nothing", [])])
            assert settled[0].value == hex(service.chain_id)
            assert settled[1].error is not None
            assert settled[1].error.kind == "methodUnavailable"

    asyncio.run(run())


def test_a_rejected_key_fails_once_and_is_not_shown(service: Service) -> None:
    options = to_options(service, "app")
    wrong = options["api_key"][:-1] + ("A" if options["api_key"][-1] != "A" else "B")
    with KeyrailProvider(**{**options, "api_key": wrong}) as provider:
        with pytest.raises(KeyrailError) as caught:
            Web3(provider).eth.block_number  # noqa: B018
        assert (caught.value.kind, caught.value.status) == ("auth", 401)
        assert find_leaks(caught.value, wrong) == []
        assert not provider.is_connected()


def test_logs_are_read_in_windows_and_resumed_from_a_cursor(service: Service) -> None:
    with KeyrailProvider(**to_options(service, "app")) as provider:
        w3 = Web3(provider)
        create_account(service, w3)
        contract = w3.eth.contract(**ARTIFACTS["ManyEvents"])
        address = w3.eth.wait_for_transaction_receipt(contract.constructor().transact())["contractAddress"]
        emitter = w3.eth.contract(address=address, abi=ARTIFACTS["ManyEvents"]["abi"])
        first = w3.eth.block_number + 1
        for _ in range(7):
            sent = emitter.functions.emitMany(3, b"\x5e" * 32, "x").transact()
            w3.eth.wait_for_transaction_receipt(sent)
        seen: list[LogsProgress] = []
        options: dict[str, Any] = {"from_block": first, "address": address, "max_blocks": 2}
        found = list(logs(w3, **options, on_progress=seen.append))
        assert [emitter.events.Counted().process_log(log)["args"]["index"] for log in found] == list(range(21))
        assert [step.blocks for step in seen] == [2, 2, 2, 1]
        assert seen[-1].blocks_done == seen[-1].blocks_total == 7

        first_run = logs(w3, **options)
        some = [next(first_run) for _ in range(8)]
        cursor = json.loads(json.dumps(first_run.cursor))
        rest = list(logs(w3, **options, cursor=cursor))
        assert [*some, *rest] == found

    async def run() -> list[Any]:
        async with AsyncKeyrailProvider(**to_options(service, "app")) as provider:
            return [log async for log in async_logs(AsyncWeb3(provider), **options)]

    assert asyncio.run(run()) == found
