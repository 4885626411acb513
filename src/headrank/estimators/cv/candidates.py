"""The candidates of cross-validation and their results on each fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from headrank._format import shown
from headrank._types import IntVector, Vector
from headrank.estimators import _fitting
from headrank.estimators._problem import Problem
from headrank.estimators.linear import LinearRanker
from headrank.measures import (
    AUC,
    EnrichmentFactor,
    Measure,
    PartialAUC,
    PrecisionAt,
    RecallAt,
    TwoWayPartialAUC,
)
from headrank.measures.area import AreaMeasure
from headrank.measures.local import TopMeasure
from headrank.solvers import Bundle
from headrank.surrogates import KINDS, SurrogateKind, kind_of
from headrank.surrogates.registry import fpr_range

WHOLE_CURVE = "auc"
"""The hinge of the AUC: it minimises another measure, so it is a candidate of its own."""
SURROGATES = tuple(each for name in KINDS for each in ((WHOLE_CURVE, name) if name == "tight" else (name,)))
"""From the simplest to the most flexible. Some take a parameter after the name."""
DEFAULTS = tuple(name for name in SURROGATES if name == WHOLE_CURVE or KINDS[name].default)
"""Those tried by default."""
_FOLD_TOL = 10.0


@dataclass(frozen=True)
class Candidate:
    """A surrogate and its parameters."""

    surrogate: str
    C: float
    bandwidth: float | None = None
    """Bandwidth of the smooth surrogate; None for others."""
    start: tuple[Candidate, ...] = ()
    """Start of the smooth surrogate: the average of these, or `LinearRanker`'s logistic regression if empty."""

    def __str__(self) -> str:
        bandwidth = "" if self.bandwidth is None else f", bandwidth={shown(self.bandwidth)}"
        return f"{self.surrogate} (C={shown(self.C)}{bandwidth})"

    @property
    def learned_by(self) -> str:
        """Name of the surrogate in `LinearRanker`."""
        return learned_by(self.surrogate)

    @property
    def kind(self) -> SurrogateKind:
        """Properties of the surrogate."""
        return kind_of(self.learned_by)

    def ranker(self, measure: Measure, *, tol: float, max_iter: int) -> LinearRanker:
        """Return the ranker of this candidate, not fitted."""
        target = target_of(measure, self.surrogate)
        ranker = LinearRanker(target, surrogate=self.learned_by, C=self.C, tol=tol, max_iter=max_iter)
        if self.bandwidth is not None:
            ranker.set_params(bandwidth=self.bandwidth)
        if self.start:
            ranker.set_params(start=[each.ranker(measure, tol=tol, max_iter=max_iter) for each in self.start])
        return ranker


@dataclass(frozen=True)
class Average:
    """The average of several candidates' scores, each scaled to variance 1. It is a linear scorer, too."""

    members: tuple[Candidate, ...]
    C: ClassVar[None] = None
    bandwidth: ClassVar[None] = None

    def __str__(self) -> str:
        *others, last = map(str, self.members)
        return f"the average of {', '.join(others)} and {last}"

    @property
    def surrogate(self) -> str:
        """The name of the average: convex, smooth or both."""
        return f"average of {family_of(self)}"


def learned_by(surrogate: str) -> str:
    """Return the name in `LinearRanker` of a candidate's surrogate."""
    return "tight" if surrogate == WHOLE_CURVE else surrogate


def as_one(candidates: Sequence[Candidate]) -> Candidate | Average:
    """Return the average of several candidates, or the only one."""
    return candidates[0] if len(candidates) == 1 else Average(tuple(candidates))


def members_of(candidate: Candidate | Average) -> tuple[Candidate, ...]:
    """Return the members of an average, or the single candidate."""
    return candidate.members if isinstance(candidate, Average) else (candidate,)


def family_of(candidate: Candidate | Average) -> str:
    """Return "convex", "smooth" or, for an average that contains some of each, "both"."""
    smooth = [not member.kind.convex for member in members_of(candidate)]
    return "smooth" if all(smooth) else "both" if any(smooth) else "convex"


def target_of(measure: Measure, surrogate: str) -> Measure:
    """Return the measure whose surrogate is minimised: the measure itself, or the nearest that has such a surrogate."""
    if surrogate == WHOLE_CURVE:
        return AUC()
    kind = kind_of(surrogate)
    if kind.needs_range or (kind.needs_head and not kind.supports(measure)):
        nearest = nearest_with_hinge(measure)
        return nearest if kind.supports(nearest) else PartialAUC(max_fpr=fpr_range(nearest)[1])
    return measure


@singledispatch
def nearest_with_hinge(_measure: Measure) -> Measure:
    """Return the partial AUC with the closest hinge to a measure; the AUC if none is registered.

    >>> from headrank.measures import LocalAUC
    >>> str(nearest_with_hinge(LocalAUC(0.05))), str(nearest_with_hinge(PartialAUC(max_fpr=0.1)))
    ('pauc@0.05', 'pauc@0.1')
    """
    return AUC()


@nearest_with_hinge.register
def _(measure: AreaMeasure) -> Measure:
    return measure


@nearest_with_hinge.register
def _(measure: TwoWayPartialAUC) -> Measure:
    return PartialAUC(max_fpr=measure.max_fpr)


# If positives are rare, a fraction of all rows is about the same fraction of the negatives.
@nearest_with_hinge.register
def _(measure: TopMeasure) -> Measure:
    return PartialAUC(max_fpr=measure.top)


