"""Cross-validation of all candidates on the same folds, and averages of those that are tied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from joblib import Parallel, delayed

from headrank._types import Vector
from headrank.estimators.cv.candidates import (
    Average,
    Candidate,
    Fold,
    Outcome,
    Trial,
    as_one,
    averaged,
    members_of,
    trial_of,
    tried,
)
from headrank.estimators.cv.rule import clearly_behind, tied_best
from headrank.estimators.cv.tally import Tally

Group: TypeAlias = list[Candidate]
"""Candidates that differ only in C, in increasing order."""
Outcomes: TypeAlias = dict[Candidate | Average, list[Outcome]]
"""The results of each candidate, one per fold."""
_STEP, _MOST_STEPS = 10.0, 2


@dataclass(frozen=True, eq=False)
class Search:
    """Cross-validation of candidates.

    Attributes
    ----------
    folds : list of Fold
        The folds, the same for all candidates.
    open_ended : bool
        Whether to continue with larger C, up to a hundred times the largest, if the largest is the best. Hinges are
        excluded: large C take most of all passes, and gained nothing on 11 data sets.
    tol, max_iter, n_jobs
        As in `headrank.LinearRankerCV`.
    tally : Tally
        Counts the fits.
    """

    folds: list[Fold]
    open_ended: bool
    tol: float
    max_iter: int
    n_jobs: int | None
    tally: Tally

    def outcomes(self, groups: Sequence[Group]) -> Outcomes:
        """Try all groups: first the convex ones, then the smooth ones, which start from the best of the convex."""
        self.tally.expect(len(self.folds) * sum(map(len, groups)))
        smooth = [group for group in groups if not group[0].kind.convex]
        nowhere: list[Vector | None] = [None] * len(self.folds)
        outcomes = self._outcomes([group for group in groups if group not in smooth], nowhere)
        start, anchors = self._best(outcomes), nowhere
        if smooth and start is not None:
            smooth = [[replace(candidate, start=members_of(start)) for candidate in group] for group in smooth]
            anchors = [outcome.weights for outcome in self._averaged(outcomes, start)]
        daring = self._outcomes(smooth, anchors)
        best = self._best(daring)
        outcomes |= daring
        if start is not None and best is not None:
            one, other = trial_of(start, outcomes[start]), trial_of(best, outcomes[best])
            if not clearly_behind(one, other) and not clearly_behind(other, one):
                self._join(outcomes, Average(members_of(start) + members_of(best)), [one, other])
        return outcomes

    def _best(self, outcomes: Outcomes) -> Candidate | Average | None:
        """Return the best candidate, or the average of those tied with it, which is added; None if all collapsed."""
        trials = tied_best([trial_of(candidate, of_folds) for candidate, of_folds in outcomes.items()])
        members = [trial.candidate for trial in trials if isinstance(trial.candidate, Candidate)]
        if not members:
            return None
        best = as_one(members)
        return best if isinstance(best, Candidate) or self._join(outcomes, best, trials) else members[0]

    def _join(self, outcomes: Outcomes, average: Average, parts: Sequence[Trial]) -> bool:
        """Add an average, unless it clearly trails each of its parts, which may rank in conflicting ways."""
        of_folds = self._averaged(outcomes, average)
        if all(clearly_behind(trial_of(average, of_folds), part) for part in parts):
            return False
        outcomes[average] = of_folds
        return True

    def _averaged(self, outcomes: Outcomes, candidate: Candidate | Average) -> list[Outcome]:
        of_folds = zip(*(outcomes[member] for member in members_of(candidate)), strict=True)
        return [averaged(fold, members) for fold, members in zip(self.folds, of_folds, strict=True)]

    def _outcomes(self, groups: Sequence[Group], anchors: Sequence[Vector | None]) -> Outcomes:
        """Try groups and extend those with the best C at the end. Smooth ones start from the anchors, one per fold."""
        found = self._tried(groups, [[None] * len(self.folds)] * len(groups), anchors)
        for _ in range(_MOST_STEPS if self.open_ended else 0):
            ends = {i: list(group)[-1] for i, group in enumerate(found) if _should_go_on(group)}
            further = [[replace(end, C=_STEP * end.C)] for end in ends.values()]
            self.tally.expect(len(self.folds) * len(further))
            before = [found[i][end] for i, end in ends.items()]
            for i, more in zip(ends, self._tried(further, before, anchors), strict=True):
                found[i] |= more
        return {candidate: of_folds for group in found for candidate, of_folds in group.items()}

    def _tried(self, groups: Sequence[Group], before: Sequence[Any], anchors: Sequence[Vector | None]) -> list[Any]:
        """Return the results of each group; ``before`` are the results for a smaller C, one per fold."""
        n_folds = len(self.folds)
        jobs = (
            delayed(tried)(
                fold,
                group,
                tol=self.tol,
                max_iter=self.max_iter,
                told=self.tally.done,
                before=before[i][k],
                anchor=anchors[k],
            )
            for i, group in enumerate(groups)
            for k, fold in enumerate(self.folds)
        )
        results = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)
        by_group = [results[i * n_folds : (i + 1) * n_folds] for i in range(len(groups))]
        return [
            dict(zip(group, map(list, zip(*of_folds, strict=True)), strict=True))
            for group, of_folds in zip(groups, by_group, strict=True)
        ]


def _should_go_on(group: dict[Candidate, list[Outcome]]) -> bool:
    """Whether the last candidate of a group is better than all others and not a hinge."""
    *others, last = (trial_of(candidate, of_folds) for candidate, of_folds in group.items())
    best = not last.has_collapsed and all(last.mean > other.mean for other in others)
    return best and not next(iter(group)).kind.collapses
