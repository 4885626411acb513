"""LinearRanker: a linear scorer trained for the head of the list."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from math import isnan, nan
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from headrank._numbers import above_zero, option, whole
from headrank._types import ArrayLike, Vector
from headrank.estimators._problem import SOLVERS, Problem, live_line, pose
from headrank.estimators._scorer import LinearScorer
from headrank.estimators.threads import limit_blas_threads
from headrank.exceptions import CollapsedFitWarning
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.solvers import Bundle, Solution, Step, lbfgs, newton
from headrank.surrogates import KINDS
from headrank.surrogates.smooth import ConstantScoresError

_FEW_FEATURES = 500
"""Up to this number, the Hessian of a classifier's loss costs at most some dozen passes over the rows."""
_ANNEALING = (4.0, 2.0)
"""Multiples of the bandwidth to start with."""


class LinearRanker(LinearScorer):
    """Linear scorer trained for the head of the list, with a hinge or a smooth surrogate of the measure.

    The hinges ``"tight"`` and ``"structural"`` minimise ``1/2 |w|^2 + C R(w)`` to a certified relative gap. R is a
    convex upper bound of 1 - measure on the training sample: the structural SVM for the partial AUC (Narasimhan &
    Agarwal, ICML 2013 and KDD 2013), or with ``measure="auc"`` Joachims' SVM for the AUC (2005). If classes overlap
    and the range is narrow, they collapse to w = 0.

    ``"smooth"`` minimises 1 - measure itself, with soft counts. It starts from a scorer w0, a logistic regression or
    other rankers, and stays near it: ``1/2 |w - w0|^2 / |w0|^2 + C R(w)``, with w0 scaled so that its scores have
    variance 1. This is not convex, so nothing is proved about the minimum. The fit is deterministic and does not
    depend on the scale of the scores.

    Cost: a few to a few dozen evaluations, each a pass over X, O(nonzeros), plus O(N log N) for sorting.
    To select surrogate and parameters by cross-validation, use `LinearRankerCV`.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        The measure to maximise, or its short name. For the hinges: `AUC`, `PartialAUC`, `StandardizedPartialAUC` or
        `FROCArea`. For the smooth surrogate also `TwoWayPartialAUC`, `LocalAUC`, `WRanking`, `PNormPush`,
        `RankStatistic`, `MassConstrainedError`, `LocalRankingRisk`, `TopTPR` and the measures of the first rows.
    surrogate : {"tight", "structural", "smooth", "logistic", "svc"}, default="tight"
        "tight" is the convex bound of KDD 2013, which uses only the negatives within reach of the range, "structural"
        that of ICML 2013, and "smooth" the measure with soft counts. "logistic" and "svc" ignore the measure: logistic
        regression, with scikit-learn's objective, and the linear support vector classifier with squared hinge, which
        differs from scikit-learn's only in that the intercept is not penalised.
    C : float, default=1.0
        Weight of the risk relative to the penalty on the weights.
    bandwidth : float, default=0.3
        Half-width of the soft step of the smooth surrogate, in standard deviations of the scores.
    start_C : float, default=1.0
        C of the logistic regression from which the smooth surrogate starts, for features of typical size 1: it is
        divided by the mean variance of the features.
    start : LinearRanker or sequence of them, optional
        Rankers to average as the start of the smooth surrogate instead. Each is scaled so that its scores have variance
        1; collapsed ones are left out. Their ``standardize`` is not used: all see the same features.
    anneal : bool, default=False
        Whether to solve with four and then two times the bandwidth first, each the start for the next.
    tol : float, default=1e-3
        Stop when the relative gap (objective - lower bound) / objective is at most ``tol``. The smooth surrogate stops
        when a step gains less than ``tol / 100`` times the objective at the start.
    max_iter : int, default=1000
        Stop with a warning after this number of evaluations of the risk, each one pass over X. Applies to each search
        separately if there are several.
    standardize : bool or None, default=False
        Whether to divide each feature by its standard deviation, without changing X. If None, sparse features are
        divided only if theirs is above 1. ``coef_`` is in the units of X in any case.
    solver : {"hybrid", "cutting-plane"}, default="hybrid"
        Solver of the hinges. "cutting-plane" is the paper's Algorithm 2, for comparison. Other surrogates use L-BFGS;
        "logistic" and "svc" with at most 500 features use Newton's method.
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit.
    verbose : int, default=0
        1 shows the progress of the fit in a line on the terminal.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights of the features.
    intercept_ : float
        Chosen so that ``decision_function`` is above 0 for as many training rows as there are positives.
    objective_, lower_bound_, gap_ : float
        The objective, a proven lower bound of its minimum, and the relative gap between them. The smooth surrogate has
        no bound: both are NaN.
    risk_ : float
        R(w), the surrogate's risk.
    training_measure_, start_measure_ : float
        The measure on the training sample, for the fitted scorer and for the one from which the smooth surrogate
        started (NaN for other surrogates).
    collapsed_ : bool
        Whether the fit has learned nothing: w = 0 is (nearly) optimal, or a smooth surrogate ranks the training rows no
        better than at random. ``fit`` then issues a `CollapsedFitWarning`.
    n_iter_ : int
        Evaluations of the risk in the last search, without those for the start of a smooth surrogate and for larger
        bandwidths.
    trace_ : tuple of Step
        Objective, lower bound, number of cuts and seconds after each evaluation.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. ``classes_[1]`` is the positive class.

    Notes
    -----
    ``predict`` uses the threshold above which the training sample has as many rows as it has positives. For a threshold
    with a guarantee on the false positive rate, choose one on rows not used for training.

    After a keyboard interrupt, ``fit`` keeps the best weights so far and issues a warning.

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
        """Fit the weights.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            Dense or CSR, float64 or float32 are used without conversion. X is copied only if a feature is far from 0,
            such as seconds since 1970, or if a CSR matrix has duplicate entries.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        qid : array-like of shape (n_rows,), optional
            Query of each row. The risk is then the mean over the queries that have both classes.

        Returns
        -------
        self
        """
        C = above_zero("C", self.C)
        problem = self._pose(X, y, sample_weight, qid)
        with limit_blas_threads(problem.size):
            anchor = None if problem.kind.convex else self._anchor(problem)
            solution = self._solve(problem, C, start=self._start(problem), anchor=anchor)
        self._adopt(problem, solution, C=C, anchor=anchor)
        if self.collapsed_:
            warnings.warn(why_collapsed(problem, solution, C), CollapsedFitWarning, stacklevel=2)
        return self

    def _pose(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Problem:
        """Validate the input and return the problem that `fit` solves. It does not depend on C."""
        X, positive = self._admitted(X, y)
        return pose(
            X,
            positive,
            measure=measure_of(self.measure),
            surrogate=option("surrogate", self.surrogate, KINDS),
            bandwidth=above_zero("bandwidth", self.bandwidth),
            sample_weight=sample_weight,
            qid=qid,
            standardize=self.standardize,
        )

    def _anchor(self, problem: Problem) -> Vector:
        """Return the scorer from which the smooth surrogate starts, scaled to variance 1."""
        if self.start:
            starts = [self.start] if isinstance(self.start, BaseEstimator) else self.start
            if strangers := [type(each).__name__ for each in starts if not isinstance(each, LinearRanker)]:
                raise TypeError(f"start must be a LinearRanker or a sequence of them, got {', '.join(strangers)}")
            return problem.averaged([ranker._learned_from(problem) for ranker in starts])
        logistic = problem.with_surrogate("logistic")
        solution = lbfgs(
            logistic.risk,
            n_features=problem.rows.n_features,
            C=logistic.require_computable(above_zero("start_C", self.start_C), "start_C"),
            tol=above_zero("tol", self.tol),
            max_iter=whole("max_iter", self.max_iter, at_least=1),
            unit=1 / problem.unit,  # multiplying all features by a constant then has no effect
        )
        if solution.interrupted:
            raise KeyboardInterrupt
        return problem.standardised(solution.weights)

    def _learned_from(self, problem: Problem) -> Vector:
        """Return the weights of this ranker on the rows of another ranker's problem; 0 if it collapses."""
        C, bandwidth = above_zero("C", self.C), above_zero("bandwidth", self.bandwidth)
        mine = problem.with_surrogate(self.surrogate, measure=measure_of(self.measure), bandwidth=bandwidth)
        solution = self._search(mine, C)
        if solution.interrupted:
            raise KeyboardInterrupt
        return np.zeros_like(solution.weights) if mine.collapsed(solution, C) else solution.weights

    def _solve(self, problem: Problem, C: float, **known: Any) -> Solution:
        """Solve a problem for one C, and warn if it was interrupted or did not converge; see `_search`."""
        solution = self._search(problem, C, **known)
        if solution.interrupted:
            reached = "" if isnan(solution.gap) else f" with a gap of {solution.gap:.2g}"
            warnings.warn(f"interrupted{reached}; kept the best weights so far", ConvergenceWarning, stacklevel=3)
        elif not solution.converged:
            proved = solution.gap > self.tol  # False if NaN, or if C is so small that w = 0 is within tol
            reached = f"gap {solution.gap:.2g} > tol {self.tol:.2g} " if proved else "still falling "
            warnings.warn(
                f"{reached}after {solution.n_iter} evaluations; raise max_iter or tol, or set standardize=True",
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _adopt(self, problem: Problem, solution: Solution, *, C: float, anchor: Vector | None = None) -> None:
        """Set the fitted attributes from a solution, except classes and feature names."""
        scores = problem.scores(solution)
        self.coef_ = problem.coef(solution.weights)
        self.intercept_ = problem.intercept(solution.weights, scores)
        self.objective_, self.lower_bound_, self.gap_ = solution.objective, solution.lower, solution.gap
        learned = solution.weights.any() or problem.kind.convex  # the smooth risk is undefined for constant scores
        self.risk_ = problem.risk.at_scores(scores).value if learned else nan
        self.training_measure_ = problem.measured(scores)
        self.start_measure_ = nan if anchor is None else problem.measured(problem.rows.scores(anchor))
        self.n_iter_, self.trace_ = solution.n_iter, solution.trace
        self.collapsed_ = problem.collapsed(solution, C)
        if not problem.kind.convex:
            self.collapsed_ |= not self._beats_chance(problem)

    def _beats_chance(self, problem: Problem) -> bool:
        """Whether the training sample is ranked better than by constant scores; from a bad start it may not be."""
        lead = self.training_measure_ - problem.measured_by_chance()
        return lead > 0 if problem.measure.greater_is_better else lead < 0

    def _search(
        self,
        problem: Problem,
        C: float,
        *,
        start: Vector | None = None,
        bundle: Bundle | None = None,
        anchor: Vector | None = None,
        certify: bool = True,
    ) -> Solution:
        """Solve a problem for one C, with this ranker's solver, tolerance and limit of iterations.

        ``bundle`` contains the cuts of a hinge from earlier solves. ``anchor`` is the scorer from which the smooth
        surrogate starts; see `_anchor`. Without ``certify``, the gap of a hinge may remain unproved.
        """
        option("solver", self.solver, SOLVERS)
        limits: dict[str, Any] = {
            "n_features": problem.rows.n_features,
            "C": problem.require_computable(C),
            "tol": above_zero("tol", self.tol),
            "max_iter": whole("max_iter", self.max_iter, at_least=1),
            "callback": live_line if self.verbose else None,
        }
        if problem.kind.sums:
            minimise = newton if problem.rows.n_features <= _FEW_FEATURES else lbfgs
            solution = minimise(problem.risk, start=start, **limits)
        elif not problem.kind.convex:
            anchor = self._anchor(problem) if anchor is None else anchor
            solution = self._descend(problem, start, anchor, limits)
        else:
            if self.solver == "hybrid":
                limits["certify"] = certify
            solution = SOLVERS[self.solver](problem.risk, start=start, bundle=bundle, **limits)
        if self.verbose:
            sys.stderr.write("\n")
        return solution

    def _descend(self, problem: Problem, start: Vector | None, anchor: Vector, limits: dict[str, Any]) -> Solution:
        """Minimise the smooth risk near the anchor, with decreasing bandwidths if requested.

        The risk depends only on the direction of the weights. If there is only one, as with a single feature, its
        gradient is pure rounding. The first step of L-BFGS still has length 1 and may end at the origin. The anchor is
        then as good as any other answer.
        """
        try:
            return self._descended(problem, start, anchor, limits)
        except ConstantScoresError:
            pass
        try:
            point = problem.risk.at(anchor)
        except ConstantScoresError:  # the anchor has learned nothing, or nothing within queries
            return Solution(np.zeros_like(anchor), (Step(1, limits["C"], nan, 0, 0.0),), Bundle())
        return Solution(anchor, (Step(1, limits["C"] * point.value, nan, 0, 0.0),), Bundle(), point=point)

    def _descended(self, problem: Problem, start: Vector | None, anchor: Vector, limits: dict[str, Any]) -> Solution:
        unit = float(np.linalg.norm(anchor)) or 1.0
        if self.anneal:
            for factor in _ANNEALING:
                softer = problem.with_surrogate(self.surrogate, bandwidth=factor * self.bandwidth)
                solution = lbfgs(softer.risk, start=start, centre=anchor, unit=unit, convex=False, **limits)
                if solution.interrupted:
                    return solution
                start = solution.weights
        return lbfgs(problem.risk, start=start, centre=anchor, unit=unit, convex=False, **limits)

    def _start(self, problem: Problem) -> Vector | None:
        if not self.warm_start or getattr(self, "coef_", np.empty(0)).shape != (problem.rows.n_features,):
            return None
        if not self.coef_.any():  # do not start from a collapsed fit
            return None
        return self.coef_ if problem.scale is None else np.asarray(self.coef_ * problem.scale)


def why_collapsed(problem: Problem, solution: Solution, C: float) -> str:
    """Return the message of a fit that has learned nothing: why, and what to do."""
    if not problem.kind.convex and solution.weights.any():
        return (
            "the fit has learned nothing: the training rows are ranked no better than at random, also by the scorer "
            "from which it starts; set standardize=True, or check that X is informative about the classes"
        )
    if not problem.kind.needs_range and not solution.converged:
        return f"the weights are still 0 after {solution.n_iter} evaluations; raise max_iter"
    if not problem.kind.needs_range:
        return "the fit has collapsed to weights of 0: no feature is informative about the classes; check X"
    gain = max(1 - solution.lower / C, 0.0)
    return (
        f"the fit has collapsed to weights near 0: no weights lower the objective by more than {gain:.1%}. Over the "
        f"range of {problem.measure}, the highest negatives outscore the average positive in every direction, and this "
        "convex surrogate is then minimised by weights of 0. Use LinearRankerCV, which selects among the surrogates, "
        "surrogate='smooth', or a wider range"
    )
