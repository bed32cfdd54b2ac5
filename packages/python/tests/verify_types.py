"""A strict project that uses the package, and the samples of the README and the guide, pass mypy and pyright."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keyrail import AsyncKeyrailProvider, KeyrailProvider

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs"
GUIDE = (DOCS / "python.md", *(DOCS / "python").glob("*.md"))
PAGES = (HERE.parent / "README.md", *GUIDE, DOCS / "migrate/web3py.md", DOCS / "start/first-call.md")
pytestmark = pytest.mark.xdist_group("types")


def check(tool: str, folder: Path) -> None:
    options = ["--pythonpath", sys.executable] if tool == "pyright" else []
    command = [sys.executable, "-m", tool, *options, "."]
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    output = result.stdout + result.stderr
    if tool == "pyright" and re.search("ENOTFOUND|ECONNREFUSED|npm error network", output):
        pytest.skip("pyright cannot be downloaded: is there a network?")
    assert result.returncode == 0, output


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy outside of the repository, so that the settings of the repository do not apply."""
    return Path(shutil.copytree(HERE / "consumer", tmp_path / "consumer"))


@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_a_strict_project_that_uses_the_package_passes(tool: str, project: Path) -> None:
    check(tool, project)


def read_samples(page: Path) -> list[str]:
    """Return the samples of a page. A diff is two samples: the program before the change, and after it."""
    fences = re.findall(r"^```(diff )?python\b[^\n]*\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [
        sample
        for diff, code in fences
        for sample in (
            [re.sub(rf"^[{side}].*\n|^.", "", code, flags=re.MULTILINE) for side in "+-"] if diff else [code]
        )
    ]


@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_the_samples_pass(tool: str, project: Path) -> None:
    (project / "program.py").unlink()
    for page in PAGES:
        samples = read_samples(page)
        assert samples
        if page in GUIDE:
            # Each sample of a page of the guide continues the one before.
            samples = ["\n".join(samples)]
        for at, sample in enumerate(samples):
            (project / f"{page.stem.lower()}_{at}.py").write_text(sample, "utf-8")
    check(tool, project)


@pytest.mark.parametrize("provider", [KeyrailProvider, AsyncKeyrailProvider])
def test_each_option_can_be_completed(provider: type) -> None:
    parameters = inspect.signature(provider).parameters
    assert {"url", "base_url", "api_key", "timeout_ms", "headers", "cache_allowed_requests"} <= set(parameters)
    text = (inspect.getdoc(KeyrailProvider) or "").split("Args:")[1].split("Raises:")[0]
    assert set(parameters) == set(re.findall(r"^    (\w+): ", text, re.MULTILINE))
