"""Where on the picture a measure looks: the range it averages over, the point it reads off, the control line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from headrank._types import Vector
from headrank.curve import RocCurve
from headrank.measures import (
    AUC,
    FPRAtTPR,
    FROCArea,
    Measure,
    PartialAUC,
    StandardizedPartialAUC,
    TopFPR,
    TopTPR,
    TPRAtFPR,
    TwoWayPartialAUC,
)


@dataclass(frozen=True)
class Region:
    """False positive rates between which the area under a curve counts, and the height above which it does."""

    min_fpr: float
    max_fpr: float
    min_tpr: float = 0.0


@dataclass(frozen=True)
class Point:
    """A point of the ROC plane."""

    fpr: float
    tpr: float


@dataclass(frozen=True)
class Control:
    """The control line D(u, p): all points with ``mass = p tpr + (1 - p) fpr``, p the share of positives.

    A classifier that calls the share ``mass`` of all rows positive lies on it, whichever rows these are.
    """

    mass: float
    positive_rate: float
    with_ties: bool = False
    """Whether the mass is larger than what was asked for by more than one row at the border can make it."""

    def tpr(self, fpr: Vector) -> Vector:
        """Return the true positive rates at which the line has these false positive rates."""
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
    """Say which region under a curve is the measure's, if one is. Register a function to shade a new measure.

    >>> region_of(PartialAUC(min_fpr=0.02, max_fpr=0.05))
    Region(min_fpr=0.02, max_fpr=0.05, min_tpr=0.0)
    """
    return None


@region_of.register
def _(_measure: AUC) -> Region:
    return Region(0.0, 1.0)


@region_of.register(PartialAUC)
@region_of.register(StandardizedPartialAUC)
def _(measure: PartialAUC | StandardizedPartialAUC) -> Region:
    return Region(measure.min_fpr, measure.max_fpr)


@region_of.register
def _(measure: FROCArea) -> Region:
    return Region(measure.as_partial_auc.min_fpr, measure.as_partial_auc.max_fpr)


@region_of.register
def _(measure: TwoWayPartialAUC) -> Region:
    return Region(0.0, measure.max_fpr, measure.min_tpr)


@singledispatch
def point_of(_measure: Measure, _curve: RocCurve) -> Point | None:
    """Say which point of the curve the measure reads off, if it reads one."""
    return None


@point_of.register
def _(measure: TPRAtFPR, curve: RocCurve) -> Point:
    return Point(measure.fpr, measure.value(curve))


@point_of.register
def _(measure: FPRAtTPR, curve: RocCurve) -> Point:
    return Point(measure.value(curve), measure.tpr)


def top_of(curve: RocCurve, top: float) -> tuple[Point, Control]:
    """Find the point of the curve at its best fraction ``top``, and the control line through it.

    The row at the border belongs to the top, and all that tie with it, so the top holds a little more than the share
    ``top`` of all rows, with ties a lot more. The line is that of the share it does hold.

    >>> point, control = top_of(RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1]), top=0.3)
    >>> point, control.mass
    (Point(fpr=0.5, tpr=0.5), 0.5)
    """
    point = Point(TopFPR(top).value(curve), TopTPR(top).value(curve))
    p = curve.positive_rate
    mass = round(p * point.tpr + (1 - p) * point.fpr, 12)  # equal for all curves of the same rows, weighted or not
    # Weighted rows cannot be counted: there a border of more than a hundredth of the top passes for a tie.
    border = 0.01 * top if curve.weighted else 1 / curve.n
    return point, Control(mass, p, with_ties=mass - top > border + 1e-9)
