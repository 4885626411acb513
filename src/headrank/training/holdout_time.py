"""Times of rows, and a holdout of the latest ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from headrank._format import percent, shown
from headrank._types import ArrayLike, BoolVector, IntVector
from headrank.exceptions import InvalidSampleError
from headrank.training.columns import as_kind, kind_of
from headrank.training.holdout import LEAST_HELD_OUT, N_FOLDS, Split, checked_share

if TYPE_CHECKING:
    import polars as pl


def check_times(times: ArrayLike, name: str = "times") -> npt.NDArray[Any]:
    """Return times as numbers or datetime64, all comparable and none missing, or raise."""
    values = np.asarray(times)
    if values.ndim != 1 or values.dtype.kind not in "iufM":
        raise InvalidSampleError(
            f"{name} must be one number or date per row, got shape {values.shape} and type {values.dtype}; convert "
            "dates to datetime64"
        )
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]")
        missing = np.isnat(values)
    else:
        missing = ~np.isfinite(values)
    if missing.any():
        raise InvalidSampleError(
            f"{name} has {int(missing.sum()):,} missing values in {values.size:,} rows; drop or fill them"
        )
    if values.size and values.min() == values.max():
        raise InvalidSampleError(
            f"{name}: all {values.size:,} rows have the same time, {printed_time(values[0])}, so there is no past to "
            "train on; name another column"
        )
    return values


def times_of(column: pl.Series, where: str) -> npt.NDArray[Any]:
    """Read a column of times: dates, dates with times, or numbers such as years. ``where`` names it in errors.

    >>> import polars as pl
    >>> times_of(pl.Series(["2024-02-29", "2024-03-01"]), "column 'day'").astype(str).tolist()
    ['2024-02-29T00:00:00.000000', '2024-03-01T00:00:00.000000']
    """
    if n_missing := column.null_count():
        raise InvalidSampleError(
            f"{where} has {n_missing:,} missing times in {column.len():,} rows; drop these rows or fill them"
        )
    kind = kind_of(column)
    if kind not in ("date", "number"):
        raise InvalidSampleError(
            f"{where} cannot be read as times: expected dates like 2024-02-29 or 2024-02-29 17:30:00, or numbers, got "
            f"{str(column[_first_unreadable(column)])!r}; convert the column"
        )
    return check_times(as_kind(column, kind).to_numpy(), where)


def _first_unreadable(column: pl.Series) -> int:
    """Return the number of the first value that is no date; the first of all if the others are none either."""
    for row in range(min(column.len(), 1000)):
        if kind_of(column[row : row + 1]) not in ("date", "number"):
            return row
    return 0


def printed_time(value: Any) -> str:
    """Print a time: a date, with hours and minutes if it has any, or a number.

    >>> printed_time(np.datetime64("2024-02-29T00:00")), printed_time(np.datetime64("2024-02-29T17:30:10"))
    ('2024-02-29', '2024-02-29 17:30')
    >>> printed_time(np.float64(2024.0))
    '2024'
    """
    if not isinstance(value, np.datetime64):
        return str(int(value)) if float(value).is_integer() else shown(float(value))
    is_midnight = value == value.astype("datetime64[D]")
    return str(value.astype("datetime64[D]" if is_midnight else "datetime64[m]")).replace("T", " ")


def split_latest(
    y: BoolVector, times: npt.NDArray[Any], queries: IntVector | None = None, *, holdout: float = 0.3
) -> Split:
    """Hold out the latest rows: as near as possible to a share of all, without dividing rows of equal time.

    The models are trained on the past. What is proved from the holdout holds for new rows that are distributed like
    those of the holdout's period, not like those of training: the theorems about independent rows are applied to the
    holdout alone, given the models. If the distribution also changes within this period, the threshold keeps its budget
    for the average over the period: the number of rows above a fixed score is then a sum of independent indicators with
    different probabilities, whose lower tail is at most that of the binomial with the same mean (Hoeffding 1956,
    Theorem 4, for risks below 1/4).

    Parameters
    ----------
    y : bool array of shape (n,)
        Which rows are positive.
    times : array of shape (n,)
        From `check_times`.
    queries : int array of shape (n,), optional
        Query of each row; all rows of a query must have the same time.
    holdout : float in (0, 1), default=0.3
        The share to hold out.

    Examples
    --------
    >>> years = np.repeat([2020, 2021, 2022, 2023], 25)
    >>> parts = split_latest(np.arange(100) % 3 == 0, years)
    >>> parts.holdout.size, int(years[parts.train].max()), int(years[parts.holdout].min())
    (25, 2022, 2023)
    """
    share = checked_share(holdout)
    if queries is not None:
        require_one_value(times, queries, "times", "query")
    distinct, counts = np.unique(times, return_counts=True)
    later = times.size - np.cumsum(counts)[:-1]  # rows after each time but the last
    first = distinct[1 + int(np.argmin(np.abs(later / times.size - share)))]
    aside = times >= first
    counted = (
        np.ones(y.size, dtype=bool) if queries is None else np.isin(queries, np.intersect1d(queries[y], queries[~y]))
    )
    for name, rows in (("positive", counted & y), ("negative", counted & ~y)):
        n_train, n_held = int(np.count_nonzero(rows & ~aside)), int(np.count_nonzero(rows & aside))
        if n_train < N_FOLDS or n_held < LEAST_HELD_OUT:
            raise InvalidSampleError(
                f"expected at least {N_FOLDS} {name} rows for training and {LEAST_HELD_OUT} for the holdout, but there "
                f"are {n_train:,} before {printed_time(first)} and {n_held:,} from then on, the latest "
                f"{percent(round(float(aside.mean()), 3))} of the rows; change the holdout share, or use more rows"
            )
    return Split(np.flatnonzero(~aside), np.flatnonzero(aside))


def require_one_value(values: npt.NDArray[Any], units: IntVector, what: str, unit: str) -> None:
    """Raise if rows of one unit (query, group) have different values."""
    order = np.lexsort((values, units))
    differs = (np.diff(units[order]) == 0) & (values[order][1:] != values[order][:-1])
    if differs.any():
        n = np.unique(units[order][1:][differs]).size
        raise InvalidSampleError(
            f"rows of one {unit} must have the same {what}, because each {unit} is kept whole, but {n:,} of "
            f"{np.unique(units).size:,} have several; give each {unit} one value"
        )
