"""The linear family: features scaled, missing values filled in, then `LinearRankerCV`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from headrank._types import ArrayLike, IntVector, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import Scorer, admitted
from headrank.estimators.cv.candidates import DEFAULTS, learned_by, target_of
from headrank.estimators.cv.cross_validation import LinearRankerCV
from headrank.estimators.scaling import SoftScaler
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks, open_rows
from headrank.rows.block import Block
from headrank.solvers import Step
from headrank.surrogates import KINDS

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


class ScaledLinear(Scorer):
    """`LinearRankerCV` on features that a `SoftScaler` has scaled; sparse features are taken as they are.

    Parameters
    ----------
    measure, cv, n_jobs, random_state, verbose
        As in `LinearRankerCV`.
    one_hot : sequence of int, optional
        Features that are codes of categories. Each becomes indicators of its most frequent codes, 100 at most, so that
        any number of categories fits into memory; other codes, and NaN, give zeros.

    Attributes
    ----------
    numbers_ : int array
        The features that are scaled.
    codes_ : dict of int to array
        Of each feature in ``one_hot``, the codes that have an indicator.
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
    _takes_blocks = True

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        one_hot: Sequence[int] | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.measure = measure
        self.one_hot = one_hot
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Scale, choose and fit."""
        X, positive = admitted(self, X, y)
        self.codes_ = {j: _most_frequent(X[:, j]) for j in self.one_hot or ()}
        self.numbers_ = np.setdiff1d(np.arange(X.shape[1]), list(self.codes_))
        self.scaler_ = (
            None
            if hasattr(X, "nnz")
            else SoftScaler().fit(_without_infinities(X[:, self.numbers_] if self.codes_ else X))
        )
        features = self._features(X)
        self.ranker_ = LinearRankerCV(
            self.measure,
            surrogates=_surrogates_for(measure_of(self.measure)),
            cv=self.cv,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
        )
        self.ranker_.fit(features, positive, sample_weight, qid)
        self.ranker_.set_params(verbose=0)
        self.out_of_fold_ = self.ranker_.out_of_fold_
        return self._adopt(features)

    def refit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        callback: Callable[[Step], None] | None = None,
    ) -> Self:
        """Fit the selection to other rows, without selecting or scaling anew. Blocks are scaled in each pass."""
        X, y, sample_weight, qid = unpacked(self, X, y, sample_weight, qid)
        X, positive = admitted(self, X, y)
        features = self._features(X)
        if isinstance(X, Blocks):
            self.__dict__.pop("feature_names_in_", None)  # it is given matrices without names, as in memory
            self.ranker_.refit(features, callback=callback)
        else:
            self.ranker_.refit(features, positive, sample_weight, qid)
        return self._adopt(features)

    def _adopt(self, features: Any) -> Self:
        self.means_ = open_rows(features).combine(np.full(features.shape[0], 1 / features.shape[0]))
        self.collapsed_ = self.ranker_.collapsed_
        return self

    def _features(self, X: Any) -> Any:
        """Scale to single precision; blocks in each pass."""
        if self.scaler_ is None:
            return X
        scaling = Scaling(self.scaler_, self.numbers_, self.codes_)
        if isinstance(X, Blocks):
            return X.mapped(scaling.of_block, n_features=scaling.n_features, dtype=np.float32)
        return scaling.of(X)

    def _block_scores(self, blocks: Blocks) -> Vector:
        return self._scores(blocks)

    def feature_names(self, names: Sequence[str]) -> list[str]:
        """Return the names of the scaled features, given those of the features."""
        if self.scaler_ is None:
            return list(names)
        indicators = [f"{names[j]} = category {code:g}" for j, codes in self.codes_.items() for code in codes]
        return [*self.scaler_.get_feature_names_out([names[j] for j in self.numbers_]), *indicators]

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
        result = np.zeros((X.shape[0], X.shape[1] + 1))
        result[:, self.numbers_] = of_features[:, : self.numbers_.size]
        if self.scaler_ is not None:  # whether a value is missing is a feature of the same column
            end = self.numbers_.size + self.scaler_.gaps_.size
            result[:, self.numbers_[self.scaler_.gaps_]] += of_features[:, self.numbers_.size : end]
            for j, codes in self.codes_.items():
                result[:, j] = of_features[:, end : end + codes.size].sum(axis=1)
                end += codes.size
        result[:, -1] = self.ranker_.intercept_ + float(self.means_ @ weights)
        return result


def _surrogates_for(measure: Measure) -> tuple[str, ...]:
    """Return the surrogates that can learn the measure, or the nearest one; those of classifiers can learn any."""
    return tuple(name for name in DEFAULTS if KINDS[learned_by(name)].supports(target_of(measure, name)))


def _most_frequent(codes: Vector) -> Vector:
    """Return the most frequent codes, in increasing order; at least one, whatever it is."""
    found, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:_MOST_INDICATORS]
    return np.sort(found[kept]) if found.size else np.zeros(1)


def _without_infinities(X: Vector) -> Vector:
    """Return X with NaN for infinities; X itself if there are none."""
    infinite = np.isinf(X)
    return np.where(infinite, np.nan, X) if infinite.any() else X
