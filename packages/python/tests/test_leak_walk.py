"""The search finds keys: web3.py's own provider and its exceptions contain them."""

import pytest
from leak_walk import find_leaks
from web3 import HTTPProvider, Web3

KEY = "kr_a" + "k3Y" * 13


def test_it_finds_a_key_in_a_provider_an_error_and_a_frame() -> None:
    provider = HTTPProvider(f"http://127.0.0.1:9/v2/{KEY}", exception_retry_configuration=None)
    assert find_leaks(provider, KEY)
    with pytest.raises(OSError, match="refused") as caught:
        Web3(provider).eth.block_number  # noqa: B018
    assert find_leaks(caught.value, KEY)
    assert find_leaks(str(caught.value), KEY)


def test_it_finds_nothing_in_a_provider_without_a_key() -> None:
    assert find_leaks(HTTPProvider("http://127.0.0.1:9"), KEY) == []