@nearest_with_hinge.register(PrecisionAt)
@nearest_with_hinge.register(RecallAt)
@nearest_with_hinge.register(EnrichmentFactor)
def _(measure: PrecisionAt | RecallAt | EnrichmentFactor) -> Measure:
    return AUC() if measure.is_count else PartialAUC(max_fpr=measure.k)


class Outcome(NamedTuple):
    """The result of a candidate on one fold."""

    value: float
    """The measure on the test rows, negated if lower is better."""
    collapsed: bool
    n_iter: int
    weights: Vector
    """0 if collapsed."""


def trial_of(candidate: Candidate | Average, outcomes: Sequence[Outcome]) -> Trial:
    """Collect the results of a candidate on all folds."""
    values, collapsed, n_iter = (np.array([outcome[i] for outcome in outcomes]) for i in range(3))
    return Trial(candidate, values, collapsed, n_iter)


def averaged(fold: Fold, members: Sequence[Outcome]) -> Outcome:
    """Average several candidates on a fold; those that have collapsed there add nothing."""
    weights = fold.learner().averaged([member.weights for member in members])
    n_iter = sum(member.n_iter for member in members)
    return Outcome(fold.measured(weights), all(member.collapsed for member in members), n_iter, weights)


@dataclass(frozen=True, eq=False)
class Trial:
    """The results of a candidate on all folds."""

    candidate: Any
    """A `Candidate` or an `Average`, or what other families choose among."""
    values: Vector
    """The measure on the test rows, one value per fold, negated if lower is better."""
    collapsed: Vector
    """Whether the fit has collapsed, per fold."""
    n_iter: Vector

    @property
    def has_collapsed(self) -> bool:
        """Whether it has collapsed on most folds."""
        return bool(2 * np.count_nonzero(self.collapsed) > self.collapsed.size)

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(self.values.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean. Somewhat too small: folds share rows, so they are not independent."""
        return standard_error(self.values)


def standard_error(values: Vector) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1)) / sqrt(values.size) if values.size > 1 else 0.0


def corrected_error(values: Vector) -> float:
    """Return the standard error of a mean over k folds of which each learns from most rows of the others.

    The variance over the folds counts 1/k + 1/(k - 1) times, where independent values would count 1/k times (Nadeau &
    Bengio, 2003): 1.5 times the plain standard error for five folds.
    """
    k = values.size
    return float(values.std(ddof=1)) * sqrt(1 / k + 1 / (k - 1)) if k > 1 else 0.0


def trails(values: Vector, best: Vector) -> bool:
    """Whether a mean over folds is lower by more than the corrected standard error of the difference."""
    lead = best - values
    return bool(lead.mean() > corrected_error(lead))


@dataclass(frozen=True, eq=False)
class Fold:
    """A split into training and test rows."""

    problem: Problem
    train: IntVector
    test: IntVector

    def learner(self) -> Problem:
        """Return the problem of the training rows. Its surrogate is still to be set."""
        return self.problem.part(self.train)

    def scores(self, weights: Vector) -> Vector:
        """The scores of the rows left out."""
        return self.problem.rows.scores(weights)[self.test]

    def measured(self, weights: Vector) -> float:
        """Return the measure on the test rows, negated if lower is better."""
        value = self.problem.measure.of_sample(self.problem.sample_of(self.test, self.scores(weights)))
        return value if self.problem.measure.greater_is_better else -value


def tried(
    fold: Fold,
    candidates: Sequence[Candidate],
    *,
    tol: float,
    max_iter: int,
    told: Callable[[], None],
    before: Outcome | None = None,
    anchor: Vector | None = None,
) -> list[Outcome]:
    """Fit candidates that differ only in C, in increasing order, each starting from the previous one.

    ``before`` is the result for a smaller C on the same fold, ``anchor`` the scorer from which the smooth surrogate
    starts, if known from earlier trials. There is no warning about candidates that collapse or do not converge: they
    are judged by their results.
    """
    first, learner = candidates[0], fold.learner()
    # The last digits of a ranking risk cost many passes and do not change the ranking noticeably.
    tol = tol if first.kind.sums else _FOLD_TOL * tol
    ranker = first.ranker(learner.measure, tol=tol, max_iter=max_iter)
    target = target_of(learner.measure, first.surrogate)
    problem = learner.with_surrogate(first.learned_by, measure=target, bandwidth=ranker.bandwidth)
    if not first.kind.convex:
        anchor = _fitting.anchor_of(ranker, problem) if anchor is None else anchor
    bundle, results = Bundle(), []
    for candidate in candidates:
        if before is not None and before.collapsed and first.kind.collapses:
            # If a hinge has collapsed, and longer steps along its best direction do not help, a larger C, which allows
            # longer steps, hardly ever helps. Proving this for each C would take most of all passes.
            before = before._replace(n_iter=0)
        else:
            start = None if before is None else before.weights
            solution = _fitting.search(
                ranker, problem, candidate.C, start=start, bundle=bundle, anchor=anchor, certify=False
            )
            solution.raise_if_stopped()
            collapsed = problem.collapsed(solution, candidate.C)
            weights = np.zeros_like(solution.weights) if collapsed else solution.weights
            before = Outcome(fold.measured(weights), collapsed, solution.n_iter, weights)
        results.append(before)
        told()
    return results
