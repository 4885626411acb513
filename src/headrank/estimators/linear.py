"""LinearRanker: the linear scorer that is best at the head of the list."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isnan
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from headrank._numbers import above_zero
from headrank._types import ArrayLike, Vector
from headrank.estimators import _fitting
from headrank.estimators._problem import Problem
from headrank.estimators._scorer import LinearScorer
from headrank.estimators.threads import limit_blas_threads
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.solvers import Solution


class LinearRanker(LinearScorer):
    """Linear scorer trained for the head of the list: the structural SVM for partial AUC, and beyond.

    The hinges minimise ``1/2 |w|^2 + C R(w)``, where R is a convex upper bound of 1 - measure on the training sample,
    to a certified relative gap. Narasimhan & Agarwal (ICML 2013, KDD 2013); with ``measure="auc"`` it is Joachims' SVM
    for the AUC (2005). Where classes overlap and ranges are narrow they collapse to w = 0.

    ``surrogate="smooth"`` lowers 1 - measure itself, with soft counts, starting from a logistic regression w0, or from
    another ranker, and staying near it: ``1/2 |w - w0|^2 / |w0|^2 + C R(w)``, with w0 scaled so that its scores have
    variance 1. Not convex, so nothing is proved of the minimum; deterministic; the scale of the scores does not matter.

    Cost: a few to a few dozen evaluations, each a pass over X, O(nonzeros), plus O(N log N) for sorting.
    For a choice among all of these by cross-validation use `LinearRankerCV`.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        For the hinges `AUC`, `PartialAUC`, `StandardizedPartialAUC` or `FROCArea`; for the smooth surrogate also
        `TwoWayPartialAUC`, `LocalAUC`, `WRanking`, `PNormPush`, `RankStatistic`, `MassConstrainedError`,
        `LocalRankingRisk`, `TopTPR` and the measures of the first rows. Or the short name of one.
    surrogate : {"tight", "structural", "smooth", "logistic", "svc"}, default="tight"
        The convex bound of KDD 2013, which only looks at the negatives the range reaches; that of ICML 2013; the
        measure with soft counts; or, whatever the measure, plain logistic regression, scikit-learn's objective, or the
        linear support vector classifier with squared hinge, scikit-learn's but for a free intercept.
    C : float, default=1.0
        Weight of the risk against the size of the weights.
    bandwidth : float, default=0.3
        Of the smooth surrogate: how far, in standard deviations of the scores, a step is softened.
    start_C : float, default=1.0
        C of the logistic regression that the smooth surrogate starts from and stays near, for features of typical size
        1: it is divided by the mean variance of the features.
    start : LinearRanker or sequence of them, optional
        What the smooth surrogate starts from and stays near instead: their average, each scaled so that its scores have
        variance 1, without those that collapse. Their ``standardize`` is not used: all see the same features.
    anneal : bool, default=False
        Solve with four and two times the bandwidth first, each a start for the next.
    tol : float, default=1e-3
        Relative gap (objective - lower bound) / objective at which to stop. For the smooth surrogate a hundredth of it
        is the progress of a step, relative to the objective at the start, below which to stop.
    max_iter : int, default=1000
        Evaluations of the risk after which to stop with a warning, of each search if there are several; each is one
        pass over X.
    standardize : bool or None, default=False
        Divide each feature by its standard deviation, without touching X; if None, sparse ones only where that is above
        1. ``coef_`` is in the units of X either way.
    solver : {"hybrid", "cutting-plane"}, default="hybrid"
        Of the hinges. The second is the paper's Algorithm 2, for comparison. The others are minimised by L-BFGS.
    warm_start : bool, default=False
        Start from the coefficients of the previous fit.
    verbose : int, default=0
        1 shows a line on the terminal that follows the fit.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights of the features.
    intercept_ : float
        Such that ``decision_function`` is above 0 for as many training rows as there are positives.
    objective_, lower_bound_, gap_ : float
        What is minimised, a proven lower bound of its minimum, and their relative distance. The smooth surrogate has
        no bound: both are NaN.
    risk_ : float
        R(w), the surrogate's risk.
    training_measure_, start_measure_ : float
        The measure on the training sample, and what it was for the scorer that the smooth surrogate started from (of
        the others NaN).
    collapsed_ : bool
        Whether w = 0 is (nearly) optimal, or a smooth surrogate ranks the training rows no better than at random: the
        fit has learned nothing. A `CollapsedFitWarning` says so.
    n_iter_ : int
        Evaluations of the risk in the last search: without those for what a smooth surrogate starts from, or for larger
        bandwidths.
    trace_ : tuple of Step
        Objective, lower bound, number of cuts and seconds after each evaluation.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn. ``classes_[1]`` is the positive class.

    Notes
    -----
    ``predict`` calls positive what scores above the threshold at which the training sample has as many rows as it has
    positives. For a threshold with a guarantee on the false positive rate, choose one on rows not trained on.

    An interrupt from the keyboard ends ``fit`` with the best weights so far, and a warning.

    With a float32 X the products are float32. On 100,000 x 100 rows, objective and lower bound then agreed with those
    of the same rows in float64 to 1e-8.

    Examples
    --------
    >>> from headrank.datasets import coarse_eights
    >>> X, y = coarse_eights()
    >>> ranker = LinearRanker("pauc@0.3", C=10, standardize=True).fit(X, y)
    >>> ranker.collapsed_, ranker.gap_ <= 1e-3
    (False, True)
    >>> round(ranker.score(X, y), 2)
    0.66
    """

    objective_: float
    lower_bound_: float
    gap_: float
    risk_: float
    training_measure_: float
    start_measure_: float
    collapsed_: bool
    n_iter_: int

    def __init__(
        self,
        measure: Measure | str = "pauc@0.1",
        *,
        surrogate: str = "tight",
        C: float = 1.0,
        bandwidth: float = 0.3,
        start_C: float = 1.0,
        start: LinearRanker | Sequence[LinearRanker] | None = None,
        anneal: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        standardize: bool | None = False,
        solver: str = "hybrid",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.surrogate = surrogate
        self.C = C
        self.bandwidth = bandwidth
        self.start_C = start_C
        self.start = start
        self.anneal = anneal
        self.tol = tol
        self.max_iter = max_iter
        self.standardize = standardize
        self.solver = solver
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None) -> Self:
        """Find the weights.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Dense or CSR, float64 or float32 are used as they are. Only features far from 0, such as seconds since 1970,
            are copied, and a CSR matrix with duplicate entries.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 is the same as the row twice.
        qid : array-like of shape (n_rows,), optional
            Query of each row: the risk is then the mean over the queries that have both classes.
        """
        C = above_zero("C", self.C)
        problem = _fitting.posed(self, X, y, sample_weight, qid)
        with limit_blas_threads(problem.size):
            anchor = None if problem.kind.convex else _fitting.anchor_of(self, problem)
            solution = self._solve(problem, C, start=self._start(problem), anchor=anchor)
        _fitting.adopt(self, problem, solution, C=C, anchor=anchor)
        if self.collapsed_:
            warnings.warn(why_collapsed(problem, solution, C), CollapsedFitWarning, stacklevel=2)
        return self

    def _solve(self, problem: Problem, C: float, **known: Any) -> Solution:
        """Solve a posed problem for one C, and warn if the answer is not what was asked for; see `_fitting.search`."""
        solution = _fitting.search(self, problem, C, **known)
        if solution.interrupted:
            reached = "" if isnan(solution.gap) else f" with a gap of {solution.gap:.2g}"
            warnings.warn(f"interrupted{reached}; kept the best so far", ConvergenceWarning, stacklevel=3)
        elif not solution.converged:
            proved = solution.gap > self.tol  # not so where it is NaN, nor with a C so small that w = 0 is within tol
            reached = f"gap {solution.gap:.2g} > tol {self.tol:.2g} " if proved else "still falling "
            warnings.warn(
                f"{reached}after {solution.n_iter} evaluations; raise max_iter or tol, or set standardize=True",
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _start(self, problem: Problem) -> Vector | None:
        if not self.warm_start or getattr(self, "coef_", np.empty(0)).shape != (problem.rows.n_features,):
            return None
        if not self.coef_.any():  # a collapsed fit is no place to start from
            return None
        return self.coef_ if problem.scale is None else np.asarray(self.coef_ * problem.scale)


def why_collapsed(problem: Problem, solution: Solution, C: float) -> str:
    """Say in a sentence that a fit has learned nothing, why, and what to do."""
    if not problem.kind.convex and solution.weights.any():
        return (
            "the fit has learned nothing: the training rows are ranked no better than at random, as by the scorer that "
            "it starts from; set standardize=True, or check whether X says anything about the classes"
        )
    if not problem.kind.needs_range and not solution.converged:
        return f"the weights are still 0 after {solution.n_iter} evaluations; raise max_iter"
    if not problem.kind.needs_range:
        return "the fit has collapsed to weights of 0: no feature says anything about the classes; check X"
    gain = max(1 - solution.lower / C, 0.0)
    return (
        f"the fit has collapsed to weights near 0: no weights lower the objective by more than {gain:.1%}. Over the "
        f"range of {problem.measure}, the highest negatives outscore the average positive in every direction, and this "
        "convex surrogate then prefers no ranking at all. Use LinearRankerCV, which chooses among the surrogates, "
        "surrogate='smooth', or a wider range"
    )
