"""Features on one scale, for scorers that need it: missing values filled in, categories as indicators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headrank._types import IntVector, Vector
from headrank.estimators._scorer import Scorer
from headrank.estimators.scaling import SoftScaler
from headrank.rows import Blocks
from headrank.rows.block import Block

_NUMBERS_AT_A_TIME = 50_000
"""Few enough to stay in the cache of a processor while they are scaled."""
_MOST_INDICATORS = 100
"""Of a feature that is a code of categories."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """What becomes of the features: numbers are scaled, codes of categories become indicators."""

    scaler: SoftScaler
    numbers: IntVector
    codes: dict[int, Vector]

    @property
    def n_features(self) -> int:
        """Number of features of the result."""
        return len(self.scaler.get_feature_names_out()) + sum(codes.size for codes in self.codes.values())

    def of(self, X: Any) -> Vector:
        """Return the rows in single precision, scaled some at a time."""
        n_scaled = len(self.scaler.get_feature_names_out())
        features = np.empty((X.shape[0], self.n_features), dtype=np.float32)
        step = max(1, _NUMBERS_AT_A_TIME // self.n_features)
        for start in range(0, X.shape[0], step):
            some = slice(start, start + step)
            numbers = X[some][:, self.numbers] if self.codes else X[some]
            features[some, :n_scaled] = self.scaler.transform(_without_infinities(numbers))
            end = n_scaled
            for j, codes in self.codes.items():
                features[some, end : end + codes.size] = X[some, j, None] == codes
                end += codes.size
        return features

    def of_block(self, block: Block) -> Block:
        """Return a block with these features."""
        return replace(block, X=self.of(block.X))


class OnScaledFeatures(Scorer):
    """A scorer of features that a `SoftScaler` has scaled; sparse features are taken as they are.

    Codes of categories, the features in ``one_hot``, become indicators of the most frequent codes of each, 100 at most,
    so that any number of categories fits into memory; other codes, and NaN, give zeros.

    Attributes
    ----------
    numbers_ : int array
        The features that are scaled.
    codes_ : dict of int to array
        Of each feature in ``one_hot``, the codes that have an indicator.
    scaler_ : SoftScaler or None
        None for sparse features.
    """

    one_hot: Sequence[int] | None
    numbers_: IntVector
    codes_: dict[int, Vector]
    scaler_: SoftScaler | None
    _needs_finite = False

    def _scaled(self, X: Any) -> Any:
        """Learn the scales, and return the features of these rows."""
        self.codes_ = {j: _most_frequent(X[:, j]) for j in self.one_hot or ()}
        self.numbers_ = np.setdiff1d(np.arange(X.shape[1]), list(self.codes_))
        self.scaler_ = (
            None
            if hasattr(X, "nnz")
            else SoftScaler().fit(_without_infinities(X[:, self.numbers_] if self.codes_ else X))
        )
        return self._features(X)

    def _features(self, X: Any) -> Any:
        """Scale to single precision; blocks in each pass."""
        if self.scaler_ is None:
            return X
        scaling = Scaling(self.scaler_, self.numbers_, self.codes_)
        if isinstance(X, Blocks):
            return X.mapped(scaling.of_block, n_features=scaling.n_features, dtype=np.float32)
        return scaling.of(X)

    def feature_names(self, names: Sequence[str]) -> list[str]:
        """Return the names of the scaled features, given those of the features."""
        if self.scaler_ is None:
            return list(names)
        indicators = [f"{names[j]} = category {code:g}" for j, codes in self.codes_.items() for code in codes]
        return [*self.scaler_.get_feature_names_out([names[j] for j in self.numbers_]), *indicators]

    def _by_column(self, of_features: Vector, rest: float) -> Vector:
        """Add up what the features made from one column add, with the rest in a last column."""
        n_columns = self.numbers_.size + len(self.codes_)
        result = np.zeros((of_features.shape[0], n_columns + 1))
        result[:, self.numbers_] = of_features[:, : self.numbers_.size]
        if self.scaler_ is not None:  # whether a value is missing is a feature of the same column
            end = self.numbers_.size + self.scaler_.gaps_.size
            result[:, self.numbers_[self.scaler_.gaps_]] += of_features[:, self.numbers_.size : end]
            for j, codes in self.codes_.items():
                result[:, j] = of_features[:, end : end + codes.size].sum(axis=1)
                end += codes.size
        result[:, -1] = rest
        return result


def _most_frequent(codes: Vector) -> Vector:
    """Return the most frequent codes, in increasing order; at least one, whatever it is."""
    found, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:_MOST_INDICATORS]
    return np.sort(found[kept]) if found.size else np.zeros(1)


def _without_infinities(X: Vector) -> Vector:
    """Return X with NaN for infinities; X itself if there are none."""
    infinite = np.isinf(X)
    return np.where(infinite, np.nan, X) if infinite.any() else X
