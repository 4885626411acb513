"""How much of each scorer? Half by what the measure picks, half by what predicts the labels, both out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.estimators.combined.greedy import greedy_selection
from headrank.estimators.combined.stacking import stacked_shares
from headrank.estimators.cv.candidates import trails
from headrank.estimators.cv.fold_rows import FoldRows

_LEAST_SHARE = 0.02
"""A scorer with a smaller share is left out: scoring and explaining it takes time, and it changes little."""


@dataclass(frozen=True, eq=False)
class Combination:
    """The share of each scorer, and what the weighted mean of their scores is worth.

    Attributes
    ----------
    weights : array
        One per scorer; they add up to 1.
    values : array
        The measure on each fold; negated if lower is better.
    """

    weights: Vector
    values: Vector


def combination(folds: FoldRows, scores: Sequence[Sequence[Vector]]) -> Combination:
    """Return the mean of the shares by `greedy_selection` and by `stacked_shares`; those below 0.02 are left out.

    The first follow the measure, which depends on few rows; the second follow all rows, but not the measure. The mean
    is less noisy than the first. The measure has the last word: if the greedy selection, or the best scorer alone,
    leads the mean by more than the `corrected_error` of the difference, paired over the folds, the greedy selection is
    taken as it is. Parameters as in `greedy_selection`.
    """
    selected = greedy_selection(folds, scores)
    weights = (selected.weights + stacked_shares(folds, scores)) / 2
    weights = np.where(weights < _LEAST_SHARE, 0.0, weights)
    weights /= weights.sum()
    values = folds.values(weighted_sums(scores, weights))
    if trails(values, selected.values) or trails(values, selected.best_alone):
        return Combination(selected.weights, selected.values)
    return Combination(weights, values)


def from_threshold(folds: FoldRows, scores: Sequence[Vector], spread: float) -> list[Vector]:
    """Return scores out of fold that are 0 where those of the fitted part are, and have a standard deviation of 1."""
    threshold = folds.threshold(scores)
    return [(each - threshold) / spread for each in scores]


def weighted_sums(scores: Sequence[Sequence[Vector]], weights: Vector) -> tuple[Vector, ...]:
    """Return, of each fold, the weighted sum of the families' scores."""
    return tuple(
        np.sum([weight * each for weight, each in zip(weights, of_fold, strict=True)], axis=0)
        for of_fold in zip(*scores, strict=True)
    )
