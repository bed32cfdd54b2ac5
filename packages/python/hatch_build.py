"""Copies the JSON files that the Python and TypeScript packages share, and links the README to the repository."""

import os
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# The folders of each file: in the packages of TypeScript, and here.
SHARED = {
    "classification.json": ("core/src/failure", "failure"),
    "providers.json": ("msw/src/faults", "testing"),
}


class CopySharedFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Copies the files when the build runs in the repository. A source distribution already contains them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Copy the files. hatchling calls this before a build."""
        top = Path(self.root)
        for name, (origin, folder) in SHARED.items():
            source = top.parent / origin / name
            if source.exists():
                # Renamed into place, because another build or program may read the copy at the same time.
                partial = top.parent / f".{name}.{os.getpid()}"
                shutil.copyfile(source, partial)
                partial.replace(top / "src/keyrail" / folder / name)


class LinkToRepository(MetadataHookInterface):
    """Makes the links of the README absolute, because it is shown on another site, and adds the URLs of the project.

    The repository is that of the GitHub workflow. The sources do not name it, because a fork has another one.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README and the URLs. hatchling calls this before a build."""
        readme = Path(self.root, "README.md").read_text("utf-8")
        name = os.environ.get("GITHUB_REPOSITORY")
        if name:
            repository = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
            folder = f"{repository}/blob/HEAD/packages/python/"
            readme = re.sub(r"(?<=\]\()\.\.?/[^)]+", lambda found: urljoin(folder, found[0]), readme)
            metadata["urls"] = {
                "Homepage": repository,
                "Documentation": f"{repository}/blob/HEAD/docs/python.md",
                "Source": f"{repository}/tree/HEAD/packages/python",
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/releases",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
