"""Stacking: shares of scorers whose sum predicts the labels best out of fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from headrank._types import BoolVector, Vector
from headrank.estimators.cv.fold_rows import FoldRows

_LARGEST = 100.0
"""Bound on the coefficients, for scores that separate the classes."""
_PENALTY = 5e-4
"""Weight of the penalty on differences of the coefficients; the loss is a mean over rows."""


def stacked_shares(folds: FoldRows, scores: Sequence[Sequence[Vector]]) -> Vector:
    """Return the share of each scorer in the stack; they add up to 1.

    The shares are the coefficients of a logistic regression on the scores out of fold, none of them negative (stacking;
    Wolpert 1992, Breiman 1996), and drawn towards each other by a penalty. All rows count, so that they are less noisy
    than shares picked by a measure of a few rows of the head. Cost: some tens of passes over the scores.

    Parameters
    ----------
    folds : FoldRows
        The folds.
    scores : sequence of sequences of arrays
        Of each scorer, the scores of the rows left out, fold by fold, all scorers on the same scale.
    """
    rows = folds.left_out
    features = np.stack([np.concatenate(list(each)) for each in scores], axis=1)
    found = nonnegative_logistic(features, rows.positive, rows.weights)
    total = found.sum()
    return found / total if total > 0 else np.full(len(scores), 1 / len(scores))


def nonnegative_logistic(features: Vector, positive: BoolVector, weights: Vector | None) -> Vector:
    """Return the coefficients c >= 0 of the least mean log loss, with a penalty on the variance of c.

    A mean, so that the unit of the weights and copies of all rows make no difference.
    """
    n_rows, n_features = features.shape
    shares = np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()
    centred = features - shares @ features
    signs = np.where(positive, 1.0, -1.0)

    def loss(parameters: Vector) -> tuple[float, Vector]:
        coefficients, intercept = parameters[:-1], parameters[-1]
        margins = signs * (centred @ coefficients + intercept)
        off = coefficients - coefficients.mean()
        slopes = -shares * signs * expit(-margins)
        gradient = np.append(slopes @ centred + _PENALTY * off, slopes.sum())
        return float(shares @ np.logaddexp(0.0, -margins) + _PENALTY * (off @ off) / 2), gradient

    start = np.append(np.full(n_features, 1 / n_features), 0.0)
    bounds = [(0.0, _LARGEST)] * n_features + [(None, None)]
    solution = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12, "gtol": 1e-8})
    found: Vector = solution.x[:-1]
    return found
