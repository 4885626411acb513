"""The linear family: features scaled, missing values filled in, then `LinearRankerCV`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from headrank._types import ArrayLike, Vector
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.cv.cross_validation import LinearRankerCV
from headrank.estimators.scaling import SoftScaler
from headrank.measures import Measure
from headrank.rows import open_rows

_NUMBERS_AT_A_TIME = 4_000_000


class ScaledLinear(Scorer):
    """`LinearRankerCV` on features that a `SoftScaler` has scaled; sparse features are taken as they are.

    Parameters
    ----------
    measure, cv, n_jobs, random_state, verbose
        As in `LinearRankerCV`.

    Attributes
    ----------
    scaler_ : SoftScaler or None
        None for sparse features.
    ranker_ : LinearRankerCV
        The choice.
    means_ : array
        Of the scaled features in training.
    """

    ranker_: LinearRankerCV
    scaler_: SoftScaler | None
    _needs_finite = False

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.measure = measure
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Scale, choose and fit."""
        X, positive = admitted(self, X, y)
        self.scaler_ = None if hasattr(X, "nnz") else SoftScaler().fit(_without_infinities(X))
        features = self._features(X)
        self.ranker_ = LinearRankerCV(
            self.measure, cv=self.cv, n_jobs=self.n_jobs, random_state=self.random_state, verbose=self.verbose
        )
        self.ranker_.fit(features, positive, sample_weight, qid)
        self.ranker_.set_params(verbose=0)
        self.out_of_fold_ = self.ranker_.out_of_fold_
        return self._adopt(features)

    def refit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Fit the selection to other rows, without selecting or scaling anew."""
        X, positive = admitted(self, X, y)
        features = self._features(X)
        self.ranker_.refit(features, positive, sample_weight, qid)
        return self._adopt(features)

    def _adopt(self, features: Any) -> Self:
        self.means_ = open_rows(features).combine(np.full(features.shape[0], 1 / features.shape[0]))
        self.collapsed_ = self.ranker_.collapsed_
        return self

    def _features(self, X: Any) -> Any:
        """Scale, some rows at a time, to single precision."""
        if self.scaler_ is None:
            return X
        n_features = len(self.scaler_.get_feature_names_out())
        features = np.empty((X.shape[0], n_features), dtype=np.float32)
        step = max(1, _NUMBERS_AT_A_TIME // n_features)
        for start in range(0, X.shape[0], step):
            some = slice(start, start + step)
            features[some] = self.scaler_.transform(_without_infinities(X[some]))
        return features

    def feature_names(self, names: Sequence[str]) -> list[str]:
        """Return the names of the scaled features, given those of the features."""
        return list(names) if self.scaler_ is None else list(self.scaler_.get_feature_names_out(names))

    def _scores(self, X: Any) -> Vector:
        scores: Vector = self.ranker_.decision_function(self._features(X))
        return scores

    def contributions(self, X: Any) -> Vector:
        """Return what each feature adds to the score of each row: its weight times its distance from the mean.

        The last column is the rest, the same for all rows.
        """
        X = checked_matrix(self, X, reset=False, finite=False)
        features, weights = self._features(X), self.ranker_.coef_
        of_features: Vector = (features.toarray() if hasattr(features, "toarray") else features) * weights
        of_features = of_features - self.means_ * weights
        result = np.empty((X.shape[0], X.shape[1] + 1))
        result[:, :-1] = of_features[:, : X.shape[1]]
        if self.scaler_ is not None:  # whether a value is missing is a feature of the same column
            result[:, self.scaler_.gaps_] += of_features[:, X.shape[1] :]
        result[:, -1] = self.ranker_.intercept_ + float(self.means_ @ weights)
        return result


def _without_infinities(X: Vector) -> Vector:
    """Return X with NaN for infinities; X itself if there are none."""
    infinite = np.isinf(X)
    return np.where(infinite, np.nan, X) if infinite.any() else X
