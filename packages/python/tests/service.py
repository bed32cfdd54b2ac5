"""The real gateway in front of a real node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
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


@contextmanager
def start_service() -> Iterator[Service]:
    pinned = TOP.parent / "node_modules/.bin/node"
    node = os.environ.get("KEYRAIL_NODE") or (str(pinned) if pinned.exists() else shutil.which("node"))
    assert node, "Node is missing"
    with subprocess.Popen(
        [node, "--conditions=@keyrail/source", str(Path(__file__).parents[2] / "contracts" / "test" / "serve.mjs")],
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
