"""Encode the columns of a table: numbers as one block, text and dates column by column."""

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

CATEGORIES = 40
"""Text with fewer distinct values is one-hot encoded; text with more is embedded by its letters."""
_WHOLE = 2**24
"""The largest integer up to which single precision is exact."""
_ALMOST_INFINITE = 1e38
_FAR = 4.0
"""Distance from 0, in interquartile ranges, from which the median of a column is subtracted."""
_NUMBERS_AT_A_TIME = 250_000
"""Most values in double precision at a time, few enough to stay in the cache of a processor."""


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Encode a `conformed` table as a float32 matrix, in which missing values are NaN.

    Numbers and booleans are not changed, except numbers that are so large and close together that single precision
    would merge them, such as seconds since 1970: their median is subtracted. Text with fewer than 40 distinct values is
    one-hot encoded; other text is embedded in thirty numbers that describe its spelling. Dates become year, month, day,
    hour and seconds. Columns that are empty or constant in training are dropped. Categories not seen in training are
    encoded as zeros.

    All columns of numbers are one block, without an overhead per column. Only text and dates have their own encoders.

    Parameters
    ----------
    random_state : int
        Seed of the embedding of text.

    Attributes
    ----------
    feature_names_in_ : array of str
        The columns of the table.
    names_, origins_ : arrays of str of shape (n_features,)
        Names of the features, and the column of each. Features are in the order of the columns.
    numbers_ : int array
        Indices of the columns of numbers.
    centers_ : array
        What is subtracted from each column of numbers: 0 for most.
    categories_ : int array
        Indices of the columns of categories.
    one_hot_ : OneHotEncoder or None
        Encoder of all categories.
    others_ : int array
        Indices of the columns of dates, and of text with many values.
    encoders_ : list
        Encoders of these columns, one each.
    places_ : int array of shape (n_features,)
        Position of each feature in the output, for numbers first, then categories, then the others.

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
        """Fit medians, categories and embeddings."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pl.DataFrame, y: Any = None) -> Vector:  # noqa: ARG002
        """Fit to a table and encode it."""
        import polars as pl

        columns = X.get_columns()
        self.feature_names_in_ = np.array(X.columns, dtype=np.str_)
        plain = np.flatnonzero([column.dtype.is_float() or column.dtype == pl.Boolean for column in columns])
        self.numbers_, self.centers_ = _used_numbers(X, plain)
        texts = [j for j, column in enumerate(columns) if column.dtype == pl.String and _varies(_text(column))]
        few = {j for j in texts if _text(columns[j]).n_unique() < CATEGORIES}
        dates = [j for j, column in enumerate(columns) if column.dtype == pl.Datetime and _varies(column)]
        self.categories_ = np.array(sorted(few), dtype=np.intp)
        self.others_ = np.array(sorted({*texts, *dates} - few), dtype=np.intp)
        self.one_hot_ = _one_hot(_texts(X, self.categories_)) if few else None
        self.encoders_: list[Any] = []
        embedded = [self._encoded(columns[j]) for j in self.others_]
        self._name_features()
        if not self.names_.size:
            raise InvalidSampleError(
                "no column can be used: in the training rows, each is empty or has a single value; check the table"
            )
        return self._filled(X, embedded)

    def transform(self, X: pl.DataFrame) -> Vector:
        """Encode the rows of a table with the columns of the training table, in the same order."""
        if [name.rstrip("\0") for name in X.columns] != self.feature_names_in_.tolist():  # NumPy strips trailing NULs
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
        """Return the names of the features."""
        return self.names_.astype(object)

    def _encoded(self, column: pl.Series) -> Vector:
        """Fit the encoder of a column of dates or of text with many values, and encode it."""
        import polars as pl
        from skrub import DatetimeEncoder, StringEncoder

        is_text = column.dtype == pl.String
        self.encoders_.append(StringEncoder(random_state=self.random_state) if is_text else DatetimeEncoder())
        with warnings.catch_warnings():
            # Text with few distinct letters is embedded in fewer numbers; a user cannot do anything about it.
            warnings.filterwarnings("ignore", "The matrix shape is", UserWarning)
            encoded: Vector = self.encoders_[-1].fit_transform(_text(column)).to_numpy()
        return encoded

    def _name_features(self) -> None:
        """Set the names of the features, in the order of the columns, and the position of each."""
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
        """Fill the output matrix; what is infinite in single precision becomes NaN."""
        widths = [part.shape[1] for part in embedded]
        ends = np.cumsum([self.numbers_.size, self.places_.size - self.numbers_.size - sum(widths), *widths])
        of_numbers, of_categories, *of_others = np.split(self.places_, ends[:-1])
        result = np.full((X.height, self.places_.size), np.nan, dtype=np.float32)
        numbers, texts = _numbers(X, self.numbers_), _texts(X, self.categories_)
        for rows in _parts(X.height, self.places_.size):
            part = result[rows]
            with np.errstate(over="ignore"):
                if of_numbers.size:
                    part[:, _slice_of(of_numbers)] = numbers[rows].to_numpy() - self.centers_
                if self.one_hot_ is not None:
                    part[:, of_categories] = self.one_hot_.transform(texts[rows].to_numpy())
                for places, values in zip(of_others, embedded, strict=True):
                    part[:, places] = values[rows]
            infinite = np.isinf(part)
            if infinite.any():
                part[infinite] = np.nan
        return result


def _slice_of(places: IntVector) -> IntVector | slice:
    """Return consecutive places as a slice, which is much faster to write to."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == places.size else places


def _used_numbers(X: pl.DataFrame, plain: IntVector) -> tuple[IntVector, Vector]:
    """Return which of these columns are neither empty nor constant, and what to subtract from each."""
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
    """Return the median of numbers that are large and mostly close together; 0 for others."""
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
    """Replace blank strings by missing values; dates are not changed."""
    import polars as pl

    return column.set(column.str.strip_chars() == "", None) if column.dtype == pl.String else column


def _varies(column: pl.Series) -> bool:
    """Whether a column is informative: two values, or one value and missing ones."""
    return column.null_count() < column.len() and column.n_unique() > 1


def _one_hot(texts: pl.DataFrame) -> Any:
    from sklearn.preprocessing import OneHotEncoder

    # No category is dropped: unknown ones would be encoded like it.
    return OneHotEncoder(handle_unknown="ignore", dtype=np.float32, sparse_output=False).fit(texts.to_numpy())


def _parts(n_rows: int, width: int) -> Iterator[slice]:
    """Split the rows so that few values are in double precision at a time."""
    step = max(1, _NUMBERS_AT_A_TIME // max(width, 1))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _told_apart(names: Sequence[str], origins: Sequence[str]) -> list[str]:
    """Make names unique: the column is appended to duplicates.

    >>> _told_apart(["a_b", "a_b", "c"], ["a", "a_b", "c"])
    ["a_b (of 'a')", "a_b (of 'a_b')", 'c']
    """
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name} (of {origin!r})" for name, origin in zip(names, origins, strict=True)
    ]
