"""Loads the fixture ``mock_node``."""

pytest_plugins = ["keyrail.testing.fixtures"]
