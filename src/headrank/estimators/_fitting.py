"""The steps of fitting a linear ranker: for `fit`, cross-validation and paths."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from headrank._numbers import above_zero, option, whole
from headrank._types import ArrayLike, Vector
from headrank.estimators._blocks import unpacked
from headrank.estimators._problem import SOLVERS, Problem, live_line, pose
from headrank.estimators._risk import ScoredPoint
from headrank.estimators._scorer import admitted
from headrank.measures import measure as measure_of
from headrank.solvers import Bundle, Solution, Step, lbfgs, newton
from headrank.surrogates.smooth import ConstantScoresError

if TYPE_CHECKING:
    from headrank.estimators.linear import LinearRanker

_FEW_FEATURES = 500
"""Up to this number, the Hessian of a classifier's loss costs at most some dozen passes over the rows."""
_ANNEALING = (4.0, 2.0)
"""Multiples of the bandwidth to start with."""


def posed(
    ranker: LinearRanker,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
) -> Problem:
    """Validate the input and return the problem that `fit` solves. It does not depend on C."""
    X, y, sample_weight, qid = unpacked(ranker, X, y, sample_weight, qid)
    X, positive = admitted(ranker, X, y)
    return pose(
        X,
        positive,
        measure=measure_of(ranker.measure),
        surrogate=ranker.surrogate,
        bandwidth=above_zero("bandwidth", ranker.bandwidth),
        sample_weight=sample_weight,
        qid=qid,
        standardize=ranker.standardize,
    )


def anchor_of(
    ranker: LinearRanker,
    problem: Problem,
    *,
    nearby: Vector | None = None,
    callback: Callable[[Step], None] | None = None,
) -> Vector:
    """Return the scorer from which the smooth surrogate starts, scaled to variance 1.

    ``nearby`` are weights from which its fit starts.
    """
    from headrank.estimators.linear import LinearRanker  # which imports this module

    if ranker.start:
        starts = [ranker.start] if isinstance(ranker.start, BaseEstimator) else ranker.start
        if strangers := [type(each).__name__ for each in starts if not isinstance(each, LinearRanker)]:
            raise TypeError(f"start must be a LinearRanker or a sequence of them, got {', '.join(strangers)}")
        return problem.averaged([learned_from(each, problem) for each in starts])
    logistic = problem.with_surrogate("logistic")
    solution = lbfgs(
        logistic.risk,
        n_features=problem.rows.n_features,
        C=logistic.require_computable(above_zero("start_C", ranker.start_C), "start_C"),
        tol=above_zero("tol", ranker.tol),
        max_iter=whole("max_iter", ranker.max_iter, at_least=1),
        start=nearby,
        unit=1 / problem.unit,  # so that multiplying all features by a number changes nothing
        callback=callback,
    )
    solution.raise_if_stopped()
    return problem.standardised(solution.weights)


def learned_from(ranker: LinearRanker, problem: Problem) -> Vector:
    """Return the weights of this ranker on the rows of another ranker's problem; 0 if it collapses."""
    C, bandwidth = above_zero("C", ranker.C), above_zero("bandwidth", ranker.bandwidth)
    mine = problem.with_surrogate(ranker.surrogate, measure=measure_of(ranker.measure), bandwidth=bandwidth)
    solution = search(ranker, mine, C)
    solution.raise_if_stopped()
    return np.zeros_like(solution.weights) if mine.collapsed(solution, C) else solution.weights


def adopt(
    ranker: LinearRanker, problem: Problem, solution: Solution, *, C: float, anchor: Vector | None = None
) -> None:
    """Set the fitted attributes from a solution, except classes and feature names."""
    outcome = problem.outcome(solution)
    ranker.coef_ = problem.coef(solution.weights)
    ranker.intercept_ = problem.intercept(solution.weights, outcome.threshold)
    _adopt_trace(ranker, solution)
    ranker.risk_, ranker.training_measure_ = outcome.risk, outcome.measure
    ranker.start_measure_ = nan if anchor is None else problem.measured_at(anchor)
    ranker.collapsed_ = problem.collapsed(solution, C)
    if not problem.kind.convex:
        ranker.collapsed_ |= not _beats_chance(ranker, problem)


