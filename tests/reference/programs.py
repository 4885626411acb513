"""Minima of convex programs with a proof: the reference for what our own solvers return.

cvxpy passes its solvers a cone program: minimise x'Px / 2 + c'x subject to Ax + s = b, s in a cone K. Any x and any z
in the dual cone of K give a lower bound of its minimum, so an answer is judged by what it proves, on every machine
alike, and not by what the solver says of it.
"""

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

# An interior-point and a first-order method: what troubles the first rarely troubles the second.
SOLVERS = {
    cp.CLARABEL: {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    cp.SCS: {"eps_abs": 1e-11, "eps_rel": 1e-11, "max_iters": 200_000},
}


@dataclass(frozen=True)
class Bounds:
    """What the answer of one solver proves: the minimum lies between ``lower`` and ``upper``."""

    solver: str
    lower: float
    upper: float

    def __str__(self):
        return f"{self.solver}: between {self.lower!r} and {self.upper!r}"

    def within(self, tol):
        """Whether the bounds agree. Beyond ``tol`` in the wrong order, they are not bounds."""
        return np.isfinite(self.upper) and abs(self.upper - self.lower) <= tol * abs(self.upper)


def solved(problem, tol=1e-7, solvers=SOLVERS):
    """Minimise ``problem`` to a relative gap of at most ``tol`` and return the minimum; the variables have values then.

    The next solver is tried where one misses ``tol``; if all do, the failure shows what each of them proves.
    """
    tried = []
    for solver, options in solvers.items():
        tried.append(bounds(problem, solver, options))
        if tried[-1].within(tol):
            return tried[-1].upper
    raise AssertionError(f"no solver proves the minimum to a relative gap of {tol:g}; " + "; ".join(map(str, tried)))


def bounds(problem, solver, options):
    """Solve with one solver and return what its answer proves: nothing, if it has none."""
    assert isinstance(problem.objective, cp.Minimize)
    for variable in problem.variables():
        variable.value = None  # no start from the answer of another solver
    options = dict(options)
    try:
        data, chain, inverse = problem.get_problem_data(solver, solver_opts=options)
        raw = chain.solve_via_data(problem, data, solver_opts=options)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")  # whether it is, the bounds will show
            problem.unpack_results(raw, chain, inverse)
    except cp.SolverError:
        return Bounds(solver, -np.inf, np.inf)
    x, z = (raw["x"], raw["y"]) if isinstance(raw, dict) else (raw.x, raw.z)
    if problem.objective.value is None or any(np.max(c.violation()) > 1e-8 for c in problem.constraints):
        return Bounds(solver, -np.inf, np.inf)
    lower = lower_bound(data, np.asarray(x), np.asarray(z)) + float(inverse[-1]["offset"])
    return Bounds(solver, lower, float(problem.objective.value))


def lower_bound(data, x, z):
    """Return a lower bound of a cone program from any x and z; it is sharp if they are optimal.

    For z in the dual cone and r = Px + c + A'z, every feasible y is worth at least r'y - b'z - x'Px / 2. The last
    digits of r are not 0, so that a size of y is needed: none but those more than ten times as long as x are left out.
    """
    z = in_dual_cone(z, data["dims"])
    curved = data["P"] @ x if data.get("P") is not None else np.zeros_like(x)
    residual = curved + data["c"] + data["A"].T @ z
    return float(-data["b"] @ z - x @ curved / 2 - 10 * np.linalg.norm(residual) * np.linalg.norm(x))


def in_dual_cone(z, dims):
    """Return a point of the dual cone near z: free numbers, numbers from 0 on, exponential cones."""
    assert not [*dims.soc, *dims.psd, *dims.p3d]
    z = z.copy()
    ends = np.cumsum([dims.zero, dims.nonneg])
    assert z.size == ends[1] + 3 * dims.exp
    z[ends[0] : ends[1]] = np.maximum(z[ends[0] : ends[1]], 0)
    u, v, w = z[ends[1] :].reshape(-1, 3).T  # views: the dual cone is u < 0, w >= -u exp(v / u - 1)
    u[:] = np.minimum(np.minimum(u, -1e-300), v / 50)  # so that the power of e is at most that of 49
    w[:] = np.maximum(w, -u * np.exp(v / u - 1))
    return z
