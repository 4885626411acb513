"""Scores that stay with their blocks, and what is asked of them there: some rows are marked, the others have a head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from headrank._types import BoolVector, Vector
from headrank.rows.block import Block
from headrank.rows.open import open_rows


class HeadScores(NamedTuple):
    """The scores of a block that travel: those of marked rows, and of other rows above a floor."""

    marked: Vector
    above: Vector
    n_at_floor: int
    total: float
    """Sum of all scores of the block."""


@dataclass(frozen=True, eq=False)
class HeadCoef:
    """The coefficients of the rows whose scores travelled, in the same order; all other rows have 0."""

    floor: float
    marked: Vector
    above: Vector
    at_floor: float

    def rows_and_values(self, scores: Vector, marked: BoolVector) -> tuple[Any, Vector]:
        """Return which rows have a coefficient, and these."""
        values = np.zeros(scores.size)
        values[marked] = self.marked
        values[~marked & (scores > self.floor)] = self.above
        if self.at_floor:
            values[~marked & (scores == self.floor)] = self.at_floor
        present = np.flatnonzero(values)
        return present, values[present]


def head_scores(scores: Vector, marked: BoolVector, floor: float) -> HeadScores:
    """Return the scores that travel."""
    others = scores[~marked]
    return HeadScores(
        scores[marked], others[others > floor], int(np.count_nonzero(others == floor)), float(scores.sum())
    )


def n_above_and_at(scores: Vector, marked: BoolVector, floor: float) -> tuple[int, int]:
    """Return how many rows that are not marked score above a floor, and how many exactly that."""
    others = scores[~marked]
    return int(np.count_nonzero(others > floor)), int(np.count_nonzero(others == floor))


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
    if not present.size:
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


def itself(values: Any) -> Any:
    """Return the values."""
    return values
