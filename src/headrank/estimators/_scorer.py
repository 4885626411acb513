"""The methods shared by all fitted rankers: score rows, predict classes, compute the measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from headrank._types import ArrayLike, BoolVector, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._labelled import Labelled, threshold_of
from headrank.estimators._matrix import checked_matrix, checked_matrix_and_labels
from headrank.grades import are_grades
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.rows import Blocks, open_rows
from headrank.rows.block import Block

_ROWS_FOR_THRESHOLD = 10_000


class Scorer(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator that scores rows and has a measure."""

    measure: Measure | str
    classes_: Any
    _needs_finite = True
    """Whether features must be finite numbers."""
    _takes_categories = False
    """Whether category columns of a data frame are features."""
    _takes_grades = False
    """Whether labels may be grades of relevance, if the measure is graded."""
    _takes_blocks = False
    """Whether X may be `Blocks`."""

    def _scores(self, X: Any) -> Vector:
        """Score validated rows."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Vector:
        """Return the scores of rows: the higher, the more likely positive. `predict` uses a threshold of 0."""
        check_is_fitted(self)
        X = checked_matrix(self, X, reset=False, finite=self._needs_finite)
        return self._block_scores(X) if isinstance(X, Blocks) else self._scores(X)

    def _block_scores(self, blocks: Blocks) -> Vector:
        """Score the rows of validated blocks, where they are."""
        return np.concatenate(blocks.map(_scored, same=(self,)))

    def predict(self, X: Any) -> Any:
        """Predict classes. On data like the training rows, about the same share is predicted positive; see Notes."""
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(np.intp)]

    def score(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> float:
        """Return the measure of the scores of these rows; negated if lower is better, as scikit-learn expects."""
        X, y, sample_weight, qid = unpacked(self, X, y, sample_weight, qid)
        scores = self.decision_function(X)
        measure = measure_of(self.measure)
        pos_label = None if measure.graded and are_grades(y) else self.classes_[1]
        value = measure(y, scores, sample_weight=sample_weight, qid=qid, pos_label=pos_label)
        return value if measure.greater_is_better else -value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = not self._needs_finite
        tags.classifier_tags.multi_class = False
        return tags


class LinearScorer(Scorer):
    """A scorer ``X @ coef_ + intercept_``."""

    coef_: Vector
    intercept_: float

    def _scores(self, X: Any) -> Vector:
        return open_rows(X).scores(self.coef_) + self.intercept_

    def _block_scores(self, blocks: Blocks) -> Vector:
        return self._scores(blocks)


def _scored(block: Block, scorer: Scorer) -> Vector:
    return scorer._scores(block.X) if block.n_rows else np.zeros(0)


def admitted(scorer: Scorer, X: Any, y: ArrayLike) -> tuple[Any, Any]:
    """Check rows and labels, set the features and classes of the scorer, and return which rows are positive.

    If the measure is graded and there are more than two grades, the grades themselves are returned, and the classes are
    0 and 1, for not relevant and relevant.
    """
    X, labels = checked_matrix_and_labels(scorer, X, y, finite=scorer._needs_finite)
    if scorer._takes_grades and measure_of(scorer.measure).graded and are_grades(labels):
        scorer.classes_ = np.array([0, 1])
        return X, labels.astype(np.intp)
    scorer.classes_, positive = _two_classes(labels)
    return X, positive


def intercept_for(scorer: Scorer, X: Any, labelled: Labelled) -> float:
    """Return what to add to the scores so that as many rows score above 0 as are positive.

    Of up to 10,000 validated rows, evenly spread; of all rows if those are of one class.
    """
    some = np.arange(0, labelled.size, -(-labelled.size // _ROWS_FOR_THRESHOLD))
    if not labelled.take(some).has_both_classes():
        some = np.arange(labelled.size)
    rows = some if labelled.present is None else labelled.present[some]
    scores = scorer._scores(X.take(rows) if isinstance(X, Blocks) else X[rows])
    return -threshold_of(labelled.take(some).sample(scores))


def _two_classes(labels: Any) -> tuple[Any, BoolVector]:
    """Return both classes in order and which rows belong to the second, or raise."""
    if labels.dtype.kind in "biu":  # sorting a million labels takes longer than a pass over their rows
        classes = np.array([labels.min(), labels.max()])
        positive: BoolVector = labels == classes[1]
        if classes[0] != classes[1] and np.all(positive | (labels == classes[0])):
            return classes, positive
    check_classification_targets(labels)
    if type_of_target(labels, input_name="y") == "multiclass":
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: choose one class "
            "against the rest, or wrap the ranker in scikit-learn's OneVsRestClassifier; of graded relevance, choose a "
            "grade to reach, such as y >= 2, or learn 'ndcg' by BoostedRankerCV or LinearRankerCV."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise ValueError(f"y has only one class, {classes[0]!r}; a ranking needs rows of two classes")
    return classes, codes == 1
