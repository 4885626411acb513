"""The interface of a surrogate: scores in, risk and derivative in each score out."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, Protocol

from headrank._types import IntVector, Vector


@dataclass(frozen=True, eq=False)
class Cut:
    """Risk at given scores and its (sub)derivative in each score: a plane that supports the risk from below.

    Attributes
    ----------
    risk : float
        The risk.
    pos_coef, neg_coef : arrays of shape (n_pos,) and (n_neg,)
        The derivative in the score of each positive and each negative.
    offset : float
        The height of the plane at scores of 0, computed without the scores: if these are huge, rounding would ruin
        risk - coef @ scores. NaN for surrogates that are not used with cutting planes.
    pos_curvature, neg_curvature : arrays of shape (n_pos,) and (n_neg,), or None
        The second derivative k of each row's loss, for risks that are a sum of losses at the optimal intercept. As the
        intercept depends on the scores, the Hessian in the scores is diag(k) - k k^T / sum(k).
    """

    risk: float
    pos_coef: Vector
    neg_coef: Vector
    offset: float = nan
    pos_curvature: Vector | None = None
    neg_curvature: Vector | None = None


@dataclass(frozen=True, eq=False)
class RowFacts:
    """Weights and queries of the rows, each for both classes or neither.

    Queries are numbered from 0. Queries that lack a class are excluded from every mean.
    """

    pos_weights: Vector | None = None
    neg_weights: Vector | None = None
    pos_queries: IntVector | None = None
    neg_queries: IntVector | None = None
    pos_grades: IntVector | None = None
    """Grades of relevance of the positives, if they have different ones."""

    @property
    def plain(self) -> bool:
        """Whether there are neither weights nor queries."""
        return self.neg_weights is None and self.neg_queries is None

    def take(self, pos: IntVector, neg: IntVector) -> RowFacts:
        """Return the weights and queries of a subset of the rows."""
        return RowFacts(
            _taken(self.pos_weights, pos),
            _taken(self.neg_weights, neg),
            _taken(self.pos_queries, pos),
            _taken(self.neg_queries, neg),
            _taken(self.pos_grades, pos),
        )


def _taken(values: Any, at: IntVector) -> Any:
    return None if values is None else values[at]


class Surrogate(Protocol):
    """A risk as a function of scores. It never sees features."""

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Evaluate the risk at these scores."""
