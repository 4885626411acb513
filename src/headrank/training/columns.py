"""The columns of a table: their kinds, and whether another table matches them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headrank._suggestions import did_you_mean
from headrank.exceptions import InvalidSampleError

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["number", "text", "boolean", "date"]

_DATE_FORMATS = tuple(
    f"%Y{sign}%m{sign}%d{time}"
    for sign in "-/"
    for time in ("", " %H:%M", " %H:%M:%S%.f", "T%H:%M", "T%H:%M:%S%.f", "T%H:%M:%S%.fZ")
)
"""Tried on each value separately, so that the meaning of a date does not depend on the rows before it."""
_PROBE = 100
"""Number of values to try before the whole column."""
_TRUTH = {"true": True, "t": True, "1": True, "1.0": True, "false": False, "f": False, "0": False, "0.0": False}
_NAMES_SHOWN = 10
_FEW_ROWS = 20


@dataclass(frozen=True)
class Column:
    """A feature column of the training table.

    Attributes
    ----------
    name : str
        Name in the table.
    kind : {"number", "text", "boolean", "date"}
        Kind of its values. Integers are numbers, categories are text.
    n_missing, n_distinct : int
        Number of missing values, and of distinct other values, in all rows.
    """

    name: str
    kind: Kind
    n_missing: int = 0
    n_distinct: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether all values were missing, so that no model needs it."""
        return self.n_missing > 0 and self.n_distinct == 0


def columns_of(frame: pl.DataFrame) -> tuple[Column, ...]:
    """Determine the kind of each column of a table. O(rows) per column.

    Integers, floats, decimals, durations and times of day (both in seconds) are numbers. Categories are text. A text
    column in which every value is an ISO date (2024-02-29, with or without a time) is a date, and one in which every
    value is a number is a number. Dates in other formats are text: nothing is guessed.

    Parameters
    ----------
    frame : polars.DataFrame
        The features.

    Raises
    ------
    InvalidSampleError
        If a column contains lists, structs, bytes or objects.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [71, None], "since": ["2024-02-29", "2023-01-01"], "sex": ["f", "m"]})
    >>> [(column.name, column.kind, column.n_missing) for column in columns_of(frame)]
    [('age', 'number', 1), ('since', 'date', 0), ('sex', 'text', 0)]
    """
    nested = [f"{name!r} ({dtype})" for name, dtype in frame.schema.items() if _kind_of_type(dtype) is None]
    if nested:
        raise InvalidSampleError(
            f"features must be numbers, text, true/false or dates, but the table has {listed(nested)}; convert them, "
            "or leave them out with --drop"
        )
    return tuple(_described(series) for series in frame)


def conformed(
    frame: Any, columns: Sequence[Column], *, ignored: Collection[str] = (), first_row: int = 1
) -> pl.DataFrame:
    """Select the columns by name, in their stored order, each as its kind: Float64, String, Boolean or Datetime.

    Columns that were empty in training may be absent; they are always returned empty. No value is silently replaced by
    a missing one, except infinite numbers, which no model can use. Columns of matching types are not copied.

    Parameters
    ----------
    frame : polars or pandas DataFrame
        The table.
    columns : sequence of Column
        The columns to select.
    ignored : names
        Other columns that the table may have.
    first_row : int, default=1
        Number of the first row in messages, for a block of a longer table.

    Raises
    ------
    InvalidSampleError
        If a column is missing, unknown or duplicated, or a value cannot be converted; the message names it.

    Examples
    --------
    >>> import polars as pl
    >>> conformed(pl.DataFrame({"sex": ["f"], "age": ["71"]}), [Column("age", "number"), Column("sex", "text")]).row(0)
    (71.0, 'f')
    >>> conformed(pl.DataFrame({"Age": [71]}), [Column("age", "number")])
    Traceback (most recent call last):
    headrank.exceptions.InvalidSampleError: the table lacks the column 'age' (did you mean 'Age'?); the model needs it
    """
    import polars as pl

    needed = [column.name for column in columns if not column.is_empty]
    unused = [column.name for column in columns if column.is_empty]
    _refuse_other_columns([str(name) for name in frame.columns], needed, {*unused, *ignored})
    table = frame if isinstance(frame, pl.DataFrame) else from_pandas(frame, needed)
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, len(frame))
    return pl.DataFrame(
        [
            nothing.alias(column.name)
            if column.is_empty
            else as_kind(table.get_column(column.name), column.kind, first_row)
            for column in columns
        ]
    )


