"""The cutting-plane method as published (Narasimhan & Agarwal 2013, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headrank._types import Vector
from headrank.solvers.bundle import Bundle
from headrank.solvers.risk import P, Risk
from headrank.solvers.trace import STOPS, Record, Solution, Step


def cutting_plane(
    risk: Risk[P],
    *,
    n_features: int,
    C: float,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Vector | None = None,
    bundle: Bundle | None = None,
    callback: Callable[[Step], None] | None = None,
) -> Solution:
    """Minimise the model, add the most violated constraint at its minimum, and repeat.

    For comparison, and for the paper's figures: `hybrid` needs far fewer evaluations. Only the stopping criterion
    differs from the paper. It is a relative gap, because a small absolute violation proves nothing where the objective
    is nearly flat. Parameters as in `hybrid`.
    """
    bundle = Bundle() if bundle is None else bundle
    record = Record(callback)
    weights: Vector = np.zeros(n_features) if start is None else start
    best, best_objective, lower = weights, np.inf, 0.0
    stopped_by = None
    try:
        while True:
            point = risk.at(weights)
            normal = risk.subgradients([point])[0]
            bundle.add(normal, point.offset)
            objective = float(weights @ weights) / 2 + C * point.value
            if objective <= best_objective:
                best, best_objective = weights, objective
            model = bundle.model(C)
            lower = max(lower, model.proved)
            step = record.add(best_objective, lower, len(bundle))
            if step.gap <= tol or step.n_iter >= max_iter:
                break
            weights = model.weights
    except STOPS as stop:
        if best_objective == np.inf:
            raise
        stopped_by = stop.with_traceback(None)
        record.interrupt(best_objective, lower, len(bundle))
    return Solution(best, tuple(record.steps), bundle, record.steps[-1].gap <= tol, stopped_by)
