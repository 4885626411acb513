"""The regularisation path: a ranker fitted for increasing C."""

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
    """Fits of a ranker, one per C, in increasing order.

    Attributes
    ----------
    Cs, objectives, lower_bounds, measures : arrays of shape (n_Cs,)
        Each C, the objective and its lower bound, and the measure on the training sample.
    coefs : array of shape (n_Cs, n_features)
        The weights of the features.
    collapsed : bool array of shape (n_Cs,)
        Where w = 0 is (nearly) optimal.
    n_iter : int array of shape (n_Cs,)
        Evaluations of the risk. Each fit starts from the previous one.
    name : str
        Short name of the measure.
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
    """Fit a ranker for each C in increasing order, with warm starts.

    The cuts that describe the risk do not depend on C, so each fit reuses those of the previous ones.

    Parameters
    ----------
    ranker : LinearRanker
        The ranker to fit. It is not modified, and its ``C`` is not used.
    X, y, sample_weight, qid
        As in `LinearRanker.fit`.
    Cs : sequence of float
        The values of C, in any order.

    Returns
    -------
    RegularisationPath
        The fits, one per C.

    Warns
    -----
    ConvergenceWarning
        Once, with all C at which the fit has not converged.

    Notes
    -----
    A keyboard interrupt raises ``KeyboardInterrupt``, as in `LinearRankerCV`. `LinearRanker` keeps the best weights so
    far, but within a path an unfinished fit would be misleading.

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
        raise ValueError("expected at least one C, got none")
    if not isinstance(ranker, LinearRanker):
        raise TypeError(f"ranker must be a LinearRanker, got {type(ranker).__name__}")
    ranker = clone(ranker)
    problem = _fitting.posed(ranker, X, y, sample_weight, qid)
    bundle, start, fits = Bundle(), None, []
    with limit_blas_threads(problem.size):
        anchor = None if problem.kind.convex else _fitting.anchor_of(ranker, problem)
        for C in ordered:
            # Not `_solve`: it would warn that the best so far was kept, and go on to the next C.
            solution = _fitting.search(ranker, problem, C, start=start, bundle=bundle, anchor=anchor)
            solution.raise_if_stopped()
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
