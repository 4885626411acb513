"""From columns to features: one encoder for all models, and the scaling for linear ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from headrank._types import IntVector, Vector
from headrank.estimators.scaling import SoftScaler
from headrank.rows import Blocks
from headrank.training.encoding import TableEncoder
from headrank.training.handover import Handover

if TYPE_CHECKING:
    pass

BLOCK_ROWS = 50_000
"""Rows to score at a time, here and in a `TableModel`, so that memory stays constant.

Another block size changes scores in the last digit, because BLAS adds in another order."""


class Matrix(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Convert a table of numbers or a sparse matrix to a float64 array; values that are not finite become NaN.

    The features are in single precision, but the last digits of products in single precision depend on the number of
    rows multiplied at a time. The score of a row must not, so the output is in double precision. A table is first
    rounded to single precision, as in training.

    >>> Matrix().fit_transform(np.array([[1, np.inf]], dtype=np.float32))
    array([[ 1., nan]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Do nothing."""
        return self

    def transform(self, X: Any) -> Vector:
        """Convert the rows."""
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
    """Keep only the columns of a sparse matrix that occur in training; other columns cost nothing.

    A matrix to transform may have more or fewer columns. Columns that did not occur in training are dropped.

    Attributes
    ----------
    numbers_ : int array
        The columns that occur, in increasing order.
    n_features_in_ : int
        Number of columns of the training matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> far = csr_array(([5.0, 7.0], ([0, 1], [3, 2_000_000_000])), shape=(2, 2_000_000_001))
    >>> OccurringFeatures().fit_transform(far).toarray()
    array([[5., 0.],
           [0., 7.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the columns that occur."""
        self.n_features_in_ = X.shape[1]
        self.numbers_ = np.unique(X.indices).astype(np.int64)
        return self

    def transform(self, X: Any) -> Any:
        """Select these columns."""
        from scipy.sparse import csr_array

        known = np.isin(X.indices, self.numbers_)
        ends = np.concatenate([[0], np.cumsum(known)])[X.indptr]
        places = np.searchsorted(self.numbers_, X.indices[known])
        return csr_array((X.data[known], places, ends), shape=(X.shape[0], self.numbers_.size))

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return the numbers of the features as names."""
        return np.array([f"feature {number}" for number in self.numbers_], dtype=object)


@dataclass(frozen=True, eq=False)
class Features:
    """Encoded training and holdout rows, and the steps that encode them.

    Attributes
    ----------
    steps : tuple of (str, transformer)
        Fitted steps from the columns of a table, or a sparse matrix, to features.
    train, holdout : float32 array, or CSR matrix
        The rows. Missing values are NaN.
    names : tuple of str
        Names of the features.
    origins : tuple of str
        The column of each feature.
    every : Blocks or None
        All training rows, if ``train`` is a sample of them; ``holdout`` is then a `StoredRows`.
    memory : float
        Bytes that trees may take while they grow on ``every`` row.
    """

    steps: tuple[tuple[str, Any], ...]
    train: Any
    holdout: Any
    names: tuple[str, ...]
    origins: tuple[str, ...]
    every: Blocks | None = None
    memory: float = 0.0

    @property
    def is_sparse(self) -> bool:
        """Whether the input was a sparse matrix."""
        return hasattr(self.train, "tocsr")

    def holding_out(self, rows: IntVector) -> Features:
        """Return the same with only some of the holdout rows."""
        held_out = self.holdout.part(rows) if hasattr(self.holdout, "part") else self.holdout[rows]
        return replace(self, holdout=held_out)


@dataclass(frozen=True, eq=False)
class LinearFeatures:
    """Input of the linear models: scaled training rows without missing values, and the fitted steps."""

    steps: tuple[tuple[str, Any], ...]
    train: Any
    names: tuple[str, ...]


def table_features(rows: Handover, *, random_state: int) -> Features:
    """Fit a `TableEncoder` to the training rows, and encode them and the holdout rows.

    Parameters
    ----------
    rows : Handover of two polars.DataFrame
        Training and holdout rows, `conformed`. Each is freed as soon as possible.
    random_state : int
        Seed of the embedding of text.
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
    """Keep the columns of sparse matrices that occur in training. Features are named by their numbers, from 0."""
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
    """Score the rows of a matrix, frame or stored table in blocks; dense matrices in double precision."""
    if hasattr(X, "scores"):
        stored: Vector = X.scores(model)
        return stored
    scores = np.empty(X.shape[0])
    for block in blocks(X.shape[0], rows_at_a_time):
        part = X[block]
        scores[block] = model.decision_function(part.astype(np.float64) if isinstance(part, np.ndarray) else part)
    return scores


def blocks(n_rows: int, rows_at_a_time: int = BLOCK_ROWS) -> Iterator[slice]:
    """Split a number of rows into slices.

    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, rows_at_a_time):
        yield slice(start, min(start + rows_at_a_time, n_rows))
