"""The part of a ROC plot that a measure refers to: a region, a point or a control line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from headrank._types import Vector
from headrank.curve import RocCurve
from headrank.measures import FPRAtTPR, Measure, TopFPR, TopTPR, TPRAtFPR, TwoWayPartialAUC
from headrank.measures.area import AreaMeasure


@dataclass(frozen=True)
class Region:
    """A range of false positive rates in which the area under a curve counts, between two true positive rates."""

    min_fpr: float
    max_fpr: float
    min_tpr: float = 0.0
    max_tpr: float = 1.0


@dataclass(frozen=True)
class Point:
    """A point of the ROC plane."""

    fpr: float
    tpr: float


@dataclass(frozen=True)
class Control:
    """The control line D(u, p): all points with ``mass = p tpr + (1 - p) fpr``, p the share of positives.

    Every classifier that predicts the share ``mass`` of all rows positive lies on it.
    """

    mass: float
    positive_rate: float

    def tpr(self, fpr: Vector) -> Vector:
        """Return the true positive rates of the line at these false positive rates."""
        return np.asarray((self.mass - (1 - self.positive_rate) * fpr) / self.positive_rate)

    @property
    def start(self) -> float:
        """False positive rate at which the line enters the unit square, at its top or its left side."""
        return max((self.mass - self.positive_rate) / (1 - self.positive_rate), 0.0)

    @property
    def end(self) -> float:
        """False positive rate at which the line leaves the unit square, at its bottom or its right side."""
        return min(self.mass / (1 - self.positive_rate), 1.0)


@singledispatch
def region_of(_measure: Measure) -> Region | None:
    """Return the region under a curve that the measure refers to, or None. Register a function for a new measure.

    >>> from headrank.measures import PartialAUC
    >>> region_of(PartialAUC(min_fpr=0.02, max_fpr=0.05))
    Region(min_fpr=0.02, max_fpr=0.05, min_tpr=0.0, max_tpr=1.0)
    """
    return None


@region_of.register
def _(measure: AreaMeasure) -> Region:
    return Region(*measure.fpr_range)


@region_of.register
def _(measure: TwoWayPartialAUC) -> Region:
    return Region(0.0, measure.max_fpr, measure.min_tpr, measure.max_tpr)


@singledispatch
def point_of(_measure: Measure, _curve: RocCurve) -> Point | None:
    """Return the point of the curve that the measure refers to, or None."""
    return None


@point_of.register
def _(measure: TPRAtFPR, curve: RocCurve) -> Point:
    return Point(measure.fpr, measure.value(curve))


@point_of.register
def _(measure: FPRAtTPR, curve: RocCurve) -> Point:
    return Point(measure.value(curve), measure.tpr)


def top_of(curve: RocCurve, top: float) -> tuple[Point, Control]:
    """Return the point of the curve at the best fraction ``top``, and the control line through it.

    >>> point, control = top_of(RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1]), top=0.5)
    >>> point, control.mass
    (Point(fpr=0.5, tpr=0.5), 0.5)
    """
    return Point(TopFPR(top).value(curve), TopTPR(top).value(curve)), Control(top, float(f"{curve.positive_rate:.12g}"))
