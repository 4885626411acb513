"""The linear family: `LinearRankerCV` on scaled features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from headrank._types import ArrayLike, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._labelled import Labelled
from headrank.estimators._matrix import checked_matrix
from headrank.estimators._scorer import admitted
from headrank.estimators.combined.scaled_features import OnScaledFeatures
from headrank.estimators.cv.candidates import DEFAULTS, learned_by, target_of
from headrank.estimators.cv.cross_validation import LinearRankerCV
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks, open_rows
from headrank.solvers import Step
from headrank.surrogates import KINDS


class ScaledLinear(OnScaledFeatures):
    """`LinearRankerCV` on features that a `SoftScaler` has scaled; sparse features are taken as they are.

    Parameters
    ----------
    measure, cv, n_jobs, random_state, verbose
        As in `LinearRankerCV`.
    one_hot : sequence of int, optional
        Features that are codes of categories.

    Attributes
    ----------
    ranker_ : LinearRankerCV
        The choice.
    means_ : array
        Of the scaled features in training.
    numbers_, codes_, scaler_
        As in `OnScaledFeatures`.
    """

    ranker_: LinearRankerCV
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
        present = Labelled.of(positive, sample_weight, qid).present
        counted = self._scaled(X if present is None else X[present])  # rows of weight 0 have no say in the scales
        features = counted if present is None else self._features(X)
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
        return self._adopt(counted)

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
            present = Labelled.of(positive, sample_weight, qid).present
            features = features if present is None else features[present]
        return self._adopt(features)

    def _adopt(self, features: Any) -> Self:
        self.means_ = open_rows(features).combine(np.full(features.shape[0], 1 / features.shape[0]))
        self.collapsed_ = self.ranker_.collapsed_
        return self

    def _block_scores(self, blocks: Blocks) -> Vector:
        return self._scores(blocks)

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
        return self._by_column(of_features, self.ranker_.intercept_ + float(self.means_ @ weights))


def _surrogates_for(measure: Measure) -> tuple[str, ...]:
    """Return the surrogates that can learn the measure, or the nearest one; those of classifiers can learn any."""
    return tuple(name for name in DEFAULTS if KINDS[learned_by(name)].supports(target_of(measure, name)))
