"""The files that PyInstaller must add to a program."""

from pathlib import Path


def get_hook_dirs() -> list[str]:
    """Return the folder of the hook. PyInstaller calls this through the entry point in ``pyproject.toml``."""
    return [str(Path(__file__).parent)]
