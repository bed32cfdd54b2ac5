"""Copies the JSON files that decide about failures from the TypeScript core: both languages decide by the same files."""

import os
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHARED = ("classification.json", "readMethods.json")


class CopySharedFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Copies them when the whole repository is there. A source distribution has the copies already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Run by hatchling before it builds."""
        top = Path(self.root)
        for name in SHARED:
            source = top.parent / "core/src/failure" / name
            if source.exists():
                # Renamed into place: another build or program may read the copy at the same time.
                partial = top.parent / f".{name}.{os.getpid()}"
                shutil.copyfile(source, partial)
                partial.replace(top / "src/keyrail/failure" / name)
