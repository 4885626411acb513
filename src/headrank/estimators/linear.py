"""LinearRanker: a linear scorer trained for the head of the list."""

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
    """Linear scorer trained for the head of the list, with a hinge or a smooth surrogate of the measure.

    The hinges ``"tight"`` and ``"structural"`` minimise ``1/2 |w|^2 + C R(w)`` to a certified relative gap. R is a
    convex upper bound of 1 - measure on the training sample: the structural SVM for the partial AUC (Narasimhan &
    Agarwal, ICML 2013 and KDD 2013), or with ``measure="auc"`` Joachims' SVM for the AUC (2005). If classes overlap
    and the range is narrow, they collapse to w = 0.

    ``"smooth"`` minimises 1 - measure itself, with soft counts. It starts from a scorer w0, a logistic regression or
    other rankers, and stays near it: ``1/2 |w - w0|^2 / |w0|^2 + C R(w)``, with w0 scaled so that its scores have
    variance 1. This is not convex, so nothing is proved about the minimum. The fit is deterministic and does not
    depend on the scale of the scores.

    ``"toppush"``, ``"tau-fpl"``, ``"patmat"`` and ``"asymmetric"`` are methods of other papers that press the highest
    negatives down. They are convex and certified as the hinges are, and most of them collapse where the hinges do.
    ``"push"`` is logistic regression with a power for the negatives.

    Cost: a few to a few dozen evaluations, each a pass over X, O(nonzeros), plus O(N log N) for sorting.
    To select surrogate and parameters by cross-validation, use `LinearRankerCV`.

    Parameters
    ----------
    measure : Measure or str, default="pauc@0.1"
        The measure to maximise, or its short name. For the hinges: `AUC`, `PartialAUC`, `StandardizedPartialAUC` or
        `FROCArea`. For "tau-fpl", "patmat" and "asymmetric" the same with a range from 0 on, or `TPRAtFPR`. For the
        smooth surrogate also `TwoWayPartialAUC`, `LocalAUC`, `WRanking`, `PNormPush`, `RankStatistic`,
        `MassConstrainedError`, `LocalRankingRisk`, `TopTPR` and the measures of the first rows. The others learn the
        same scorer whatever the measure.
    surrogate : str, default="tight"
        "tight" is the convex bound of KDD 2013, which uses only the negatives within reach of the range, "structural"
        that of ICML 2013, and "smooth" the measure with soft counts. "logistic" and "svc" ignore the measure: logistic
        regression, with scikit-learn's objective, and the linear support vector classifier with squared hinge, which
        differs from scikit-learn's only in that the intercept is not penalised.

        "toppush" asks each positive to beat the highest negative by 1 and squares what is missing, "tau-fpl" does the
        same with the mean of the highest negatives up to the end of the range, "patmat" with a smooth quantile of them
        (Pat&Mat-NP); "patmat@0.1" sets its beta, by default 1. "asymmetric" is the asymmetric SVM; "asymmetric@3" sets
        the weight of the positives' core, tau / mu, by default 1. "push" is the p-norm push with logistic losses;
        "push@8" sets the power, by default 4. The number after the @ is optional.
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
        Solver of the hinges, and of "toppush", "tau-fpl", "patmat" and "asymmetric". "cutting-plane" is the paper's
        Algorithm 2, for comparison. Other surrogates use L-BFGS; "logistic", "svc" and "push" with at most 500 features
        use Newton's method.
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

    _takes_grades = True
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

    _takes_blocks = True

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Blocks of shape (n_rows, n_features)
            Dense or CSR, float64 or float32 are used as they are. Only features far from 0, such as seconds since 1970,
            are copied, and a CSR matrix with duplicate entries. `Blocks` need not fit in memory.
        y : array-like of shape (n_rows,)
            Two classes; the greater one, in sorted order, is the positive one. If the measure is `NDCG`, grades from 0
            (not relevant) to 30; only ``surrogate="smooth"`` tells grades above 0 apart. `Blocks` contain the labels,
            weights and queries of their rows.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        qid : array-like of shape (n_rows,), optional
            Query of each row. The risk is then the mean over the queries that have both classes.

        Returns
        -------
        self
            After a keyboard interrupt, with the best weights so far and a warning.

        Raises
        ------
        OSError
            If rows can no longer be read: a file is gone, or the cluster (`ConnectionError`). ``coef_`` and
            ``trace_`` are then those of the best weights so far, from which a fit with ``warm_start=True`` starts.
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
        """Solve a problem for one C, and warn if it was interrupted or did not converge; see `_search`."""
        solution = _fitting.search(self, problem, C, **known)
        if isinstance(lost := solution.stopped_by, OSError):
            _fitting.keep_best(self, problem, solution)
            lost.add_note(
                f"The fit was stopped after {solution.n_iter} evaluations. coef_ has the best weights so far; with "
                "warm_start=True, the next fit starts from them."
            )
            raise lost
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
    if not problem.kind.collapses and not solution.converged:
        return f"the weights are still 0 after {solution.n_iter} evaluations; raise max_iter"
    if not problem.kind.collapses:
        return "the fit has collapsed to weights of 0: no feature is informative about the classes; check X"
    gain = max(1 - solution.lower / (C * problem.risk_at_zero), 0.0)
    ranged = problem.kind.needs_range or problem.kind.needs_head
    over, wider = (f"Over the range of {problem.measure}, the", ", or a wider range") if ranged else ("The", "")
    return (
        f"the fit has collapsed to weights near 0: no weights lower the objective by more than {gain:.1%}. {over} "
        "highest negatives outscore the average positive in every direction, and this convex surrogate is then "
        "minimised by weights of 0. Use LinearRankerCV, which selects among the surrogates"
        f", {'' if ranged else 'or '}surrogate='smooth'{wider}"
    )
