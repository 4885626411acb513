"""Several tables read as one: the same columns, in any order, with types that fit all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headrank.exceptions import InvalidSampleError
from headrank.readers.opening import TableFile

if TYPE_CHECKING:
    import polars as pl

Reread = Callable[[TableFile, list[str]], "pl.DataFrame"]
"""Reads some columns of a text file as text."""


def refuse_different_columns(first: TableFile, columns: Sequence[str], file: TableFile, others: Sequence[str]) -> None:
    """Raise unless two files have the same columns, in any order."""
    for name in columns:
        if name not in others:
            raise ValueError(f"{file} has no column {name!r}, but {first} has; files read together need equal columns")
    for name in others:
        if name not in columns:
            raise ValueError(
                f"{file} has a column {name!r}, but {first} has none; files read together need equal columns"
            )


def stacked(files: Sequence[TableFile], frames: Sequence[pl.DataFrame], reread: Reread) -> pl.DataFrame:
    """Join the rows. The type of a column is the one that it would have in a single file.

    Numbers in one file and text in another are text, exactly as in the files: those are read again. A column without
    any value takes the type of the others.
    """
    import polars as pl

    names = frames[0].columns
    as_text = [name for name in names if _is_mixed([frame[name] for frame in frames])]
    parts = []
    for file, frame in zip(files, frames, strict=True):
        again = [name for name in as_text if frame[name].dtype != pl.String]
        if again and file.is_parquet:
            kinds = ", ".join(sorted({str(one[again[0]].dtype) for one in frames}))
            raise InvalidSampleError(f"column {again[0]!r} has different types in these files: {kinds}; convert {file}")
        parts.append(frame.with_columns(reread(file, again)) if again else frame)
    return pl.concat([_retyped(part, parts).select(names) for part in parts], how="vertical_relaxed")


def _is_mixed(columns: Sequence[pl.Series]) -> bool:
    """Whether the types of columns with values cannot be joined as numbers."""
    kinds = {column.dtype for column in columns if column.null_count() < column.len()}
    return len(kinds) > 1 and not all(kind.is_numeric() for kind in kinds)


def _retyped(part: pl.DataFrame, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Give columns without any value the type of the first file that has one."""
    changes = []
    for column in part:
        if column.null_count() < column.len():
            continue
        known = (other[column.name] for other in parts)
        found = next((other.dtype for other in known if other.null_count() < other.len()), column.dtype)
        changes.append(column.cast(found))
    return part.with_columns(changes)
