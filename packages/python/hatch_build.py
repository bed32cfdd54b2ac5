"""Copies the JSON files that the Python and TypeScript packages share."""

import os
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The folders of each file: in the packages of TypeScript, and here.
SHARED = {
    "classification.json": ("core/src/failure", "failure"),
    "readMethods.json": ("core/src/failure", "failure"),
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
