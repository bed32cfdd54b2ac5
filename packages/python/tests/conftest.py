"""Fails the run if a case of the vectors is skipped, and writes a report of all tests for Vitest."""

from __future__ import annotations

import json
import ssl
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

_VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "SSL_CERT_FILE",
)


@pytest.fixture(autouse=True)
def _without_connection_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the proxy and the certificates of this machine."""
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """Create a certificate for localhost, and the TLS settings of a server that has it."""
    folder = tmp_path_factory.mktemp("tls")
    path, private = folder / "c.pem", folder / "k.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-keyout", private, "-out", path], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, private)
    return path, context


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--report", help="write the outcome of each test to this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vector: a case of packages/vectors for Python, which must not be skipped")
    path = config.getoption("--report")
    # With several processes, only the main process reports.
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(Path(path)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Groups of tests that share one process take longest, so they start first.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


class Report:
    """Records the outcome of each test, and files that cannot be imported."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._outcomes: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._record(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._record(report)

    def _record(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        outcome = self._outcomes.get(report.nodeid, ("passed", ""))
        if outcome[0] == "passed" and report.outcome != "passed":
            skipped = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else None
            outcome = (report.outcome, skipped or report.longreprtext)
        self._outcomes[report.nodeid] = outcome

    def pytest_sessionfinish(self) -> None:
        tests = [{"id": name, "outcome": outcome, "text": text} for name, (outcome, text) in self._outcomes.items()]
        self._path.write_text(json.dumps(tests), "utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and item.get_closest_marker("vector"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} applies to Python and was skipped"
    return report
