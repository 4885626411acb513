"""Envelope: a polyline from (0, 0) to (1, 1) that bounds the true ROC curve on one side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headrank._types import ArrayLike, IntVector, Vector
from headrank.curve import RocCurve


@dataclass(frozen=True, eq=False)
class Envelope:
    """A rising polyline in the unit square.

    Attributes
    ----------
    fpr, tpr : arrays of shape (n_points,)
        Its points: both start at 0, do not decrease, and end at 1.

    Examples
    --------
    >>> stairs = Envelope(np.array([0.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    >>> stairs.tpr_at([0.0, 0.25, 0.75]), stairs.area_to(1.0)
    (array([0.5 , 0.5 , 0.75]), array(0.625))
    """

    fpr: Vector
    tpr: Vector

    def tpr_at(self, fpr: ArrayLike) -> Vector:
        """Return the greatest TPR at each FPR. O(log n_points) each."""
        x = np.asarray(fpr, dtype=np.float64)
        i, part = _located(self.fpr, x)
        return np.asarray(self.tpr[i] + part * (self.tpr[i + 1] - self.tpr[i]))

    def fpr_at(self, tpr: ArrayLike) -> Vector:
        """Return the least FPR at each TPR."""
        y = np.asarray(tpr, dtype=np.float64)
        i = np.maximum(np.searchsorted(self.tpr, y), 1)
        rise = self.tpr[i] - self.tpr[i - 1]
        part = np.where(rise > 0, (y - self.tpr[i - 1]) / np.where(rise > 0, rise, 1.0), 0.0)
        return np.asarray(self.fpr[i - 1] + part * (self.fpr[i] - self.fpr[i - 1]))

    def area_to(self, fpr: ArrayLike) -> Vector:
        """Return the area below the polyline from FPR 0 to each FPR."""
        x = np.asarray(fpr, dtype=np.float64)
        i, part = _located(self.fpr, x)
        width, rise = self.fpr[i + 1] - self.fpr[i], self.tpr[i + 1] - self.tpr[i]
        return np.asarray(self._areas[i] + part * width * (self.tpr[i] + part * rise / 2))

    def meets(self, positive_rate: float, masses: ArrayLike) -> tuple[Vector, Vector]:
        """Return (FPR, TPR) where the polyline crosses the control lines mass = p TPR + (1 - p) FPR. O(n_points)."""
        mass_along = positive_rate * self.tpr + (1 - positive_rate) * self.fpr
        i, part = _located(mass_along, np.asarray(masses, dtype=np.float64))
        alpha = self.fpr[i] + part * (self.fpr[i + 1] - self.fpr[i])
        return alpha, self.tpr[i] + part * (self.tpr[i + 1] - self.tpr[i])

    def transposed(self) -> Envelope:
        """Return the polyline with its axes swapped."""
        return Envelope(self.tpr, self.fpr)

    def as_curve(self) -> RocCurve:
        """Return the polyline as a RocCurve, on which measures can be evaluated."""
        pos, neg = np.diff(self.tpr), np.diff(self.fpr)
        kept = (pos > 0) | (neg > 0)
        return RocCurve(
            -np.arange(np.count_nonzero(kept), dtype=np.float64), pos[kept], neg[kept], 1.0, 1.0, weighted=True
        )

    @cached_property
    def _areas(self) -> Vector:
        """Area from FPR 0 to each point."""
        heights = (self.tpr[1:] + self.tpr[:-1]) / 2
        return np.concatenate([[0.0], np.cumsum(np.diff(self.fpr) * heights)])


def _located(ascending: Vector, values: Vector) -> tuple[IntVector, Vector]:
    """Return the last segment that starts at or before each value, and the fraction of it before the value."""
    i = np.clip(np.searchsorted(ascending, values, side="right") - 1, 0, ascending.size - 2)
    length = ascending[i + 1] - ascending[i]
    part = np.where(length > 0, (values - ascending[i]) / np.where(length > 0, length, 1.0), 1.0)
    return i, np.clip(part, 0.0, 1.0)
