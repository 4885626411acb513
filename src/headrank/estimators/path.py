"""The regularisation path: what the ranker becomes as C grows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from headrank._extras import needs_extra
from headrank._numbers import above_zero, listed
from headrank._types import ArrayLike, BoolVector, Vector
from headrank.estimators import _fitting
from headrank.estimators.linear import LinearRanker
from headrank.estimators.threads import limit_blas_threads
from headrank.solvers import Bundle


@dataclass(frozen=True, eq=False)
class RegularisationPath:
    """One row per C, in rising order.

    Attributes
    ----------
    Cs, objectives, lower_bounds, measures : arrays of shape (n_Cs,)
        Each C, the objective and its lower bound, and the measure on the training sample.
    coefs : array of shape (n_Cs, n_features)
        The weights of the features.
    collapsed : bool array of shape (n_Cs,)
        Where w = 0 is (nearly) optimal.
    n_iter : int array of shape (n_Cs,)
        Evaluations of the risk: later fits start from what earlier ones learned.
    name : str
        The measure.
    """

    Cs: Vector
    objectives: Vector
    lower_bounds: Vector
    measures: Vector
    coefs: Vector
    collapsed: BoolVector
    n_iter: Any
    name: str

    def to_frame(self) -> Any:
        """Return the path as a polars data frame without the coefficients."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame(
            {
                "C": self.Cs,
                "objective": self.objectives,
                "lower_bound": self.lower_bounds,
                self.name: self.measures,
                "collapsed": self.collapsed,
                "n_iter": self.n_iter,
            }
        )


def path(
    ranker: LinearRanker,
    X: Any,
    y: ArrayLike,
    *,
    Cs: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0),
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
) -> RegularisationPath:
    """Fit a ranker for each C, from the smallest up, each starting from the one before.

    The cuts that describe the risk do not depend on C, so each fit inherits all that the earlier ones have learned. The
    ranker itself is left alone; its ``C`` is not used. One warning names all C whose fit has not converged.

    An interrupt from the keyboard ends the whole path with ``KeyboardInterrupt``, as it does in `LinearRankerCV`: a fit
    that was cut short is worth keeping by itself, as `LinearRanker` does, but it would be a dent in a path.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> result = path(LinearRanker("pauc@0.3", standardize=True), X, y, Cs=[0.1, 1, 10])
    >>> result.measures.round(1), result.collapsed
    (array([0.7, 0.7, 0.7]), array([False, False, False]))
    """
    ordered = sorted(above_zero("C", C) for C in listed("Cs", Cs))
    if not ordered:
        raise ValueError("needed at least one C, got none")
    if not isinstance(ranker, LinearRanker):
        raise TypeError(f"a path is that of a LinearRanker, got {type(ranker).__name__}")
    ranker = clone(ranker)
    problem = _fitting.posed(ranker, X, y, sample_weight, qid)
    bundle, start, fits = Bundle(), None, []
    with limit_blas_threads(problem.size):
        anchor = None if problem.kind.convex else _fitting.anchor_of(ranker, problem)
        for C in ordered:
            # Not `_solve`: it would warn that the best so far was kept, and go on to the next C.
            solution = _fitting.search(ranker, problem, C, start=start, bundle=bundle, anchor=anchor)
            if solution.interrupted:
                raise KeyboardInterrupt
            start = solution.weights
            fits.append((solution, problem.measured(problem.scores(solution)), problem.collapsed(solution, C)))
    solutions, measures, collapsed = zip(*fits, strict=True)
    unfinished = [f"{C:g}" for C, solution in zip(ordered, solutions, strict=True) if not solution.converged]
    if unfinished:
        warnings.warn(
            f"not converged to tol {ranker.tol:.2g} at C = {', '.join(unfinished)}; raise max_iter or tol, or set "
            "standardize=True",
            ConvergenceWarning,
            stacklevel=2,
        )
    return RegularisationPath(
        Cs=np.array(ordered),
        objectives=np.array([solution.objective for solution in solutions]),
        lower_bounds=np.array([solution.lower for solution in solutions]),
        measures=np.array(measures, dtype=np.float64),
        coefs=np.array([problem.coef(solution.weights) for solution in solutions]),
        collapsed=np.array(collapsed),
        n_iter=np.array([solution.n_iter for solution in solutions]),
        name=str(problem.measure),
    )
