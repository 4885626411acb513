"""Risks that are a sum of losses of the rows at the optimal intercept, which is found from sums over the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from headrank._types import Vector
from headrank.surrogates.cut import Cut, RowFacts

_NEWTON_STEPS = 60


class Totals(NamedTuple):
    """What the search for the intercept has to know of a class: the weight of its rows, and where their scores are."""

    weight: float
    total: float
    """Weighted sum of the scores."""
    low: float
    high: float
    """The lowest and highest score of a row with a weight."""

    @classmethod
    def of(cls, scores: Vector, weights: Vector | None) -> Totals:
        """Add up these rows; there may be none."""
        present = scores if weights is None or weights.all() else scores[weights > 0]
        weight, total = (scores.size, scores.sum()) if weights is None else (weights.sum(), weights @ scores)
        low, high = present.min(initial=np.inf), present.max(initial=-np.inf)
        return cls(float(weight), float(total), float(low), float(high))

    def merge(self, other: Totals) -> Totals:
        """Return those of the rows of both."""
        ends = min(self.low, other.low), max(self.high, other.high)
        return Totals(self.weight + other.weight, self.total + other.total, *ends)

    def moved(self, by: float) -> Totals:
        """Return those of the same rows with a number added to their scores."""
        return Totals(self.weight, self.total + by * self.weight, self.low + by, self.high + by)

    @property
    def mean(self) -> float:
        """The weighted mean of the scores."""
        return self.total / self.weight


class RowLosses(NamedTuple):
    """Of each row: its weighted loss, and the first and second derivative of that in the score."""

    losses: Vector
    coef: Vector
    curvature: Vector


@dataclass(frozen=True, eq=False)
class RowLoss(ABC):
    """Sum of the losses of the rows at the optimal intercept. O(N) for each step of the search for it.

    A loss is a function of the scores of one class; ``sign`` is 1 for positives and -1 for negatives. What `balance`
    returns can be added up over parts of the rows, so that these may be in different places.
    """

    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)
    close: ClassVar[float]
    """After a Newton step this short, relatively, the intercept is known."""

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the intercept, then the risk and its derivative; the derivative in the intercept is 0 there."""
        pos = pos_scores.astype(np.float64, copy=False), self.rows.pos_weights
        neg = neg_scores.astype(np.float64, copy=False), self.rows.neg_weights

        def balances(here: float) -> tuple[Vector, Vector]:
            return self.balance(pos[0] + here, 1, pos[1]), self.balance(neg[0] + here, -1, neg[1])

        intercept = self.intercept(Totals.of(*pos), Totals.of(*neg), balances)
        of_pos = self.of_rows(pos[0] + intercept, 1, pos[1])
        of_neg = self.of_rows(neg[0] + intercept, -1, neg[1])
        return Cut(
            float(of_pos.losses.sum() + of_neg.losses.sum()),
            of_pos.coef,
            of_neg.coef,
            pos_curvature=of_pos.curvature,
            neg_curvature=of_neg.curvature,
        )

    def intercept(self, pos: Totals, neg: Totals, balances: Callable[[float], tuple[Vector, Vector]]) -> float:
        """Return the intercept at which the sum of the losses is least, by safeguarded Newton steps.

        ``balances(c)`` are the `balance` of all positives and of all negatives, with c added to their scores.
        """
        low, high, here = self.bracket(pos, neg)
        for _ in range(_NEWTON_STEPS):
            surplus, step = self.newton(*balances(here))
            if surplus == 0:
                break
            if surplus > 0:
                high = here
            else:
                low = here
            there, is_short = here - step, abs(step) <= self.close * (1 + abs(here))
            if not low < there < high and not is_short:
                there, is_short = (low + high) / 2, high - low <= self.close * (1 + abs(here))
            here = there
            if is_short:
                break
        return here

    @abstractmethod
    def bracket(self, pos: Totals, neg: Totals) -> tuple[float, float, float]:
        """Return two intercepts between which the best one is, and a guess."""

    @abstractmethod
    def balance(self, scores: Vector, sign: int, weights: Vector | None) -> Vector:
        """Return sums over rows of a class that tell how far the intercept, added already, is from the best one."""

    @abstractmethod
    def newton(self, pos: Vector, neg: Vector) -> tuple[float, float]:
        """Return a number with the sign of the derivative in the intercept, and the Newton step to be subtracted."""

    @abstractmethod
    def of_rows(self, scores: Vector, sign: int, weights: Vector | None) -> RowLosses:
        """Return the losses of rows of a class and their derivatives; the intercept is added to the scores already."""


def weighted(values: Vector, weights: Vector | None) -> Vector:
    """Multiply by the weights, if there are any."""
    return values if weights is None else weights * values
