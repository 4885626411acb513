"""From columns to numbers: one vectorizer for all models, and the scaling that linear ones need besides."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from headrank._types import Vector
from headrank.exceptions import InvalidSampleError

if TYPE_CHECKING:
    import polars as pl

BLOCK_ROWS = 50_000
"""Rows that are scored at a time, here and by a `TableModel`, so that memory stays flat.

Blocks of other sizes give other scores in the last digit: BLAS adds in another order."""
_WHOLE = 2**24
"""Up to here single precision has all whole numbers."""
_ALMOST_INFINITE = 1e38
_FAR = 4.0
"""Quartile ranges from 0 from which on the numbers of a column are replaced by their differences from the median."""
_NEVER_GUESSED = "dates are recognised before: %Y-%m-%d"
"""A format that no text has, as skrub would else guess one on the training rows, and make gaps or other dates of texts
in another format later."""
_CATEGORIES = 40
"""Text with fewer distinct values gets a feature per value; text with more is embedded by its letters."""


class Matrix(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A table of numbers, or a sparse matrix, as a float64 array; what is not finite becomes NaN.

    Double precision, though the features are single: products in single precision depend, in their last digits, on how
    many rows are multiplied at a time, and the score of a row must not. A table is rounded to single precision first,
    which is what models were trained on.

    >>> Matrix().fit_transform(np.array([[1, np.inf]], dtype=np.float32))
    array([[ 1., nan]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        return self

    def transform(self, X: Any) -> Vector:
        """Convert."""
        if hasattr(X, "toarray"):
            X = X.toarray()
        if hasattr(X, "to_numpy"):
            with np.errstate(over="ignore"):
                X = X.to_numpy().astype(np.float32)
        result: Vector = np.array(X, dtype=np.float64, order="C")
        result[~np.isfinite(result)] = np.nan
        return result

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Features:
    """Training and holdout rows as numbers, and how they came to be.

    Attributes
    ----------
    steps : tuple of (str, transformer)
        Fitted; from the columns to a matrix. Empty for sparse matrices, which are features already.
    train, holdout : float32 array, or CSR matrix
        Gaps are NaN.
    names : tuple of str
        Of the features.
    origins : tuple of str
        The column that each of them was made of.
    """

    steps: tuple[tuple[str, Any], ...]
    train: Any
    holdout: Any
    names: tuple[str, ...]
    origins: tuple[str, ...]

    @property
    def is_sparse(self) -> bool:
        """Whether they came as a sparse matrix."""
        return not self.steps


@dataclass(frozen=True, eq=False)
class LinearFeatures:
    """What linear models are trained on: scaled training rows without gaps, and the fitted steps that make them."""

    steps: tuple[tuple[str, Any], ...]
    train: Any
    names: tuple[str, ...]


def table_features(parts: list[pl.DataFrame], *, random_state: int) -> Features:
    """Fit the vectorizer to the training rows, and turn them and the holdout rows into numbers.

    Numbers stay as they are, gaps included, but where they are so large and close together that single precision would
    confound them, as seconds since 1970: these become differences from their median. Text becomes a feature per value,
    or thirty numbers that say how it is spelled where it has many values; dates become year, month, day, hour and
    seconds. Columns without any value, or with one value in all rows, are left out. Values that were not in training
    are as good as none.

    Parameters
    ----------
    parts : list of two polars.DataFrame
        Training and holdout rows, `conformed`. The list is emptied, so that they can be freed as soon as possible.
    random_state : int
        Of the embedding of text.
    """
    holdout_rows, train_rows = parts.pop(), parts.pop()
    vectorizer = _vectorizer(random_state, _far_from_zero(train_rows))
    with warnings.catch_warnings():
        # Text with few distinct letters is embedded in fewer numbers: nothing that a user could change.
        warnings.filterwarnings("ignore", "The matrix shape is", UserWarning)
        vectorized = vectorizer.fit_transform(train_rows)
    n_rows = train_rows.height
    del train_rows
    names = tuple(vectorized.columns)
    if not names:
        raise InvalidSampleError(
            "no column says anything about the rows: in the training part each is empty or has one value; check the "
            "table"
        )
    train = np.empty((n_rows, len(names)), dtype=np.float32)
    _fill(train, vectorized)
    del vectorized
    holdout = np.empty((holdout_rows.height, len(names)), dtype=np.float32)
    for block in blocks(holdout_rows.height):
        _fill(holdout[block], vectorizer.transform(holdout_rows[block]))
    origins = tuple(vectorizer.output_to_input_[name] for name in names)
    return Features((("table", vectorizer), ("matrix", Matrix())), train, holdout, _readable(names, origins), origins)


def sparse_features(train: Any, holdout: Any) -> Features:
    """Take sparse matrices as they are; features are named by the number of their column, from 0."""
    names = tuple(f"feature {number}" for number in range(train.shape[1]))
    return Features((), train, holdout, names, names)


def linear_features(features: Features) -> LinearFeatures:
    """Scale for linear models: about the median, by the quartiles, far values softly clipped; gaps become 0.

    A gap also gets a feature that says so. Sparse features are divided by their largest absolute value.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import MaxAbsScaler
    from skrub import SquashingScaler

    if features.is_sparse:
        largest = MaxAbsScaler().fit(features.train)
        return LinearFeatures((("scale", largest),), largest.transform(features.train), features.names)
    raw = features.train
    scaler = SquashingScaler().fit(raw)
    # 0 is the median after scaling. The imputer only needs to know which features have gaps.
    example = np.zeros((2, raw.shape[1]))
    example[1, [bool(np.isnan(raw[:, j]).any()) for j in range(raw.shape[1])]] = np.nan
    imputer = SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True, keep_empty_features=True)
    imputer.fit(example)
    steps = (("scale", scaler), ("impute", imputer))
    gaps = imputer.indicator_.features_
    train = np.empty((raw.shape[0], raw.shape[1] + gaps.size), dtype=np.float32)
    for block in blocks(raw.shape[0]):
        train[block] = Pipeline(steps).transform(raw[block])
    names = (*features.names, *(f"{features.names[j]} is missing" for j in gaps))
    return LinearFeatures(steps, train, names)


