"""The surrogate's risk as a function of the weights: what a solver minimises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.rows import Rows
from headrank.surrogates import Surrogate


@dataclass(frozen=True, eq=False)
class ScoredPoint:
    """The risk at given weights: their scores, the derivative in each score, and the height of the plane at 0."""

    scores: Vector
    value: float
    coef: Vector
    offset: float
    curvature: Vector | None = None
    """See `Cut`; None if the surrogate has no curvature."""


@dataclass(frozen=True, eq=False)
class LinearRisk:
    """The surrogate's risk of the scores ``rows @ weights``."""

    rows: Rows
    surrogate: Surrogate
    positive: BoolVector

    def at(self, weights: Vector) -> ScoredPoint:
        """Evaluate at these weights. Half a pass over the rows; none at w = 0."""
        return self.at_scores(self.rows.scores(weights) if weights.any() else np.zeros(self.positive.size))

    def at_scores(self, scores: Vector) -> ScoredPoint:
        """Evaluate at the weights with these scores. No pass over the rows."""
        # Surrogates are invariant to a common shift of the scores, but a large one costs digits of their differences.
        centred = scores - scores.mean()
        cut = self.surrogate(centred[self._pos_rows], centred[self._neg_rows])
        coef = self._by_row(cut.pos_coef, cut.neg_coef)
        if cut.pos_curvature is None or cut.neg_curvature is None:
            return ScoredPoint(scores, cut.risk, coef, cut.offset)
        return ScoredPoint(scores, cut.risk, coef, cut.offset, self._by_row(cut.pos_curvature, cut.neg_curvature))

    def ray(self, point: ScoredPoint, direction: Vector) -> ScoredRay:
        """The points ``point + step * direction``. Half a pass over the rows."""
        return ScoredRay(self, point.scores, self.rows.scores(direction))

    def subgradients(self, points: Sequence[ScoredPoint]) -> Vector:
        """A subgradient at each of the points, one per row. Half a pass over the rows for all of them."""
        if len(points) == 1:
            return self.rows.combine(points[0].coef)[None]
        return self.rows.combine(np.array([point.coef for point in points]))

    def hessian(self, point: ScoredPoint) -> Vector:
        """The Hessian at a point, for surrogates with a curvature; see `Cut` for its form."""
        assert point.curvature is not None
        first, second = self.rows.moments(point.curvature)
        total = float(point.curvature.sum())
        return second - np.outer(first / total, first) if total > 0 else second

    def _by_row(self, of_pos: Vector, of_neg: Vector) -> Vector:
        values = np.empty(self.positive.size)
        values[self._pos_rows] = of_pos
        values[self._neg_rows] = of_neg
        return values

    @cached_property
    def _pos_rows(self) -> IntVector:
        return np.flatnonzero(self.positive)

    @cached_property
    def _neg_rows(self) -> IntVector:
        return np.flatnonzero(~self.positive)


@dataclass(frozen=True, eq=False)
class ScoredRay:
    """The risk along a direction. Scores are linear in the weights, so no further pass over the rows is needed."""

    risk: LinearRisk
    origin: Vector
    change: Vector

    def at(self, step: float) -> ScoredPoint:
        """The point at this step along the ray."""
        return self.risk.at_scores(self.origin + step * self.change)

    def slope(self, point: ScoredPoint) -> float:
        """Derivative of the risk along the ray at one of its points."""
        return float(point.coef @ self.change)

    def extent(self) -> tuple[float, float]:
        """Return the standard deviation of the change of the scores, and its largest absolute value."""
        return float(self.change.std()), float(np.abs(self.change).max())
