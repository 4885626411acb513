"""The rule for candidates that the folds cannot tell apart: their scores, each scaled to variance 1, are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headrank._types import Vector
from headrank.estimators.cv.candidates import trails
from headrank.estimators.cv.fold_rows import FoldRows


@dataclass(frozen=True, eq=False)
class TiedBest:
    """The best candidate, or the average of those tied with it, unless that trails the best alone.

    Attributes
    ----------
    tied : tuple of int
        The numbers of the best candidate and of those tied with it, by their means.
    members : tuple of int
        The same if their average is used, otherwise the best.
    divisors : tuple of float
        What the scores of each member are divided by, so that they add up to ``scores``; 1 for the best alone.
    scores : tuple of arrays
        Of the average, or of the best as they are; fold by fold.
    average : array or None
        The measure of the average on each fold, negated if lower is better; None if nothing is tied with the best.
    """

    tied: tuple[int, ...]
    members: tuple[int, ...]
    divisors: tuple[float, ...]
    scores: tuple[Vector, ...]
    average: Vector | None


def tied_best(folds: FoldRows, scores: Sequence[Sequence[Vector]], values: Sequence[Vector]) -> TiedBest:
    """Select the best candidate, or the average of those that trail it by no more than the `corrected_error`.

    Parameters
    ----------
    folds : FoldRows
        The folds.
    scores : sequence of sequences of arrays
        Of each candidate, the scores of the rows left out, fold by fold.
    values : sequence of arrays
        Of each candidate, the measure of these; negated if lower is better.
    """
    in_order = sorted(range(len(values)), key=lambda i: -values[i].mean())
    best = in_order[0]
    tied = tuple(i for i in in_order if i == best or not trails(values[i], values[best]))
    spreads = [folds.spread(scores[i]) for i in tied]
    alone = TiedBest(tied, (best,), (1.0,), tuple(scores[best]), None)
    if len(tied) == 1:
        return alone
    scaled = [[each / spread for each in scores[i]] for i, spread in zip(tied, spreads, strict=True)]
    together = tuple(np.mean(of_fold, axis=0) for of_fold in zip(*scaled, strict=True))
    average = folds.values(together)
    if trails(average, values[best]):
        return TiedBest(tied, alone.members, alone.divisors, alone.scores, average)
    return TiedBest(tied, tied, tuple(len(tied) * spread for spread in spreads), together, average)
