"""The risk over blocks of which only the head travels: scores stay with their blocks, where the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import Vector
from headrank.estimators._held_risk import HeldRisk
from headrank.estimators._held_scores import HeldScores
from headrank.rows.block_scores import HeadCoef, combined_head, dot_head
from headrank.surrogates.cut import Cut
from headrank.surrogates.smooth import ROUNDING, ConstantScoresError


@dataclass(frozen=True, eq=False)
class HeadPoint:
    """The risk at given weights, with the coefficients of each block's head."""

    scores: HeldScores
    value: float
    coef: list[HeadCoef]
    offset: float


@dataclass(frozen=True, eq=False)
class HeadRisk(HeldRisk):
    """The risk of a surrogate that sees positives and the highest negatives only, over blocks.

    An evaluation sends 8 bytes for each positive and each head negative to the client, and 8 bytes back. Negatives tied
    at the border of the head share the derivative evenly, so that it does not depend on the cut into blocks; in memory,
    some of them are picked. Both are subgradients.
    """

    def at_held(self, scores: HeldScores) -> HeadPoint:
        """Evaluate at the weights with these scores."""
        surrogate: Any = self.surrogate
        n_head = surrogate.n_reached(scores.n_neg)
        floor, heads = scores.head(n_head)
        s, above = (np.concatenate([getattr(head, name) for head in heads]) for name in ("marked", "above"))
        n_at_floor = sum(head.n_at_floor for head in heads)
        t = np.concatenate([above, np.full(max(n_head - above.size, 0), floor)])
        centre = sum(head.total for head in heads) / self.positive.size  # as in memory, see `LinearRisk`
        cut, tilt = self._cut(s - centre, t - centre, scores)
        border = np.partition(t, t.size - n_head)[t.size - n_head]
        neg_coef, at_floor = cut.neg_coef[: above.size], float(cut.neg_coef[above.size :].sum()) / max(n_at_floor, 1)
        tied = above == border
        neg_coef[tied] = neg_coef[tied].sum() / max(np.count_nonzero(tied), 1)
        coef = [
            HeadCoef(floor, of_pos, of_neg, at_floor, tilt, centre)
            for of_pos, of_neg in zip(
                _split(cut.pos_coef, [head.marked.size for head in heads]),
                _split(neg_coef, [head.above.size for head in heads]),
                strict=True,
            )
        ]
        return HeadPoint(scores, cut.risk, coef, cut.offset)

    def _cut(self, s: Vector, t: Vector, scores: HeldScores) -> tuple[Cut, float]:
        """Return the cut at the positives and the head, and the coefficient of all rows in proportion to their score.

        ``s`` and ``t`` are less the mean of all ``scores``.
        """
        surrogate: Any = self.surrogate
        return surrogate.of_head(s, t, scores.n_neg), 0.0

    def subgradients(self, points: Sequence[Any]) -> Vector:
        """A subgradient at each of the points, one per row. Only rows with a coefficient are touched."""
        sums = [
            sum(self.blocks.map(combined_head, point.scores.scores, point.scores.marked, point.coef))
            for point in points
        ]
        gradients: Vector = np.asarray(sums) / self.scale
        return gradients

    def slope(self, point: HeadPoint, change: HeldScores) -> float:
        """Return the derivative at a point if the scores change in this direction."""
        return float(sum(point.scores.ask(dot_head, change.scores, point.coef)))


@dataclass(frozen=True, eq=False)
class SmoothHeadRisk(HeadRisk):
    """The risk of a smooth surrogate that sees positives and the highest negatives only, over blocks.

    It depends on all rows by the scale of the scores, so that each row has a coefficient, but only the head travels.
    """

    def _cut(self, s: Vector, t: Vector, scores: HeldScores) -> tuple[Cut, float]:
        surrogate: Any = self.surrogate
        spread, largest = scores.extent()
        if not spread > ROUNDING * largest:
            raise ConstantScoresError("the scores are constant: a smooth risk has no direction to start from")
        cut = surrogate.of_head(s / spread, t / spread, scores.n_neg)
        # The risk is invariant to scale, so its derivative has no component along the scores themselves.
        along = float(cut.pos_coef @ s + cut.neg_coef @ t) / (spread * self.positive.size)
        return Cut(cut.risk, cut.pos_coef / spread, cut.neg_coef / spread), -along / spread**2


def _split(values: Vector, sizes: list[int]) -> list[Vector]:
    return np.split(values, np.cumsum(sizes)[:-1])
