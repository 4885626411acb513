"""FPRBudgetClassifier: a threshold whose false positive rate is within a budget, with a guarantee."""

from __future__ import annotations

import warnings
from math import ceil
from typing import Any, Self

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from headrank._format import percent
from headrank._numbers import real, seed
from headrank._types import ArrayLike, IntVector
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.binomial import draws_needed
from headrank.bounds.threshold import Threshold, open_rate, threshold_at
from headrank.deciders.thresholded import LabelledRows, ThresholdedScorer, scores_of
from headrank.exceptions import InvalidSampleError, OneClassError, TooFewRowsError


class FPRBudgetClassifier(ThresholdedScorer):
    """Any scorer, with the lowest threshold whose false positive rate is within a budget at a given confidence.

    Part of the rows is held out, the scorer is fitted to the rest, and `threshold_at` chooses the threshold on the
    held-out rows: exact binomial order statistics, valid for any scorer and any distribution of rows. With a fitted
    scorer, wrapped in scikit-learn's ``FrozenEstimator``, all rows are used for the threshold; they must not be rows it
    was trained on. Cost: one fit, and O(n) for the threshold.

    Parameters
    ----------
    estimator : estimator
        A scorer with ``decision_function`` or ``predict_proba``.
    max_fpr : float in (0, 1), default=0.01
        The budget: the largest false positive rate allowed.
    confidence : float in (0, 1), default=0.95
        Probability, over the random sample, that the false positive rate is within the budget.
    calibration_size : float in (0, 1), default=0.3
        Share of the rows to hold out, stratified by class (share of the queries, if ``qid`` is given).
    random_state : int, RandomState or None, default=None
        Determines which rows are held out.

    Attributes
    ----------
    estimator_ : estimator
        The fitted scorer.
    threshold_ : Threshold
        Threshold on the scores of ``estimator_``, with bounds on the false and the true positive rate; printing it
        gives a sentence. ``decision_function`` returns those scores minus the threshold.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. ``classes_[1]`` is the positive class.

    Notes
    -----
    Rows are assumed to be independent. Rows of one query are not: with ``qid`` whole queries are held out, and a
    warning says that the confidence is then only nominal.

    Row weights are passed to the scorer. The threshold counts each held-out row once, as its theorem requires, and
    ignores those of weight 0.

    The default budget needs 299 held-out negatives, more than scikit-learn's ``check_estimator`` has. To run its
    checks, set ``max_fpr=0.1, confidence=0.1``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> classifier = FPRBudgetClassifier(LogisticRegression(max_iter=1000), max_fpr=0.05, random_state=0).fit(X, y)
    >>> classifier.threshold_.fpr_high <= 0.05, classifier.threshold_.n_neg
    (True, 488)
    >>> FPRBudgetClassifier(LogisticRegression(), max_fpr=0.001).fit(X, y)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    headrank.exceptions.TooFewRowsError: max_fpr=0.001 with 95 % confidence needs at least 2,995 negatives to
    choose the threshold, but calibration_size=0.3 holds out 488 of 1,623: ...
    """

    threshold_: Threshold

    def __init__(
        self,
        estimator: Any,
        *,
        max_fpr: float = 0.01,
        confidence: float = 0.95,
        calibration_size: float = 0.3,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_fpr = max_fpr
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Fit the scorer to one part of the rows and choose the threshold on the other.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Passed to the scorer.
        y : array-like of shape (n_rows,)
            Two classes; the second in sorted order is the positive one.
        sample_weight, qid : array-like of shape (n_rows,), optional
            Passed to the scorer's ``fit``; see the notes.
        """
        rows = LabelledRows(X, y, sample_weight, qid).without_absent()
        positive = self._positive(rows)
        if rows.queries is not None:
            warnings.warn(
                "rows of one query are not independent, as the theorem behind the threshold assumes: whole queries are "
                f"held out, but the confidence of {self.confidence:g} is only nominal",
                UserWarning,
                stacklevel=2,
            )
        frozen = isinstance(self.estimator, FrozenEstimator)
        fitted, held_out = (None, np.arange(positive.size)) if frozen else self._split(rows)
        self._require_rows(int(np.count_nonzero(~positive[held_out])), int(np.count_nonzero(~positive)), frozen)
        self._fit_scorer(rows if fitted is None else rows.take(fitted))
        calibration = rows.take(held_out)
        self.threshold_ = threshold_at(
            positive[held_out],
            scores_of(self.estimator_, calibration.X),
            max_fpr=self.max_fpr,
            confidence=self.confidence,
        )
        return self

    def score(self, X: Any, y: ArrayLike) -> float:
        """Return the true positive rate of `predict`, the quantity to maximise within the budget."""
        positive = np.asarray(y) == self.classes_[1]
        if not positive.any():
            raise OneClassError(f"expected rows of the positive class {self.classes_[1]!r}, but y contains none")
        return float(np.mean(self.predict(X)[positive] == self.classes_[1]))

    @property
    def _lowest_flagged(self) -> float:
        return self.threshold_.value

    def _split(self, rows: LabelledRows) -> tuple[IntVector, IntVector]:
        size = real("calibration_size", self.calibration_size)
        if not 0 < size < 1:
            raise ValueError(f"calibration_size must lie strictly between 0 and 1, got {self.calibration_size!r}")
        indices, random_state = np.arange(rows.y.size), seed(self.random_state)
        self._require_two_parts(rows, size)
        if rows.queries is None:
            fitted, held_out = train_test_split(indices, test_size=size, stratify=rows.y, random_state=random_state)
        else:
            splitter = GroupShuffleSplit(1, test_size=size, random_state=random_state)
            fitted, held_out = next(splitter.split(indices, groups=rows.queries))
        return np.sort(fitted), np.sort(held_out)

    def _require_two_parts(self, rows: LabelledRows, size: float) -> None:
        """Raise if the rows are too few to have both classes in both parts, or the queries too few to divide."""
        if rows.queries is None:
            _, counts = np.unique(rows.y, return_counts=True)
            n_rarer, n, n_least, of_what = int(counts.min()), rows.y.size, 2, "rows"
        else:
            n = n_rarer = np.unique(rows.queries).size
            n_least, of_what = 1, "queries"
        n_held_out = ceil(size * n)
        if n_rarer < 2:
            one = "class has 1 row" if rows.queries is None else "query is all there is"
            raise InvalidSampleError(
                f"the scorer and the threshold need different {of_what}, but one {one}; add rows, or fit the scorer to "
                "others first and wrap it in scikit-learn's FrozenEstimator"
            )
        if min(n_held_out, n - n_held_out) < n_least:
            raise ValueError(
                f"calibration_size={size:g} divides {n} {of_what} into {n - n_held_out} to fit the scorer to and "
                f"{n_held_out} to choose the threshold on, and each part needs at least {n_least}; use a value nearer "
                "to 0.5, or add rows"
            )

    def _require_rows(self, n_held_out: int, n_neg: int, frozen: bool) -> None:
        """Raise before the scorer is fitted if there are too few rows for any threshold."""
        max_fpr, confidence = open_rate("max_fpr", self.max_fpr), check_confidence(self.confidence)
        needed = draws_needed(max_fpr, 1 - confidence)
        if n_held_out >= needed:
            return
        wanted = f"max_fpr={max_fpr:g} with {percent(confidence)} confidence needs at least {needed:,} negatives"
        if frozen:
            raise TooFewRowsError(f"{wanted} to choose the threshold, but there are {n_neg:,}", needed, n_held_out)
        size = self.calibration_size
        # 1 % more than needed, since the number of held-out rows is rounded.
        enough = f"collect at least {ceil(1.01 * needed / size):,} negatives"
        share = ceil(100 * 1.01 * needed / n_neg) / 100
        if share < 1:
            enough = f"use calibration_size={share:g}, or {enough}"
        raise TooFewRowsError(
            f"{wanted} to choose the threshold, but calibration_size={size:g} holds out {n_held_out:,} of {n_neg:,}: "
            f"{enough}, or allow a larger max_fpr or less confidence",
            needed,
            n_held_out,
        )
