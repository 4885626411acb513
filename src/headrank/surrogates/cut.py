"""What a surrogate is: scores in, its risk and the derivative in each score out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from headrank._types import IntVector, Vector


@dataclass(frozen=True, eq=False)
class Cut:
    """Risk at some scores and its (sub)derivative in each score: a plane that touches the risk from below.

    Attributes
    ----------
    risk : float
        The risk.
    pos_coef, neg_coef : arrays of shape (n_pos,) and (n_neg,)
        The derivative in the score of each positive and each negative.
    """

    risk: float
    pos_coef: Vector
    neg_coef: Vector


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What a surrogate may know of rows besides their scores: weights and queries, each for both classes or none.

    Queries are numbered from 0. Those that lack a class are left out of every mean.
    """

    pos_weights: Vector | None = None
    neg_weights: Vector | None = None
    pos_queries: IntVector | None = None
    neg_queries: IntVector | None = None

    @property
    def plain(self) -> bool:
        """Whether there is nothing to know: one list of rows that count alike."""
        return self.neg_weights is None and self.neg_queries is None


class Surrogate(Protocol):
    """A risk of scores. It never sees features."""

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Evaluate at these scores."""
