"""TopFractionClassifier: classify the best fraction of all instances as positive."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.frozen import FrozenEstimator

from headrank._numbers import rate
from headrank._types import ArrayLike, IntVector, Vector
from headrank.curve import RocCurve
from headrank.deciders.thresholded import LabelledRows, ThresholdedScorer, scores_of
from headrank.estimators._labelled import Labelled
from headrank.estimators.cv.folds import splits_of
from headrank.exceptions import InvalidSampleError
from headrank.measures import MassConstrainedError

_CONSTANT = 1e-9
"""Scores whose spread, relative to the largest, is below this are constant up to rounding."""
_TIED = 1e-12
"""Scores that differ by less than this, relative to their size and spread, are tied up to rounding."""


class TopFractionClassifier(ThresholdedScorer):
    """Any scorer, with the threshold above which the best fraction ``top`` of all instances lies.

    Classification with a mass constraint (Clémençon & Vayatis 2007, section 2): among all classifiers that predict a
    share u of the instances positive, the one that predicts the best u positive has the least error. The threshold is
    the empirical quantile Q = inf{z : F(z) >= 1 - u} of the scores of the training rows; all rows tied at Q are
    classified as positive. It has no guarantee: for a guaranteed share of alerts, see `threshold_at` with ``top``.

    Parameters
    ----------
    estimator : estimator
        A scorer with ``decision_function`` or ``predict_proba``.
    top : float in (0, 1], default=0.1
        Fraction of all instances to classify as positive: the paper's u.
    cv : int, splitter, iterable of (train, test) or None, default=5
        Folds, as in `LinearRankerCV`. The quantile is computed from out-of-fold scores, on the scale of
        ``estimator_``. None uses the scores of the training rows, as in the paper: one fit instead of cv + 1, and
        appropriate for a scorer from a small class. A flexible scorer gives its training rows more extreme scores: see
        the notes.

    Attributes
    ----------
    estimator_ : estimator
        The fitted scorer.
    threshold_ : float
        A row is classified as positive if its score by ``estimator_`` is at least this.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. ``classes_[1]`` is the positive class.

    Notes
    -----
    The scorers of the folds may differ in scale from the final one and from each other. So the scores of each are
    shifted and scaled to the mean and standard deviation of the final one on the rows that both were fitted to. Ranks
    among those rows would not need this assumption, but carry no information in the gap that a flexible scorer leaves
    between the two classes of its training rows.

    Share of new rows classified as positive when 10 % were requested, mean ± root mean squared error over 30 samples of
    1,000 overlapping normal rows, a tenth of them positive: random forest 6.9 ± 6.7 % with its training scores,
    10.0 ± 0.9 % with 5 folds, 9.9 ± 2.4 % with ranks; logistic regression 9.8 ± 0.8 %, 9.8 ± 0.9 % and
    9.7 ± 1.0 %. When 1 % were requested: random forest 0.1 ± 0.9 %, 1.1 ± 0.5 % and 1.1 ± 0.5 %.

    A scorer in scikit-learn's ``FrozenEstimator`` is not fitted, and all rows are used for the quantile.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> classifier = TopFractionClassifier(LogisticRegression(max_iter=1000), top=0.1).fit(X, y)
    >>> round(float(classifier.predict(X).mean()), 2), round(classifier.score(X, y), 2)
    (0.1, 0.9)
    """

    threshold_: float

    def __init__(self, estimator: Any, *, top: float = 0.1, cv: Any = 5) -> None:
        self.estimator = estimator
        self.top = top
        self.cv = cv

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Fit the scorer to all rows and compute the quantile of their scores.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Passed to the scorer.
        y : array-like of shape (n_rows,)
            Two classes; the second in sorted order is the positive one.
        sample_weight, qid : array-like of shape (n_rows,), optional
            Passed to the scorer's ``fit``. The quantile is weighted too; folds do not split queries.
        """
        top = rate("top", self.top, above_zero=True)
        rows = LabelledRows(X, y, sample_weight, qid).without_absent()
        positive = self._positive(rows)
        splits = None
        if self.cv is not None and not isinstance(self.estimator, FrozenEstimator):
            labelled = Labelled.of(positive, rows.weights, rows.queries)
            try:
                splits = splits_of(labelled, self.cv, X, y, sample_weight, qid, random_state=0, measured=False)
            except InvalidSampleError as error:
                raise type(error)(f"{error}, or set cv=None to use the scores of the training rows") from None
        self._fit_scorer(rows)
        own = np.asarray(scores_of(self.estimator_, rows.X), dtype=np.float64)
        scores, of_rows = own, np.arange(own.size)
        if splits is not None:
            scores = np.concatenate([self._scores_out_of_fold(rows, split, own) for split in splits])
            of_rows = np.concatenate([held_out for _, held_out in splits])
        curve = RocCurve.from_scores(positive[of_rows], scores, None if rows.weights is None else rows.weights[of_rows])
        quantile = curve.quantile(top)
        # Rescaling rounds. Rows tied with the quantile must be classified as positive all the same.
        at_quantile = own[np.abs(own - quantile) <= _TIED * (abs(quantile) + own.std())]
        self.threshold_ = float(min(quantile, at_quantile.min(initial=np.inf)))
        return self

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return 1 - `MassConstrainedError`: the accuracy for the best ``top`` of *these* rows, with ties split.

        So classifiers are compared at the same share of positive predictions. If positives are rare, the accuracy of
        `predict` would favour the one that happens to predict fewer positives.
        """
        error = MassConstrainedError(self.top)
        return 1 - error(y, self.decision_function(X), sample_weight=sample_weight, pos_label=self.classes_[1])

    @property
    def _lowest_flagged(self) -> float:
        return self.threshold_

    def _scores_out_of_fold(self, rows: LabelledRows, split: tuple[IntVector, IntVector], own: Vector) -> Vector:
        """Return the scores of the rows that a fold leaves out, on the scale of ``own``, those of the final scorer."""
        fitted, held_out = split
        theirs = np.asarray(scores_of(self._fitted_to(rows.take(fitted)), rows.X), dtype=np.float64)
        weights = None if rows.weights is None else rows.weights[fitted]
        # On rows that both were fitted to, so that both overfit them alike.
        (mean, spread), (their_mean, their_spread) = (_moments(each[fitted], weights) for each in (own, theirs))
        factor = spread / their_spread if their_spread else 0.0
        return factor * theirs[held_out] + (mean - factor * their_mean)  # unchanged if the scorers agree


def _moments(scores: Vector, weights: Vector | None) -> tuple[float, float]:
    """Mean and standard deviation; the latter is 0 if the scores differ by rounding only."""
    mean = float(np.average(scores, weights=weights))
    spread = float(np.sqrt(np.average((scores - mean) ** 2, weights=weights)))
    return mean, spread if spread > _CONSTANT * float(np.abs(scores).max()) else 0.0
