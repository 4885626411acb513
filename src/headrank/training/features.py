"""From columns to numbers: one encoder for all models, and the scaling that linear ones need besides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from headrank._types import Vector
from headrank.estimators.scaling import SoftScaler
from headrank.training.encoding import TableEncoder
from headrank.training.handover import Handover

if TYPE_CHECKING:
    pass

BLOCK_ROWS = 50_000
"""Rows that are scored at a time, here and by a `TableModel`, so that memory stays flat.

Blocks of other sizes give other scores in the last digit: BLAS adds in another order."""


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


class OccurringFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Keep the columns of a sparse matrix that occur in training: a column that does not costs nothing.

    A matrix to transform may have more columns or fewer. What did not occur in training is left out.

    Attributes
    ----------
    numbers_ : int array
        The columns that occur, in rising order.
    n_features_in_ : int
        Columns of the training matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> far = csr_array(([5.0, 7.0], ([0, 1], [3, 2_000_000_000])), shape=(2, 2_000_000_001))
    >>> OccurringFeatures().fit_transform(far).toarray()
    array([[5., 0.],
           [0., 7.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn which columns occur."""
        self.n_features_in_ = X.shape[1]
        self.numbers_ = np.unique(X.indices).astype(np.int64)
        return self

    def transform(self, X: Any) -> Any:
        """Keep these columns."""
        from scipy.sparse import csr_array

        known = np.isin(X.indices, self.numbers_)
        ends = np.concatenate([[0], np.cumsum(known)])[X.indptr]
        places = np.searchsorted(self.numbers_, X.indices[known])
        return csr_array((X.data[known], places, ends), shape=(X.shape[0], self.numbers_.size))

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Name the features by their numbers."""
        return np.array([f"feature {number}" for number in self.numbers_], dtype=object)


@dataclass(frozen=True, eq=False)
class Features:
    """Training and holdout rows as numbers, and how they came to be.

    Attributes
    ----------
    steps : tuple of (str, transformer)
        Fitted; from the columns of a table, or of a sparse matrix, to features.
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
        return hasattr(self.train, "tocsr")


@dataclass(frozen=True, eq=False)
class LinearFeatures:
    """What linear models are trained on: scaled training rows without gaps, and the fitted steps that make them."""

    steps: tuple[tuple[str, Any], ...]
    train: Any
    names: tuple[str, ...]


def table_features(rows: Handover, *, random_state: int) -> Features:
    """Fit a `TableEncoder` to the training rows, and encode them and the holdout rows.

    Parameters
    ----------
    rows : Handover of two polars.DataFrame
        Training and holdout rows, `conformed`; each is freed as soon as possible.
    random_state : int
        Of the embedding of text.
    """
    train_rows, holdout_rows = rows.take()
    encoder = TableEncoder(random_state=random_state)
    train = encoder.fit_transform(train_rows)
    del train_rows
    holdout = np.empty((holdout_rows.height, train.shape[1]), dtype=np.float32)
    for block in blocks(holdout_rows.height):
        holdout[block] = encoder.transform(holdout_rows[block])
    names, origins = tuple(encoder.names_.tolist()), tuple(encoder.origins_.tolist())
    return Features((("table", encoder), ("matrix", Matrix())), train, holdout, names, origins)


def sparse_features(train: Any, holdout: Any) -> Features:
    """Take the columns of sparse matrices that occur in training; features are named by their numbers, from 0."""
    occurring = OccurringFeatures().fit(train)
    names = tuple(occurring.get_feature_names_out())
    steps = (("occurring", occurring),)
    return Features(steps, occurring.transform(train), occurring.transform(holdout), names, names)


def linear_features(features: Features) -> LinearFeatures:
    """Scale for linear models: tables by a `SoftScaler`, sparse features by their largest absolute value."""
    from sklearn.preprocessing import MaxAbsScaler

    if features.is_sparse:
        largest = MaxAbsScaler().fit(features.train)
        return LinearFeatures((("scale", largest),), largest.transform(features.train), features.names)
    raw = features.train
    scaler = SoftScaler().fit(raw)
    names = tuple(scaler.get_feature_names_out(features.names))
    train = np.empty((raw.shape[0], len(names)), dtype=np.float32)
    for block in blocks(raw.shape[0]):
        train[block] = scaler.transform(raw[block])
    return LinearFeatures((("scale", scaler),), train, names)


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
