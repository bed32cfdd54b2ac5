"""A case of the vectors that applies to Python and is skipped fails the run."""

from collections.abc import Generator

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vector: a case that applies to Python, and may not be skipped")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and item.get_closest_marker("vector"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} applies to Python and was skipped"
    return report
