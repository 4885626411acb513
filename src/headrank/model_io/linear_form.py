"""What a linear model is, whatever its class: coefficients, an intercept, and the steps before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from headrank._types import Vector
from headrank.estimators import LinearRanker, LinearRankerCV
from headrank.exceptions import ModelFileError
from headrank.training.features import Matrix
from headrank.training.table_model import TableModel

_EXPORTED = "LinearRanker, LinearRankerCV, LogisticRegression of two classes, and pipelines that end in one of these"


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A score ``features @ coefficients + intercept``, where features are what the steps before it give.

    Attributes
    ----------
    model : estimator
        The linear model itself.
    before : tuple of (str, estimator)
        The steps before it, with their names.
    names : tuple of str or None
        Of its features.
    coefficients : array of shape (n_features,)
    intercept : float
    classes : array of shape (2,)
        The second is the positive one.
    """

    model: Any
    before: tuple[tuple[str, Any], ...]
    names: tuple[str, ...] | None
    coefficients: Vector
    intercept: float
    classes: Any


def linear_form(model: Any) -> LinearForm:
    """Take a linear model apart, or refuse one that is not linear."""
    estimator = model.estimator if isinstance(model, TableModel) else model
    before: tuple[tuple[str, Any], ...] = ()
    end = estimator
    if isinstance(estimator, Pipeline):
        *steps, (_, end) = estimator.steps
        before = tuple((name, step) for name, step in steps if step is not None and step != "passthrough")
    if not isinstance(end, LinearRanker | LinearRankerCV | LogisticRegression):
        inner = "; export its estimator_" if hasattr(end, "estimator_") else ""
        raise ModelFileError(
            f"{type(end).__name__} is not a linear model that can be exported{inner}; what can be: {_EXPORTED}"
        )
    try:
        check_is_fitted(end)
    except NotFittedError as error:
        raise ModelFileError(f"this {type(end).__name__} is not fitted, so there is nothing to export") from error
    coefficients, intercepts = np.atleast_2d(end.coef_), np.atleast_1d(end.intercept_)
    if len(coefficients) != 1:
        raise ModelFileError(
            f"{type(end).__name__} knows {len(end.classes_)} classes; a ranking is between two: fit it to two"
        )
    names = _names(end, before)
    return LinearForm(end, before, names, coefficients[0], float(intercepts[0]), end.classes_)


def _names(end: Any, before: tuple[tuple[str, Any], ...]) -> tuple[str, ...] | None:
    """Names of the features of the linear model: its own, or those that the steps before it give."""
    names: Any = getattr(end, "feature_names_in_", None)
    if names is None and before and hasattr(before[0][1], "feature_names_in_"):
        for _, step in before:
            if not isinstance(step, Matrix):  # which leaves the columns as they are
                names = step.get_feature_names_out(names)
    return None if names is None else tuple(map(str, names))
