"""A surrogate and rows joined: what a solver minimises as a function of the weights."""

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
    """The risk at some weights: the scores they give, the derivative in each score, and the plane's height at 0."""

    scores: Vector
    value: float
    coef: Vector
    offset: float


@dataclass(frozen=True, eq=False)
class LinearRisk:
    """The surrogate's risk of the scores ``rows @ weights``."""

    rows: Rows
    surrogate: Surrogate
    positive: BoolVector

    def at(self, weights: Vector) -> ScoredPoint:
        """Evaluate at these weights: half a pass over the rows, or none at 0."""
        return self.at_scores(self.rows.scores(weights) if weights.any() else np.zeros(self.positive.size))

    def at_scores(self, scores: Vector) -> ScoredPoint:
        """Evaluate at the weights that give these scores: no pass over the rows."""
        # No surrogate notices a common shift of the scores, but large ones cost the digits of the differences.
        centred = scores - scores.mean()
        cut = self.surrogate(centred[self._pos_rows], centred[self._neg_rows])
        coef = np.empty(scores.size)
        coef[self._pos_rows] = cut.pos_coef
        coef[self._neg_rows] = cut.neg_coef
        return ScoredPoint(scores, cut.risk, coef, cut.offset)

    def ray(self, point: ScoredPoint, direction: Vector) -> ScoredRay:
        """All points that are the given one plus a step times the direction: half a pass over the rows."""
        return ScoredRay(self, point.scores, self.rows.scores(direction))

    def subgradients(self, points: Sequence[ScoredPoint]) -> Vector:
        """A subgradient at each of the points: half a pass over the rows for all of them."""
        if len(points) == 1:
            return self.rows.combine(points[0].coef)[None]
        return self.rows.combine(np.array([point.coef for point in points]))

    @cached_property
    def _pos_rows(self) -> IntVector:
        return np.flatnonzero(self.positive)

    @cached_property
    def _neg_rows(self) -> IntVector:
        return np.flatnonzero(~self.positive)


@dataclass(frozen=True, eq=False)
class ScoredRay:
    """Scores are linear in the weights, so along a ray they are known without another pass."""

    risk: LinearRisk
    origin: Vector
    change: Vector

    def at(self, step: float) -> ScoredPoint:
        """The point so far along the ray."""
        return self.risk.at_scores(self.origin + step * self.change)

    def slope(self, point: ScoredPoint) -> float:
        """Derivative of the risk along the ray at one of its points."""
        return float(point.coef @ self.change)
