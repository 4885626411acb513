"""Measures of early recognition that weight ranks exponentially: RIE, and BEDROC, the same rescaled."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import exp, expm1
from typing import ClassVar, Self

import numpy as np

from headrank._format import shown
from headrank._numbers import above_zero
from headrank.curve import RocCurve
from headrank.exceptions import MeasureWarning
from headrank.measures.measure import Measure, registered
from headrank.measures.parsing import number

__all__ = ["BEDROC", "RIE"]

_NOT_SMALL = 0.5
"""BEDROC is comparable between samples if alpha times the share of positives is well below 1."""


@dataclass(frozen=True, repr=False)
class _Exponential(Measure):
    """Measures that weight the rank r of a positive from the top, of N rows, by exp(-alpha r / N)."""

    alpha: float = 20.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", above_zero("alpha", self.alpha))
        if self.alpha < 1e-6:
            name = type(self).__name__
            raise ValueError(
                f"alpha must be at least 1e-6, got {self.alpha:g}: below this {name} is a rank sum; use AUC"
            )

    def _exponential_sum(self, curve: RocCurve) -> float:
        """Sum over the positives of exp(-alpha r / N), times exp(alpha / N) - 1; ties get the mean over their ranks."""
        curve.require_complete(str(self))
        rows, above = curve.pos + curve.neg, (curve.fp + curve.tp)[:-1]
        scale = self.alpha / curve.n
        mean_of_level = np.exp(-scale * above) * -np.expm1(-scale * rows) / rows
        return float(mean_of_level @ curve.pos)

    @property
    def spec(self) -> str:
        return shown(self.alpha)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(number(spec))


@registered
@dataclass(frozen=True, repr=False)
class RIE(_Exponential):
    """Robust initial enhancement of Sheridan et al. (2001): exponentially weighted early ranks, relative to chance.

    The mean over the positives of exp(-alpha r / N), r their rank from the top, divided by its mean over all N ranks,
    (1 - exp(-alpha)) / (N (exp(alpha / N) - 1)). A random order is worth 1, and so is a constant score. RDKit's
    ``CalcRIE``, and `BEDROC` before it is rescaled to [0, 1]: BEDROC = (RIE - least) / (greatest - least), where the
    least and the greatest value on a sample belong to the worst and the best order. O(n log n).

    >>> round(RIE(20)([1, 0, 1, 0], [4, 3, 2, 1]), 6)
    1.986614
    """

    prefix: ClassVar[str] = "rie"

    def _value(self, curve: RocCurve) -> float:
        total = self._exponential_sum(curve)
        return max(total / (curve.positive_rate * -expm1(-self.alpha)), 0.0)

    def attainable(self, curve: RocCurve) -> float:
        """Return the largest possible value on a sample with these numbers of positives and negatives."""
        return expm1(-self.alpha * curve.positive_rate) / (curve.positive_rate * expm1(-self.alpha))

    @property
    def chance(self) -> float:
        return 1.0

    @property
    def possible_values(self) -> tuple[float, float]:
        return 0.0, self.alpha / -expm1(-self.alpha)

    @property
    def description(self) -> str:
        return f"exponentially weighted early recognition over that of a random order, alpha {shown(self.alpha)}"


@registered
@dataclass(frozen=True, repr=False)
class BEDROC(_Exponential):
    """Exponentially weighted early recognition, in [0, 1]: BEDROC of Truchon & Bayly (2007).

    The mean over the positives of exp(-alpha r / N), r their rank from the top, rescaled so that the worst order is 0
    and the best is 1. About 80 % of the value comes from the first 1.6 / ``alpha`` of the list. Samples with different
    shares of positives are comparable only if alpha times that share is small; above 0.5 a `MeasureWarning` is issued.

    >>> round(BEDROC(0.9)([1, 0, 1, 0], [4, 3, 2, 1]), 6)
    0.753138
    """

    prefix: ClassVar[str] = "bedroc"

    def value(self, curve: RocCurve) -> float:
        """Compute the measure, and warn if the value is not comparable between samples."""
        value = super().value(curve)
        if self.alpha * curve.positive_rate > _NOT_SMALL:
            # The same text for every sample, so that a warning for a thousand queries is shown once.
            warnings.warn(
                f"{self}: alpha times the share of positives is above {_NOT_SMALL}, so the value is not comparable to "
                "that of samples with another share of positives; use a lower alpha",
                MeasureWarning,
                stacklevel=5,
            )
        return value

    def _value(self, curve: RocCurve) -> float:
        return self._rescaled(curve, self._exponential_sum(curve))

    def _rescaled(self, curve: RocCurve, total: float) -> float:
        best = -expm1(-self.alpha * curve.positive_rate)
        worst = best * exp(-self.alpha * (1 - curve.positive_rate))
        width = best * -expm1(-self.alpha * (1 - curve.positive_rate))
        return min(max((total - worst) / width, 0.0), 1.0)

    @property
    def description(self) -> str:
        return f"exponentially weighted early recognition, alpha {shown(self.alpha)}, worst order 0, best order 1"
