"""What the columns of a table look like, in both classes: a few numbers each, small enough for a report.

skrub's TableReport shows more, but it is a page of its own that needs JavaScript and weighs some hundred kilobytes, and
its ids are drawn at random; the report has to be one small file with the same bytes for the same input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._format import quantity, rounded_percent
from headrank._types import BoolVector, Vector
from headrank.training.columns import Column, Kind
from headrank.training.holdout_time import printed_time

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 40
_MOST_ROWS = 50_000
"""Rows that are summarized: of a longer table every k-th."""
_BINS = 12
_OUTER = 0.01
"""Share of the rows in each tail that the outermost bars include."""
_VALUES = 3
_LONGEST = 24
"""Letters of a value that are shown."""


@dataclass(frozen=True)
class ColumnSummary:
    """What a column looks like.

    Attributes
    ----------
    name, kind : str
        As in `Column`.
    n_missing, n_distinct : int
        Number of missing values, and of distinct other values, in all rows.
    low, high : str
        Least and greatest value of numbers and dates; otherwise empty.
    values : tuple of str
        The most frequent values of text and booleans; empty for numbers and dates.
    of_positives, of_others : tuple of str
        The median of numbers and dates in each class; for the others the share of each of ``values``.
    pos_shares, neg_shares : tuple of float
        Histogram of numbers and dates: the share of each class per bin. The outermost bins include what lies beyond.
    """

    name: str
    kind: Kind
    n_missing: int
    n_distinct: int
    low: str = ""
    high: str = ""
    values: tuple[str, ...] = ()
    of_positives: tuple[str, ...] = ()
    of_others: tuple[str, ...] = ()
    pos_shares: tuple[float, ...] = ()
    neg_shares: tuple[float, ...] = ()


def column_summaries(table: pl.DataFrame, y: BoolVector, columns: Sequence[Column]) -> tuple[ColumnSummary, ...]:
    """Summarize the first 40 columns of a `conformed` table. O(rows) each, on at most 50,000 rows.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "sex": ["f", "m", "f", "f"]})
    >>> y = np.array([False, False, True, True])
    >>> age, sex = column_summaries(frame, y, [Column("age", "number", 0, 4), Column("sex", "text", 0, 2)])
    >>> (age.low, age.high, age.of_positives, age.of_others), (sex.values, sex.of_positives, sex.of_others)
    (('20', '50', ('45',), ('25',)), (('f', 'm'), ('100 %', '0 %'), ('50 %', '50 %')))
    """
    step = -(-table.height // _MOST_ROWS)
    rows = table.gather_every(step) if step > 1 else table
    classes = y[::step]
    return tuple(_summarized(rows.get_column(each.name), classes, each) for each in columns[:_MOST_COLUMNS])


def _summarized(series: pl.Series, y: BoolVector, column: Column) -> ColumnSummary:
    there = series.is_not_null().to_numpy()
    given = series.filter(there)
    of_class = y[there]
    known: dict[str, Any] = {}
    if given.len() and column.kind in ("number", "date"):
        known = _of_numbers(given, of_class)
    elif given.len():
        known = _of_values(given, of_class)
    return ColumnSummary(column.name, column.kind, column.n_missing, column.n_distinct, **known)


def _of_numbers(series: pl.Series, y: BoolVector) -> dict[str, Any]:
    import polars as pl

    is_date = series.dtype == pl.Datetime
    numbers = (series.cast(pl.Int64) if is_date else series).to_numpy().astype(np.float64)

    def shown(value: float) -> str:
        return printed_time(np.datetime64(int(value), "us")) if is_date else quantity(value)

    def middle(values: Vector) -> tuple[str, ...]:
        return (shown(float(np.median(values))),) if values.size else ("",)

    low, high = (float(each) for each in np.quantile(numbers, (_OUTER, 1 - _OUTER)))
    if low == high:  # nearly all values are the same
        low, high = float(numbers.min()), float(numbers.max())
    edges = np.linspace(low, high, _BINS + 1) if low < high else np.linspace(low - 0.5, low + 0.5, _BINS + 1)
    of_row = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, _BINS - 1)
    shares = [np.bincount(of_row[rows], minlength=_BINS) / max(int(rows.sum()), 1) for rows in (y, ~y)]
    return {
        "low": shown(float(numbers.min())),
        "high": shown(float(numbers.max())),
        "of_positives": middle(numbers[y]),
        "of_others": middle(numbers[~y]),
        "pos_shares": tuple(shares[0].round(4).tolist()),
        "neg_shares": tuple(shares[1].round(4).tolist()),
    }


def _of_values(series: pl.Series, y: BoolVector) -> dict[str, Any]:
    import polars as pl

    text = series.cast(pl.String)
    counts = pl.DataFrame({"value": text, "pos": y}).group_by("value").agg(n=pl.len(), n_pos=pl.col("pos").sum())
    # The most frequent first, then by name: the order of groups is not defined.
    most = counts.sort(["n", "value"], descending=[True, False]).head(_VALUES)
    n_pos = max(int(y.sum()), 1)
    n_neg = max(y.size - int(y.sum()), 1)
    return {
        "values": tuple(_short(value) for value in most["value"].to_list()),
        "of_positives": tuple(rounded_percent(n / n_pos) for n in most["n_pos"].to_list()),
        "of_others": tuple(rounded_percent(n / n_neg) for n in (most["n"] - most["n_pos"]).to_list()),
    }


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