def _refuse_other_columns(present: list[str], needed: list[str], ignored: Collection[str]) -> None:
    known, there = {*needed, *ignored}, Counter(present)
    extra = [name for name in present if name not in known]
    missing = [name for name in needed if name not in there]
    if missing:
        named = []
        for name in missing:
            question = did_you_mean(name, extra)
            named.append(f"{name!r}" + (f" ({question})" if question else ""))
        many = len(missing) > 1
        raise InvalidSampleError(
            f"the table lacks the column{'s' if many else ''} {', '.join(named)}; the model needs "
            f"{'them' if many else 'it'}"
        )
    repeated = sorted(name for name, count in there.items() if count > 1)
    if repeated:
        raise InvalidSampleError(f"the table has two columns named {listed(map(repr, repeated))}; rename or remove one")
    if extra:
        raise InvalidSampleError(
            f"the table has {'columns' if len(extra) > 1 else 'a column'} that the model does not know: "
            f"{listed(map(repr, extra))}; leave {'them' if len(extra) > 1 else 'it'} out with --drop"
        )


def _kind_of_type(dtype: Any) -> Kind | None:
    """Return the kind of a type; None for types that cannot be features."""
    import polars as pl

    if dtype.is_numeric() or dtype in (pl.Duration, pl.Time):
        return "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return "text"
    if dtype == pl.Boolean:
        return "boolean"
    return "date" if dtype in (pl.Date, pl.Datetime) else None


def kind_of(series: pl.Series) -> Kind | None:
    """Return the kind of a column, by its type or, for text, by its values; None if it cannot be a feature."""
    kind = _kind_of_type(series.dtype)
    return _spelled(series) if kind == "text" else kind


def _described(series: pl.Series) -> Column:
    import polars as pl

    kind = kind_of(series)
    assert kind is not None
    n_missing = series.null_count()
    n_distinct = series.n_unique() - (n_missing > 0)
    if series.dtype in (pl.Float32, pl.Float64) and (n_nan := int(series.is_nan().sum())):
        n_missing, n_distinct = n_missing + n_nan, n_distinct - 1
    return Column(series.name, kind, n_missing, n_distinct)


def _spelled(series: pl.Series) -> Kind:
    """Return the kind of a text column: dates or numbers if every value is one, else text."""
    import polars as pl

    values = _without_blanks(series.drop_nulls().cast(pl.String).unique()).drop_nulls()  # categories are few
    if not values.len():
        return "text"
    spellings: tuple[Kind, ...] = ("date", "number")
    for kind in spellings:
        for part in (values.head(_PROBE), values):
            if _cast(part, kind).null_count():
                break
        else:
            return kind
    return "text"


