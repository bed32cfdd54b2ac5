"""Starts the gateway in front of anvil."""

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
        started = json.loads(process.stdout.readline())
        self.app: dict[str, Any] = started["app"]
        self.key: dict[str, Any] = started["key"]
        self.accounts: list[str] = started["accounts"]
        self.url_of_get: str = started["urlOfGet"]
        self.node_url: str = started["nodeUrl"]
        self.chain_id: int = started["chainId"]

    def node(self, method: str, *params: Any) -> Any:
        """Call the node directly. The pseudo-method ``methods`` returns the methods that the gateway forwarded since the last call."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]


def _node() -> str:
    pinned = TOP.parent / "node_modules/.bin/node"
    node = os.environ.get("KEYRAIL_NODE") or (str(pinned) if pinned.exists() else shutil.which("node"))
    assert node, "Node is not installed"
    return node


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
    """Run ``keyrail dev``, the whole service with embedded nodes, and yield the output of its ``--json``."""
    words = [str(TOP / "cli/src/main.ts"), "dev", "--ephemeral", "--port", "0", "--json"]
    with subprocess.Popen(
        [_node(), "--conditions=@keyrail/source", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"keyrail dev ended with exit code {process.wait(20)} before it was ready")
            yield json.loads(line)
        finally:
            process.terminate()
            process.wait(20)
