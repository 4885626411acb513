"""Greedy selection with replacement: which scorers, how often each, so that their mean is best out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.estimators.cv.candidates import trails
from headrank.estimators.cv.fold_rows import FoldRows

_MOST_STEPS = 20


@dataclass(frozen=True, eq=False)
class Selection:
    """How often each scorer was taken, and what the mean of those taken is worth.

    Attributes
    ----------
    counts : tuple of int
        One per scorer.
    values : array
        The measure on each fold; negated if lower is better.
    best_alone : array
        The same for the best scorer alone.
    """

    counts: tuple[int, ...]
    values: Vector
    best_alone: Vector

    @property
    def weights(self) -> Vector:
        """Counts as shares of all."""
        return np.array(self.counts) / sum(self.counts)


def greedy_selection(folds: FoldRows, scores: Sequence[Sequence[Vector]]) -> Selection:
    """Start from the scorers tied for the best, add whichever helps most, and stop when the gain is below its noise.

    Scorers are tied that trail the best by no more than the `corrected_error` of the difference, paired over the folds;
    their mean is the start, unless it clearly trails the best alone. The noise of a gain is its error, paired
    likewise. So a scorer remains alone where it is clearly best. After Caruana et al. (ICML 2004). Cost: at most 20
    times the number of scorers measurements.

    Parameters
    ----------
    folds : FoldRows
        The folds.
    scores : sequence of sequences of arrays
        Of each scorer, the scores of the rows left out, fold by fold, all scorers on the same scale.
    """
    alone = [folds.values(each) for each in scores]
    best = int(np.argmax([values.mean() for values in alone]))
    best_alone = alone[best]
    counts = np.array([not trails(values, best_alone) for values in alone], dtype=int)
    together: Sequence[Vector] = _summed(scores, counts)
    values = folds.values(together)
    if trails(values, best_alone):
        counts, together, values = np.eye(len(scores), dtype=int)[best], scores[best], best_alone
    for _ in range(_MOST_STEPS if len(scores) > 1 else 0):
        sums = [[mine + its for mine, its in zip(together, each, strict=True)] for each in scores]
        tried = [folds.values(each) for each in sums]
        best = int(np.argmax([each.mean() for each in tried]))
        if not trails(values, tried[best]):
            break
        counts[best] += 1
        together, values = sums[best], tried[best]
    return Selection(tuple(counts.tolist()), values, best_alone)


def _summed(scores: Sequence[Sequence[Vector]], counts: Vector) -> list[Vector]:
    taken = [each for each, count in zip(scores, counts, strict=True) if count]
    return [np.sum(fold, axis=0) for fold in zip(*taken, strict=True)]
