"""The hook of PyInstaller: the JSON files of the package."""  # noqa: N999

from PyInstaller.utils.hooks import collect_data_files  # type: ignore[import-untyped]

datas = collect_data_files("keyrail")
