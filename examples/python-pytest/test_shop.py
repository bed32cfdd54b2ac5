"""Tests of the shop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from keyrail import KeyrailProvider
from keyrail.testing import ContractCall, MockContract, MockNode
from shop import TOKEN_ABI, Shop
from web3 import Web3
from web3.exceptions import ContractLogicError

TOKEN = Web3.to_checksum_address("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")


@pytest.fixture
def token(mock_node: MockNode) -> MockContract:
    return mock_node.mock_contract(TOKEN, TOKEN_ABI, {"balanceOf": 42})


@pytest.fixture
def shop(mock_node: MockNode, token: MockContract) -> Iterator[Shop]:
    with KeyrailProvider(mock_node.url) as provider:
        yield Shop(Web3(provider), TOKEN, Web3.to_checksum_address(mock_node.accounts[0].address))


def test_a_throttled_call_is_retried(shop: Shop, mock_node: MockNode) -> None:
    mock_node.fail("throttled", method="eth_call", times=2)
    assert shop.describe_balance() == "42 tokens"
    mock_node.assert_called("eth_call", times=3)


def test_an_exhausted_quota_has_its_own_message(shop: Shop, mock_node: MockNode) -> None:
    mock_node.fail("quota", method="eth_call", provider="infura")
    assert shop.describe_balance() == "Try again tomorrow"


def test_a_revert_is_web3s_exception(shop: Shop, mock_node: MockNode) -> None:
    def balance_of(call: ContractCall, owner: str) -> int:
        call.revert(f"{owner} is blocked")

    mock_node.mock_contract(TOKEN, TOKEN_ABI, {"balanceOf": balance_of})
    with pytest.raises(ContractLogicError, match="is blocked"):
        shop.describe_balance()


def test_a_payment_disappears_with_its_block(shop: Shop, mock_node: MockNode, token: MockContract) -> None:
    till, customer = (account.address for account in mock_node.accounts[:2])
    token.emit("Transfer", {"from": customer, "to": till, "value": 7})
    token.emit("Transfer", {"from": till, "to": customer, "value": 1})
    assert list(shop.payments()) == [(customer, 7)]
    mock_node.reorg(2)
    assert list(shop.payments()) == []