def as_kind(series: pl.Series, kind: Kind, first_row: int = 1) -> pl.Series:
    """Convert a column to a kind, or raise and name the first value that cannot be converted."""
    import polars as pl

    dtype = series.dtype
    if kind == "number" and dtype.is_integer():
        return series.cast(pl.Float64)  # cannot fail, and tables may have very many such columns
    if kind == "number" and dtype.is_float():
        return _finite(series if dtype == pl.Float64 else series.cast(pl.Float64))
    must = f"column {series.name!r} must contain {_IN_WORDS[kind]}, as in the training table, but"
    # An integer 7 is the text "7", but 7.0 may have been "7" or "07.00".
    as_text = kind == "text" and series.dtype.is_integer()
    if _kind_of_type(series.dtype) not in _CAN_BE[kind] and not as_text:
        raise InvalidSampleError(f"{must} is of type {series.dtype}; convert it")
    if kind != "text" and series.dtype == pl.String:
        series = _without_blanks(series)
    cast = _cast(series, kind)
    if cast.null_count() > series.null_count():
        bad = int((cast.is_null() & series.is_not_null()).arg_max() or 0)
        raise InvalidSampleError(f"{must} row {first_row + bad:,} has {series[bad]!r}; correct it, or leave it empty")
    return _finite(cast) if kind == "number" else cast


def _without_blanks(text: pl.Series) -> pl.Series:
    """Replace blank strings by missing values: a blank is valid text, but not a number."""
    return text.set(text.str.strip_chars() == "", None)


_CAN_BE: dict[Kind, tuple[Kind, ...]] = {
    "number": ("number", "boolean", "text"),
    "text": ("text",),
    "boolean": ("boolean", "number", "text"),
    "date": ("date", "text"),
}
"""The kinds of column that can be converted to each kind."""
_IN_WORDS = {
    "number": "numbers",
    "text": "text",
    "boolean": "true or false",
    "date": "dates (like 2024-02-29 or 2024-02-29 17:30:00)",
}


def _cast(series: pl.Series, kind: Kind) -> pl.Series:
    """Convert values to a kind; those that cannot be converted become null."""
    import polars as pl

    dtype = series.dtype
    if kind == "text":
        return series.cast(pl.String)
    text = series.cast(pl.String).str.strip_chars() if dtype in (pl.String, pl.Categorical, pl.Enum) else None
    if kind == "number":
        if dtype == pl.Duration:
            return series.dt.total_microseconds() / 1e6
        if dtype == pl.Time:
            return series.cast(pl.Int64) / 1e9
        return (series if text is None else text).cast(pl.Float64, strict=False)
    if kind == "boolean":
        if dtype in (pl.Boolean, pl.Null):
            return series.cast(pl.Boolean)
        spelled = (series.cast(pl.Float64).cast(pl.String) if text is None else text).str.to_lowercase()
        return spelled.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
    if text is None:
        naive = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if _zoned(dtype) else series
        return naive.cast(pl.Datetime("us"))
    parsed = [text.str.to_datetime(form, strict=False, time_unit="us") for form in _DATE_FORMATS]
    return pl.select(pl.coalesce(parsed)).to_series().alias(series.name)


def _zoned(dtype: Any) -> bool:
    return getattr(dtype, "time_zone", None) is not None


def _finite(numbers: pl.Series) -> pl.Series:
    """Replace NaN, and numbers that are infinite in single precision, by missing values."""
    import polars as pl

    if numbers.len() <= _FEW_ROWS:  # an operation of polars takes longer than a few numbers
        usable = all(value is None or abs(value) <= LARGEST for value in numbers.to_list())
    else:
        usable = bool((numbers.abs() <= LARGEST).all())  # missing values are ignored
    if usable:
        return numbers
    return pl.select(pl.when(numbers.abs() <= LARGEST).then(numbers)).to_series().alias(numbers.name)


LARGEST = 3.4e38
"""Larger numbers are infinite in single precision."""


def from_pandas(frame: Any, names: list[str]) -> pl.DataFrame:
    """Convert column by column, as plain values, which requires no other library."""
    import polars as pl

    def converted(column: Any) -> Any:
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            return column.to_numpy()
        return [None if missing else value for value, missing in zip(column.tolist(), column.isna(), strict=True)]

    return pl.DataFrame([pl.Series(name, converted(frame[name]), strict=False) for name in names])


def listed(names: Any) -> str:
    """Join at most ten names, followed by the number of the others."""
    every = list(names)
    more = len(every) - _NAMES_SHOWN
    return ", ".join(every[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
