"""The common form of linear models: coefficients, an intercept, and the steps before them."""

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
    """A score ``features @ coefficients + intercept``, where the features are the output of the steps before it.

    Attributes
    ----------
    model : estimator
        The linear model itself.
    before : tuple of (str, estimator)
        The named steps before it.
    names : tuple of str or None
        Names of its features.
    coefficients : array of shape (n_features,)
    intercept : float
    classes : array of shape (2,)
        The classes; the second is the positive one.
    """

    model: Any
    before: tuple[tuple[str, Any], ...]
    names: tuple[str, ...] | None
    coefficients: Vector
    intercept: float
    classes: Any


def linear_form(model: Any) -> LinearForm:
    """Return the form of a linear model; raise if the model is not linear."""
    estimator = model.estimator if isinstance(model, TableModel) else model
    before: tuple[tuple[str, Any], ...] = ()
    end = estimator
    if isinstance(estimator, Pipeline):
        *steps, (_, end) = estimator.steps
        before = tuple((name, step) for name, step in steps if step is not None and step != "passthrough")
    if not isinstance(end, LinearRanker | LinearRankerCV | LogisticRegression):
        inner = "; export its estimator_" if hasattr(end, "estimator_") else ""
        raise ModelFileError(
            f"{type(end).__name__} is not a linear model that can be exported{inner}; supported: {_EXPORTED}"
        )
    try:
        check_is_fitted(end)
    except NotFittedError as error:
        raise ModelFileError(f"this {type(end).__name__} is not fitted; call fit before exporting it") from error
    coefficients, intercepts = np.atleast_2d(end.coef_), np.atleast_1d(end.intercept_)
    if len(coefficients) != 1:
        raise ModelFileError(
            f"{type(end).__name__} has {len(end.classes_)} classes; expected two: fit it to two classes"
        )
    names = _names(end, before)
    return LinearForm(end, before, names, coefficients[0], float(intercepts[0]), end.classes_)


def _names(end: Any, before: tuple[tuple[str, Any], ...]) -> tuple[str, ...] | None:
    """Return the names of the features: those of the linear model, or the output of the steps before it."""
    names: Any = getattr(end, "feature_names_in_", None)
    if names is None and before and hasattr(before[0][1], "feature_names_in_"):
        for _, step in before:
            if not isinstance(step, Matrix):  # it does not change the columns
                names = step.get_feature_names_out(names)
    return None if names is None else tuple(map(str, names))
