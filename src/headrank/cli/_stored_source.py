"""Input of ``headrank fit`` that stays on disk: tables above a share of memory, and tables for a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any

from headrank._memory import free_memory
from headrank.cli._failures import about_input
from headrank.cli._inputs import Input, temporary_folder, until_the_end
from headrank.cli._sources import Source, TableColumns

if TYPE_CHECKING:
    from headrank.readers.opening import Tables
    from headrank.readers.stored import Parts
    from headrank.readers.tables import Table
    from headrank.rows.pool import Pool
    from headrank.training.stored_table import StoredTable

_OF_FREE = 0.5
"""Share of the free memory that a table may take."""
_OF_KEPT = 0.25
"""Share of the memory for encoded rows that stay between two passes; the rest is for parts at work and for samples."""
_OF_TREES = 0.5
"""Share of the memory for trees that grow on all rows."""
_OF_DISK, _BYTES_KEPT = 0.5, 4
"""Share of the free disk for all others of them, and bytes of each value there."""
_JOBS = 2
"""Parts that are read at the same time."""


@dataclass(frozen=True)
class Storage:
    """How much memory a table may take, in bytes, None for half of what is free; and the address of a cluster.

    ``out`` is where the result will be: temporary files are on the same disk.
    """

    memory: float | None = None
    dask: str | None = None
    out: Path = Path("result")

    @property
    def limit(self) -> float:
        """Bytes that a table may take."""
        return _OF_FREE * free_memory() if self.memory is None else self.memory

    def on_disk(self, *inputs: Input | None) -> float | None:
        """Return about how many bytes tables would take in memory if they are to stay on disk; None if they fit."""
        from headrank.readers.stored import bytes_in_memory

        needed = 0.0
        for data in inputs:
            if data is not None:
                with about_input(data):
                    needed += bytes_in_memory(data.tables)
        return needed if self.dask is not None or needed > self.limit else None

    def temporary_folder(self) -> Path:
        """Make a folder that is removed at the end of the command."""
        return temporary_folder(beside=self.out)

    def _folder(self, n_values: int) -> Path | None:
        """Return a folder for encoded rows between two passes; None if the disk has no room for them."""
        folder = self.temporary_folder()
        return folder if _BYTES_KEPT * n_values < _OF_DISK * disk_usage(folder).free else None

    def where(self, n_values: int) -> tuple[Callable[[tuple[Callable[[], Any], ...]], Pool], str]:
        """Return how to make a pool of loaders, and its place in words. Connects to a cluster if there is one."""
        from headrank.rows.pool import LocalPool

        if self.dask is None:
            kept, folder = _OF_KEPT * self.limit, self._folder(n_values)
            return lambda loaders: LocalPool(
                loaders, _JOBS, spare=kept, folder=folder
            ), "on one machine, read from disk"
        from headrank.rows.dask import LoadedPool, connected, n_workers

        with about_input():
            client = until_the_end(connected(self.dask))
        n = n_workers(client)
        return lambda loaders: LoadedPool(client, loaders), f"on a Dask cluster of {n} worker{'s' if n != 1 else ''}"


def stored_source(data: Input, columns: TableColumns, storage: Storage, test: Input | None = None) -> Source:
    """Read labels, ids and the like of a table, and of a given holdout; their features stay on disk."""
    from headrank.training.design import HoldoutFile

    with about_input(data):
        rows, parts, n_features = _read(data, columns, storage)
    pool_of, where = storage.where(rows.n_rows * n_features)

    def stored(parts: Parts) -> StoredTable:
        from headrank.training.stored_table import StoredTable

        n = len(parts.sizes)
        words = f"{where} in {n} part{'s' if n != 1 else ''} of up to {max(parts.sizes):,} rows"
        return StoredTable(parts.loaders, parts.sizes, pool_of, words, _OF_TREES * storage.limit)

    source = columns.source_of(rows, data, stored(parts))
    if test is None:
        return source
    with about_input(test):
        other, of_other, _ = _read(test, columns.of_holdout(test), storage)
        times = columns.times_in(other, test)
    held_out = HoldoutFile(
        *(stored(of_other), other.y, test.name, test.sha256, other.qid, other.ids, other.groups), times=times
    )
    return replace(source, test=held_out)


def _read(data: Input, columns: TableColumns, storage: Storage) -> tuple[Table, Parts, int]:
    """Read what is not a feature, and find the parts and the number of features; text is converted to Parquet first."""
    from headrank.readers.stored import as_parquet, table_parts
    from headrank.readers.tables import read_roles, table_columns

    tables: Tables = as_parquet(data.tables, storage.temporary_folder(), as_text=columns.names_of_rows)
    features = [name for name in table_columns(tables) if name not in columns.special]
    return read_roles(tables, **columns.as_read), table_parts(tables, features), len(features)
