"""The small quadratic program behind a bundle of cuts."""

from __future__ import annotations

import numpy as np
import piqp

from headrank._types import Vector


def solve_dual(gram: Vector, offsets: Vector, total: float) -> Vector:
    """Maximise ``offsets @ a - a @ gram @ a / 2`` over ``a >= 0`` with ``sum(a) <= total``; feasible, nearly optimal.

    The Gram matrix is numerically singular as soon as cuts outnumber features, and solvers report success on wrong
    answers unless the problem is scaled first. What comes back is made feasible, so that the caller's bound, computed
    from it, is valid whatever the solver did. O(k^3) for k cuts.
    """
    largest = float(gram.diagonal().max())
    height = float(np.abs(offsets).max())
    if largest <= 0 or height <= 0:  # flat cuts: nothing to trade off
        result = np.zeros(offsets.size)
        result[int(np.argmax(offsets))] = total if offsets.max() > 0 else 0.0
        return result
    unit = min(total, height / largest)
    limit = total / unit
    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.setup(
        gram * (unit / height),
        -offsets / height,
        None,
        None,
        np.ones((1, offsets.size)),
        np.array([-1e30]),
        np.array([limit]),
        np.zeros(offsets.size),
        np.full(offsets.size, 1e30),
    )
    solver.solve()
    scaled = np.nan_to_num(np.clip(solver.result.x, 0.0, None), nan=0.0, posinf=0.0)
    excess = scaled.sum() / limit
    return np.asarray(scaled * (unit / max(excess, 1.0)))
