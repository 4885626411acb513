"""Rank statistics: the mean over the positives of a function of their rank among all rows, and the tail strength."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Self

import numpy as np

from headrank._format import shown
from headrank._numbers import above_zero
from headrank._types import Vector
from headrank.curve import RocCurve
from headrank.measures.local import TopMeasure
from headrank.measures.measure import Measure, registered
from headrank.measures.parsing import number

__all__ = ["PNormPush", "RankStatistic", "TailStrength", "WRanking"]


def _mid_ranks(curve: RocCurve) -> Vector:
    """Mid-rank of each distinct score among all rows; the lowest is 1."""
    rows = curve.pos + curve.neg
    above = (curve.fp + curve.tp)[:-1]
    return np.asarray(curve.n - above - (rows - 1) / 2)


def _mean_over_positives(curve: RocCurve, values: Vector) -> float:
    return float(values @ curve.pos) / curve.n_pos


@registered
@dataclass(frozen=True, repr=False)
class RankStatistic(Measure):
    """Mean over the positives of ``phi(rank / (N + 1))``, for any score-generating function ``phi``.

    Definition 22 of Clémençon & Vayatis (2007), divided by the number of positives. Rank 1 is the lowest score;
    tied rows get their mid-rank. ``phi`` maps an array of values in (0, 1) to an array of the same shape, and should
    not decrease. Two measures are equal if their ``phi`` is the same object.

    >>> RankStatistic(np.sqrt)([1, 0, 1, 0], [4, 3, 2, 1])
    0.7634413615167959
    """

    phi: Callable[[Vector], Vector]
    prefix: ClassVar[str] = "rankstat"
    readable: ClassVar[bool] = False  # a function has no short name

    def __post_init__(self) -> None:
        if not callable(self.phi):
            raise TypeError(f"phi must be a function of the relative rank, got {self.phi!r}")

    def _value(self, curve: RocCurve) -> float:
        curve.require_complete(str(self))
        return _mean_over_positives(curve, np.asarray(self.phi(_mid_ranks(curve) / (curve.n + 1))))

    @property
    def possible_values(self) -> tuple[float, float]:
        return -inf, inf  # phi is arbitrary

    @property
    def spec(self) -> str:
        return getattr(self.phi, "__name__", type(self.phi).__name__)

    @property
    def description(self) -> str:
        return f"mean over the positives of {self.spec}(rank / (N + 1))"


@registered
@dataclass(frozen=True, repr=False)
class PNormPush(Measure):
    """Mean over the positives of ``(rank / (N + 1)) ** power``: the larger the power, the more weight on the top.

    The score-generating function of Rudin's p-norm push (Remark 26 of Clémençon & Vayatis 2007).

    >>> round(PNormPush(1)([1, 0, 1, 0], [4, 3, 2, 1]), 6)
    0.6
    """

    power: float
    prefix: ClassVar[str] = "push"

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", above_zero("power", self.power))

    def _value(self, curve: RocCurve) -> float:
        curve.require_complete(str(self))
        return _mean_over_positives(curve, (_mid_ranks(curve) / (curve.n + 1)) ** self.power)

    @property
    def chance(self) -> float:
        return float(0.5**self.power)

    @property
    def spec(self) -> str:
        return shown(self.power)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(number(spec))

    @property
    def description(self) -> str:
        return f"mean over the positives of (rank / (N + 1)) ** {self.spec}"


@registered
@dataclass(frozen=True, repr=False)
class WRanking(TopMeasure):
    """Mean over the positives of their relative rank, counting only ranks in the best fraction ``top``.

    phi(v) = v in the best fraction, else 0, with v = rank / (N + 1) (Definition 23). The optimal scorers for finding
    and ranking the best instances maximise it (Theorem 24). With B = n_pos * beta the number of positives in the top,
    n_pos (N + 1) WRanking = n_pos n_neg LocalAUC + B (2 n_pos + 1 - B) / 2, which extends the definition to rows that
    are only partly in the top.

    >>> WRanking(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.4
    """

    prefix: ClassVar[str] = "w"

    def _value(self, curve: RocCurve) -> float:
        top = self.rows_in_top(curve)
        above_negatives = top.tp * (curve.n_neg - top.fp) + top.pairs
        return (above_negatives + top.tp * (2 * curve.n_pos + 1 - top.tp) / 2) / (curve.n_pos * (curve.n + 1))

    @property
    def description(self) -> str:
        return f"mean over the positives of rank / (N + 1), 0 outside the best {shown(self.top)} of all instances"


@registered
@dataclass(frozen=True, repr=False)
class TailStrength(Measure):
    """Mean over the positives of ``1 - p_k (n_pos + 1) / k``: by how much their p-values are below those of chance.

    The p-value of a positive is the share of negatives above it, and p_1 <= p_2 <= ... are the sorted ones (Taylor &
    Tibshirani, Biostatistics 7, 2006, named in Remark 26 of Clémençon & Vayatis 2007). In a random order p_k is
    k / (n_pos + 1) on average, so chance is 0; 1 is a perfect ranking, and there is no lower limit that holds for all
    samples. In terms of the curve it is the mean of about 1 - FPR / TPR over true positive rates: the first positives
    count most. Tied rows count as the expectation over their random orders. O(n_thresholds).

    >>> TailStrength()([1, 0, 1, 0], [4, 3, 2, 1])
    0.625
    """

    prefix: ClassVar[str] = "tail"

    def _value(self, curve: RocCurve) -> float:
        from scipy.special import digamma  # here, so that importing headrank does not import SciPy

        curve.require_complete(str(self))
        before, negatives_above = curve.tp[:-1], curve.fp[:-1]
        # Of P tied positives and M tied negatives in random order, the j-th positive has M j / (P + 1) of the
        # negatives above it on average; harmonic = sum over j of 1 / (before + j), also for weights that are not whole.
        harmonic = digamma(before + curve.pos + 1) - digamma(before + 1)
        tied = curve.neg / (curve.pos + 1) * (curve.pos - before * harmonic)
        ratios = float(np.sum(negatives_above * harmonic + tied))
        return 1 - (curve.n_pos + 1) / curve.n_pos * ratios / curve.n_neg

    @property
    def chance(self) -> float:
        return 0.0

    @property
    def possible_values(self) -> tuple[float, float]:
        return -inf, 1.0

    @property
    def description(self) -> str:
        return "mean over the positives of 1 - p (n_pos + 1) / rank, p the share of negatives above"
