"""What cross-validation of any family leaves: candidates with their scores out of fold, and models of all folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from headrank._types import Vector
from headrank.estimators.cv.candidates import Trial


class Part(Protocol):
    """A fitted scorer that can be part of a combination. Features are as the combination gets them."""

    def scores(self, X: Any) -> Vector:
        """Score rows."""

    def contributions(self, X: Any) -> Vector:
        """What each feature adds to the score of each row, and in the last column the rest."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A candidate that was learned on every fold.

    Attributes
    ----------
    trial : Trial
        The candidate, and what it is worth on each fold.
    family : str
        "linear", "boosted trees", "random forest" or "extra trees".
    scores : tuple of arrays
        Of the rows left out, fold by fold.
    part : Part
        The fitted scorer.
    """

    trial: Trial
    family: str
    scores: tuple[Vector, ...]
    part: Part

    @property
    def spread(self) -> float:
        """Standard deviation of the scores out of fold; 1 if they are constant."""
        return spread_of(self.scores)


def spread_of(scores: Sequence[Vector]) -> float:
    """Standard deviation of all scores together; 1 if they are constant."""
    return float(np.concatenate(list(scores)).std()) or 1.0
