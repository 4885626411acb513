"""Scores of fitted scikit-learn estimators, higher = more positive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from numbers import Real
from typing import Any

import numpy as np

from headrank._numbers import short_repr
from headrank._types import ArrayLike, Vector
from headrank.curve import RocCurve
from headrank.exceptions import InvalidSampleError
from headrank.labels import check_labels, check_weights


def positive_scores(estimator: Any, X: Any, *, pos_label: Any = None) -> Vector:
    """Return the estimator's scores: ``decision_function``, or else ``predict_proba``, never ``predict``.

    A classifier's ``decision_function`` is high for ``classes_[1]``; if ``pos_label`` is ``classes_[0]`` it is
    negated, and from ``predict_proba`` the column of ``pos_label`` is used. Without ``pos_label`` the positive class is
    1. The scores of a ranker without ``classes_`` are used as they are.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0], [1]], ["ham", "spam"])
    >>> bool(positive_scores(model, [[2]], pos_label="spam")[0] > 0)
    True
    >>> bool(positive_scores(model, [[2]], pos_label="ham")[0] > 0)
    False
    """
    name = type(estimator).__name__
    classes = getattr(estimator, "classes_", None)
    column = 1 if classes is None else _column(name, classes, pos_label)
    if hasattr(estimator, "decision_function"):
        decision = np.asarray(estimator.decision_function(X))
        return decision if column == 1 else -decision
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X))[:, column]
    raise TypeError(
        f"expected an estimator with decision_function or predict_proba, but {name} has neither; compute scores and "
        "use RocDisplay.from_predictions"
    )


def fold_curves(
    cv_results: Mapping[str, Any], X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, pos_label: Any
) -> Iterator[RocCurve]:
    """Yield the curve of each fold's estimator on its test rows."""
    from sklearn.utils import _safe_indexing  # documented as public despite its name

    if not isinstance(cv_results, Mapping):
        raise TypeError(f"cv_results must be the result of cross_validate, got {short_repr(cv_results)}")
    missing = [key for key in ("estimator", "indices") if key not in cv_results]
    if missing:
        raise ValueError(
            f"cv_results lacks {' and '.join(missing)}; run cross_validate with return_estimator=True and "
            "return_indices=True"
        )
    folds = list(zip(cv_results["estimator"], cv_results["indices"]["test"], strict=True))
    positive = check_labels(y, pos_label=pos_label)
    weights = None if sample_weight is None else check_weights(sample_weight)
    n_rows = _require_rows(X, cv_results["indices"])
    for name, values in (("y", positive), ("sample_weight", weights)):
        if values is not None and values.size != n_rows:
            raise InvalidSampleError(f"{name} must have one value per row: X has {n_rows} rows, {name} {values.size}")
    for number, (estimator, rows) in enumerate(folds, start=1):
        try:
            tested = _safe_indexing(X, rows)
        except Exception as error:  # whatever the library of X raises
            raise TypeError(
                f"X must be the table used in cross_validate, but its rows cannot be selected ({error})"
            ) from None
        scores = positive_scores(estimator, tested, pos_label=pos_label)
        try:
            yield RocCurve.from_scores(positive[rows], scores, None if weights is None else weights[rows])
        except InvalidSampleError as error:
            error.add_note(f"in fold {number} of {len(folds)}")
            raise


def _column(name: str, classes: Any, pos_label: Any) -> int:
    labels = classes.tolist() if hasattr(classes, "tolist") else list(classes)
    if len(labels) != 2 or np.ndim(labels[0]) > 0:
        raise ValueError(
            f"expected a classifier with two classes, but {name} has {len(labels)}: {labels}; choose one class "
            "against the rest and use RocDisplay.from_predictions"
        )
    wanted = 1 if pos_label is None else pos_label
    if not isinstance(wanted, str | bytes | Real | np.generic) or wanted not in labels:
        source = "the default positive class 1" if pos_label is None else f"pos_label={short_repr(pos_label)}"
        raise ValueError(f"{source} is not among the classes {labels} of {name}; set pos_label to the positive class")
    return labels.index(wanted)


def _require_rows(X: Any, indices: Mapping[str, Any]) -> int:
    """Return the number of rows of X, or raise if it is not that of the cross-validation."""
    if not (X.shape if hasattr(X, "shape") else isinstance(X, Sized)):
        raise TypeError(f"X must be the table used in cross_validate, got {short_repr(X)}")
    n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    n_reached = 1 + max(int(np.max(rows)) for part in ("train", "test") for rows in indices[part])
    # If a fold uses every row, their number is known; if not, this is a lower bound.
    uses_all = len(indices["train"][0]) + len(indices["test"][0]) == n_reached
    if n_rows < n_reached or (uses_all and n_rows > n_reached):
        raise ValueError(
            f"cv_results comes from {n_reached} rows, but X has {n_rows}; pass the X used in cross_validate"
        )
    return n_rows
