"""What is published: both distributions install into a fresh environment, where the samples of the README run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from adapter_server import NODE
from fault_server import FaultServer, Seen, Wire

HERE = Path(__file__).resolve().parents[1]
SAMPLES = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answers(seen: Seen, wire: Wire) -> None:
    results: dict[str, Any] = {"eth_blockNumber": NODE["blockNumber"], "eth_getLogs": []}
    wire.answer(200, {"jsonrpc": "2.0", "id": seen.json["id"], "result": results[seen.json["method"]]})


def samples_run(python: str | Path) -> None:
    assert len(SAMPLES) == 2
    with FaultServer(answers) as server:
        for sample in SAMPLES:
            assert "https://node.example/testnet" in sample
            # A key of letters that a path may hold.
            mended = sample.replace("https://node.example/testnet", server.url).replace("kr_a…", "kr_a0123456789")
            run(python, "-c", mended)
        assert server.methods == ["eth_blockNumber", "eth_blockNumber", "eth_blockNumber", "eth_getLogs"]


def test_the_samples_of_the_readme_run() -> None:
    samples_run(sys.executable)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not os.environ.get("KEYRAIL_TEST_ALL"):
        pytest.skip("builds and installs, which takes a minute: set KEYRAIL_TEST_ALL")
    out = tmp_path_factory.mktemp("dist")
    # The wheel is built from the source distribution.
    run(sys.executable, "-m", "build", "--outdir", out, ".")
    return out


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_a_fresh_environment_runs_them_too(built: Path, kind: str, tmp_path: Path) -> None:
    (package,) = built.glob(kind)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package)
    samples_run(python)
    installed = run(python, "-c", "import keyrail, pathlib; print(pathlib.Path(keyrail.__file__).parent)").strip()
    assert str(tmp_path) in installed
    table = Path(installed, "failure/classification.json").read_bytes()
    assert table == (HERE.parent / "core/src/failure/classification.json").read_bytes()
    assert Path(installed, "py.typed").exists()
