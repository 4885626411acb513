"""Tables that stay on disk: parts of their rows are loaded one at a time, and in any order.

Parquet files are read as they are. Text has no order but its own, so it is converted to Parquet once.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from headrank._extras import needs_extra
from headrank.readers.blocks import row_pieces
from headrank.readers.decimals import refuse_other_decimals
from headrank.readers.empty_lines import has_empty_lines, without_empty_lines
from headrank.readers.opening import MISSING, UNPACKING_ERRORS, TableFile, Tables, disk_failed
from headrank.readers.table_faults import why_unreadable
from headrank.readers.tables import first_record, table_columns
from headrank.rows.files import StampedFile, parts_of

if TYPE_CHECKING:
    import polars as pl

_PART_BYTES = 64_000_000
"""Bytes of a part, with each value in single precision."""
_BYTES_OF_VALUE = 20
"""Of memory for each value of a table that is fitted in memory: as read, as float64, split, and as a feature."""
_BYTES_OF_TEXT = 2.5
"""The same for each byte of a text file,"""
_PACKED = 4
"""which has so many times the bytes of a compressed one."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some columns of consecutive rows of a file, its name, and the number of the first of these rows, from 1."""

    frame: pl.DataFrame
    name: str
    first_row: int


@dataclass(frozen=True, eq=False)
class Parts:
    """How to load each part of a table, and how many rows it has."""

    loaders: tuple[Callable[[], Part], ...]
    sizes: tuple[int, ...]


def bytes_in_memory(tables: Tables) -> float:
    """Return about how many bytes a fit in memory would need for these tables."""
    import polars as pl

    total = 0.0
    for file in tables.files:
        if file.is_parquet:
            frame = pl.scan_parquet(file.path, glob=False)
            try:
                n_rows = frame.select(pl.len()).collect().item()
            except pl.exceptions.PolarsError as error:
                raise why_unreadable(file, error) from error
            total += _BYTES_OF_VALUE * n_rows * len(frame.collect_schema().names())
        else:
            packed = file.path.suffix.lower() == ".gz" or file.is_excel
            total += _BYTES_OF_TEXT * file.path.stat().st_size * (_PACKED if packed else 1)
    return total


def as_parquet(
    tables: Tables, folder: Path, *, as_text: Sequence[str] = (), missing: Sequence[str] = MISSING
) -> Tables:
    r"""Return the tables as Parquet files; those that are text are converted, with flat memory, into a folder.

    The type of a column is inferred from all rows of its file, as by `read_table`; columns of ``as_text`` are text.

    >>> from tempfile import TemporaryDirectory
    >>> from headrank.readers.opening import tables_of
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("id,age,sex\n1,71,f\n\n2,NA,m\n")
    ...     parts = table_parts(as_parquet(tables_of(path), Path(folder), as_text=["id"]), ["id", "age", "sex"])
    ...     print(parts.sizes, parts.loaders[0]().frame.rows())
    (2,) [('1', 71, 'f'), ('2', None, 'm')]
    """
    table_columns(tables)
    return Tables(
        tuple(
            file if file.is_parquet else _converted(file, folder, number, as_text, missing)
            for number, file in enumerate(tables.files)
        )
    )


def _converted(file: TableFile, folder: Path, number: int, as_text: Sequence[str], missing: Sequence[str]) -> TableFile:
    with needs_extra("cli"):
        import polars as pl

    plain = _plain(file, folder / f"{number}.csv")
    target = folder / f"{number}.parquet"
    columns = table_columns(Tables((file,)))
    try:
        pl.scan_csv(
            plain,
            separator=file.separator,
            decimal_comma=file.has_decimal_commas,
            null_values=list(missing),
            schema_overrides={name: pl.String for name in as_text if name in columns},
            infer_schema_length=None,
            glob=False,
        ).sink_parquet(target)
    except (pl.exceptions.PolarsError, *UNPACKING_ERRORS) as error:
        if disk_failed(error):
            raise
        raise why_unreadable(file, error) from error
    if plain != file.path:
        plain.unlink()
    refuse_other_decimals(file, pl.read_parquet(target, n_rows=100_000, glob=False), as_text)
    return TableFile(target, ".parquet", label=str(file))


def _plain(file: TableFile, copy: Path) -> Path:
    """Return a text without compression and empty lines: the file, or a copy."""
    if file.is_excel:
        with file.raw() as stream, copy.open("wb") as out:
            shutil.copyfileobj(stream, out)
        return copy
    one_column = len(table_columns(Tables((file,)))) == 1
    if one_column and file.path.suffix.lower() == ".gz":
        with gzip.open(file.path) as packed, copy.open("wb") as out:
            shutil.copyfileobj(packed, out)
        return copy
    if one_column or (file.path.suffix.lower() != ".gz" and not has_empty_lines(file)):
        return file.path
    with copy.open("wb") as out:
        with file.open() as stream:
            out.write(first_record(stream))
        for piece in row_pieces(file):
            out.write(without_empty_lines(piece))
    return copy


def table_parts(tables: Tables, names: Sequence[str]) -> Parts:
    """Cut the rows of Parquet files into parts of some columns, each of at most about 64 MB in single precision.

    A part that is loaded after its file was changed raises.
    """
    with needs_extra("cli"):
        import polars as pl

    loaders: list[Callable[[], Part]] = []
    sizes = []
    for file in tables.files:
        stamped = StampedFile.of(str(file.path))
        n_rows = pl.scan_parquet(file.path, glob=False).select(pl.len()).collect().item()
        for start, stop in parts_of(n_rows, None, 4 * len(names), _PART_BYTES):
            loaders.append(partial(_load, file, stamped, tuple(names), start, stop))
            sizes.append(stop - start)
    return Parts(tuple(loaders), tuple(sizes))


def _load(file: TableFile, stamped: StampedFile, names: tuple[str, ...], start: int, stop: int) -> Part:
    import polars as pl

    stamped.require_unchanged()
    try:
        frame = pl.scan_parquet(file.path, glob=False).select(names).slice(start, stop - start).collect()
    except pl.exceptions.PolarsError as error:
        raise why_unreadable(file, error) from error
    stamped.require_unchanged()
    return Part(frame, str(file), start + 1)
