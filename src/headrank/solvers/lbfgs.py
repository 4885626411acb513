"""Minimise 1/2 |w - centre|^2 / unit^2 + C risk(w) for a differentiable risk, with SciPy's L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from headrank._types import Vector
from headrank.solvers.bundle import ROUNDING, Bundle
from headrank.solvers.risk import P, Risk
from headrank.solvers.trace import STOPS, Record, Solution, Step

_MEMORY = 20
_LITTLE = 1e-2
"""Without a bound, the search stops if a step gains less than this share of ``tol`` times the first objective."""
LEFT = 1e-2
"""The largest share of the possible gain over w = 0 that may remain. A tenth is too much: on lightgbm_rank, a logistic
regression with C = 1e-3 then ended with the ranking of C = 1e-5."""


class _EndOfSearchError(Exception):
    """Raised to end SciPy's search."""


def lbfgs(
    risk: Risk[P],
    *,
    n_features: int,
    C: float,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Vector | None = None,
    centre: Vector | None = None,
    unit: float = 1.0,
    convex: bool = True,
    callback: Callable[[Step], None] | None = None,
) -> Solution:
    """Minimise 1/2 |w - centre|^2 / unit^2 + C risk(w).

    If the risk is convex, the objective is strongly convex with modulus 1 in units of ``unit``, so each evaluation
    proves a lower bound: F* >= F(w) - |g|^2 / 2 for the gradient g. The search stops when the relative gap is at most
    ``tol`` and at most a hundredth of the possible gain over w = 0 remains. The second condition matters for a small C:
    the objective is flat, and the origin, which is not a ranking, is within any tolerance.

    If the risk is not convex, nothing is proved and the bound is NaN. The search stops when a step lowers the objective
    by less than ``tol / 100`` times its value at the start.

    Parameters
    ----------
    risk : Risk
        Differentiable, and nonnegative if it is convex. A few kinks do no harm.
    n_features : int
        Length of w.
    C : float
        Weight of the risk, above 0.
    tol, max_iter : float, int
        Stopping criteria. Each evaluation is one pass over the data. If the search does not start at w = 0, one more
        evaluation there, for the possible gain, is not counted.
    start : array of shape (n_features,), optional
        Starting point; default ``centre``.
    centre : array of shape (n_features,), optional
        Where the penalty is 0; default the origin.
    unit : float
        The unit of length in the penalty.
    convex : bool
        Whether the risk is convex.
    callback : callable, optional
        Called with each `Step`.

    Returns
    -------
    Solution
        After a keyboard interrupt or an `OSError` of the risk, the best weights so far.

    Examples
    --------
    >>> from headrank.solvers.risk import FunctionRisk
    >>> bowl = FunctionRisk(lambda w: (float((w[0] - 3) ** 2), 2 * (w - 3)))
    >>> lbfgs(bowl, n_features=1, C=1.0, tol=1e-9).weights.round(4)
    array([2.])
    """
    from scipy.optimize import minimize

    record = Record(callback)
    origin = np.zeros(n_features) if centre is None else centre / unit
    best: tuple[float, Vector, P] | None = None
    lower = proved = 0.0 if convex else nan
    whole = nan
    converged = not convex  # if nothing is proved, SciPy itself stops the search
    first = origin if start is None else start / unit
    at_zero = nan
    if convex and first.any():
        at_zero = float(origin @ origin) / 2 + C * risk.at(np.zeros(n_features)).value

    def objective(x: Vector) -> tuple[float, Vector]:
        nonlocal best, lower, proved, at_zero, whole, converged
        weights = x * unit
        point = risk.at(weights)
        away = x - origin
        value = float(away @ away) / 2 + C * point.value
        gradient = away + C * unit * risk.subgradients([point])[0]
        if not x.any():
            at_zero = value
        if best is None:
            whole = abs(value) or 1.0
        if best is None or value < best[0]:
            best = (value, weights, point)
        if convex:
            descent = float(gradient @ gradient) / 2
            lower = max(lower, value - descent)
            proved = max(proved, value - descent - ROUNDING * (value + descent))
        step = record.add(best[0], proved, 0)
        idle = best[0] - lower > LEFT * (at_zero - lower)  # False if nothing is proved
        if step.gap <= tol and not idle:
            converged = True
            raise _EndOfSearchError
        if step.n_iter >= max_iter:
            converged = False
            raise _EndOfSearchError
        # SciPy measures progress relative to 1 if the objective is smaller, so the objective is scaled to start at 1.
        return value / whole, gradient / whole

    options = {"maxcor": _MEMORY, "maxiter": max_iter, "maxfun": max_iter, "gtol": 0.0}
    options["ftol"] = 0.0 if convex else _LITTLE * tol
    stopped_by = None
    try:
        minimize(objective, first, jac=True, method="L-BFGS-B", options=options)
    except _EndOfSearchError:
        pass
    except STOPS as stop:
        if best is None:
            raise
        stopped_by = stop.with_traceback(None)
    assert best is not None  # the first evaluation sets it
    return Solution(best[1], tuple(record.steps), Bundle(), converged, stopped_by, best[2])
