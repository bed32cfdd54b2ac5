"""What is published: both distributions install into a fresh environment, where the samples of the README run against a service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service import start_dev

HERE = Path(__file__).resolve().parents[1]
SHARED = ("failure/classification.json", "failure/readMethods.json")
GUIDE = HERE.parents[1] / "docs/python.md"
# One service for all of them.
pytestmark = pytest.mark.xdist_group("package")


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    if done.returncode and "connection broken" in done.stderr and not os.environ.get("KEYRAIL_TEST_ALL"):
        pytest.skip("packages cannot be fetched: is there a network?")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, Any]]:
    with start_dev() as told:
        yield told


def samples_of(page: Path, service: dict[str, Any]) -> list[str]:
    """Give the samples, with the address of the service and its key in the place of those that are written."""
    samples = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert samples
    meant = {"https://node.example": service["url"], "kr_a…": service["app"]["apiKey"]}
    return [re.sub("|".join(meant), lambda found: meant[found[0]], sample) for sample in samples]


def samples_run(python: str | Path, service: dict[str, Any]) -> None:
    key = service["app"]["apiKey"]
    said = [run(python, "-c", sample) for sample in samples_of(HERE / "README.md", service)]
    assert len(said) == 2
    label, number = said[0].split()
    assert label == f"{service['url']}/testnet/v2/…{key[-4:]}"
    assert number.isdigit()
    assert key not in "".join(said)


def test_the_samples_of_the_readme_run(service: dict[str, Any]) -> None:
    samples_run(sys.executable, service)


def test_the_samples_of_the_guide_run_one_after_another(service: dict[str, Any]) -> None:
    samples = samples_of(GUIDE, service)
    assert len(samples) >= 8
    said = run(sys.executable, "-W", "error::ResourceWarning", "-c", "\n".join(samples))
    for words in ("it is not: txRejected", "methodUnavailable", f"KeyrailProvider({service['url']}/testnet/v2/…"):
        assert words in said
    assert service["app"]["apiKey"] not in said


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    # The wheel is built from the source distribution.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ".")
    return out


def test_each_distribution_holds_what_is_listed_and_nothing_else(built: Path) -> None:
    source = HERE / "src/keyrail"
    modules = [path.relative_to(source).as_posix() for path in source.rglob("*.py")]
    package = {f"keyrail/{name}" for name in [*modules, "py.typed", *SHARED]}
    licence = (HERE.parents[1] / "LICENSE").read_bytes()

    (wheel,) = built.glob("*.whl")
    about = f"{wheel.name.split('-py3')[0]}.dist-info"
    with zipfile.ZipFile(wheel) as opened:
        assert {*opened.namelist()} == package | {
            f"{about}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")
        }
        assert opened.read(f"{about}/licenses/LICENSE") == licence

    (archive,) = built.glob("*.tar.gz")
    papers = {"PKG-INFO", "pyproject.toml", "README.md", "LICENSE", "hatch_build.py", ".gitignore"}
    with tarfile.open(archive) as unpacked:
        held = {member.name.split("/", 1)[1] for member in unpacked if member.isfile()}
    assert held == papers | {f"src/{name}" for name in package}


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was released since this was written is not tried by surprise."""
    path = tmp_path_factory.mktemp("pinned") / "constraints.txt"
    lines = (HERE / "requirements.txt").read_text("utf-8").splitlines()
    path.write_text("\n".join(line.removesuffix(" \\") for line in lines if "==" in line), "utf-8")
    return path


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_a_fresh_environment_runs_them_too(
    built: Path, pinned: Path, kind: str, service: dict[str, Any], tmp_path: Path
) -> None:
    (package,) = built.glob(kind)
    venv.create(tmp_path / "env")
    python = tmp_path / "env/bin/python"
    quietly = ("--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2")
    pip = (sys.executable, "-m", "pip", "--python", python, *quietly)
    run(*pip, "install", "--no-compile", "--constraint", pinned, package)
    samples_run(python, service)
    installed = run(python, "-c", "import keyrail, pathlib; print(pathlib.Path(keyrail.__file__).parent)").strip()
    assert str(tmp_path) in installed
    for shared in SHARED:
        assert Path(installed, shared).read_bytes() == (HERE.parent / "core/src" / shared).read_bytes()
    assert Path(installed, "py.typed").exists()
