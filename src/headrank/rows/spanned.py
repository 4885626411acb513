"""Fewer rows than features: the rows in coordinates of their span."""

import numpy as np

from headrank._types import Vector
from headrank.rows.dense import DenseRows
from headrank.rows.protocol import Rows


def spanned(rows: Rows, n_rows: int) -> tuple[DenseRows, Vector]:
    """Return Z of shape (n_rows, n_rows) and an orthonormal basis B of shape (n_features, n_rows) with X = Z B^T.

    Weights B z give the same scores as z on Z and have the same norm. Minimising over z is therefore equivalent to
    minimising over all weights: a component outside the span changes no score and only adds to the norm. By QR, which
    needs no decision on the rank: O(n_rows^2 n_features), with a dense copy of the rows.

    >>> Z, basis = spanned(DenseRows(np.array([[3.0, 0.0, 4.0]])), 1)
    >>> float(abs(Z.X[0, 0])), basis.shape
    (5.0, (3, 1))
    """
    basis, triangle = np.linalg.qr(rows.combine(np.eye(n_rows)).T)
    return DenseRows(np.ascontiguousarray(triangle.T)), basis
