"""Read a sheet of an Excel workbook as if it had been saved as CSV, so that both files give the same table."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from headrank._extras import needs_extra

if TYPE_CHECKING:
    import polars as pl

_NO_TIME = " 00:00:00"
"""How fastexcel prints the time of a cell that contains a date."""


def sheet_as_csv(path: Path, sheet: str | None) -> bytes:
    """Return a sheet as CSV text: dates as 2024-01-31, rows without a value left out. Raises if it is ambiguous.

    A workbook has at most a million rows; it is read as a whole, and kept until two others have been read.
    """
    state = path.stat()
    return _text(path, sheet, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2)
def _text(path: Path, sheet: str | None, _changed: int, _size: int) -> bytes:
    with needs_extra("excel"):
        import fastexcel
    with needs_extra("cli"):
        import polars as pl
    try:
        names = fastexcel.read_excel(path).sheet_names
        cells = pl.read_excel(
            path,
            sheet_name=_chosen(path, names, sheet),
            has_header=False,
            infer_schema_length=0,
            raise_if_empty=False,
        )
    except fastexcel.FastExcelError as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"{path} cannot be read as .xlsx: {reason}; open it in Excel and save it again") from error
    if cells.width > 1:
        cells = cells.filter(~pl.all_horizontal(pl.all().is_null()))
    return cells.with_columns(map(_without_times, cells)).write_csv(include_header=False).encode()


def _chosen(path: Path, names: list[str], sheet: str | None) -> str:
    listed = ", ".join(map(repr, names))
    if sheet is None:
        if len(names) > 1:
            raise ValueError(
                f"{path} has {len(names)} sheets: {listed}; name one with sheet=..., on the command line --sheet NAME"
            )
        return names[0]
    if sheet not in names:
        raise ValueError(f"{path} has no sheet {sheet!r}; it has {listed}")
    return sheet


def _without_times(column: pl.Series) -> pl.Series:
    """Remove the time of dates, unless a row has one; the first row is the header."""
    below = column[1:].drop_nulls()
    if not below.len() or not below.str.ends_with(_NO_TIME).all():
        return column
    return column.str.strip_suffix(_NO_TIME)
