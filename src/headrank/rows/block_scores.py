"""Scores that stay with their blocks, and what is asked of them there: some rows are marked, the others have a head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.rows.block import Block
from headrank.rows.block_pairs import Overtaken
from headrank.rows.open import open_rows


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

    def rows_and_values(self, scores: Vector, marked: BoolVector) -> tuple[Any, Vector]:
        """Return which rows have a coefficient, and these."""
        values = self.tilt * (scores - self.centre) if self.tilt else np.zeros(scores.size)
        values[marked] += self.marked
        values[~marked & (scores > self.floor)] += self.above
        if self.at_floor:
            values[~marked & (scores == self.floor)] += self.at_floor
        if self.below is not None:
            others, n = self.below.overtaking(scores, marked)
            values[others] += self.below.of_pair * n
        if self.tilt:
            return slice(None), values
        present = np.flatnonzero(values)
        return present, values[present]


def head_scores(scores: Vector, marked: BoolVector, floor: float, most: int) -> HeadScores:
    """Return the scores that travel, of which at most so many are not marked."""
    others = scores[~marked]
    above = others[others > floor]
    at_floor = int(np.count_nonzero(others == floor))
    travelling = above if above.size <= most else above[:0]
    return HeadScores(scores[marked], travelling, above.size, at_floor, float(scores.sum()))


def every(scores: Vector, marked: BoolVector, stride: int) -> Vector:
    """Return the scores of every so many rows that are not marked."""
    return scores[~marked][::stride]


def no_scores(marked: BoolVector) -> Vector:
    """Return scores of 0, which take no memory."""
    return np.broadcast_to(0.0, marked.shape)


def moved(origin: Vector, change: Vector, step: float) -> Vector:
    """Return the scores after a step."""
    return origin + step * change


def combined_head(block: Block, scores: Vector, marked: BoolVector, coef: HeadCoef) -> Vector:
    """Return coef @ X; only rows with a coefficient are touched."""
    present, values = coef.rows_and_values(scores, marked)
    if not values.size:
        return np.zeros(block.X.shape[1])
    return open_rows(block.X[present]).combine(values)


def dot_head(scores: Vector, marked: BoolVector, change: Vector, coef: HeadCoef) -> float:
    """Return coef @ change."""
    present, values = coef.rows_and_values(scores, marked)
    return float(values @ change[present])


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
