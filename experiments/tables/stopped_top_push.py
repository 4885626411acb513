"""TopPush as its authors' program solves it: accelerated gradient steps on the dual, until a step changes little.

The rule stops long before the minimum where the problem is badly conditioned. `LinearRanker` with
``surrogate="toppush"`` solves the same problem to a certified gap; the table shows both.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from headrank._types import Vector

_LEAST_STEPS = 10


class StoppedTopPush:
    """TopPush with penalty 1 / C, stopped when the dual objective changes by less than ``tol``, relatively.

    Minimises |a'P - q'Q|^2 C / (2 m) - sum a + sum a^2 / 4 over a, q >= 0 with equal sums, P and Q the rows of the m
    positives and the negatives; w = C (a'P - q'Q) / m. Cost: two passes over the rows and a projection for each step.

    >>> X, y = np.array([[2.0], [1.0], [0.0]]), np.array([1, 1, 0])
    >>> model = StoppedTopPush(C=10.0).fit(X, y)
    >>> bool(model.coef_[0] > 0), model.n_steps_ > 10
    (True, True)
    """

    def __init__(self, C: float, tol: float = 1e-4, max_steps: int = 2000) -> None:
        self.C, self.tol, self.max_steps = C, tol, max_steps

    def fit(self, X: Any, y: Any) -> Self:
        """Step from a = q = 0 with Nesterov's momentum; the step size shrinks until the quadratic bound holds."""
        positives, negatives = X[y == 1], X[y == 0]
        scale = self.C / positives.shape[0]
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
                new_a, new_q = balanced(ahead_a - slope_a / curvature, ahead_q - slope_q / curvature)
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


def balanced(a: Vector, q: Vector) -> tuple[Vector, Vector]:
    """Return the nearest point with a, q >= 0 and equal sums: max(a - g, 0) and max(q + g, 0). O(n log n).

    The difference of the sums falls in g and is linear between the values of a and -q, so a search of these finds the
    piece with the root.

    >>> balanced(np.array([2.0, -1.0]), np.array([0.0]))
    (array([1., 0.]), array([1.]))
    """
    ends = np.sort(np.concatenate([a, -q]))
    low, high = 0, ends.size - 1

    def excess(g: float) -> float:
        return float(np.maximum(a - g, 0).sum() - np.maximum(q + g, 0).sum())

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(ends[middle]) > 0 else (low, middle)
    above, below = excess(ends[low]), excess(ends[high])
    # Outside the values one of the sums is 0 and the other is positive, so the root is between two of them.
    g = ends[low] if above == below else ends[low] + above / (above - below) * (ends[high] - ends[low])
    return np.maximum(a - g, 0), np.maximum(q + g, 0)
