"""Linear rank statistics: the mean over the positives of a function of their rank among all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from typing import ClassVar, Self

import numpy as np

from headrank._format import shown
from headrank._numbers import above_zero
from headrank._types import Vector
from headrank.curve import RocCurve, share
from headrank.measures.local import TopMeasure
from headrank.measures.measure import Measure
from headrank.measures.spelling import number


def _mid_ranks(curve: RocCurve) -> Vector:
    """Rank of each distinct score among all rows, from the lowest = 1; ties share the middle of their ranks."""
    rows = curve.pos + curve.neg
    above = (curve.fp + curve.tp)[:-1]
    return np.asarray(curve.n - above - (rows - 1) / 2)


def _mean_over_positives(curve: RocCurve, values: Vector) -> float:
    return float(values @ curve.pos) / curve.n_pos


@dataclass(frozen=True, repr=False)
class RankStatistic(Measure):
    """Mean over the positives of ``phi(rank / (N + 1))``, for any score-generating function ``phi``.

    Definition 22 of Clémençon & Vayatis (2007), divided by the number of positives. Rank 1 is the lowest score;
    tied rows share the middle of their ranks. ``phi`` takes and returns an array with values in (0, 1); it should
    not decrease. Two measures are equal when their ``phi`` is the same object.

    >>> RankStatistic(np.sqrt)([1, 0, 1, 0], [4, 3, 2, 1])
    0.7634413615167959
    """

    phi: Callable[[Vector], Vector]
    prefix: ClassVar[str] = "rankstat"

    def __post_init__(self) -> None:
        if not callable(self.phi):
            raise TypeError(f"phi must be a function of the relative rank, got {self.phi!r}")

    def _value(self, curve: RocCurve) -> float:
        curve.require_complete(str(self))
        return _mean_over_positives(curve, np.asarray(self.phi(_mid_ranks(curve) / (curve.n + 1))))

    def chance_on(self, curve: RocCurve) -> float:
        return float(self.phi(np.array([0.5]))[0])  # a constant scorer: everybody has the middle rank

    @property
    def spec(self) -> str:
        return getattr(self.phi, "__name__", type(self.phi).__name__)

    @property
    def description(self) -> str:
        return f"mean over the positives of {self.spec}(rank / (N + 1))"


@dataclass(frozen=True, repr=False)
class PNormPush(Measure):
    """Mean over the positives of ``(rank / (N + 1)) ** power``: the larger the power, the more the top counts.

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


@dataclass(frozen=True, repr=False)
class WRanking(TopMeasure):
    """Mean over the positives of their relative rank, counting only ranks in the best fraction ``top``.

    phi(v) = v if v > 1 - top else 0, with v = rank / (N + 1) and the middle rank for ties (Definition 23). The optimal
    scorers for finding and ranking the best instances maximise it (Theorem 24).

    >>> WRanking(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.4
    """

    prefix: ClassVar[str] = "w"

    def _value(self, curve: RocCurve) -> float:
        if curve.weighted:
            curve.require_complete(str(self))  # the rank of a light row below a head may count as well
        curve.levels_in_top(self.top)  # refuses a head that is too shallow
        ranks = _mid_ranks(curve)
        lowest = curve.n + 1 - share(self.top, curve.n + 1)
        lowest += 1e-12 * (curve.n + 1) if curve.weighted else 0.0  # sums of weights carry rounding
        return _mean_over_positives(curve, np.where(ranks > lowest, ranks, 0.0) / (curve.n + 1))

    def chance_on(self, curve: RocCurve) -> float:
        # A random order: the mean of phi over the ranks 1..N. (A constant scorer has the middle rank, which counts
        # as top or not, all or nothing.)
        if curve.weighted:
            return self.top * (2 - self.top) / 2
        n = int(curve.n)
        first = max(floor(n + 1 - share(self.top, n + 1)) + 1, 1)
        return (n + first) * (n - first + 1) / (2 * n * (n + 1))

    @property
    def description(self) -> str:
        return f"mean over the positives of rank / (N + 1), 0 outside the best {shown(self.top)} of all instances"