def keep_best(ranker: LinearRanker, problem: Problem, solution: Solution) -> None:
    """Set what an unfinished search tells without another pass over the rows; the other attributes are removed.

    If the scores have stayed with blocks that cannot be read any more, the threshold is not known: the intercept is 0.
    """
    for name in ("risk_", "training_measure_", "start_measure_", "collapsed_"):
        if hasattr(ranker, name):
            delattr(ranker, name)
    ranker.coef_, ranker.intercept_ = problem.coef(solution.weights), 0.0
    if isinstance(solution.point, ScoredPoint):
        ranker.intercept_ = problem.intercept(solution.weights, problem.threshold(solution.point.scores))
    _adopt_trace(ranker, solution)


def _adopt_trace(ranker: LinearRanker, solution: Solution) -> None:
    ranker.objective_, ranker.lower_bound_, ranker.gap_ = solution.objective, solution.lower, solution.gap
    ranker.n_iter_, ranker.trace_ = solution.n_iter, solution.trace


def _beats_chance(ranker: LinearRanker, problem: Problem) -> bool:
    """Whether the training sample is ranked better than by constant scores; from a bad start it may not be."""
    lead = ranker.training_measure_ - problem.measured_by_chance()
    return lead > 0 if problem.measure.greater_is_better else lead < 0


def search(
    ranker: LinearRanker,
    problem: Problem,
    C: float,
    *,
    start: Vector | None = None,
    bundle: Bundle | None = None,
    anchor: Vector | None = None,
    certify: bool = True,
    callback: Callable[[Step], None] | None = None,
) -> Solution:
    """Solve a problem for one C, with this ranker's solver, tolerance and limit of iterations.

    ``bundle`` contains the cuts of a hinge from earlier solves. ``anchor`` is the scorer from which the smooth
    surrogate starts; see `anchor_of`. Without ``certify``, the gap of a hinge may remain unproved. ``callback`` is
    called after each evaluation.
    """
    option("solver", ranker.solver, SOLVERS)
    limits: dict[str, Any] = {
        "n_features": problem.rows.n_features,
        "C": problem.require_computable(C),
        "tol": above_zero("tol", ranker.tol),
        "max_iter": whole("max_iter", ranker.max_iter, at_least=1),
        "callback": callback or (live_line if ranker.verbose else None),
    }
    if problem.kind.sums:
        minimise = newton if problem.rows.n_features <= _FEW_FEATURES else lbfgs
        solution = minimise(problem.risk, start=start, **limits)
    elif not problem.kind.convex:
        anchor = anchor_of(ranker, problem) if anchor is None else anchor
        solution = _descend(ranker, problem, start, anchor, limits)
    else:
        if ranker.solver == "hybrid":
            limits["certify"] = certify
        solution = SOLVERS[ranker.solver](problem.risk, start=start, bundle=bundle, **limits)
    if ranker.verbose:
        sys.stderr.write("\n")
    return solution


def _descend(
    ranker: LinearRanker, problem: Problem, start: Vector | None, anchor: Vector, limits: dict[str, Any]
) -> Solution:
    """Minimise the smooth risk near the anchor, with decreasing bandwidths if requested.

    The risk depends only on the direction of the weights. If there is only one, as with a single feature, its
    gradient is pure rounding. The first step of L-BFGS still has length 1 and may end at the origin. The anchor is
    then as good as any other answer.
    """
    try:
        return _descended(ranker, problem, start, anchor, limits)
    except ConstantScoresError:
        pass
    try:
        point = problem.risk.at(anchor)
    except ConstantScoresError:  # the anchor has learned nothing, or nothing within queries: nowhere to start
        return Solution(np.zeros_like(anchor), (Step(1, limits["C"], nan, 0, 0.0),), Bundle())
    return Solution(anchor, (Step(1, limits["C"] * point.value, nan, 0, 0.0),), Bundle(), point=point)


def _descended(
    ranker: LinearRanker, problem: Problem, start: Vector | None, anchor: Vector, limits: dict[str, Any]
) -> Solution:
    unit = float(np.linalg.norm(anchor)) or 1.0
    if ranker.anneal:
        for factor in _ANNEALING:
            softer = problem.with_surrogate(ranker.surrogate, bandwidth=factor * ranker.bandwidth)
            solution = lbfgs(softer.risk, start=start, centre=anchor, unit=unit, convex=False, **limits)
            if solution.stopped_by is not None:
                return solution
            start = solution.weights
    return lbfgs(problem.risk, start=start, centre=anchor, unit=unit, convex=False, **limits)
