"""The walk finds a key where there is one: in web3.py's own provider, and in what it raises."""

import pytest
from leak_walk import leaks_of
from web3 import HTTPProvider, Web3

KEY = "kr_a" + "k3Y" * 13


def test_it_finds_a_key_in_a_provider_an_error_and_a_frame() -> None:
    provider = HTTPProvider(f"http://127.0.0.1:9/v2/{KEY}", exception_retry_configuration=None)
    assert leaks_of(provider, KEY)
    with pytest.raises(OSError, match="refused") as caught:
        Web3(provider).eth.block_number  # noqa: B018
    assert leaks_of(caught.value, KEY)
    assert leaks_of(str(caught.value), KEY)


def test_it_finds_nothing_where_nothing_is() -> None:
    assert leaks_of(HTTPProvider("http://127.0.0.1:9"), KEY) == []
