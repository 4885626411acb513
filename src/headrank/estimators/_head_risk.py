"""The risk over blocks of which only the head travels: scores stay with their blocks, where the rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headrank._types import Vector
from headrank.estimators._risk import LinearRisk, ScoredPoint, ScoredRay
from headrank.rows import Blocks, Rows, ScaledRows
from headrank.rows.block import scores_of
from headrank.rows.block_scores import (
    HeadCoef,
    combined_head,
    dot_head,
    every,
    head_scores,
    moved,
    n_above_and_at,
    no_scores,
)
from headrank.rows.selection import kth_largest
from headrank.surrogates.structural import StructuralHinge

MOST_GATHERED = 10_000_000
"""Up to this number of rows, the scores of all of them are gathered: each takes some 50 bytes in a fit."""
_SAMPLED = 16_384
"""Negatives of which a floor of the head is guessed."""
_WIDEST_BAND = 4
"""At most so many times the head travels if the floor is guessed, before it is found exactly."""


@dataclass(frozen=True, eq=False)
class HeadPoint:
    """The risk at given weights. The scores are handles; the coefficients are those of each block's head."""

    scores: list[Any]
    value: float
    coef: list[HeadCoef]
    offset: float


@dataclass(frozen=True, eq=False)
class HeadRisk(LinearRisk):
    """The risk of a surrogate that sees positives and the highest negatives only, over blocks.

    An evaluation sends 8 bytes for each positive and each head negative to the client, and 8 bytes back. Negatives tied
    at the border of the head share the derivative evenly, so that it does not depend on the cut into blocks; in memory,
    some of them are picked. Both are subgradients.
    """

    @classmethod
    def fits(cls, rows: Rows, surrogate: Any) -> bool:
        """Whether rows and surrogate are of the kind, and the rows too many to gather their scores."""
        inner = rows.rows if isinstance(rows, ScaledRows) else rows
        head_only = isinstance(surrogate, StructuralHinge) and surrogate.only_reached and surrogate.rows.plain
        return isinstance(inner, Blocks) and head_only and inner.n_rows > MOST_GATHERED

    def at(self, weights: Vector) -> Any:
        """Evaluate at these weights. Half a pass over the rows; none at w = 0."""
        if not weights.any():
            return self._at(self._blocks.keep_values(no_scores, self._marked))
        return self._at(self._scored(weights))

    def ray(self, point: Any, direction: Vector) -> Any:
        """The points ``point + step * direction``. Half a pass over the rows."""
        if isinstance(point, ScoredPoint):
            return ScoredRay(self, point.scores, self.rows.scores(direction))
        return HeadRay(self, point.scores, self._scored(direction))

    def subgradients(self, points: Sequence[Any]) -> Vector:
        """A subgradient at each of the points, one per row. Only rows with a coefficient are touched."""
        blocks, scale = self._blocks, self._scale
        sums = [sum(blocks.map(combined_head, point.scores, self._marked, point.coef)) for point in points]
        gradients: Vector = np.asarray(sums) / scale
        return gradients

    def _scored(self, weights: Vector) -> list[Any]:
        return self._blocks.keep(scores_of, same=(weights / self._scale,))

    def _at(self, scores: list[Any]) -> HeadPoint:
        surrogate: Any = self.surrogate
        n_neg = int(np.count_nonzero(~self.positive))
        n_head = surrogate.n_reached(n_neg)
        floor = self._floor(scores, n_head, n_neg)
        heads = self._blocks.map_values(head_scores, scores, self._marked, same=(floor,))
        s, above = (np.concatenate([getattr(head, name) for head in heads]) for name in ("marked", "above"))
        n_at_floor = sum(head.n_at_floor for head in heads)
        t = np.concatenate([above, np.full(max(n_head - above.size, 0), floor)])
        centre = sum(head.total for head in heads) / self.positive.size  # as in memory, see `LinearRisk`
        cut = surrogate.of_head(s - centre, t - centre, n_neg)
        border = np.partition(t, t.size - n_head)[t.size - n_head]
        neg_coef, at_floor = cut.neg_coef[: above.size], float(cut.neg_coef[above.size :].sum()) / max(n_at_floor, 1)
        tied = above == border
        neg_coef[tied] = neg_coef[tied].sum() / max(np.count_nonzero(tied), 1)
        coef = [
            HeadCoef(floor, of_pos, of_neg, at_floor)
            for of_pos, of_neg in zip(
                _split(cut.pos_coef, [head.marked.size for head in heads]),
                _split(neg_coef, [head.above.size for head in heads]),
                strict=True,
            )
        ]
        return HeadPoint(scores, cut.risk, coef, cut.offset)

    def _floor(self, scores: list[Any], n_head: int, n_neg: int) -> float:
        """Return a score above which, or at which, lies the head, and little else: from a sample, or else exactly."""
        blocks = self._blocks
        some = np.concatenate(blocks.map_values(every, scores, self._marked, same=(max(n_neg // _SAMPLED, 1),)))
        likely = some.size * n_head / n_neg
        at = min(int(likely + 4 * likely**0.5) + 1, some.size)  # four standard errors below the border
        guess = float(np.partition(some, some.size - at)[some.size - at])
        counts = blocks.map_values(n_above_and_at, scores, self._marked, same=(guess,))
        above, tied = (sum(column) for column in zip(*counts, strict=True))
        if above <= _WIDEST_BAND * n_head and above + tied >= n_head:
            return guess
        return kth_largest(blocks.map_values, scores, self._marked, n_head)

    @cached_property
    def _marked(self) -> list[Any]:
        return self._blocks.put(self._blocks.cut(self.positive))

    @property
    def _blocks(self) -> Blocks:
        inner = self.rows.rows if isinstance(self.rows, ScaledRows) else self.rows
        assert isinstance(inner, Blocks)
        return inner

    @property
    def _scale(self) -> Any:
        return self.rows.scale if isinstance(self.rows, ScaledRows) else 1.0


@dataclass(frozen=True, eq=False)
class HeadRay:
    """The risk along a direction; each step is one round over scores, and none over rows."""

    risk: HeadRisk
    origin: list[Any]
    change: list[Any]

    def at(self, step: float) -> HeadPoint:
        """The point at this step along the ray."""
        return self.risk._at(self.risk._blocks.keep_values(moved, self.origin, self.change, same=(step,)))

    def slope(self, point: HeadPoint) -> float:
        """Derivative of the risk along the ray at one of its points."""
        parts = self.risk._blocks.map_values(dot_head, self.change, point.scores, self.risk._marked, point.coef)
        return float(sum(parts))


def risk_of(rows: Rows, surrogate: Any, positive: Any) -> LinearRisk:
    """Return the risk of a surrogate on some rows, of which only the head travels if they are many."""
    kind = HeadRisk if HeadRisk.fits(rows, surrogate) else LinearRisk
    return kind(rows, surrogate, positive)


def _split(values: Vector, sizes: list[int]) -> list[Vector]:
    return np.split(values, np.cumsum(sizes)[:-1])
