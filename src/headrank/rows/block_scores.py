"""Scores that stay with their blocks, and what is asked of them there: some rows are marked, the others have a head."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.rows.block import Block, combined
from headrank.rows.block_pairs import Overtaken

_FEW = 0.2
"""Share of the rows up to which copying them takes less time than a product with all rows, dense or sparse."""


class HeadScores(NamedTuple):
    """The scores of a block that travel: those of marked rows, and of other rows above a floor."""

    marked: Vector
    above: Vector
    """None of them if they are too many."""
    n_above: int
    n_at_floor: int
    total: float
    """Sum of all scores of the block."""


@dataclass(frozen=True, eq=False)
class HeadCoef:
    """The coefficients of the rows whose scores travelled, in the same order.

    All other rows have 0, unless there is a tilt: then it is added to each row, times its distance from the centre; or
    marked rows that those ``below`` the head overtake.
    """

    floor: float
    marked: Vector
    above: Vector
    at_floor: float
    tilt: float = 0.0
    centre: float = 0.0
    below: Overtaken | None = None

    def of_rows(self, scores: Vector, marked: BoolVector) -> Vector:
        """Return the coefficients of all rows, most of them 0 without a tilt."""
        values = self.tilt * (scores - self.centre) if self.tilt else np.zeros(scores.size)
        values[marked] += self.marked
        values[_rows_above(scores, marked, self.floor)] += self.above
        if self.at_floor:
            values[~marked & (scores == self.floor)] += self.at_floor
        if self.below is not None:
            others, n = self.below.overtaking(scores, marked)
            values[others] += self.below.of_pair * n
        return values


def head_scores(scores: Vector, marked: BoolVector, floor: float, most: int) -> HeadScores:
    """Return the scores that travel, of which at most so many are not marked."""
    above = _rows_above(scores, marked, floor)
    at_floor = int(np.count_nonzero((scores == floor) & ~marked))
    travelling = above if above.size <= most else above[:0]
    return HeadScores(scores[marked], scores[travelling], above.size, at_floor, float(scores.sum()))


def _rows_above(scores: Vector, marked: BoolVector, floor: float) -> IntVector:
    """Return the numbers of rows above the floor that are not marked: faster to take rows by than flags of all rows."""
    return np.flatnonzero((scores > floor) & ~marked)


def every(scores: Vector, marked: BoolVector, stride: int) -> Vector:
    """Return the scores of every so many rows, without those that are marked."""
    return scores[::stride][~marked[::stride]]


def no_scores(marked: BoolVector) -> Vector:
    """Return scores of 0, which take no memory."""
    return np.broadcast_to(0.0, marked.shape)


def moved(origin: Vector, change: Vector, step: float) -> Vector:
    """Return the scores after a step."""
    return origin + step * change


def combined_head(block: Block, scores: Vector, marked: BoolVector, coef: HeadCoef) -> Vector:
    """Return coef @ X. If few rows have a coefficient, and each is stored in one piece, only these are touched."""
    values = coef.of_rows(scores, marked)
    if np.count_nonzero(values) > _FEW * values.size or _by_columns(block.X):
        return combined(block, values)
    present = np.flatnonzero(values)
    return combined(replace(block, X=block.X[present]), values[present])


def _by_columns(X: Any) -> bool:
    """Whether the values of a feature are next to each other: all of X is then read to copy some rows."""
    return isinstance(X, np.ndarray) and not X.flags.c_contiguous


def dot_head(scores: Vector, marked: BoolVector, change: Vector, coef: HeadCoef) -> float:
    """Return coef @ change."""
    if coef.tilt or coef.at_floor or coef.below is not None:
        return float(coef.of_rows(scores, marked) @ change)
    return float(coef.marked @ change[marked] + coef.above @ change[_rows_above(scores, marked, coef.floor)])


def extent(scores: Vector, _marked: BoolVector) -> tuple[int, float, float, float]:
    """Return number, sum, sum of squared distances from the mean, and largest absolute value of the scores."""
    if not scores.size:
        return 0, 0.0, 0.0, 0.0
    return scores.size, float(scores.sum()), scores.size * float(scores.var()), float(np.abs(scores).max())


def marked_scores(scores: Vector, marked: BoolVector) -> Vector:
    """Return the scores of the marked rows."""
    return scores[marked]


def n_outranked(scores: Vector, marked: BoolVector, ascending: Vector) -> float:
    """Return the number of pairs of a row that is not marked and one of these scores above it; ties count half."""
    others = scores[~marked]
    below = sum(np.searchsorted(ascending, others, side=side).sum(dtype=np.float64) for side in ("left", "right"))
    return float(others.size * ascending.size - below / 2)


def itself(values: Any) -> Any:
    """Return the values."""
    return values
