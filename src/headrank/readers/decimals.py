"""Decimal marks: numbers with another mark than the expected one raise, and are not silently read as text."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from headrank.exceptions import InvalidSampleError

if TYPE_CHECKING:
    import polars as pl

    from headrank.readers.opening import TableFile

_EXPONENT = "([eE][+-]?[0-9]+)?"
_WITH_COMMA = rf"^\s*[+-]?[0-9]*,[0-9]+{_EXPONENT}\s*$"
_WITH_POINT = rf"^\s*[+-]?([0-9]*\.[0-9]+{_EXPONENT}|[0-9]{{1,3}}(\.[0-9]{{3}})+(,[0-9]+)?)\s*$"
_WHOLE = r"^\s*[+-]?[0-9]+\s*$"
_FIRST = 100
"""Values that are looked at before all values are."""
HOW = "with decimal=',', on the command line --decimal ,"


def refuse_other_decimals(file: TableFile, frame: pl.DataFrame, text: Collection[str] = ()) -> None:
    """Raise if all values of a text column are numbers with the other decimal mark, except in columns of ``text``."""
    import polars as pl

    if not file.is_text or file.layout.decimal == ".":
        return
    other = _WITH_POINT if file.has_decimal_commas else _WITH_COMMA
    for column in frame:
        if column.dtype != pl.String or column.name in text:
            continue
        values = column.drop_nulls()
        if not all(_are_numbers(part, other) for part in (values.head(_FIRST), values)):
            continue
        row = column.str.contains(other).fill_null(value=False).arg_true()[0]
        advice = (
            "expected decimal commas: remove the points, or drop the column"
            if file.has_decimal_commas
            else f"read decimal commas {HOW}, or remove commas between thousands; if these are not numbers, say so "
            "with decimal='.' (--decimal .)"
        )
        raise InvalidSampleError(
            f"column {column.name!r} of {file} has numbers such as {column[row]!r} in row {row + 1:,}; {advice}"
        )


def _are_numbers(values: pl.Series, other: str) -> bool:
    marked = values.str.contains(other)
    return bool(marked.any() and (marked | values.str.contains(_WHOLE)).all())


def as_float(text: pl.Series, *, commas: bool) -> pl.Series:
    """Convert stripped text to numbers; what is none becomes missing, and with decimal commas so does a point.

    >>> import polars as pl
    >>> as_float(pl.Series(["1,5", "2", "1.500"]), commas=True).to_list()
    [1.5, 2.0, None]
    """
    import polars as pl

    if commas:
        text = text.set(text.str.contains(".", literal=True), None).str.replace(",", ".", literal=True)
    return text.cast(pl.Float64, strict=False)
