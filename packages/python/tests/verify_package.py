"""Both distributions install into a fresh environment, and the samples of the README and the guide run there."""

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
# The path of each shared file in the package, and of its source.
SHARED = {
    "failure/classification.json": "core/src/failure/classification.json",
    "testing/providers.json": "msw/src/faults/providers.json",
}
DOCS = HERE.parents[1] / "docs"
GUIDE = (DOCS / "python.md", *sorted((DOCS / "python").glob("*.md")))
# All tests share one service.
pytestmark = pytest.mark.xdist_group("package")


def run(*command: str | Path, cwd: Path = HERE, env: dict[str, str] | None = None) -> str:
    environment = {**os.environ, **(env or {})}
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment)
    if result.returncode and "connection broken" in result.stderr:
        pytest.skip("packages cannot be downloaded: is there a network?")
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, Any]]:
    with start_dev() as started:
        yield started


def read_samples(page: Path, service: dict[str, Any]) -> list[str]:
    """Return the samples of a page, with the URL and the key of the service."""
    samples = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert samples
    replacements = {"https://node.example": service["url"], "kr_a…": service["app"]["apiKey"]}
    return [re.sub("|".join(replacements), lambda found: replacements[found[0]], sample) for sample in samples]


def run_samples(python: str | Path, service: dict[str, Any]) -> None:
    key = service["app"]["apiKey"]
    outputs = [run(python, "-c", sample) for sample in read_samples(HERE / "README.md", service)]
    assert len(outputs) == 2
    redacted_url, number = outputs[0].split()
    assert redacted_url == f"{service['url']}/testnet/v2/…{key[-4:]}"
    assert number.isdigit()
    assert key not in "".join(outputs)


def test_the_samples_of_the_readme_run(service: dict[str, Any]) -> None:
    run_samples(sys.executable, service)


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_the_samples_of_the_guide_run(page: Path, service: dict[str, Any], tmp_path: Path) -> None:
    # Each sample of a page continues the one before.
    program = "\n".join(read_samples(page, service))
    env = {"KEYRAIL_BASE_URL": f"{service['url']}/testnet", "KEYRAIL_API_KEY": service["app"]["apiKey"]}
    output = run(sys.executable, "-W", "error::ResourceWarning", "-c", program, cwd=tmp_path, env=env)
    expected = {
        "calls": ("rejected: txRejected", "methodUnavailable"),
        "connections": (f"KeyrailProvider({service['url']}/testnet/v2/…",),
    }
    for text in expected.get(page.stem, ()):
        assert text in output
    assert service["app"]["apiKey"] not in output


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        # As in the workflow that releases it.
        patch.setenv("GITHUB_SERVER_URL", "https://git.example")
        patch.setenv("GITHUB_REPOSITORY", "someone/keyrail")
        # The wheel is built from the source distribution.
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ".")
    return out


def test_the_links_of_the_readme_work_on_other_sites(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (one for one in opened.namelist() if one.endswith("/METADATA"))
        metadata = opened.read(name).decode()
    repository = "https://git.example/someone/keyrail"
    assert f"[guide]({repository}/blob/HEAD/docs/python.md)" in metadata
    assert f"Project-URL: Source, {repository}/tree/HEAD/packages/python\n" in metadata
    assert re.findall(r"\]\((?!https://)[^)]*", metadata) == []


def test_each_distribution_contains_the_listed_files_only(built: Path) -> None:
    source = HERE / "src/keyrail"
    modules = [path.relative_to(source).as_posix() for path in source.rglob("*.py")]
    package = {f"keyrail/{name}" for name in [*modules, "methods.json", "py.typed", *SHARED]}
    licence = (HERE.parents[1] / "LICENSE").read_bytes()

    (wheel,) = built.glob("*.whl")
    metadata = f"{wheel.name.split('-py3')[0]}.dist-info"
    with zipfile.ZipFile(wheel) as opened:
        assert {*opened.namelist()} == package | {
            f"{metadata}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
        }
        assert opened.read(f"{metadata}/licenses/LICENSE") == licence

    (archive,) = built.glob("*.tar.gz")
    other_files = {"PKG-INFO", "pyproject.toml", "README.md", "LICENSE", "hatch_build.py", ".gitignore"}
    with tarfile.open(archive) as unpacked:
        contents = {member.name.split("/", 1)[1] for member in unpacked if member.isfile()}
    assert contents == other_files | {f"src/{name}" for name in package}


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Constraints for pip, so that a new release of a dependency does not break the test."""
    path = tmp_path_factory.mktemp("pinned") / "constraints.txt"
    lines = (HERE / "requirements.txt").read_text("utf-8").splitlines()
    path.write_text("\n".join(line.removesuffix(" \\") for line in lines if "==" in line), "utf-8")
    return path


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_the_samples_run_in_a_fresh_environment(
    built: Path, pinned: Path, kind: str, service: dict[str, Any], tmp_path: Path
) -> None:
    (package,) = built.glob(kind)
    venv.create(tmp_path / "env")
    python = tmp_path / "env/bin/python"
    options = ("--quiet", "--disable-pip-version-check", "--no-input", "--retries", "2")
    pip = (sys.executable, "-m", "pip", "--python", python, *options)
    run(*pip, "install", "--no-compile", "--constraint", pinned, package)
    run_samples(python, service)
    installed = run(python, "-c", "import keyrail, pathlib; print(pathlib.Path(keyrail.__file__).parent)").strip()
    assert str(tmp_path) in installed
    version = run(python, "-c", "import keyrail; print(keyrail.__version__)").strip()
    assert version
    assert f"-{version}" in package.name
    for shared, source in SHARED.items():
        assert Path(installed, shared).read_bytes() == (HERE.parent / source).read_bytes()
    assert Path(installed, "py.typed").exists()
