"""The hinge of all pairs over blocks: positives go to the blocks, and counts of negatives between them come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._types import BoolVector, Vector
from headrank.estimators._held_risk import HeldRisk
from headrank.estimators._held_scores import HeldScores
from headrank.rows.block import Block, combined


@dataclass(frozen=True, eq=False)
class _Positives:
    """The scores of all positives, ascending and less ``centre``, and 1 over the number of pairs."""

    ascending: Vector
    centre: float
    of_pair: float

    def violations(self, neg_scores: Vector) -> npt.NDArray[np.intp]:
        """Return how many positives do not exceed each negative by 1."""
        return np.searchsorted(self.ascending, (neg_scores - self.centre) + 1)


@dataclass(frozen=True, eq=False)
class PairPoint:
    """The risk at given weights; the coefficients of the positives of each block, those of negatives to be counted."""

    scores: HeldScores
    value: float
    offset: float
    positives: _Positives
    pos_coef: list[Vector]


@dataclass(frozen=True, eq=False)
class PairRisk(HeldRisk):
    """The tight hinge over all false positive rates, which is the mean hinge of all pairs, over blocks.

    An evaluation sends 8 bytes for each positive to the client, and to each block. A block counts its negatives between
    the positives, and sends back the counts that are not 0.
    """

    def at_held(self, scores: HeldScores) -> PairPoint:
        """Evaluate at the weights with these scores."""
        of_blocks, totals = zip(*scores.ask(_positives_of), strict=True)
        s, centre = np.concatenate(of_blocks), sum(totals) / self.positive.size  # as in memory, see `LinearRisk`
        order = np.argsort(s)
        positives = _Positives(s[order] - centre, centre, 1 / (scores.n_pos * scores.n_neg))
        sums = np.concatenate([[0.0], np.cumsum(positives.ascending)])
        losses, counts = 0.0, np.zeros(s.size + 1, dtype=np.int64)
        for loss, places, numbers in scores.ask(_pairs, same=(positives, sums)):
            losses += loss
            counts[places] += numbers
        coef = np.empty(s.size)
        # A negative that i positives do not exceed by 1 counts against the lowest i of them.
        n_against = np.cumsum(counts[::-1])[::-1][1:]
        coef[order] = -positives.of_pair * n_against
        ends = np.cumsum([each.size for each in of_blocks])[:-1]
        offset = positives.of_pair * float(n_against.sum())
        return PairPoint(scores, positives.of_pair * losses, offset, positives, np.split(coef, ends))

    def subgradients(self, points: Sequence[Any]) -> Vector:
        """A subgradient at each of the points, one per row. Half a pass over the rows for each."""
        sums = [
            sum(
                self.blocks.map(
                    _combined, point.scores.scores, point.scores.marked, point.pos_coef, same=(point.positives,)
                )
            )
            for point in points
        ]
        gradients: Vector = np.asarray(sums) / self.scale
        return gradients

    def slope(self, point: PairPoint, change: HeldScores) -> float:
        """Return the derivative at a point if the scores change in this direction."""
        return float(sum(point.scores.ask(_slope, point.pos_coef, change.scores, same=(point.positives,))))


def _positives_of(scores: Vector, marked: BoolVector) -> tuple[Vector, float]:
    return scores[marked], float(scores.sum())


def _pairs(scores: Vector, marked: BoolVector, positives: _Positives, sums: Vector) -> tuple[float, Any, Any]:
    """Return the sum of the hinges, and the numbers of violations that occur and how often."""
    t = scores[~marked]
    n = positives.violations(t)
    counts = np.bincount(n, minlength=1)
    places = np.flatnonzero(counts)
    return float(n @ (1 + (t - positives.centre)) - sums[n].sum()), places, counts[places]


def _coef(scores: Vector, marked: BoolVector, pos_coef: Vector, positives: _Positives) -> Vector:
    coef = np.empty(scores.size)
    coef[marked] = pos_coef
    coef[~marked] = positives.of_pair * positives.violations(scores[~marked])
    return coef


def _combined(block: Block, scores: Vector, marked: BoolVector, pos_coef: Vector, positives: _Positives) -> Vector:
    return combined(block, _coef(scores, marked, pos_coef, positives))


def _slope(scores: Vector, marked: BoolVector, pos_coef: Vector, change: Vector, positives: _Positives) -> float:
    return float(_coef(scores, marked, pos_coef, positives) @ change)
