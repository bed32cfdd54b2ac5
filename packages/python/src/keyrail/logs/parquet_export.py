"""Exports logs to a Parquet file, with a position to resume from."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ..failure.check import check, check_bool, check_range, describe, invalid
from ..failure.error import KeyrailError, create_error
from .export_file import ExportFile
from .iterate_logs import iterate_async_logs, iterate_logs
from .log_cursor import LogCursor
from .log_reader import LogReader, LogsProgress
from .parquet_columns import ParquetColumns
from .parse_filter import parse_block
from .raw_eth import RawEth

_BATCH_ROWS = 2_000
_CHECKPOINT_S = 1.0
_MAX_ROW_GROUP_SIZE = 10_000_000


@dataclass(slots=True, frozen=True)
class ExportResult:
    """A complete export."""

    path: Path
    """The Parquet file."""
    logs: int
    """The number of logs in the file, including those of earlier runs."""
    skipped: int
    """The number of logs that have the first topic of the event, but other indexed parameters. They are not in the file."""
    from_block: int
    """The first block."""
    to_block: int
    """The last block, resolved at the start of the first run."""
    resumed: bool
    """Whether an earlier run was interrupted."""
    undecoded: int = 0
    """The number of logs in the file with a parameter that cannot be decoded: a string that is not UTF-8, or data that does not match the
    ABI. Such parameters are null, and the column ``undecodedData`` has the data of the log."""


class _Export:
    def __init__(self, provider: Any, options: dict[str, Any], path: Any, overwrite: bool, row_group_size: int) -> None:
        check(isinstance(path, (str, os.PathLike)), f"path must be a path, not {describe(path)}.")
        check_bool("overwrite", overwrite)
        check_range("row_group_size", row_group_size, 1, _MAX_ROW_GROUP_SIZE, whole=True)
        self._provider = provider
        self._options = {**options, "check_reorg": True, "on_progress": self._handle_progress}
        self._on_progress = options["on_progress"]
        self._row_group_size = row_group_size
        self._path = Path(path)
        # Checks the options before a file is created.
        reader = self._reader = self._create_reader()
        check(
            "." not in str(reader.filter.get("address", "")),
            "to_parquet() does not resolve ENS names. Pass address=w3.ens.address(name).",
        )
        self._columns = ParquetColumns(reader.decoder)
        self._rows: list[tuple[Any, ...]] = []
        self._written_at = time.monotonic()
        self._file = ExportFile(self._path, self._columns.schema, overwrite)
        self._state: dict[str, Any] = {}
        self._resumed = False

    def start(self, chain_id: int) -> None:
        """Resume from the last checkpoint, if there is one."""
        settings = {
            "chain_id": chain_id,
            "from_block": parse_block("from_block", self._options["from_block"]),
            "to_block": parse_block("to_block", self._options["to_block"]),
            **self._reader.filter,
            "columns": [f"{column.name}: {column.type}" for column in self._columns.schema],
        }
        checkpoint = self._file.read_checkpoint()
        if checkpoint is None:
            self._state = {"settings": settings, "logs": 0, "skipped": 0, "undecoded": 0}
            return
        earlier = checkpoint["settings"]
        changed = sorted(name for name in {*earlier, *settings} if earlier.get(name) != settings.get(name))
        if changed:
            raise invalid(
                f"{self._path} is an unfinished export with another {' and '.join(changed)}. "
                "Use the original settings to resume, overwrite=True to start over, or another path."
            )
        self._resumed = True
        self._options |= {"cursor": checkpoint["cursor"], "to_block": checkpoint["last_block"]}
        self._state = checkpoint
        self._reader = self._create_reader()

    def get_reader(self) -> LogReader:
        """Return the reader of the logs that are missing."""
        return self._reader

    def add(self, log: Any) -> None:
        """Add a log."""
        row = self._columns.to_row(log)
        if row is None:
            self._state["skipped"] += 1
        else:
            self._state["logs"] += 1
            self._state["undecoded"] += self._columns.is_undecoded(row)
            self._rows.append(row)
        if len(self._rows) >= _BATCH_ROWS or time.monotonic() - self._written_at >= _CHECKPOINT_S:
            self.save(self._reader.cursor)

    def save(self, cursor: LogCursor | None) -> None:
        """Write the logs so far and their position to disk."""
        first, last = self._reader.range or (0, -1)
        # Nothing is known about a range above the head, not even its last block.
        if cursor is not None and first <= last:
            self._write_rows()
            self._save_checkpoint(cursor)

    def handle_failure(self, failure: KeyrailError) -> None:
        """Remove the logs of replaced blocks, so that the reader continues below them. Raises any other failure."""
        if failure.reorg is None:
            self.save(self._reader.cursor)
            raise failure
        self._write_rows()
        end, logs, place = self._file.find_end(failure.reorg.from_block)
        cursor = failure.reorg.cursor
        if place is not None and place < (cursor["next_block"], 0):
            # The batch also has logs below the replaced blocks, which are read again.
            edges = [edge for edge in cursor.get("edges", []) if edge[0] < place[0]]
            cursor = {"next_block": place[0], "next_log_index": place[1], "edges": edges}
        self._state["logs"] = logs
        self._save_checkpoint(cursor, end)
        self._options |= {"cursor": cursor, "to_block": self._state["last_block"]}
        self._reader = self._create_reader()

    def finish(self) -> ExportResult:
        """Write the Parquet file."""
        first, last = self._reader.range or (0, 0)
        if first > last and not self._resumed:
            raise create_error(
                f"from_block ({first}) is above the last block to export, which is now {last}. Call to_parquet() again later.",
                kind="lagging",
                source="node",
                retryable=True,
                method="eth_blockNumber",
            )
        self.save(self._reader.cursor)
        state, cursor = self._state, self._state["cursor"]
        if cursor["next_block"] <= state["last_block"]:
            # One of several nodes behind an endpoint may lag.
            raise create_error(
                f"The node does not have block {state['last_block']} yet. Call to_parquet() again to resume.",
                kind="lagging",
                source="node",
                retryable=True,
                method="eth_blockNumber",
            )
        self._file.finish(self._row_group_size)
        return ExportResult(
            path=self._path,
            logs=state["logs"],
            skipped=state["skipped"],
            from_block=state["first_block"],
            to_block=state["last_block"],
            resumed=self._resumed,
            undecoded=state["undecoded"],
        )

    def _write_rows(self) -> None:
        if self._rows:
            self._file.write(self._columns.to_batch(self._rows))
            self._rows = []

    def _save_checkpoint(self, cursor: LogCursor, end: int | None = None) -> None:
        if self._reader.range is not None:
            # The range of the first run: a node that lags must not make it shorter.
            self._state.setdefault("first_block", self._reader.range[0])
            self._state.setdefault("last_block", self._reader.range[1])
        self._state["cursor"] = cursor
        self._file.save_checkpoint(self._state, end)
        self._written_at = time.monotonic()

    def _create_reader(self) -> LogReader:
        return LogReader(self._provider, self._options, for_export=True)

    def _handle_progress(self, progress: LogsProgress) -> None:
        if time.monotonic() - self._written_at >= _CHECKPOINT_S:
            self.save(progress.cursor)
        if self._on_progress:
            self._on_progress(progress)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def export_logs(provider: Any, options: dict[str, Any], *file_options: Any) -> ExportResult:
    """Export the logs to a Parquet file. See ``Logs.to_parquet``."""
    eth = RawEth(provider)
    with _Export(provider, options, *file_options) as export:
        export.start(eth.chain_id)
        while True:
            try:
                for log in iterate_logs(export.get_reader(), eth):
                    export.add(log)
                return export.finish()
            except KeyrailError as failure:
                export.handle_failure(failure)


async def export_logs_async(provider: Any, options: dict[str, Any], *file_options: Any) -> ExportResult:
    """Export the logs to a Parquet file. See ``AsyncLogs.to_parquet``."""
    eth = RawEth(provider)
    with _Export(provider, options, *file_options) as export:
        export.start(await eth.chain_id)
        while True:
            try:
                async for log in iterate_async_logs(export.get_reader(), eth):
                    export.add(log)
                return export.finish()
            except KeyrailError as failure:
                export.handle_failure(failure)
