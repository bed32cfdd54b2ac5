"""The real gateway in front of a real node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vectors import TOP


class Service:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        self.app: dict[str, Any] = told["app"]
        self.key: dict[str, Any] = told["key"]
        self.accounts: list[str] = told["accounts"]
        self.url_of_get: str = told["urlOfGet"]
        self.chain_id: int = told["chainId"]

    def node(self, method: str, *params: Any) -> Any:
        """Ask the node itself, past the service; ``methods`` gives what the service was asked since."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]


def _node() -> str:
    pinned = TOP.parent / "node_modules/.bin/node"
    found = os.environ.get("KEYRAIL_NODE") or (str(pinned) if pinned.exists() else shutil.which("node"))
    assert found, "Node is missing"
    return found


@contextmanager
def start_service() -> Iterator[Service]:
    with subprocess.Popen(
        [_node(), "--conditions=@keyrail/source", str(TOP / "contracts/test/serve.mjs")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Service(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)


@contextmanager
def start_dev() -> Iterator[dict[str, Any]]:
    """Run ``keyrail dev``, as a user does, and give what its ``--json`` tells: the whole service with its embedded nodes."""
    words = [str(TOP / "cli/src/main.ts"), "dev", "--port", "0", "--json"]
    with subprocess.Popen(
        [_node(), "--conditions=@keyrail/source", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(20)
