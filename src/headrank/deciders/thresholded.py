"""Base class of the deciders: any scorer, and a threshold on its scores, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, assert_all_finite, check_consistent_length, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from headrank._numbers import short_repr
from headrank._types import ArrayLike, BoolVector, IntVector, Vector
from headrank.labels import check_classes, check_queries, check_weights
from headrank.rows import Blocks, is_distributed


class LabelledRows:
    """Validated training rows: features as given, classes, and weights and queries if given."""

    def __init__(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, qid: ArrayLike | None) -> None:
        if isinstance(X, Blocks) or is_distributed(X):
            raise TypeError(
                f"a classifier with a threshold needs X in memory, got {short_repr(X)}; fit its scorer to these rows, "
                "score others, and pass labels and scores to headrank.threshold_at"
            )
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        check_classes(y)
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        self.X, self.y = indexable(X, labels)
        self.weights = None if sample_weight is None else check_weights(sample_weight)
        self.queries = None if qid is None else check_queries(qid)
        check_consistent_length(self.X, self.y, self.weights, self.queries)

    def take(self, chosen: IntVector) -> LabelledRows:
        """Return a subset of the rows."""
        rows = object.__new__(LabelledRows)
        try:
            rows.X, rows.y = _safe_indexing(self.X, chosen), self.y[chosen]
        except Exception as error:  # whatever the library of X raises
            raise TypeError(
                f"X must be an array, a sparse matrix, a data frame or a list of rows, but its rows cannot be selected "
                f"({error}), got {short_repr(self.X)}"
            ) from None
        rows.weights = None if self.weights is None else self.weights[chosen]
        rows.queries = None if self.queries is None else self.queries[chosen]
        return rows

    def without_absent(self) -> LabelledRows:
        """Drop the rows of weight 0."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def fit_params(self, estimator: Any) -> dict[str, Any]:
        """Return the parameters of ``estimator.fit`` besides X and y, or raise if it does not accept one."""
        given = {"sample_weight": self.weights, "qid": self.queries}
        params = {name: values for name, values in given.items() if values is not None}
        for name in params:
            if not (has_fit_parameter(estimator, name) or get_config()["enable_metadata_routing"]):
                raise TypeError(
                    f"{type(estimator).__name__}.fit takes no {name}; omit it, or if a step of a pipeline takes it, "
                    "set enable_metadata_routing=True and request it there"
                )
        return params


class ThresholdedScorer(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """A fitted scorer ``estimator_`` and a threshold on its scores."""

    estimator: Any
    estimator_: Any
    classes_: Any

    @property
    def _lowest_flagged(self) -> float:
        """The lowest score that is flagged."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Vector:
        """Return each score minus the highest score that is not flagged: `predict` flags values above 0."""
        check_is_fitted(self)
        # s >= c exactly if s > the float before c; a difference of two floats is 0 only if they are equal.
        not_flagged = np.nextafter(np.float64(self._lowest_flagged), -np.inf)
        return np.asarray(scores_of(self.estimator_, X) - not_flagged)

    def predict(self, X: Any) -> Any:
        """Return the class of each row: ``classes_[1]``, the positive one, if the score reaches the threshold."""
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(np.intp)]

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the scorer's own probabilities; the threshold does not affect them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def _fit_scorer(self, rows: LabelledRows) -> None:
        """Fit a clone of the scorer; a frozen one is not refitted."""
        self.estimator_ = (
            clone(self.estimator) if isinstance(self.estimator, FrozenEstimator) else self._fitted_to(rows)
        )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):
                delattr(self, name)

    def _fitted_to(self, rows: LabelledRows) -> Any:
        """Fit a clone of the scorer and return it."""
        scorer = clone(self.estimator)
        scorer.fit(rows.X, rows.y, **rows.fit_params(scorer))
        return scorer

    def _positive(self, rows: LabelledRows) -> BoolVector:
        """Set ``classes_`` and return which rows belong to the second."""
        self.classes_ = two_classes(rows.y)
        scorer = self.estimator
        if not hasattr(scorer, "fit"):
            raise TypeError(
                "estimator must be a scikit-learn estimator with decision_function or predict_proba, got "
                f"{short_repr(scorer)}"
            )
        fitted = isinstance(scorer, FrozenEstimator) and is_classifier(scorer)
        if fitted and not np.array_equal(scorer.classes_, self.classes_):
            raise ValueError(f"the frozen scorer has the classes {scorer.classes_}, but y contains {self.classes_}")
        positive: BoolVector = rows.y == self.classes_[1]
        return positive

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        return tags


def scores_of(estimator: Any, X: Any) -> Vector:
    """Score rows by ``decision_function``, or else by the probability of the second class, which may saturate."""
    method = response_method(estimator)
    return one_column(method(X))


def response_method(estimator: Any) -> Callable[[Any], Any]:
    """Return the scoring method of the estimator, or raise."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            method: Callable[[Any], Any] = getattr(estimator, name)
            return method
    raise TypeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, so it cannot score rows"
    )


def one_column(response: Any) -> Vector:
    """Return the scores from the output of a scorer: one column, or the second of two."""
    values = np.asarray(response)
    return values[:, 1] if values.ndim == 2 and values.shape[1] == 2 else values.reshape(values.shape[0])


def two_classes(labels: Any) -> Any:
    """Return both classes in sorted order, or raise."""
    check_classification_targets(labels)
    if type_of_target(labels, input_name="y") == "multiclass":
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: choose one class against "
            "the rest."
        )
    classes = np.unique(labels)
    if classes.size < 2:
        raise ValueError(f"y contains one class only, {classes[0]!r}; a threshold needs rows of two classes")
    return classes
