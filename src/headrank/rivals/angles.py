"""The best way to add one column to a score: the angle between them that maximises a measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from headrank._types import Vector
from headrank.estimators._labelled import Labelled

Worth = Callable[[Vector], float]
"""What scores are worth: the higher, the better."""
_NARROWEST = 1e-9
"""Radians. Scores at the middle of a narrower interval differ from those at its ends only by rounding."""
_OFFSET = 0.5 / pi
"""Of the grid, in steps. At angles such as 45 degrees, many rows of integer columns would be tied."""
_REFINEMENTS, _FINER = 3, 21
"""How often the grid around the best angle is refined, and the number of angles each time."""


@dataclass(frozen=True)
class Angle:
    """A direction between a score (0) and a column (pi / 2), or its negative, and what the combination is worth."""

    radians: float
    worth: float

    def combined(self, score: Vector, column: Vector) -> Vector:
        """Score and column as one."""
        return cos(self.radians) * score + sin(self.radians) * column


def swept(score: Vector, column: Vector, labelled: Labelled, worth: Worth, current: float) -> Angle:
    """Return the best angle without ties of its own, by trying one between any two neighbouring break points.

    The ROC curve, and so every measure, changes only where a positive and a negative row of one query swap places. In
    between it is constant. Of equally good intervals the widest is taken, and of the present score and a combination
    that is no better the present score. The break points themselves, where rows are tied, are not tried; a measure
    of the first rows may be higher there. Cost: one measurement
    for each pair of a positive and a negative row.
    """
    points = np.unique(np.concatenate([[-pi / 2, pi / 2], break_points(score, column, labelled)]))
    wide = np.diff(points) > _NARROWEST
    widths, middles = np.diff(points)[wide], ((points[:-1] + points[1:]) / 2)[wide]
    tried = [_at(middle, score, column, worth) for middle in middles]
    best = max(zip(tried, widths, strict=True), key=lambda each: (each[0].worth, each[1]))[0]
    return best if best.worth > current else Angle(0.0, current)


def break_points(score: Vector, column: Vector, labelled: Labelled) -> Vector:
    """The angles, not sorted, at which a positive and a negative row of one query have the same combination."""
    pos, neg = np.flatnonzero(labelled.positive), np.flatnonzero(~labelled.positive)
    i, j = (each.ravel() for each in np.meshgrid(pos, neg, indexing="ij"))
    if labelled.queries is not None:
        same = labelled.queries[i] == labelled.queries[j]
        i, j = i[same], j[same]
    lead, gain = score[i] - score[j], column[i] - column[j]
    moving = gain != 0  # else tied at 90 degrees or always
    angles: Vector = np.arctan(-lead[moving] / gain[moving])
    return angles


def searched(score: Vector, column: Vector, worth: Worth, current: float, n_angles: int) -> Angle:
    """Return the best angle of a grid over the half circle, refined three times around the best one.

    Nothing is promised of angles between: the measure is a step function of the angle. Cost: ``n_angles`` + 63
    measurements.
    """
    step = pi / n_angles
    grid = -pi / 2 + step * (np.arange(n_angles) + _OFFSET)
    best = Angle(0.0, current)
    for _ in range(_REFINEMENTS + 1):
        best = _better(best, (_at(angle, score, column, worth) for angle in grid))
        grid = best.radians + step * np.linspace(-1, 1, _FINER + 2)[1:-1]
        step = 2 * step / (_FINER + 1)
    return best


def n_pairs(labelled: Labelled) -> float:
    """Number of pairs of a positive and a negative row, in the same query."""
    if labelled.queries is None:
        n_pos = np.count_nonzero(labelled.positive)
        return float(n_pos * (labelled.size - n_pos))
    n_queries = int(labelled.queries.max()) + 1
    pos = np.bincount(labelled.queries[labelled.positive], minlength=n_queries)
    neg = np.bincount(labelled.queries[~labelled.positive], minlength=n_queries)
    return float(pos @ neg)


def _at(radians: float, score: Vector, column: Vector, worth: Worth) -> Angle:
    return Angle(float(radians), worth(Angle(radians, 0.0).combined(score, column)))


def _better(best: Angle, angles: Iterable[Angle]) -> Angle:
    """The first of the best; of the old and a new one that is as good, the old."""
    for angle in angles:
        if angle.worth > best.worth:
            best = angle
    return best
