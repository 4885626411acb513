"""The small quadratic program behind a bundle of cuts."""

from __future__ import annotations

import numpy as np
import piqp

from headrank._types import Vector

_MOST_STEPS = 40
"""The solver needs 10 to 30. If rounding keeps it from its tolerance, further steps do not change the answer."""

_FAR = 1e15
"""A limit on the sum, in units, that is never active. The solver takes 1e20 and above for infinity and prints that."""


def solve_dual(gram: Vector, offsets: Vector, total: float) -> Vector:
    """Maximise ``offsets @ a - a @ gram @ a / 2`` over ``a >= 0`` with ``sum(a) <= total``; feasible, nearly optimal.

    The Gram matrix is numerically singular if cuts outnumber features, and solvers report success with wrong answers
    unless the problem is scaled first. The answer is made feasible, so the caller's bound computed from it is valid
    whatever the solver did. O(k^3) for k cuts.
    """
    largest = float(gram.diagonal().max())
    height = float(np.abs(offsets).max())
    if largest <= 0 or height <= 0:  # flat cuts: nothing to trade off
        result = np.zeros(offsets.size)
        result[int(np.argmax(offsets))] = total if offsets.max() > 0 else 0.0
        return result
    # The natural unit of the coefficients. If it is far below their total, the quadratic term is negligible and the
    # total may be the better unit. The better of the two answers is kept.
    natural = min(total, height / largest)
    candidates = [_solve_scaled(gram, offsets, total, natural)]
    if total > 1e3 * natural:
        candidates.append(_solve_scaled(gram, offsets, total, total))
    return max(candidates, key=lambda a: float(offsets @ a - a @ gram @ a / 2))


def _solve_scaled(gram: Vector, offsets: Vector, total: float, unit: float) -> Vector:
    """Solve with coefficients in units of ``unit`` and make the answer feasible."""
    size = offsets.size
    height = float(np.abs(offsets).max())
    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.settings.max_iter = _MOST_STEPS
    limit = min(total / unit, _FAR)
    solver.setup(
        gram * (unit / height),
        -offsets / height,
        None,
        None,
        np.ones((1, size)),
        np.array([-1e30]),
        np.array([limit]),
        np.zeros(size),
        np.full(size, 1e30),
    )
    solver.solve()
    scaled = np.nan_to_num(np.clip(solver.result.x, 0.0, None), nan=0.0, posinf=0.0)
    # The best multiple of the answer: never worse than 0, and it corrects an answer with the wrong length only.
    slope, curvature, length = float(offsets @ scaled), float(scaled @ gram @ scaled), float(scaled.sum())
    if slope <= 0 or length <= 0:
        return np.zeros(size)
    longest = total / length
    return np.asarray(scaled * (min(slope / curvature, longest) if curvature > 0 else longest))
