"""Risks over blocks whose scores stay with their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headrank._types import Vector
from headrank.estimators._held_scores import HeldScores
from headrank.estimators._risk import LinearRisk
from headrank.measures import Measure
from headrank.measures.area import AreaMeasure
from headrank.rows import Blocks, Rows, ScaledRows
from headrank.rows.block import scores_of
from headrank.rows.block_scores import moved, no_scores


@dataclass(frozen=True, eq=False)
class HeldRisk(LinearRisk, ABC):
    """A risk of the scores ``rows @ weights``, which are computed and stay where the rows are."""

    @abstractmethod
    def at_held(self, scores: HeldScores) -> Any:
        """Evaluate at the weights with these scores. No pass over the rows."""

    @abstractmethod
    def slope(self, point: Any, change: HeldScores) -> float:
        """Return the derivative at a point if the scores change in this direction."""

    def at(self, weights: Vector) -> Any:
        """Evaluate at these weights. Half a pass over the rows; none at w = 0."""
        return self.at_held(self.scored(weights))

    def ray(self, point: Any, direction: Vector) -> Any:
        """The points ``point + step * direction``. Half a pass over the rows."""
        return HeldRay(self, point.scores, self.scored(direction))

    def measured(self, scores: HeldScores, measure: Measure) -> float:
        """Return a measure of the scores; only the head travels, if it has one, and only positives for the AUC."""
        if isinstance(measure, AreaMeasure) and measure.fpr_range == (0, 1):
            return measure.from_mean_tpr(scores.auc())
        return measure.value(scores.curve(measure.depth(scores.n_pos, scores.n_neg)))

    def scored(self, weights: Vector) -> HeldScores:
        """Return the scores of these weights. Half a pass over the rows; none at w = 0."""
        if not weights.any():
            return self._nowhere.moved(self.blocks.keep_values(no_scores, self._nowhere.marked))
        return self._nowhere.moved(self.blocks.keep(scores_of, same=(weights / self.scale,)))

    @cached_property
    def _nowhere(self) -> HeldScores:
        """The rows, without scores."""
        n_pos = int(np.count_nonzero(self.positive))
        marked = self.blocks.put(self.blocks.cut(self.positive))
        return HeldScores(self.blocks, [], marked, n_pos, self.positive.size - n_pos)

    @property
    def blocks(self) -> Blocks:
        """The blocks, before scaling."""
        inner = blocks_in(self.rows)
        assert inner is not None
        return inner

    @property
    def scale(self) -> Any:
        """What each feature is divided by."""
        return self.rows.scale if isinstance(self.rows, ScaledRows) else 1.0


@dataclass(frozen=True, eq=False)
class HeldRay:
    """The risk along a direction; each step is one round over scores, and none over rows."""

    risk: HeldRisk
    origin: HeldScores
    change: HeldScores

    def at(self, step: float) -> Any:
        """The point at this step along the ray."""
        there = self.origin.blocks.keep_values(moved, self.origin.scores, self.change.scores, same=(step,))
        return self.risk.at_held(self.origin.moved(there))

    def slope(self, point: Any) -> float:
        """Derivative of the risk along the ray at one of its points."""
        return self.risk.slope(point, self.change)

    def extent(self) -> tuple[float, float]:
        """Return the standard deviation of the change of the scores, and its largest absolute value."""
        return self.change.extent()


def blocks_in(rows: Rows) -> Blocks | None:
    """Return the blocks that rows consist of, if they do."""
    inner = rows.rows if isinstance(rows, ScaledRows) else rows
    return inner if isinstance(inner, Blocks) else None
