"""Profile: what the rows of the holdout look like, column by column, kept with a model to recognise other rows.

A profile contains no rows. The training rows give the *bins* of each column: intervals between some of their quantiles,
and frequent categories. The holdout rows give the *counts* per bin. So the bins depend neither on the holdout nor on
new rows, and an exact test compares the counts of both: see `headrank.training.drift`. The guarantees of a model also
rest on its holdout: they hold for rows like these.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.training.columns import Column, Kind
from headrank.training.holdout_groups import one_row_each

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 20_000
"""Columns with a profile: the first ones of a table, the most frequent features of an svmlight file."""
_MOST_NUMBERS = 100_000
"""Quantiles, and categories, of all columns together,"""
_MOST_CUTS, _FEWEST_CUTS = 17, 3
"""and of each column."""
_MOST_CATEGORIES, _FEWEST_CATEGORIES = 64, 2
_LEAST_ROWS = 5
"""A category in fewer training rows is not kept: it may identify a row,"""
_LONGEST = 60
"""nor is a longer one."""
_ROWS_FOR_QUANTILES = 100_000
_FEW_ROWS = 2000
"""Up to this many rows, Python counts text faster than polars is called; there may be many columns."""
_DEPTHS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Shares of the holdout at which its scores are kept."""


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """Bins of a column, and the number of holdout rows in each.

    Attributes
    ----------
    name : str
        Name of the column; of an svmlight file, "feature" and its number.
    kind : {"number", "text", "boolean", "date"}
        Kind of its values; dates are microseconds since 1970.
    cuts : array of shape (n_cuts,)
        For numbers and dates: bin i has the values above cut i - 1, up to cut i. The first cut is just below the
        smallest value of the training rows, the last is their largest.
    categories : tuple of str
        For text and booleans: bin i has category i, and the next all others.
    complete : bool
        Whether the categories are all values of the training rows.
    counts : int array of shape (n_bins,)
        Number of holdout rows per bin; the last bin has the missing values.
    """

    name: str
    kind: Kind
    cuts: Vector
    categories: tuple[str, ...]
    complete: bool
    counts: IntVector

    @property
    def n_bins(self) -> int:
        """Number of bins, with that of the missing values."""
        return (self.cuts.size if self.is_ordered else len(self.categories)) + 2

    @property
    def is_ordered(self) -> bool:
        """Whether the bins are intervals."""
        return self.kind in ("number", "date")

    def bins(self, values: pl.Series) -> IntVector:
        """Return the bin of each value of a column, `conformed`."""
        import polars as pl

        if self.is_ordered:
            numbers = _numbers(values)
            found = np.searchsorted(self.cuts, numbers)
            found[np.isnan(numbers)] = self.n_bins - 1
            return found
        places = dict(zip(self.categories, range(len(self.categories)), strict=True))
        text = values.cast(pl.String)
        if text.len() <= _FEW_ROWS:
            others = places | {None: self.n_bins - 1}
            return np.array([others.get(each, len(places)) for each in text.to_list()], dtype=np.intp)
        known = text.replace_strict(places, default=len(places), return_dtype=pl.Int64)
        missing = text.is_null().to_numpy()
        return np.where(missing, self.n_bins - 1, known.fill_null(0).to_numpy()).astype(np.intp)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreProfile:
    """Scores of the holdout at some depths, and what was measured on it.

    Attributes
    ----------
    n_rows : int
        Rows of the holdout; one of each group or query.
    ranks : int array
        Ranks in the list, from 1; they depend on ``n_rows`` and the goal alone.
    values : array, as ``ranks``
        Scores of the rows with these ranks.
    n_flagged : int or None
        Rows that reach the threshold; None without a threshold.
    n_models : int
        Number of models among which this one was selected on the holdout.
    low, estimate, high, confidence : float
        Interval of the goal's measure, which accounts for the selection.
    """

    n_rows: int
    ranks: IntVector
    values: Vector
    n_flagged: int | None
    n_models: int
    low: float
    estimate: float
    high: float
    confidence: float

    def __post_init__(self) -> None:
        if self.ranks.shape != self.values.shape or self.ranks.ndim != 1:
            raise ValueError(f"expected one score per rank, got shapes {self.values.shape} and {self.ranks.shape}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Profile:
    """Profiles of all columns, in few arrays: as objects, they would take 100 times as long to save.

    Attributes
    ----------
    n_rows : int
        Number of holdout rows counted; one of each group or query.
    described : str
        Name, kind, number of cuts, categories and completeness of each column, as JSON.
    cuts, counts : arrays
        Cuts and counts of all columns, one after the other.
    features : int array or None
        Numbers of the features of an svmlight file; None for tables.
    scores : ScoreProfile or None
        The scores of the holdout.
    """

    n_rows: int
    described: str
    cuts: Vector
    counts: IntVector
    features: IntVector | None = None
    scores: ScoreProfile | None = None

    def __post_init__(self) -> None:
        every = self.columns()
        n_counts = sum(each.n_bins for each in every)
        if sum(each.cuts.size for each in every) != self.cuts.size or n_counts != self.counts.size:
            raise ValueError(f"the profile of {len(every)} columns has {self.counts.size} counts, expected {n_counts}")
        if self.features is not None and self.features.size != len(every):
            raise ValueError(f"the profile has {self.features.size} features, expected {len(every)}")

    @classmethod
    def of(cls, columns: Sequence[ColumnProfile], *, n_rows: int, features: IntVector | None = None) -> Profile:
        """Pack the profiles of columns."""
        described = [[each.name, each.kind, each.cuts.size, each.categories, each.complete] for each in columns]
        return cls(
            n_rows=n_rows,
            described=json.dumps(described, ensure_ascii=False),
            cuts=np.concatenate([np.zeros(0), *(each.cuts for each in columns)]),
            counts=np.concatenate([np.zeros(0, dtype=np.int64), *(each.counts for each in columns)]),
            features=features,
        )

    def columns(self) -> tuple[ColumnProfile, ...]:
        """Unpack the profiles of the columns."""
        found, cut, count = [], 0, 0
        for name, kind, n_cuts, categories, complete in json.loads(self.described):
            n_bins = (n_cuts if kind in ("number", "date") else len(categories)) + 2
            cuts, counts = self.cuts[cut : cut + n_cuts], self.counts[count : count + n_bins]
            found.append(ColumnProfile(name, kind, cuts, tuple(categories), complete, counts))
            cut, count = cut + n_cuts, count + n_bins
        return tuple(found)


def reference_rows(y: BoolVector, units: IntVector | None, random_state: int) -> IntVector | None:
    """Draw one holdout row of each group or query, all equally likely; None if all rows are counted."""
    if units is None:
        return None
    numbers = np.unique(units, return_inverse=True)[1]
    return np.sort(one_row_each(y, numbers, by_class=False, random_state=random_state))


def table_profile(train: pl.DataFrame, holdout: pl.DataFrame, columns: Sequence[Column]) -> Profile:
    """Profile a table. O(rows) per column; at most some megabytes, however wide it is.

    Parameters
    ----------
    train, holdout : polars.DataFrame
        Rows that give the bins and rows that are counted, both `conformed`.
    columns : sequence of Column
        The columns. Those that are empty have no profile, as no model uses them.
    """
    used = [each for each in columns if not each.is_empty][:_MOST_COLUMNS]
    n_ordered = sum(each.kind in ("number", "date") for each in used)
    n_cuts = _share(_MOST_CUTS, _FEWEST_CUTS, n_ordered)
    n_categories = _share(_MOST_CATEGORIES, _FEWEST_CATEGORIES, len(used) - n_ordered)
    return Profile.of(
        [_profiled(each, train[each.name], holdout[each.name], n_cuts, n_categories) for each in used],
        n_rows=holdout.height,
    )


def matrix_profile(train: Any, holdout: Any) -> Profile:
    """Profile CSR matrices, in which column j is feature j; features that are not in a row are 0. O(stored values)."""
    numbers, n_stored = np.unique(train.indices, return_counts=True)
    kept = np.sort(numbers[np.argsort(-n_stored, kind="stable")[:_MOST_COLUMNS]]).astype(np.int64)
    n_cuts = _share(_MOST_CUTS, _FEWEST_CUTS, kept.size)
    stored = np.isin(train.indices, kept)
    place, values = np.searchsorted(kept, train.indices[stored]), train.data[stored]
    order = np.argsort(place, kind="stable")
    parts = np.split(values[order], np.cumsum(np.bincount(place, minlength=kept.size))[:-1])
    cuts = [_cuts_with_zeros(np.asarray(part, dtype=np.float64), train.shape[0], n_cuts) for part in parts]
    counts = feature_counts(holdout, kept, cuts)
    profiles = [
        ColumnProfile(f"feature {number}", "number", some, (), True, count)
        for number, some, count in zip(kept.tolist(), cuts, counts, strict=True)
    ]
    return Profile.of(profiles, n_rows=holdout.shape[0], features=kept)


def feature_counts(rows: Any, features: IntVector, cuts: Sequence[Vector]) -> list[IntVector]:
    """Count the rows of a CSR matrix per bin of each feature. O(stored values x cuts)."""
    most = max((each.size for each in cuts), default=0)
    wide = np.full((features.size, most), np.inf)  # no value is above a cut at infinity
    for row, each in zip(wide, cuts, strict=True):
        row[: each.size] = each
    known = np.isin(rows.indices, features)
    place, values = np.searchsorted(features, rows.indices[known]), rows.data[known]
    bins = np.zeros(values.size, dtype=np.intp)
    for j in range(most):
        bins += values > wide[place, j]
    found = np.bincount(place * (most + 1) + bins, minlength=features.size * (most + 1)).reshape(-1, most + 1)
    absent = rows.shape[0] - np.bincount(place, minlength=features.size)
    found[np.arange(features.size), np.count_nonzero(wide < 0, axis=1)] += absent
    return [np.append(row[: each.size + 1], 0) for row, each in zip(found, cuts, strict=True)]


def score_profile(
    scores: Vector, *, top: float | None, threshold: float | None, n_models: int, interval: Any
) -> ScoreProfile:
    """Keep the scores of holdout rows at some depths. O(n log n).

    Parameters
    ----------
    scores : array of shape (n,)
        Scores of independent holdout rows.
    top : float or None
        The best fraction that matters, as one more depth.
    threshold : float or None
        Rows that reach it are flagged.
    n_models : int
        Number of models among which the scorer was selected.
    interval : Interval
        Of the goal's measure.
    """
    n = scores.size
    depths = {*_DEPTHS} | ({top} if top is not None and top < 1 else set())
    ranks = np.unique([min(max(round(depth * n), 1), n) for depth in depths])
    return ScoreProfile(
        n_rows=n,
        ranks=ranks,
        values=np.sort(scores)[::-1][ranks - 1].astype(np.float64),
        n_flagged=None if threshold is None else int(np.count_nonzero(scores >= threshold)),
        n_models=n_models,
        low=float(interval.low),
        estimate=float(interval.estimate),
        high=float(interval.high),
        confidence=float(interval.confidence),
    )


def _share(most: int, least: int, n_columns: int) -> int:
    return max(min(most, _MOST_NUMBERS // max(n_columns, 1)), least)


def _profiled(column: Column, train: pl.Series, holdout: pl.Series, n_cuts: int, n_categories: int) -> ColumnProfile:
    cuts: Vector = np.zeros(0)
    categories: tuple[str, ...] = ()
    complete = True
    if column.kind in ("number", "date"):
        cuts = _cuts(_numbers(train), n_cuts)
    elif column.kind == "boolean":
        categories = ("false", "true")
    else:
        categories, complete = _categories(train, n_categories)
    n_bins = (cuts.size if column.kind in ("number", "date") else len(categories)) + 2
    empty = ColumnProfile(column.name, column.kind, cuts, categories, complete, np.zeros(n_bins, dtype=np.int64))
    counts = np.bincount(empty.bins(holdout), minlength=n_bins)
    return ColumnProfile(column.name, column.kind, cuts, categories, complete, counts)


def _numbers(values: pl.Series) -> Vector:
    """Numbers, or dates as microseconds, with NaN for missing values."""
    import polars as pl

    if values.dtype != pl.Float64:
        values = values.cast(pl.Int64).cast(pl.Float64)
    return values.to_numpy()


def _cuts(values: Vector, n_cuts: int) -> Vector:
    present = values[~np.isnan(values)]
    if not present.size:
        return np.zeros(0)
    some = np.sort(present[:: -(-present.size // _ROWS_FOR_QUANTILES)])
    inner = some[_quantile_ranks(some.size, n_cuts)]
    return np.unique([np.nextafter(present.min(), -np.inf), *inner, present.max()])


def _quantile_ranks(n: int, n_cuts: int) -> IntVector:
    """Ranks, from 0, of the inner ones of ``n_cuts`` evenly spaced quantiles."""
    return np.ceil(np.linspace(0, 1, n_cuts)[1:-1] * n).astype(np.intp) - 1


def _cuts_with_zeros(stored: Vector, n_rows: int, n_cuts: int) -> Vector:
    """Cuts of a feature that is 0 in the rows where it is not stored."""
    stored = np.sort(stored)
    n_below = int(np.searchsorted(stored, 0.0))
    ranks = _quantile_ranks(n_rows, n_cuts)
    n_zeros = n_rows - stored.size
    inner = np.where(
        ranks < n_below,
        stored[np.minimum(ranks, stored.size - 1)],
        np.where(ranks < n_below + n_zeros, 0.0, stored[np.clip(ranks - n_zeros, 0, stored.size - 1)]),
    )
    lowest, highest = (min(stored[0], 0.0), max(stored[-1], 0.0)) if n_zeros else (stored[0], stored[-1])
    return np.unique([np.nextafter(lowest, -np.inf), *inner, highest])


def _categories(values: pl.Series, most: int) -> tuple[tuple[str, ...], bool]:
    """Frequent short values, the most frequent first, and whether they are all."""
    import polars as pl

    if values.len() <= _FEW_ROWS:
        few = Counter(each for each in values.to_list() if each is not None)
        frequent = [(-n, each) for each, n in few.items() if n >= _LEAST_ROWS and len(each) <= _LONGEST]
        return tuple(each for _, each in sorted(frequent)[:most]), len(frequent[:most]) == len(few)
    counted = values.drop_nulls().alias("value").value_counts(name="n")
    kept = counted.filter((pl.col("n") >= _LEAST_ROWS) & (pl.col("value").str.len_chars() <= _LONGEST))
    kept = kept.sort(["n", "value"], descending=[True, False]).head(most)
    return tuple(kept["value"].to_list()), kept.height == counted.height
