"""The risk over blocks of which only the head travels: scores stay with their blocks, where the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.curve import share
from headrank.estimators._held_risk import HeldRisk
from headrank.estimators._held_scores import HeldScores
from headrank.estimators._pair_risk import violations
from headrank.rows.block_pairs import Overtaken
from headrank.rows.block_scores import HeadCoef, HeadScores, combined_head, dot_head
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
class _Head:
    """The scores that travelled: all positives, and more negatives than the ``n_head`` highest."""

    floor: float
    parts: list[HeadScores]
    n_head: int
    centre: float
    """Mean of all scores, less which they are evaluated, as in memory; see `LinearRisk`."""

    @cached_property
    def pos(self) -> Vector:
        return np.concatenate([part.marked for part in self.parts])

    @cached_property
    def above(self) -> Vector:
        return np.concatenate([part.above for part in self.parts])

    @cached_property
    def neg(self) -> Vector:
        """At least the ``n_head`` highest negatives: those above the floor, and where they are fewer, some at it."""
        return np.concatenate([self.above, np.full(max(self.n_head - self.above.size, 0), self.floor)])

    @property
    def n_at_floor(self) -> int:
        return sum(part.n_at_floor for part in self.parts)

    @cached_property
    def border(self) -> float:
        """The lowest of the ``n_head`` highest negatives."""
        return float(np.partition(self.neg, self.neg.size - self.n_head)[self.neg.size - self.n_head])

    @cached_property
    def tied(self) -> BoolVector:
        """Which negatives above the floor are tied at the border."""
        return np.asarray(self.above == self.border)

    @property
    def n_tied(self) -> int:
        """Number of all negatives at the border, in the head or not."""
        return self.n_at_floor if self.border == self.floor else int(np.count_nonzero(self.tied))

    @property
    def n_tied_outside(self) -> int:
        return self.n_tied - (self.n_head - int(np.count_nonzero(self.neg > self.border)))

    def coef(
        self, pos_coef: Vector, neg_coef: Vector, *, tilt: float = 0.0, below: Overtaken | None = None
    ) -> list[HeadCoef]:
        """Return the coefficients of each block; negatives tied at the border share theirs evenly."""
        of_above, at_floor = neg_coef[: self.above.size], float(neg_coef[self.above.size :].sum())
        of_above[self.tied] = of_above[self.tied].sum() / max(self.n_tied, 1)
        ends = (np.cumsum([getattr(part, name).size for part in self.parts])[:-1] for name in ("marked", "above"))
        values = (np.split(each, at) for each, at in zip((pos_coef, of_above), ends, strict=True))
        same = at_floor / max(self.n_at_floor, 1), tilt, self.centre, below
        return [HeadCoef(self.floor, of_pos, of_neg, *same) for of_pos, of_neg in zip(*values, strict=True)]


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
        floor, parts = scores.head(n_head)
        head = _Head(floor, parts, n_head, sum(part.total for part in parts) / self.positive.size)
        return self._at_head(scores, head)

    def _at_head(self, scores: HeldScores, head: _Head) -> HeadPoint:
        cut = self._of_head(scores, head, 1.0)
        return HeadPoint(scores, cut.risk, head.coef(cut.pos_coef, cut.neg_coef), cut.offset)

    def _of_head(self, scores: HeldScores, head: _Head, spread: float) -> Cut:
        surrogate: Any = self.surrogate
        pos, neg = ((values - head.centre) / spread for values in (head.pos, head.neg))
        cut: Cut = surrogate.of_head(pos, neg, scores.n_neg)
        return cut

    def subgradients(self, points: Sequence[Any]) -> Vector:
        """A subgradient at each of the points, one per row. Half a pass over the rows for each, or less."""
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

    def _at_head(self, scores: HeldScores, head: _Head) -> HeadPoint:
        spread, largest = scores.extent()
        if not spread > ROUNDING * largest:
            raise ConstantScoresError("the scores are constant: a smooth risk has no direction to start from")
        cut = self._of_head(scores, head, spread)
        # The risk is invariant to scale, so its derivative has no component along the scores themselves.
        along = float(cut.pos_coef @ (head.pos - head.centre) + cut.neg_coef @ (head.neg - head.centre))
        tilt = -along / (spread**3 * self.positive.size)
        coef = head.coef(cut.pos_coef / spread, cut.neg_coef / spread, tilt=tilt)
        return HeadPoint(scores, cut.risk, coef, cut.offset)


@dataclass(frozen=True, eq=False)
class StructuralRisk(HeadRisk):
    """The risk of the structural hinge, over blocks: that of the tight one, and violations of pairs below the range.

    Positives below the end of the range go to the blocks, which count the negatives between them. A scorer that ranks
    well has few of them.
    """

    def _at_head(self, scores: HeldScores, head: _Head) -> HeadPoint:
        cut = self._of_head(scores, head, 1.0)
        surrogate: Any = self.surrogate
        width = share(surrogate.max_fpr, scores.n_neg) - share(surrogate.min_fpr, scores.n_neg)
        order = np.argsort(head.pos)[: np.count_nonzero(head.pos < head.border)]
        positives = Overtaken(head.pos[order] - head.centre, head.centre, 0.0, 1 / (scores.n_pos * width), head.border)
        losses, n_against = violations(scores, positives) if order.size else (0.0, np.zeros(0))
        of_tied = head.n_tied_outside * positives.of_pair  # negatives at the border that are not in the head
        risk = cut.risk + losses * positives.of_pair
        risk += of_tied * float((head.border - head.centre - positives.ascending).sum())
        cut.pos_coef[order] -= n_against * positives.of_pair + of_tied
        cut.neg_coef[np.argmax(head.neg == head.border)] += of_tied * order.size
        coef = head.coef(cut.pos_coef, cut.neg_coef, below=positives if order.size else None)
        return HeadPoint(scores, risk, coef, cut.offset)
