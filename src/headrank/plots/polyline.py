"""Thinning of curves: a few thousand vertices that look the same as millions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from headrank._types import BoolVector, Counts, Vector
from headrank.curve import RocCurve

Polyline: TypeAlias = tuple[Vector, Vector]
"""False and true positive rates of the vertices, both non-decreasing."""

CELL = 1e-3
"""Vertices closer than this, horizontally plus vertically in units of the axes, are merged; see `thin`."""
N_BENDS = 1000
"""Number of pieces of a straight line that a logarithmic axis bends."""


@dataclass(frozen=True)
class Window:
    """The visible part of the axes: false positive rates from left to right, true positive rates up to the top.

    On a logarithmic axis ``left`` lies above 0.
    """

    left: float
    right: float
    top: float
    log: bool = False

    def across(self, fpr: Vector) -> Vector:
        """Horizontal position of these rates: 0 at the left end of the axis, 1 at the right."""
        if self.log:
            return np.asarray(np.log(fpr / self.left) / np.log(self.right / self.left))
        return np.asarray((fpr - self.left) / (self.right - self.left))

    def spread(self, low: float, high: float) -> Vector:
        """Rates from ``low`` to ``high`` at which to sample a straight line, which a logarithmic axis bends."""
        return np.geomspace(low, high, N_BENDS // 5) if self.log else np.array([low, high])


def visible(
    curve: RocCurve, window: Window, *, min_fpr: float = 0.0, max_fpr: float = 1.0, cell: float = CELL
) -> Polyline:
    """Vertices to draw of the curve between two rates, within the window and the depth of a head. O(n_levels).

    At most about ``4 / cell`` of them; the error is at most that of `thin`.

    >>> curve = RocCurve.from_scores([1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1])
    >>> fpr, tpr = visible(curve, Window(left=0, right=0.5, top=1))
    >>> fpr.round(2).tolist(), tpr.round(2).tolist()
    ([0.0, 0.0, 0.33, 0.33, 0.5], [0.0, 0.67, 0.67, 1.0, 1.0])
    """
    corners = _is_corner(curve.fp, curve.tp)
    x, y = clip((curve.fpr[corners], curve.tpr[corners]), max(min_fpr, window.left), min(max_fpr, window.right))
    if window.log and x.size:
        x, y = _bent((x, y))
    return thin((x, y), window, cell)


def clip(line: Polyline, low: float, high: float) -> Polyline:
    """Return the part of a polyline between two rates, including vertical steps at either end.

    Empty if the line ends before ``low``.

    >>> x, y = clip((np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 1.0])), 0.25, 0.75)
    >>> x.tolist(), y.tolist()
    ([0.25, 0.5, 0.75], [0.4, 0.8, 0.9])
    """
    x, y = line
    first, last = int(np.searchsorted(x, low, side="left")), int(np.searchsorted(x, high, side="right"))
    if first == x.size or high < low:
        return x[:0], y[:0]
    starts = [low] if x[first] > low and first > 0 else []
    ends = [high] if x[last - 1] < high and last < x.size else []
    inside = np.concatenate([starts, x[first:last], ends])
    # Only the two ends can lie between vertices, where the line is not vertical, so its height is unique.
    heights = [np.interp(starts, x, y), y[first:last], np.interp(ends, x, y)]
    return inside, np.concatenate(heights)


def thin(line: Polyline, window: Window, cell: float = CELL) -> Polyline:
    """Drop vertices that make no visible difference. O(n).

    The line only moves right and up, so its length, horizontal plus vertical in units of the axes, can be cut into
    pieces of length ``cell``. The first and last vertex of each piece are kept. The others lie in the box they span,
    whose sides add up to less than ``cell``, and so within ``cell / sqrt(8)`` of the straight segment that replaces
    them: with `CELL` a fifth of a pixel on axes of 500 pixels, and a third on axes of 900.
    """
    x, y = line
    piece = np.floor((window.across(x) + y / window.top) / cell)
    keep: BoolVector = np.ones(x.size, dtype=bool)
    keep[1:-1] = (piece[1:-1] != piece[:-2]) | (piece[1:-1] != piece[2:])
    return x[keep], y[keep]


def _is_corner(fp: Counts, tp: Counts) -> BoolVector:
    """Vertices where the line turns. Exact for counts, since integers are compared, not rates."""
    right, up = np.diff(fp), np.diff(tp)
    turns: BoolVector = np.ones(fp.size, dtype=bool)
    turns[1:-1] = right[:-1] * up[1:] != up[:-1] * right[1:]
    return turns


def _bent(line: Polyline) -> Polyline:
    """Add vertices to slanted segments, ties between the classes, which a logarithmic axis bends."""
    x, y = line
    grid = np.geomspace(x[0], x[-1], N_BENDS + 1)[1:-1]
    after = np.searchsorted(x, grid)
    slanted = (x[after] > grid) & (y[after] > y[after - 1])
    grid, after = grid[slanted], after[slanted]
    return np.insert(x, after, grid), np.insert(y, after, np.interp(grid, x, y))


def first_false_positive(curve: RocCurve) -> float:
    """Lowest possible false positive rate above 0: that of one negative, or of the smallest weight."""
    lightest = curve.neg[curve.neg > 0].min(initial=curve.n_neg) if curve.weighted else 1.0
    return float(lightest / curve.n_neg)
