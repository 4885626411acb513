"""Minimise 1/2 |w|^2 + C risk(w) for a smooth convex risk and few features, by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from headrank._types import Vector
from headrank.solvers.bundle import ROUNDING, Bundle
from headrank.solvers.lbfgs import LEFT, lbfgs
from headrank.solvers.risk import CurvedRisk, P, Ray
from headrank.solvers.trace import STOPS, Record, Solution, Step

_ENOUGH = 1e-4
"""A step is accepted if it gains at least this share of the decrease that the slope predicts."""
_SLOPE_LEFT = 0.3
_GOOD_TRIALS, _MOST_TRIALS = 6, 40
"""Number of trials along a ray for a good step, and for any step that lowers the objective."""


def newton(
    risk: CurvedRisk[P],
    *,
    n_features: int,
    C: float,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Vector | None = None,
    callback: Callable[[Step], None] | None = None,
) -> Solution:
    """Minimise 1/2 |w|^2 + C risk(w), with the certificate and the stopping criterion of `lbfgs`.

    Each step solves a linear system with the Hessian. If features have unequal curvature, L-BFGS may take hundreds of
    evaluations; Newton's method takes 5 to 15. A step costs O(n_features^3) plus the Hessian, which pays off for up to
    some hundred features. If the Hessian is not finite, `lbfgs` continues the search.

    Parameters
    ----------
    risk : CurvedRisk
        Convex and nonnegative, with a continuous gradient.
    n_features, C, tol, max_iter, start, callback
        As in `lbfgs`.

    Returns
    -------
    Solution
        After a keyboard interrupt or an `OSError` of the risk, the best weights so far.

    Examples
    --------
    >>> from headrank.solvers.risk import FunctionRisk
    >>> class Bowl(FunctionRisk):
    ...     def hessian(self, point):
    ...         return 2 * np.eye(1)
    >>> newton(Bowl(lambda w: (float((w[0] - 3) ** 2), 2 * (w - 3))), n_features=1, C=1.0, tol=1e-9).weights
    array([2.])
    """
    record = Record(callback)
    weights: Vector = np.zeros(n_features) if start is None else start
    at_zero = C * risk.at(np.zeros(n_features)).value if weights.any() else nan
    point = risk.at(weights)
    objective, lower = float(weights @ weights) / 2 + C * point.value, 0.0
    proved = 0.0
    at_zero = objective if not weights.any() else at_zero
    converged, stopped_by = False, None
    try:
        while True:
            gradient = weights + C * risk.subgradients([point])[0]
            descent = float(gradient @ gradient) / 2
            lower = max(lower, objective - descent)
            proved = max(proved, objective - descent - ROUNDING * (objective + descent))
            step = record.add(objective, proved, 0)
            converged = step.gap <= tol and objective - lower <= LEFT * (at_zero - lower)
            if converged or step.n_iter >= max_iter:
                break
            direction = _direction(C * risk.hessian(point), gradient)
            if direction is None:
                return lbfgs(
                    risk, n_features=n_features, C=C, tol=tol, max_iter=max_iter, start=weights, callback=callback
                )
            ray = risk.ray(point, direction)
            along, square, slope = (float(direction @ other) for other in (weights, direction, gradient))
            step_taken = _search(ray, point, C, along, square, slope)
            if step_taken is None:  # only rounding errors remain
                break
            length, point = step_taken
            weights = weights + length * direction
            objective = float(weights @ weights) / 2 + C * point.value
    except STOPS as stop:
        if not record.steps:
            raise
        stopped_by = stop.with_traceback(None)
        record.interrupt(objective, proved, 0)
    return Solution(weights, tuple(record.steps), Bundle(), converged, stopped_by, point)


def _search(ray: Ray[P], point: P, C: float, along: float, square: float, slope: float) -> tuple[float, P] | None:
    """Find a step along the ray that lowers the objective and flattens the slope; None if no step lowers it.

    If the Hessian is constant along the ray, the full Newton step is such a step. If it changes, as for a squared hinge
    at its kinks, secant steps within the bracket find the minimum. Trials cost no pass over the data.
    """
    low, low_slope, high, high_slope, length = 0.0, slope, 0.0, 0.0, 1.0
    found = None
    for n_trials in range(_MOST_TRIALS):
        there = ray.at(length)
        change = length * along + length**2 * square / 2 + C * (there.value - point.value)
        here_slope = along + length * square + C * ray.slope(there)
        lower = change <= _ENOUGH * length * slope
        if lower:
            found = length, there
        if found is not None and (n_trials >= _GOOD_TRIALS or (lower and abs(here_slope) <= _SLOPE_LEFT * abs(slope))):
            return found
        if lower and here_slope < 0:
            low, low_slope = length, here_slope
        else:
            high, high_slope = length, here_slope
        if not high:
            length *= 2
        else:
            rise = high_slope - low_slope
            secant = low - (high - low) * low_slope / rise if high_slope > 0 and rise > 0 else (low + high) / 2
            length = min(max(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low))
    return found


def _direction(curvature: Vector, gradient: Vector) -> Vector | None:
    """Solve (1 + curvature) direction = -gradient; None if the matrix is not positive definite or not finite."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    curvature.flat[:: curvature.shape[0] + 1] += 1
    try:
        return np.asarray(-cho_solve(cho_factor(curvature, overwrite_a=True), gradient))
    except (LinAlgError, ValueError):  # not positive definite because of rounding, or not finite
        return None
