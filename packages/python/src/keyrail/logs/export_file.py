"""The files of an export: finished record batches and the position to resume from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from ..failure.check import invalid
from .check_log_cursor import check_log_cursor
from .parquet_columns import import_pyarrow

LogPlace: TypeAlias = "tuple[int, int]"
"""The block number and the index of a log."""


class ExportFile:
    """Stores an unfinished export in two files next to the Parquet file.

    ``FILE.partial`` is a stream of Arrow record batches. ``FILE.cursor`` has its valid length and the position to resume from. It is
    replaced only after the batches are on disk, so a process can be killed at any time.

    Args:
        path: The Parquet file.
        schema: The Arrow schema.
        overwrite: Whether to replace an existing file, and to start over.

    Raises:
        KeyrailError: With kind ``invalidRequest`` if the file exists, or if another process writes it.

    """

    def __init__(self, path: Path, schema: Any, overwrite: bool) -> None:
        self._arrow = import_pyarrow()
        self._path, self._schema = path, schema
        self._partial = path.with_name(f"{path.name}.partial")
        self._cursor = path.with_name(f"{path.name}.cursor")
        if path.exists() and not self._cursor.exists() and not overwrite:
            raise invalid(f"{path} exists. Pass overwrite=True to replace it, or another path.")
        self._file: BinaryIO = open(self._partial, "a+b")  # noqa: SIM115
        try:
            lock(self._file)
        except OSError:
            self._file.close()
            raise invalid(f"Another process writes {path}. Wait until it ends, or pass another path.") from None
        if overwrite:
            self._cursor.unlink(missing_ok=True)

    def read_checkpoint(self) -> dict[str, Any] | None:
        """Return what the last checkpoint stored, and cut the batches after it; None for a new export."""
        if not self._cursor.exists():
            self._cut(0)
            self._file.write(self._schema.serialize())
            return None
        try:
            checkpoint = json.loads(self._cursor.read_text("utf-8"))
            check_log_cursor(checkpoint["cursor"])
            is_valid = self._partial.stat().st_size >= checkpoint["bytes"]
        except (ValueError, KeyError, TypeError):
            is_valid = False
        if not is_valid:
            raise invalid(
                f"{self._cursor} and {self._partial} are not those of an unfinished export. "
                "Pass overwrite=True to start over, or another path."
            )
        self._cut(checkpoint["bytes"])
        return {**checkpoint}

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        options = self._arrow.ipc.IpcWriteOptions(compression="zstd")
        sink = self._arrow.BufferOutputStream()
        with self._arrow.ipc.new_stream(sink, self._schema, options=options) as stream:
            stream.write_batch(batch)
            end = sink.tell()
        # The schema is at the start of the file already.
        self._file.write(sink.getvalue()[len(self._schema.serialize()) : end])

    def save_checkpoint(self, checkpoint: Mapping[str, Any], end: int | None = None) -> None:
        """Write the batches to disk, and then the position to resume from.

        Args:
            checkpoint: What ``read_checkpoint`` returns, with the ``cursor`` after the batches.
            end: The length in bytes of the valid batches. The others are removed. Default: all are valid.

        """
        self._sync(self._file)
        text = json.dumps({**checkpoint, "bytes": self._file.tell() if end is None else end}, indent=2)
        self._replace(self._cursor, text.encode())
        if end is not None:
            self._cut(end)

    def read_batches(self) -> Iterator[Any]:
        """Read the record batches."""
        self._file.flush()
        with self._arrow.OSFile(str(self._partial), "rb") as source, self._arrow.ipc.open_stream(source) as stream:
            # The end of the file is the end of the stream.
            yield from stream

    def find_end(self, block: int) -> tuple[int, int, LogPlace | None]:
        """Find the batches that have only logs below a block.

        Returns:
            Their length in bytes, their number of logs, and the first log after them.

        """
        self._file.flush()
        with self._arrow.OSFile(str(self._partial), "rb") as source, self._arrow.ipc.open_stream(source) as stream:
            end, logs = source.tell(), 0
            for batch in stream:
                numbers = batch.column("blockNumber")
                # The blocks ascend, so all later batches are above the block, too.
                if numbers[-1].as_py() >= block:
                    return end, logs, (numbers[0].as_py(), batch.column("logIndex")[0].as_py())
                end, logs = source.tell(), logs + batch.num_rows
            return end, logs, None

    def finish(self, row_group_size: int) -> None:
        """Write the Parquet file and remove the files of the unfinished export."""
        parquet = import_pyarrow("pyarrow.parquet")
        temporary = self._path.with_name(f"{self._path.name}.tmp")
        with parquet.ParquetWriter(temporary, self._schema, compression="zstd") as writer:
            for table in _group(self._arrow, self.read_batches(), row_group_size):
                writer.write_table(table, row_group_size=row_group_size)
        with open(temporary, "rb+") as written:
            self._sync(written)
        temporary.replace(self._path)
        self._cursor.unlink(missing_ok=True)
        self.close()
        self._partial.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock."""
        self._file.close()

    def _cut(self, length: int) -> None:
        self._file.truncate(length)
        self._file.seek(length)

    def _sync(self, file: BinaryIO) -> None:
        file.flush()
        os.fsync(file.fileno())

    def _replace(self, path: Path, content: bytes) -> None:
        temporary = path.with_name(f"{path.name}.tmp")
        with open(temporary, "wb") as file:
            file.write(content)
            self._sync(file)
        temporary.replace(path)


def _group(arrow: Any, batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Join batches to tables of at least this many rows. The last one may be smaller."""
    group: list[Any] = []
    for batch in batches:
        group.append(batch)
        if sum(one.num_rows for one in group) >= rows:
            yield arrow.Table.from_batches(group)
            group = []
    if group:
        yield arrow.Table.from_batches(group)


def lock(file: BinaryIO) -> None:
    """Lock a file until it is closed or the process ends.

    Raises:
        OSError: If another process has locked it.

    """
    try:
        import fcntl
    except ImportError:  # Windows.
        import msvcrt

        # Far behind the content, because a locked part cannot be read.
        file.seek(2**40)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
