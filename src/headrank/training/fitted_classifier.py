"""FittedClassifier: what scikit-learn expects of a classifier that has been fitted elsewhere."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from headrank._types import ArrayLike, BoolVector, Vector
from headrank.training.goal import Goal


class _Scores(Protocol):
    """What the methods below need of the model."""

    goal: Goal

    def decision_function(self, rows: Any) -> Vector:
        """Return the scores of rows."""


class FittedClassifier:
    """Makes a fitted model a classifier for scikit-learn's scorers, displays and inspection.

    It cannot be fitted again, and `clone` returns the model itself. Meta-estimators that call ``fit`` take it in a
    ``sklearn.frozen.FrozenEstimator``.
    """

    @property
    def classes_(self) -> BoolVector:
        """False and True: whether a row is positive, whatever values the target has."""
        return np.array([False, True])

    def fit(self, rows: Any, y: ArrayLike, **options: Any) -> Self:
        """Raise an error: the model was fitted by headrank fit."""
        del rows, y, options
        raise TypeError(
            "the model is fitted already, and its guarantees are about this fit; run headrank fit for another one, or "
            "wrap the model in sklearn.frozen.FrozenEstimator, whose fit does nothing"
        )

    def score(
        self: _Scores, rows: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """Return the measure for which the model was trained, ``goal.measure``, on labelled rows.

        Parameters
        ----------
        rows
            As in `decision_function`.
        y : array-like of shape (n,)
            Which rows are positive: 0/1, -1/+1 or bool.
        sample_weight : array-like of shape (n,), optional
            Weight of each row.
        qid : array-like of shape (n,), optional
            Query of each row, for the mean over queries.
        """
        return self.goal.measure(y, self.decision_function(rows), sample_weight=sample_weight, qid=qid)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(string=True, categorical=True, allow_nan=True),
        )
