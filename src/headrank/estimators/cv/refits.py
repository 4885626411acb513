"""The selected candidates, fitted to all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from headrank._types import Vector
from headrank.estimators import _fitting
from headrank.estimators._problem import Problem
from headrank.estimators.cv.candidates import Average, Candidate, members_of, target_of
from headrank.estimators.cv.tally import Tally
from headrank.estimators.linear import LinearRanker
from headrank.solvers import Step


@dataclass(frozen=True, eq=False)
class Refits:
    """Fits of candidates to all rows. Each is computed once, as the selection or as the start of a smooth one.

    Attributes
    ----------
    problem : Problem
        The problem of all rows.
    tried : sequence of Candidate
        All candidates. A smooth one is fitted as on the folds, along the smaller C of its grid: its risk has many
        minima, and the path determines which one is found.
    standardize, tol, max_iter
        As in `headrank.LinearRankerCV`.
    tally : Tally
        Counts the fits.
    starts : mapping of Candidate to array
        Weights near the answer, in the coordinates of the problem: those of a fit to a sample of the rows. Such a
        candidate starts there, without the way along smaller C; others start at the first of them.
    callback : callable or None
        Called after each evaluation.
    """

    problem: Problem
    tried: Sequence[Candidate]
    standardize: bool | None
    tol: float
    max_iter: int
    tally: Tally
    starts: Mapping[Candidate, Vector] = field(default_factory=dict)
    callback: Callable[[Step], None] | None = None
    _unconverged: list[Candidate] = field(default_factory=list)
    _anchors: list[Vector] = field(default_factory=list)
    _fits: dict[Candidate, tuple[LinearRanker, Vector]] = field(default_factory=dict)

    def rankers(self, candidate: Candidate | Average) -> tuple[LinearRanker, ...]:
        """Return the fitted members of an average, or the single fitted candidate."""
        if missing := self._with_ways(_needed(candidate)) - self._fits.keys():
            self.tally.left(len(missing))
        return tuple(self._fitted(member)[0] for member in members_of(candidate))

    def learned(self, candidate: Candidate | Average) -> tuple[LinearRanker, ...]:
        """Return those of the rankers that have not collapsed."""
        return tuple(ranker for ranker in self.rankers(candidate) if not ranker.collapsed_)

    def unconverged_of(self, candidate: Candidate | Average) -> list[Candidate]:
        """Return the members, and the candidates from which they start, that did not converge."""
        return [each for each in self._unconverged if each in _needed(candidate)]

    def _fitted(self, candidate: Candidate) -> tuple[LinearRanker, Vector]:
        """Return the ranker and its weights in the coordinates of the problem; 0 if it has collapsed."""
        if candidate not in self._fits:
            starts = [self._fitted(each)[1] for each in candidate.start]
            ranker = candidate.ranker(self.problem.measure, tol=self.tol, max_iter=self.max_iter)
            ranker.set_params(standardize=self.standardize)
            target = target_of(self.problem.measure, candidate.surrogate)
            problem = replace(self.problem, measure=target).with_surrogate(
                candidate.learned_by, bandwidth=ranker.bandwidth
            )
            anchor = None
            if not candidate.kind.convex:
                anchor = problem.averaged(starts) if starts else self._anchor_of(ranker, problem)
            way = self._way(candidate)
            start = self._fitted(way[-1])[1] if way else self.starts.get(candidate, self._nearby)
            if start is not None and not start.any():  # do not start from a collapsed fit
                start = None
            solution = _fitting.search(ranker, problem, candidate.C, start=start, anchor=anchor, callback=self.callback)
            solution.raise_if_stopped()
            if not solution.converged:
                self._unconverged.append(candidate)
            _fitting.adopt(ranker, problem, solution, C=candidate.C, anchor=anchor)
            weights = np.zeros_like(solution.weights) if ranker.collapsed_ else solution.weights
            self._fits[candidate] = ranker, weights
            self.tally.done()
        return self._fits[candidate]

    def _anchor_of(self, ranker: LinearRanker, problem: Problem) -> Vector:
        """Return the scorer from which a smooth candidate starts that names none; it is the same for all of them."""
        if not self._anchors:
            self._anchors.append(_fitting.anchor_of(ranker, problem, nearby=self._nearby, callback=self.callback))
        return self._anchors[0]

    @property
    def _nearby(self) -> Vector | None:
        return next(iter(self.starts.values()), None)

    def _way(self, candidate: Candidate) -> list[Candidate]:
        """Return the candidates of smaller C that precede a smooth one, in increasing order."""
        if candidate.kind.convex or self.starts:
            return []
        return sorted(
            (each for each in self.tried if replace(each, C=candidate.C) == candidate and each.C < candidate.C),
            key=lambda each: each.C,
        )

    def _with_ways(self, candidates: set[Candidate]) -> set[Candidate]:
        return candidates.union(*map(self._way, candidates))


def _needed(candidate: Candidate | Average) -> set[Candidate]:
    """Return the members and the candidates from which they start."""
    members = members_of(candidate)
    return {*members, *(start for member in members for start in member.start)}
