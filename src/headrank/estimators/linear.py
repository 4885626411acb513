"""LinearRanker: the linear scorer that is best at the head of the list."""

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
"""Up to so many, the Hessian of a classifier's loss costs no more than some dozen passes over the rows."""
_ANNEALING = (4.0, 2.0)
"""Multiples of the bandwidth, before the bandwidth itself."""


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
        """Check the input and state the problem that `fit` solves, for whoever wants to solve it for many C."""
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
        """Find the scorer that the smooth surrogate starts from and stays near, scaled to variance 1."""
        if self.start:
            starts = [self.start] if isinstance(self.start, BaseEstimator) else self.start
            if strangers := [type(each).__name__ for each in starts if not isinstance(each, LinearRanker)]:
                raise TypeError(f"start must be a LinearRanker, or several, got {', '.join(strangers)}")
            return problem.averaged([ranker._learned_from(problem) for ranker in starts])
        logistic = problem.with_surrogate("logistic")
        solution = lbfgs(
            logistic.risk,
            n_features=problem.rows.n_features,
            C=logistic.require_computable(above_zero("start_C", self.start_C), "start_C"),
            tol=above_zero("tol", self.tol),
            max_iter=whole("max_iter", self.max_iter, at_least=1),
            unit=1 / problem.unit,  # so that multiplying all features by a number changes nothing
        )
        if solution.interrupted:
            raise KeyboardInterrupt
        return problem.standardised(solution.weights)

    def _learned_from(self, problem: Problem) -> Vector:
        """The weights that this ranker finds on the rows of another's problem; 0 if it collapses."""
        C, bandwidth = above_zero("C", self.C), above_zero("bandwidth", self.bandwidth)
        mine = problem.with_surrogate(self.surrogate, measure=measure_of(self.measure), bandwidth=bandwidth)
        solution = self._search(mine, C)
        if solution.interrupted:
            raise KeyboardInterrupt
        return np.zeros_like(solution.weights) if mine.collapsed(solution, C) else solution.weights

    def _solve(self, problem: Problem, C: float, **known: Any) -> Solution:
        """Solve a posed problem for one C, and warn when the answer is not what was asked for; see `_search`."""
        solution = self._search(problem, C, **known)
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

    def _adopt(self, problem: Problem, solution: Solution, *, C: float, anchor: Vector | None = None) -> None:
        """Become what `_solve` has found: set all that `fit` sets but the classes and the names of the features."""
        scores = problem.scores(solution)
        self.coef_ = problem.coef(solution.weights)
        self.intercept_ = problem.intercept(solution.weights, scores)
        self.objective_, self.lower_bound_, self.gap_ = solution.objective, solution.lower, solution.gap
        learned = solution.weights.any() or problem.kind.convex  # the smooth risk has no value at constant scores
        self.risk_ = problem.risk.at_scores(scores).value if learned else nan
        self.training_measure_ = problem.measured(scores)
        self.start_measure_ = nan if anchor is None else problem.measured(problem.rows.scores(anchor))
        self.n_iter_, self.trace_ = solution.n_iter, solution.trace
        self.collapsed_ = problem.collapsed(solution, C)
        if not problem.kind.convex:
            self.collapsed_ |= not self._beats_chance(problem)

    def _beats_chance(self, problem: Problem) -> bool:
        """Whether the training sample is ranked better than by constant scores; a fit that starts badly may not be."""
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
        """Solve a posed problem for one C, with this ranker's solver, tolerance and limit of iterations.

        ``bundle`` holds what is known of a hinge from earlier solves; ``anchor`` is the scorer the smooth surrogate
        stays near, as `_anchor` finds it. Without ``certify``, a hinge may be left without a proof of its gap.
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
        """Minimise the smooth risk near the anchor, with falling bandwidths if asked for.

        The risk knows directions alone. Where there is but one, as with a single feature, its gradient is rounding; the
        first step of L-BFGS has length 1 all the same, and may end at the origin. The anchor is then as good as any.
        """
        try:
            return self._descended(problem, start, anchor, limits)
        except ConstantScoresError:
            pass
        try:
            point = problem.risk.at(anchor)
        except ConstantScoresError:  # the anchor has learned nothing, or nothing within queries: nowhere to start
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
