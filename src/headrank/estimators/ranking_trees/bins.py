"""Features cut into at most 255 bins, so that one count per bin finds the best threshold of every feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._types import IntVector, Vector

_MOST_BINS = 255
"""Of a feature, besides one for missing values: a code fits into a byte."""


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """Rows to grow trees on: one byte per value.

    Attributes
    ----------
    codes : uint8 array of shape (n_features, n_rows)
        Number of the bin of each value, feature by feature; a missing value has the number after the last bin.
    edges : tuple of arrays
        Of each feature, the upper ends of all bins but the last: halfway between two values of the training rows.
    sizes : int array
        Bins of each feature, with one for missing values if it has any.
    has_missing : bool array
        Which features have missing values.
    weights : array or None
        Of the rows.
    """

    codes: npt.NDArray[np.uint8]
    edges: tuple[Vector, ...]
    sizes: IntVector
    has_missing: npt.NDArray[np.bool_]
    weights: Vector | None

    @classmethod
    def of(cls, X: Any, weights: Vector | None) -> BinnedRows:
        """Cut the features of X into bins of about equal weight; up to 255 distinct values have a bin each.

        A strictly increasing transformation of a feature changes no bin. O(n_features n_rows log n_rows).
        """
        codes = np.empty(X.shape[::-1], dtype=np.uint8)
        edges, has_missing = [], np.zeros(X.shape[1], dtype=bool)
        for j, values in enumerate(_columns(X)):
            missing = np.isnan(values)
            has_missing[j] = missing.any()
            known = ~missing if has_missing[j] else slice(None)
            upper = _edges(values[known], None if weights is None else weights[known])
            codes[j] = np.where(missing, upper.size + 1, np.searchsorted(upper, values))
            edges.append(upper)
        sizes = np.array([upper.size + 1 for upper in edges]) + has_missing
        return cls(codes, tuple(edges), sizes, has_missing, weights)

    def weight(self, rows: IntVector) -> float:
        """Total weight of some rows; their number, an int, without weights."""
        return rows.size if self.weights is None else float(self.weights[rows].sum())

    def threshold(self, feature: int, code: int) -> float:
        """Upper end of a bin; infinite for the last one."""
        edges = self.edges[feature]
        return float(edges[code]) if code < edges.size else np.inf


def _columns(X: Any) -> Iterator[Vector]:
    """Yield the features one by one, dense."""
    if hasattr(X, "tocsc"):
        by_column = X.tocsc()
        for j in range(X.shape[1]):
            yield by_column[:, [j]].toarray().ravel()
    else:
        yield from X.T


def _edges(values: Vector, weights: Vector | None) -> Vector:
    distinct, places = np.unique(values, return_inverse=True)
    if distinct.size <= _MOST_BINS:
        last = np.arange(distinct.size - 1)
    else:
        upto = np.cumsum(np.bincount(places.ravel(), weights=weights))
        wanted = upto[-1] * np.arange(1, _MOST_BINS) / _MOST_BINS
        last = np.unique(np.searchsorted(upto, wanted).clip(max=distinct.size - 2))
    low, high = distinct[last].astype(np.float64), distinct[last + 1].astype(np.float64)
    with np.errstate(invalid="ignore"):  # of two infinities
        middle = low / 2 + high / 2
        return np.where((low <= middle) & (middle < high), middle, low)
