"""The hinge of all pairs over blocks: positives go to the blocks, and counts of negatives between them come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.estimators._held_risk import HeldRisk
from headrank.estimators._held_scores import HeldScores
from headrank.rows.block import Block, combined
from headrank.rows.block_pairs import Overtaken, overtakings


@dataclass(frozen=True, eq=False)
class PairPoint:
    """The risk at given weights; the coefficients of the positives of each block, those of negatives to be counted."""

    scores: HeldScores
    value: float
    offset: float
    positives: Overtaken
    pos_coef: list[Vector]


@dataclass(frozen=True, eq=False)
class PairRisk(HeldRisk):
    """The hinge over all false positive rates, tight or structural, which is the mean hinge of all pairs, over blocks.

    An evaluation sends 8 bytes for each positive to the client, and to each block. A block counts its negatives between
    the positives, and sends back the counts that are not 0.
    """

    def at_held(self, scores: HeldScores) -> PairPoint:
        """Evaluate at the weights with these scores."""
        of_blocks, totals = zip(*scores.ask(_positives_of), strict=True)
        s, centre = np.concatenate(of_blocks), sum(totals) / self.positive.size  # as in memory, see `LinearRisk`
        order = np.argsort(s)
        positives = Overtaken(s[order] - centre, centre, 1.0, 1 / (scores.n_pos * scores.n_neg))
        losses, n_against = violations(scores, positives)
        n_against *= positives.of_pair
        coef = np.empty(s.size)
        coef[order] = -n_against
        ends = np.cumsum([each.size for each in of_blocks])[:-1]
        return PairPoint(scores, positives.of_pair * losses, float(n_against.sum()), positives, np.split(coef, ends))

    def subgradients(self, points: Sequence[Any]) -> Vector:
        """A subgradient at each of the points, one per row. Half a pass over the rows for each."""
        sums = [sum(self.blocks.map(_combined, *self._each(point), same=(point.positives,))) for point in points]
        gradients: Vector = np.asarray(sums) / self.scale
        return gradients

    def slope(self, point: PairPoint, change: HeldScores) -> float:
        """Return the derivative at a point if the scores change in this direction."""
        each = *self._each(point), change.scores
        return float(sum(self.blocks.map_values(_slope, *each, same=(point.positives,))))

    @staticmethod
    def _each(point: PairPoint) -> tuple[list[Any], list[Any], list[Vector]]:
        return point.scores.scores, point.scores.marked, point.pos_coef


def violations(scores: HeldScores, positives: Overtaken) -> tuple[float, Vector]:
    """Return the sum of what positives lack over all pairs, and by how many negatives each of them is overtaken."""
    sums = np.concatenate([[0.0], np.cumsum(positives.ascending)])
    losses, counts = 0.0, np.zeros(sums.size, dtype=np.int64)
    for loss, places, numbers in scores.ask(overtakings, same=(positives, sums)):
        losses += loss
        counts[places] += numbers
    # A negative that overtakes i positives overtakes the lowest i of them.
    return losses, np.cumsum(counts[::-1])[::-1][1:].astype(np.float64)


def _positives_of(scores: Vector, marked: BoolVector) -> tuple[Vector, float]:
    return scores[marked], float(scores.sum())


def _coef(scores: Vector, marked: BoolVector, pos_coef: Vector, positives: Overtaken) -> Vector:
    coef = np.empty(scores.size)
    coef[marked] = pos_coef
    others, n = positives.overtaking(scores, marked)
    coef[others] = positives.of_pair * n
    return coef


def _combined(block: Block, scores: Vector, marked: BoolVector, pos_coef: Vector, positives: Overtaken) -> Vector:
    return combined(block, _coef(scores, marked, pos_coef, positives))


def _slope(scores: Vector, marked: BoolVector, pos_coef: Vector, change: Vector, positives: Overtaken) -> float:
    return float(_coef(scores, marked, pos_coef, positives) @ change)
