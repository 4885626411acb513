"""From the columns of a table to numbers: plain numbers as one block, text and dates column by column."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from headrank._types import BoolVector, IntVector, Vector
from headrank.exceptions import InvalidSampleError

if TYPE_CHECKING:
    import polars as pl

_CATEGORIES = 40
"""Text with fewer distinct values gets a feature per value; text with more is embedded by its letters."""
_WHOLE = 2**24
"""Up to here single precision has all whole numbers."""
_ALMOST_INFINITE = 1e38
_FAR = 4.0
"""Quartile ranges from 0 from which on the numbers of a column are replaced by their differences from the median."""
_NUMBERS_AT_A_TIME = 4_000_000
"""Numbers that are held in double precision at a time."""


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Encode a `conformed` table as a float32 matrix, in which missing values are NaN.

    Numbers and true/false stay as they are, except where they are so large and close together that single precision
    would merge them, as seconds since 1970: these become differences from their median. Text with fewer than 40
    distinct values becomes a feature per value, other text thirty numbers that describe its spelling; dates become
    year, month, day, hour and seconds. Columns that are empty or constant in training are left out. Values that were
    not seen in training are encoded as zeros.

    All columns of numbers are one block, which costs nothing per column but its numbers; only text and dates have
    encoders of their own.

    Parameters
    ----------
    random_state : int
        Of the embedding of text.

    Attributes
    ----------
    feature_names_in_ : array of str
        The columns of the table.
    names_, origins_ : arrays of str of shape (n_features,)
        Names of the features, and the column that each was made of; features are in the order of the columns.
    numbers_ : int array
        Which columns are numbers.
    centers_ : array
        What is subtracted from each of them: 0 for most.
    categories_ : int array
        Which columns are categories.
    one_hot_ : OneHotEncoder or None
        Of all categories together.
    others_ : int array
        Which columns are dates, or text with many values.
    encoders_ : list
        One per such column.
    places_ : int array of shape (n_features,)
        Where each feature goes: those of numbers come first, then those of categories, then the others.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"size": [1.5, None, 2.5], "colour": ["red", "none", "red"], "unit": ["cm", "cm", "cm"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour_none', 'colour_red']
    >>> encoder.transform(table)
    array([[1.5, 0. , 1. ],
           [nan, 1. , 0. ],
           [2.5, 0. , 1. ]], dtype=float32)
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: pl.DataFrame, y: Any = None) -> Self:
        """Learn medians, categories and embeddings."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pl.DataFrame, y: Any = None) -> Vector:  # noqa: ARG002
        """Learn and encode."""
        import polars as pl

        columns = X.get_columns()
        self.feature_names_in_ = np.array(X.columns, dtype=np.str_)
        plain = np.flatnonzero([column.dtype.is_float() or column.dtype == pl.Boolean for column in columns])
        self.numbers_, self.centers_ = _used_numbers(X, plain)
        texts = [j for j, column in enumerate(columns) if column.dtype == pl.String and _varies(_text(column))]
        few = {j for j in texts if _text(columns[j]).n_unique() < _CATEGORIES}
        dates = [j for j, column in enumerate(columns) if column.dtype == pl.Datetime and _varies(column)]
        self.categories_ = np.array(sorted(few), dtype=np.intp)
        self.others_ = np.array(sorted({*texts, *dates} - few), dtype=np.intp)
        self.one_hot_ = _one_hot(_texts(X, self.categories_)) if few else None
        self.encoders_: list[Any] = []
        embedded = [self._encoded(columns[j]) for j in self.others_]
        self._name_features()
        if not self.names_.size:
            raise InvalidSampleError(
                "no column says anything about the rows: in the training part each is empty or has one value; check "
                "the table"
            )
        return self._filled(X, embedded)

    def transform(self, X: pl.DataFrame) -> Vector:
        """Encode the rows of a table with the columns of the training table, in the same order."""
        if [name.rstrip("\0") for name in X.columns] != self.feature_names_in_.tolist():  # which NumPy cannot hold
            raise InvalidSampleError(
                "the columns of the table must be those of the training table, in the same order; a TableModel puts "
                "them in order"
            )
        columns = X.get_columns()
        embedded = [
            encoder.transform(_text(columns[j])).to_numpy()
            for j, encoder in zip(self.others_, self.encoders_, strict=True)
        ]
        return self._filled(X, embedded)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Names of the features."""
        return self.names_.astype(object)

    def _encoded(self, column: pl.Series) -> Vector:
        """Fit the encoder of a column of dates or of text with many values, and encode it."""
        import polars as pl
        from skrub import DatetimeEncoder, StringEncoder

        is_text = column.dtype == pl.String
        self.encoders_.append(StringEncoder(random_state=self.random_state) if is_text else DatetimeEncoder())
        with warnings.catch_warnings():
            # Text with few distinct letters is embedded in fewer numbers: nothing that a user could change.
            warnings.filterwarnings("ignore", "The matrix shape is", UserWarning)
            encoded: Vector = self.encoders_[-1].fit_transform(_text(column)).to_numpy()
        return encoded

    def _name_features(self) -> None:
        """Name the features in the order of the columns, and say where each goes."""
        columns = self.feature_names_in_
        made = [(j, str(columns[j])) for j in self.numbers_]
        if self.one_hot_ is not None:
            for j, values in zip(self.categories_, self.one_hot_.categories_, strict=True):
                made += [
                    (j, f"{columns[j]} is missing" if value is None else f"{columns[j]}_{value}") for value in values
                ]
        for j, encoder in zip(self.others_, self.encoders_, strict=True):
            made += [(j, name) for name in encoder.all_outputs_]
        order = np.argsort([j for j, _ in made], kind="stable")
        self.places_ = np.empty(order.size, dtype=np.intp)
        self.places_[order] = np.arange(order.size)
        origins = [str(columns[made[i][0]]) for i in order]
        self.origins_ = np.array(origins, dtype=np.str_)
        self.names_ = np.array(_told_apart([made[i][1] for i in order], origins), dtype=np.str_)

    def _filled(self, X: pl.DataFrame, embedded: Sequence[Vector]) -> Vector:
        """Put all features in their places; what is infinite in single precision becomes NaN."""
        widths = [part.shape[1] for part in embedded]
        ends = np.cumsum([self.numbers_.size, self.places_.size - self.numbers_.size - sum(widths), *widths])
        of_numbers, of_categories, *of_others = np.split(self.places_, ends[:-1])
        result = np.full((X.height, self.places_.size), np.nan, dtype=np.float32)
        numbers, texts = _numbers(X, self.numbers_), _texts(X, self.categories_)
        for rows in _parts(X.height, self.places_.size):
            part = result[rows]
            with np.errstate(over="ignore"):
                if of_numbers.size:
                    part[:, of_numbers] = numbers[rows].to_numpy() - self.centers_
                if self.one_hot_ is not None:
                    part[:, of_categories] = self.one_hot_.transform(texts[rows].to_numpy())
                for places, values in zip(of_others, embedded, strict=True):
                    part[:, places] = values[rows]
            part[np.isinf(part)] = np.nan
        return result


def _used_numbers(X: pl.DataFrame, plain: IntVector) -> tuple[IntVector, Vector]:
    """Return which of these columns are neither empty nor constant, and what is to be subtracted from each."""
    if not plain.size:
        return plain, np.empty(0)
    low, high = np.full(plain.size, np.nan), np.full(plain.size, np.nan)
    gaps: BoolVector = np.zeros(plain.size, dtype=bool)
    numbers = _numbers(X, plain)
    for rows in _parts(X.height, plain.size):
        block = numbers[rows].to_numpy()
        low, high = np.fmin(low, np.fmin.reduce(block)), np.fmax(high, np.fmax.reduce(block))
        gaps |= np.isnan(block).any(axis=0)
    used = np.flatnonzero(~np.isnan(low) & (gaps | (low < high)))
    largest = np.fmax(np.abs(low), np.abs(high))
    centers = np.zeros(plain.size)
    for j in np.flatnonzero((low < high) & (largest > _WHOLE) & (largest < _ALMOST_INFINITE)):
        centers[j] = _far_from_zero(numbers.to_series(int(j)).drop_nulls().to_numpy())
    return plain[used], centers[used]


def _far_from_zero(values: Vector) -> float:
    """The median of large numbers, most of which are close together; 0 for others."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float(middle) if abs(middle) > max(_WHOLE, _FAR * (high - low)) else 0.0


