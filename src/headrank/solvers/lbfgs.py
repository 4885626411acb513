"""Minimise 1/2 |w - centre|^2 / unit^2 + C risk(w) for a risk with a gradient, by SciPy's L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from headrank._types import Vector
from headrank.solvers.bundle import ROUNDING, Bundle
from headrank.solvers.risk import P, Risk
from headrank.solvers.trace import Record, Solution, Step

_MEMORY = 20
_LITTLE = 1e-2
"""Without a proof, the search ends when a step gains less than this share of the tolerance, of the first objective."""
LEFT = 1e-2
"""Of what can be gained over w = 0, at most this share may be left. A tenth is not enough: on lightgbm_rank, a logistic
regression with C = 1e-3 then ended with the ranking of C = 1e-5."""


class _EndOfSearchError(Exception):
    """Ends SciPy's search."""


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

    The objective is strongly convex with modulus 1 in units of ``unit`` when the risk is convex, so each evaluation
    proves a lower bound: F* >= F(w) - |g|^2 / 2 for the gradient g. The search stops when the relative gap is at most
    ``tol``, and at most a hundredth of what could be gained over w = 0: with a small C the objective is flat, and the
    origin lies within any tolerance, but is no ranking. Without convexity nothing is proved, the bound is NaN, and the
    search stops when a step lowers the objective by less than a hundredth of ``tol`` of what it was at the start.

    Parameters
    ----------
    risk : Risk
        Differentiable, and nowhere negative if it is convex; a kink here and there does no harm.
    n_features : int
        Length of w.
    C : float
        Weight of the risk, above 0.
    tol, max_iter : float, int
        When to stop; each evaluation is one pass over the data. One at w = 0, to know what can be gained, is not
        counted if the search starts elsewhere.
    start : array of shape (n_features,), optional
        Where to begin; the centre if not given.
    centre : array of shape (n_features,), optional
        Where the penalty is 0; the origin if not given.
    unit : float
        The length that counts as 1 in the penalty.
    convex : bool
        Whether the risk is.
    callback : callable, optional
        Told each `Step`. An interrupt from the keyboard ends the search with the best weights so far.

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
    converged = not convex  # SciPy ends a search by itself where nothing is proved
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
        idle = best[0] - lower > LEFT * (at_zero - lower)  # never, where nothing is proved
        if step.gap <= tol and not idle:
            converged = True
            raise _EndOfSearchError
        if step.n_iter >= max_iter:
            converged = False
            raise _EndOfSearchError
        # SciPy takes progress to be relative to 1 where the objective is smaller, so it is told that it starts at 1.
        return value / whole, gradient / whole

    options = {"maxcor": _MEMORY, "maxiter": max_iter, "maxfun": max_iter, "gtol": 0.0}
    options["ftol"] = 0.0 if convex else _LITTLE * tol
    interrupted = False
    try:
        minimize(objective, first, jac=True, method="L-BFGS-B", options=options)
    except _EndOfSearchError:
        pass
    except KeyboardInterrupt:
        if best is None:
            raise
        interrupted = True
    assert best is not None  # the first evaluation is a best one
    return Solution(best[1], tuple(record.steps), Bundle(), converged, interrupted, best[2])
