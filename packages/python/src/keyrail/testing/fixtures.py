"""Fixtures for pytest. Load them in the ``conftest.py`` at the top: ``pytest_plugins = ["keyrail.testing.fixtures"]``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .mock_node import MockNode


@pytest.fixture
def mock_node() -> Iterator[MockNode]:
    """Start a mock node with the chain id 31337, for one test."""
    with MockNode() as node:
        yield node