def _numbers(X: pl.DataFrame, columns: IntVector) -> pl.DataFrame:
    import polars as pl

    every = X.get_columns()
    return pl.DataFrame([every[j] if every[j].dtype == pl.Float64 else every[j].cast(pl.Float64) for j in columns])


def _texts(X: pl.DataFrame, columns: IntVector) -> pl.DataFrame:
    import polars as pl

    every = X.get_columns()
    return pl.DataFrame([_text(every[j]) for j in columns])


def _text(column: pl.Series) -> pl.Series:
    """Text with missing values in place of blanks; dates as they are."""
    import polars as pl

    return column.set(column.str.strip_chars() == "", None) if column.dtype == pl.String else column


def _varies(column: pl.Series) -> bool:
    """Whether there is something to learn from: two values, or one and gaps."""
    return column.null_count() < column.len() and column.n_unique() > 1


def _one_hot(texts: pl.DataFrame) -> Any:
    from sklearn.preprocessing import OneHotEncoder

    # No value is dropped, or one that was never seen would count as the dropped one.
    return OneHotEncoder(handle_unknown="ignore", dtype=np.float32, sparse_output=False).fit(texts.to_numpy())


def _parts(n_rows: int, width: int) -> Iterator[slice]:
    """Cut the rows so that not too many numbers are held in double precision at a time."""
    step = max(1, _NUMBERS_AT_A_TIME // max(width, 1))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _told_apart(names: Sequence[str], origins: Sequence[str]) -> list[str]:
    """Names of which none occurs twice: equal ones say their column.

    >>> _told_apart(["a_b", "a_b", "c"], ["a", "a_b", "c"])
    ["a_b (of 'a')", "a_b (of 'a_b')", 'c']
    """
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name} (of {origin!r})" for name, origin in zip(names, origins, strict=True)
    ]
