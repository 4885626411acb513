"""Robust scaling for linear models: by median and quartiles, with soft clipping of outliers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from headrank._types import Vector

LIMIT = 3.0
"""Upper bound of scaled values."""
FARTHEST = 1e150
"""Values beyond it, before clipping, are at the bound anyway, and their squares are not finite."""
_NUMBERS_AT_A_TIME = 4_000_000
"""Most values to sort at a time."""


class SoftScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Scale features robustly, clip them softly, and impute missing values with 0, the median.

    A feature x becomes z / sqrt(1 + (z / 3)^2) with z = (x - median) / (third quartile - first quartile), as in
    Holzmüller et al. (2024) and in skrub's SquashingScaler; if the quartiles are equal, z = 2 (x - median) / (max -
    min). For each feature with missing values in training, an indicator of missing values is appended after all
    features. O(n log n) per feature.

    Attributes
    ----------
    centers_, scales_ : arrays of shape (n_features,)
        z = (x - center) * scale.
    gaps_ : int array
        The features with missing values in training.

    Examples
    --------
    >>> SoftScaler().fit_transform(np.array([[0.0, 5.0], [1.0, np.nan], [2.0, 5.0]])).round(2)
    array([[-0.95,  0.  ,  0.  ],
           [ 0.  ,  0.  ,  1.  ],
           [ 0.95,  0.  ,  0.  ]])
    """

    def fit(self, X: Vector, y: Any = None) -> Self:  # noqa: ARG002
        """Fit medians and scales."""
        n_rows, self.n_features_in_ = X.shape
        self.centers_, self.scales_ = np.zeros(self.n_features_in_), np.zeros(self.n_features_in_)
        n_known = np.empty(self.n_features_in_, dtype=np.intp)
        step = max(1, _NUMBERS_AT_A_TIME // max(n_rows, 1))
        for start in range(0, self.n_features_in_, step):
            some = slice(start, start + step)
            ordered = np.sort(X[:, some].T, axis=1)  # NaN comes last
            n_known[some] = n_rows - np.isnan(ordered).sum(axis=1)
            self.centers_[some], self.scales_[some] = _center_and_scale(ordered, n_known[some])
        self.gaps_ = np.flatnonzero(n_known < n_rows)
        return self

    def transform(self, X: Vector) -> Vector:
        """Scale the rows; the result is float64."""
        result = np.empty((X.shape[0], self.n_features_in_ + self.gaps_.size))
        scaled = result[:, : self.n_features_in_]
        with np.errstate(over="ignore"):
            np.subtract(X, self.centers_, out=scaled)
            scaled *= self.scales_
        np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
        scaled /= np.sqrt(1 + (scaled / LIMIT) ** 2)
        missing = np.isnan(X)
        scaled[missing] = 0.0
        result[:, self.n_features_in_ :] = missing[:, self.gaps_]
        return result

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features and of the missing-value indicators."""
        names = [f"x{j}" for j in range(self.n_features_in_)] if input_features is None else list(input_features)
        return np.array([*names, *(f"{names[j]} is missing" for j in self.gaps_)], dtype=object)


def _center_and_scale(ordered: Vector, n_known: Any) -> tuple[Vector, Vector]:
    """Return medians and scales of features, one per line of sorted values; 0 and 0 for lines without values."""
    lowest, first, middle, third, highest = (_quantiles(ordered, n_known, share) for share in (0, 0.25, 0.5, 0.75, 1))
    scales = np.zeros(n_known.size)
    np.divide(2, highest - lowest, out=scales, where=highest > lowest)
    np.divide(1, third - first, out=scales, where=third > first)
    return np.where(n_known > 0, middle, 0.0), scales


def _quantiles(ordered: Vector, n_known: Any, share: float) -> Vector:
    """Return the quantile of each line, with linear interpolation as in `numpy.nanquantile`."""
    place = share * np.maximum(n_known - 1, 0)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    lines = np.arange(n_known.size)
    low, high = ordered[lines, below].astype(np.float64), ordered[lines, above].astype(np.float64)
    result: Vector = low + (high - low) * (place - below)
    return result
