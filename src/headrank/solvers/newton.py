"""Minimise 1/2 |w|^2 + C risk(w) for a smooth convex risk of few features, by Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from headrank._types import Vector
from headrank.solvers.bundle import Bundle
from headrank.solvers.lbfgs import LEFT, lbfgs
from headrank.solvers.risk import CurvedRisk, P
from headrank.solvers.trace import Record, Solution, Step

_ENOUGH = 1e-4
"""A step is taken if it gains this share of what the slope promises."""
_MOST_HALVINGS = 30


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
    """Minimise 1/2 |w|^2 + C risk(w), with the certificate and the rule to stop of `lbfgs`.

    Each step solves a system with the Hessian, so features of unequal curvature, on which L-BFGS creeps for hundreds of
    evaluations, do no harm: 5 to 15 are enough. A step costs O(n_features^3) and the Hessian, which is worth it for up
    to some hundred features. Where the Hessian is not finite, L-BFGS takes over.

    Parameters
    ----------
    risk : CurvedRisk
        Convex and nowhere negative, with a continuous gradient.
    n_features, C, tol, max_iter, start, callback
        As in `lbfgs`.

    Examples
    --------
    >>> from types import SimpleNamespace
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
    at_zero = objective if not weights.any() else at_zero
    converged = interrupted = False
    try:
        while True:
            gradient = weights + C * risk.subgradients([point])[0]
            lower = max(lower, objective - float(gradient @ gradient) / 2)
            step = record.add(objective, lower, 0)
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
            length = 1.0
            for _ in range(_MOST_HALVINGS):
                there = ray.at(length)
                change = length * along + length**2 * square / 2 + C * (there.value - point.value)
                if change <= _ENOUGH * length * slope:
                    break
                length /= 2
            else:  # rounding is all that is left
                break
            weights, point = weights + length * direction, there
            objective = float(weights @ weights) / 2 + C * point.value
    except KeyboardInterrupt:
        if not record.steps:
            raise
        interrupted = True
        record.interrupt(objective, lower, 0)
    return Solution(weights, tuple(record.steps), Bundle(), converged, interrupted, point)


def _direction(curvature: Vector, gradient: Vector) -> Vector | None:
    """Solve (1 + curvature) direction = -gradient; None where that cannot be done."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    curvature.flat[:: curvature.shape[0] + 1] += 1
    try:
        return -cho_solve(cho_factor(curvature, overwrite_a=True), gradient)
    except (LinAlgError, ValueError):  # not positive definite for rounding, or not finite
        return None
