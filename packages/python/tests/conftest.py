"""A case of the vectors that applies to Python and is skipped fails the run; and how each test ended is told to ``npm test``."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--report", help="a file to write to, as JSON, how each test ended")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vector: a case that applies to Python, and may not be skipped")
    path = config.getoption("--report")
    # Of several processes the one that hears of all tests.
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(Path(path)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What goes through one process in a row takes longest: where there are several processes, it is begun first.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


class Report:
    """Hears how each part of each test ended, and of what could not even be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ended: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._hear(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._hear(report)

    def _hear(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        known = self._ended.get(report.nodeid, ("passed", ""))
        if known[0] == "passed" and report.outcome != "passed":
            skipped = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else None
            known = (report.outcome, skipped or report.longreprtext)
        self._ended[report.nodeid] = known

    def pytest_sessionfinish(self) -> None:
        ended = [{"id": of, "outcome": outcome, "text": text} for of, (outcome, text) in self._ended.items()]
        self._path.write_text(json.dumps(ended), "utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and item.get_closest_marker("vector"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} applies to Python and was skipped"
    return report
