"""A program that imports web3.py gets the package for little more time, and uses it by changing one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fault_server import FaultServer

# Counts calls and returns of functions: a busy machine counts the same. Compiles the sources, because an installed package is compiled.
MEASURE = """
import compileall, importlib.util, json, pathlib, sys

def count(*_):
    global calls
    calls += 1

def count_import(name):
    global calls
    calls = 0
    sys.setprofile(count)
    __import__(name)
    sys.setprofile(None)
    return calls

web3 = count_import("web3")
before = set(sys.modules)
sys.pycache_prefix = sys.argv[1]
compileall.compile_dir(pathlib.Path(importlib.util.find_spec("keyrail").origin).parent, quiet=1)
before |= set(sys.modules)
keyrail = count_import("keyrail")
print(json.dumps({"ratio": keyrail / web3, "modules": sorted(set(sys.modules) - before)}))
"""
# About 0.06: a tenth of the CPU time of web3.py's own import, which takes more than half a second.
MAX_RATIO = 0.07

PROGRAM = """
from web3 import HTTPProvider, Web3

provider = HTTPProvider("URL")
w3 = Web3(provider)
try:
    print(w3.eth.chain_id, w3.is_connected(), provider.make_request("eth_gasPrice", [])["result"])
    with w3.batch_requests() as batch:
        batch.add(w3.eth.get_balance("0x" + "11" * 20))
        print(batch.execute())
except (ConnectionError, OSError) as error:
    print(type(error))
"""


def run(*command: str) -> str:
    return subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_the_import_is_light(tmp_path: Path) -> None:
    one = json.loads(run("-c", MEASURE, str(tmp_path)))
    # No package, and no module of the standard library, that web3.py does not import anyway, except for the parser of HTTP.
    packages = {name.partition(".")[0] for name in one["modules"]}
    # Compiled modules share one of Cython.
    assert {name for name in packages if not name.startswith("_cython")} == {"keyrail", "httptools"}
    assert one["ratio"] < MAX_RATIO


@pytest.mark.slow
def test_a_program_for_http_provider_changes_one_line() -> None:
    with FaultServer() as server:
        before = PROGRAM.replace("URL", server.url)
        after = before.replace(
            "from web3 import HTTPProvider, Web3",
            "from keyrail import KeyrailProvider as HTTPProvider; from web3 import Web3",
        )
        assert len(set(before.splitlines()) - set(after.splitlines())) == 1
        assert run("-c", before) == run("-c", after) == "1 True 0x1\n[1]\n"
