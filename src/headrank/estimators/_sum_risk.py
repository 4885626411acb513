"""The risk over blocks that is a sum over rows: only sums travel, and the scores stay where the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import nan
from typing import Any, ClassVar

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.estimators._held_risk import HeldRisk
from headrank.estimators._held_scores import HeldScores
from headrank.rows.block import Block, combined, moments_of
from headrank.surrogates.row_loss import RowLoss, Totals


@dataclass(frozen=True, eq=False)
class SumPoint:
    """The risk at given weights. Derivatives are computed from the scores where they are needed."""

    scores: HeldScores
    value: float
    intercept: float
    offset: ClassVar[float] = nan


@dataclass(frozen=True, eq=False)
class SumRisk(HeldRisk):
    """The sum of the losses of all rows at the optimal intercept, over blocks.

    Each step of the search for the intercept, four to eight of them, is a round of four numbers per block.
    """

    def at_held(self, scores: HeldScores) -> SumPoint:
        """Evaluate at the weights with these scores."""
        loss = self._loss
        totals = scores.ask(_totals)
        pos, neg = (reduce(Totals.merge, column) for column in zip(*totals, strict=True))
        centre = pos.merge(neg).mean  # as in memory, see `LinearRisk`

        def balances(here: float) -> tuple[Vector, Vector]:
            of_pos, of_neg = zip(*scores.ask(_balances, same=(loss, here - centre)), strict=True)
            return np.sum(of_pos, axis=0), np.sum(of_neg, axis=0)

        intercept = loss.intercept(pos.moved(-centre), neg.moved(-centre), balances) - centre
        return SumPoint(scores, float(sum(scores.ask(_loss_of, same=(loss, intercept)))), intercept)

    def subgradients(self, points: Sequence[Any]) -> Vector:
        """The gradient at each of the points, one per row. Half a pass over the rows for each."""
        gradients: Vector = np.asarray([sum(self._map(_combined, point)) for point in points]) / self.scale
        return gradients

    def hessian(self, point: Any) -> Vector:
        """The Hessian at a point; see `Cut` for its form. A pass over the rows."""
        firsts, seconds, totals = zip(*self._map(_moments, point), strict=True)
        first, total = sum(firsts) / self.scale, float(sum(totals))
        second: Vector = sum(seconds) / np.multiply.outer(np.ones_like(first) * self.scale, self.scale)
        return second - np.outer(first / total, first) if total > 0 else second

    def slope(self, point: SumPoint, change: HeldScores) -> float:
        """Return the derivative at a point if the scores change in this direction."""
        return float(sum(point.scores.ask(_slope, change.scores, same=(self._loss, point.intercept))))

    def _map(self, function: Any, point: SumPoint) -> list[Any]:
        scores = point.scores
        return self.blocks.map(function, scores.scores, scores.marked, same=(self._loss, point.intercept))

    @property
    def _loss(self) -> RowLoss:
        assert isinstance(self.surrogate, RowLoss)
        return self.surrogate


def _totals(scores: Vector, marked: BoolVector) -> tuple[Totals, Totals]:
    return Totals.of(scores[marked], None), Totals.of(scores[~marked], None)


def _balances(scores: Vector, marked: BoolVector, loss: RowLoss, here: float) -> tuple[Vector, Vector]:
    return loss.balance(scores[marked] + here, 1, None), loss.balance(scores[~marked] + here, -1, None)


def _rows_of(scores: Vector, marked: BoolVector, loss: RowLoss, intercept: float) -> tuple[Vector, Vector, Vector]:
    """Loss, first and second derivative of each row."""
    values = np.empty((3, scores.size))
    values[:, marked] = loss.of_rows(scores[marked] + intercept, 1, None)
    values[:, ~marked] = loss.of_rows(scores[~marked] + intercept, -1, None)
    losses, coef, curvature = values
    return losses, coef, curvature


def _loss_of(scores: Vector, marked: BoolVector, loss: RowLoss, intercept: float) -> float:
    return float(_rows_of(scores, marked, loss, intercept)[0].sum())


def _slope(scores: Vector, marked: BoolVector, change: Vector, loss: RowLoss, intercept: float) -> float:
    return float(_rows_of(scores, marked, loss, intercept)[1] @ change)


def _combined(block: Block, scores: Vector, marked: BoolVector, loss: RowLoss, intercept: float) -> Vector:
    return combined(block, _rows_of(scores, marked, loss, intercept)[1])


def _moments(
    block: Block, scores: Vector, marked: BoolVector, loss: RowLoss, intercept: float
) -> tuple[Vector, Vector, float]:
    """Curvature times rows, times rows twice, and its sum."""
    curvature = _rows_of(scores, marked, loss, intercept)[2]
    return *moments_of(block, curvature), float(curvature.sum())