def scores_of(model: Any, X: Any, *, rows_at_a_time: int = BLOCK_ROWS) -> Vector:
    """Score the rows of a matrix or frame in blocks; a dense matrix in double precision."""
    scores = np.empty(X.shape[0])
    for block in blocks(X.shape[0], rows_at_a_time):
        part = X[block]
        scores[block] = model.decision_function(part.astype(np.float64) if isinstance(part, np.ndarray) else part)
    return scores


def blocks(n_rows: int, rows_at_a_time: int = BLOCK_ROWS) -> Iterator[slice]:
    """Cut a number of rows into slices.

    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, rows_at_a_time):
        yield slice(start, min(start + rows_at_a_time, n_rows))


def _far_from_zero(rows: pl.DataFrame) -> list[str]:
    """Columns of large numbers, most of them close together: single precision would give them one value."""
    found = []
    column: Any  # polars does not say that what it finds in numbers are numbers
    for column in rows:
        if not column.dtype.is_float() or not column.count():
            continue
        largest = column.abs().max()
        if _WHOLE < largest < _ALMOST_INFINITE:
            low, middle, high = (column.quantile(share) for share in (0.25, 0.5, 0.75))
            if abs(middle) > max(_WHOLE, _FAR * (high - low)) and column.min() < column.max():
                found.append(column.name)
    return found


def _vectorizer(random_state: int, far_from_zero: list[str]) -> Any:
    from sklearn.preprocessing import OneHotEncoder, RobustScaler
    from skrub import StringEncoder, TableVectorizer

    return TableVectorizer(
        cardinality_threshold=_CATEGORIES,
        # No value is dropped, or one that was never seen would count as the dropped one.
        low_cardinality=OneHotEncoder(handle_unknown="ignore", dtype=np.float32, sparse_output=False),
        high_cardinality=StringEncoder(random_state=random_state),
        drop_if_constant=True,
        datetime_format=_NEVER_GUESSED,
        specific_transformers=[(RobustScaler(with_scaling=False), far_from_zero)] if far_from_zero else (),
    )


def _readable(names: Sequence[str], origins: Sequence[str]) -> tuple[str, ...]:
    """The names without the random letters by which skrub keeps equal ones apart; these say their column instead.

    >>> _readable(["a_b__skrub_a5baa636__", "a_b", "c"], ["a", "a_b", "c"])
    ("a_b (of 'a')", "a_b (of 'a_b')", 'c')
    """
    plain = [re.sub(r"__skrub_[0-9a-f]+__$", "", name) for name in names]
    count = Counter(plain)
    return tuple(
        name if count[name] == 1 else f"{name} (of {origin!r})" for name, origin in zip(plain, origins, strict=True)
    )


def _fill(matrix: Vector, frame: pl.DataFrame) -> None:
    with np.errstate(over="ignore"):
        for j, column in enumerate(frame):
            matrix[:, j] = column.to_numpy()
            matrix[np.isinf(matrix[:, j]), j] = np.nan
