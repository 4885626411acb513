"""TopPush and tau-FPL as the authors' programs solve them: accelerated gradient steps on the dual, stopped early.

The rule stops when a step changes little, long before the minimum where the problem is badly conditioned.
`LinearRanker` with ``surrogate="toppush"`` or ``"tau-fpl"`` solves the same problems to a certified gap; the tables
show both.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq

from headrank._types import Vector

_LEAST_STEPS = 10


class StoppedPush:
    """Squared hinge of the positives against the mean of the K highest negatives, with penalty 1 / C.

    Minimises |a'P - q'Q|^2 C / (2 m) - sum a + sum a^2 / 4 over a, q >= 0 with equal sums and no q above sum a / K, P
    and Q the rows of the m positives and the negatives; w = C (a'P - q'Q) / m. Stopped when this changes by less than
    ``tol``, relatively. Cost: two passes over the rows and a projection for each step.

    Parameters
    ----------
    C : float
        Weight of the losses.
    max_fpr : float, optional
        K is this share of the negatives, rounded up: tau-FPL. Default: K = 1, TopPush.
    tol, max_steps
        When to stop.

    >>> X, y = np.array([[2.0], [1.0], [0.0]]), np.array([1, 1, 0])
    >>> model = StoppedPush(C=10.0).fit(X, y)
    >>> bool(model.coef_[0] > 0), model.n_steps_ > 10
    (True, True)
    """

    def __init__(self, C: float, max_fpr: float = 0.0, tol: float = 1e-4, max_steps: int = 2000) -> None:
        self.C, self.max_fpr, self.tol, self.max_steps = C, max_fpr, tol, max_steps

    def fit(self, X: Any, y: Any) -> Self:
        """Step from a = q = 0 with Nesterov's momentum; the step size shrinks until the quadratic bound holds."""
        positives, negatives = X[y == 1], X[y == 0]
        scale = self.C / positives.shape[0]
        k = max(ceil(self.max_fpr * negatives.shape[0]), 1)
        a, q = np.zeros(positives.shape[0]), np.zeros(negatives.shape[0])
        ahead_a, ahead_q, momentum, curvature, before = a, q, 1.0, 1 / a.size, 0.0

        def combined(a: Vector, q: Vector) -> Vector:
            return np.asarray(positives.T @ a - negatives.T @ q)

        def objective(a: Vector, v: Vector) -> float:
            return float(scale * (v @ v) / 2 - a.sum() + a @ a / 4)

        for step in range(1, self.max_steps + 1):
            v = combined(ahead_a, ahead_q)
            value = objective(ahead_a, v)
            slope_a, slope_q = scale * (positives @ v) - 1 + ahead_a / 2, -scale * (negatives @ v)
            while True:
                new_a, new_q = balanced(ahead_a - slope_a / curvature, ahead_q - slope_q / curvature, k)
                da, dq = new_a - ahead_a, new_q - ahead_q
                bound = value + slope_a @ da + slope_q @ dq + curvature / 2 * (da @ da + dq @ dq)
                reached = objective(new_a, combined(new_a, new_q))
                if reached <= bound + 1e-12 * abs(value):
                    break
                curvature *= 2
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            pace = (momentum - 1) / following
            ahead_a, ahead_q = new_a + pace * (new_a - a), new_q + pace * (new_q - q)
            a, q, momentum = new_a, new_q, following
            if step > _LEAST_STEPS and abs(reached - before) <= self.tol * abs(before):
                break
            before = reached
        self.coef_, self.n_steps_ = scale * combined(a, q), step
        return self

    def decision_function(self, X: Any) -> Vector:
        """Return the scores."""
        return np.asarray(X @ self.coef_)


def balanced(a: Vector, q: Vector, k: int = 1) -> tuple[Vector, Vector]:
    """Return the nearest point with a, q >= 0, equal sums, and no q above the sum over k. O(n log n).

    For a given sum s, the nearest are max(a - g, 0) and q + h cut off at 0 and s / k. The squared distance is convex in
    s; its derivative, by the multipliers of the constraints, is h - g less the mean, over k, of what is cut off at the
    upper end. A search for its root finds s.

    >>> a, q = balanced(np.array([2.0, -1.0]), np.array([0.0]))
    >>> a.round(6), q.round(6)
    (array([1., 0.]), array([1.]))
    """
    of_a, of_q = _Sorted(a), _Sorted(q)

    def shifts(total: float) -> tuple[float, float]:
        g = _root(lambda g: total - of_a.above(g), a.max() - total, a.max())
        h = _root(lambda h: of_q.above(-h) - of_q.above(total / k - h) - total, -q.max(), total / k - q.min() + total)
        return g, h

    def slope(total: float) -> float:
        g, h = shifts(total)
        return h - g - of_q.above(total / k - h) / k

    most = max(np.maximum(a, 0).sum(), np.maximum(q, 0).sum()) + 1e-300
    if slope(1e-12 * most) >= 0:
        return np.zeros_like(a), np.zeros_like(q)
    total = _root(slope, 1e-12 * most, most)
    g, h = shifts(total)
    return np.maximum(a - g, 0), np.clip(q + h, 0, total / k)


class _Sorted:
    """Sums over the values above a level, from one sort."""

    def __init__(self, values: Vector) -> None:
        self.values = np.sort(values)
        self.sums = np.append(np.cumsum(self.values[::-1])[::-1], 0.0)

    def above(self, level: float) -> float:
        """Return the sum of max(value - level, 0)."""
        first = int(np.searchsorted(self.values, level, side="right"))
        return float(self.sums[first] - level * (self.values.size - first))


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a rising function; ``high`` moves away from ``low`` until it is above."""
    while rising(high) < 0:
        high = high + 2 * (high - low)
    return low if rising(low) >= 0 else float(brentq(rising, low, high, xtol=1e-300, rtol=1e-15, maxiter=200))
