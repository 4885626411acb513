"""Rows of which most columns are nearly empty, as those of encoded categories are."""

from dataclasses import dataclass

import numpy as np

from headrank._types import IntVector, Vector
from headrank.rows.dense import DenseRows
from headrank.rows.protocol import Rows
from headrank.rows.sparse import SparseRows

_FEW = 0.05
"""Share of nonzeros up to which a column is stored as sparse: one nonzero costs as much as some 20 dense numbers."""
_MOST_COPIED = 20_000_000
_BLOCK_ROWS = 16_384
_BLOCK_NUMBERS = 1_000_000


@dataclass(frozen=True, eq=False)
class MixedRows:
    """A copy of dense rows, with nearly empty columns in a sparse matrix of float64."""

    dense: DenseRows
    sparse: SparseRows
    dense_columns: IntVector
    sparse_columns: IntVector

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return self.dense_columns.size + self.sparse_columns.size

    def scores(self, weights: Vector) -> Vector:
        """X @ weights."""
        scores = self.dense.scores(weights[self.dense_columns])
        scores += self.sparse.scores(weights[self.sparse_columns])
        return scores

    def combine(self, coef: Vector) -> Vector:
        """The product coef @ X, for one vector or several."""
        combined: Vector = np.empty((*coef.shape[:-1], self.n_features))
        combined[..., self.dense_columns] = self.dense.combine(coef)
        combined[..., self.sparse_columns] = self.sparse.combine(coef)
        return combined

    def moments(self, coef: Vector) -> tuple[Vector, Vector]:
        """The products coef @ X and X.T @ diag(coef) @ X."""
        first: Vector = np.empty(self.n_features)
        second: Vector = np.empty((self.n_features, self.n_features))
        for rows, columns in ((self.dense, self.dense_columns), (self.sparse, self.sparse_columns)):
            first[columns], second[np.ix_(columns, columns)] = rows.moments(coef)
        across = self._across(coef)
        second[np.ix_(self.sparse_columns, self.dense_columns)] = across
        second[np.ix_(self.dense_columns, self.sparse_columns)] = across.T
        return first, second

    def _across(self, coef: Vector) -> Vector:
        """The second moments of sparse columns with dense ones, from the rows that have any of the former."""
        total: Vector = np.zeros((self.sparse_columns.size, self.dense_columns.size))
        present = np.flatnonzero((np.diff(self.sparse.X.indptr) > 0) & (coef > 0))
        for start in range(0, present.size, _BLOCK_ROWS):
            rows = present[start : start + _BLOCK_ROWS]
            total += self.sparse.X[rows].T @ (self.dense.X[rows] * coef[rows, None])
        return total


def condensed(rows: DenseRows) -> Rows:
    """Copy rows with nearly empty columns to a storage whose passes are shorter; return others as they are.

    A copy is made if it is at most half as large as the rows, and for a limited number of them. The search for nearly
    empty columns takes about as long as two passes.

    >>> X = np.zeros((40, 3))
    >>> X[:, 0], X[7, 1:] = 1.0, 2.0
    >>> rows = condensed(DenseRows(X))
    >>> type(rows).__name__, rows.scores(np.array([1.0, 2.0, 3.0]))[6:8]
    ('MixedRows', array([ 1., 11.]))
    """
    from scipy.sparse import csr_array, vstack

    X, n_rows = rows.X, rows.X.shape[0]
    n_block = max(_BLOCK_NUMBERS // X.shape[1], 1)
    blocks = [X[start : start + n_block] for start in range(0, n_rows, n_block)]
    n_filled = np.sum([np.count_nonzero(block, axis=0) for block in blocks], axis=0)
    dense, empty = np.flatnonzero(n_filled > _FEW * n_rows), np.flatnonzero(n_filled <= _FEW * n_rows)
    # A nonzero is stored with the number of its column.
    if n_rows * dense.size + 2 * n_filled[empty].sum() > min(X.size / 2, _MOST_COPIED):
        return rows
    parts = [csr_array(np.take(block, empty, axis=1), dtype=np.float64) for block in blocks]
    others = SparseRows(vstack(parts).tocsr())
    return MixedRows(DenseRows(np.take(X, dense, axis=1)), others, dense, empty) if dense.size else others
