"""Takes the table of failures from the TypeScript core into the package: both languages decide by the same file."""

import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CopyClassification(BuildHookInterface):  # type: ignore[type-arg]
    """Copies it, where the whole repository is there. A source distribution holds the copy already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Run by hatchling before it builds."""
        top = Path(self.root)
        table = top.parent / "core/src/failure/classification.json"
        if table.exists():
            shutil.copyfile(table, top / "src/keyrail/failure/classification.json")
