"""web3.py's own tests of its modules, over Keyrail's providers and over web3.py's own.

``python -m pytest tests/verify_modules.py -s`` shows how many pass.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vectors import TOP
from web3 import HTTPProvider, Web3

TESTS = Path(__file__).resolve().parent
# One of web3.py's tests requires it.
CHAIN_ID = 131277322940537
# These need a transaction that is not mined yet, which anvil mines at any moment.
NEED_PENDING = ("unmined", "replace_transaction", "modify_transaction")


def find_anvil() -> str:
    own = os.environ.get("KEYRAIL_ANVIL")
    if own:
        return own
    found = sorted(
        (TOP.parent / "node_modules/.pnpm").glob("@foundry-rs+anvil-*/node_modules/@foundry-rs/*/bin/anvil*")
    )
    assert found, "anvil is not installed"
    return str(found[0])


@contextmanager
def start_anvil() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([find_anvil(), "--port", str(port), "--chain-id", str(CHAIN_ID), "--silent"]) as process:
        try:
            w3 = Web3(HTTPProvider(f"http://127.0.0.1:{port}"))
            until = time.monotonic() + 60
            while not w3.is_connected():
                assert time.monotonic() < until, "anvil does not respond"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def run_modules(library: str, report: Path) -> dict[str, str]:
    """Return the outcome of each test."""
    with start_anvil() as url:
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-c", str(TESTS / "web3_modules/pytest.ini"), "--tb=short"),
                *(f"--confcutdir={TESTS}", f"--report={report}", str(TESTS / "web3_modules/modules.py")),
                *("-k", " and ".join(f"not {name}" for name in NEED_PENDING)),
            ],
            env={**os.environ, "MODULES_URL": url, "MODULES_LIBRARY": library},
            check=False,
            stdout=subprocess.DEVNULL,
        )
    tests: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))
    return {test["id"].rpartition("modules.py::")[2]: test["outcome"] for test in tests}


def test_keyrails_providers_pass_the_module_tests_that_web3s_own_pass(tmp_path: Path) -> None:
    outcomes = {library: run_modules(library, tmp_path / f"{library}.json") for library in ("web3.py", "keyrail")}
    for library, found in outcomes.items():
        print(library, dict(Counter(found.values())))
    theirs, ours = outcomes["web3.py"], outcomes["keyrail"]
    assert ours.keys() == theirs.keys()
    # The others need methods that anvil does not have, or fail with any provider.
    assert list(theirs.values()).count("passed") > 320
    assert [name for name, outcome in theirs.items() if outcome == "passed" and ours[name] != "passed"] == []
