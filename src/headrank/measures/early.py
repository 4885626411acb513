"""Measures of early recognition: the first rows of a list, or one point of the curve."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from math import ceil, exp, expm1, floor, inf
from numbers import Integral
from typing import ClassVar, Self

import numpy as np

from headrank._format import shown
from headrank._numbers import above_zero, rate, real, whole
from headrank.curve import RocCurve, share
from headrank.exceptions import MeasureWarning
from headrank.levels import Depth
from headrank.measures.measure import Measure, registered
from headrank.measures.parsing import named, number

__all__ = ["BEDROC", "KS", "EnrichmentFactor", "FPRAtTPR", "Lift", "PrecisionAt", "RecallAt", "TPRAtFPR"]

_NOT_SMALL = 0.5
"""BEDROC is comparable between samples if alpha times the share of positives is well below 1."""


@dataclass(frozen=True, repr=False)
class _FirstRows(Measure):
    """Measures of the first ``k`` rows: a count if an int, a fraction of all rows if a float in (0, 1].

    A fraction need not be a whole number of rows: the last row then counts in part. A list of fewer than ``k`` rows is
    used whole.
    """

    k: float
    is_count: bool = field(init=False, repr=False)
    """Whether ``k`` is a count, not a fraction. A field, since 1 row and a fraction of 1.0 must not compare equal."""

    def __post_init__(self) -> None:
        is_count = isinstance(self.k, Integral) and not isinstance(self.k, bool)
        if not is_count and real("k", self.k) > 1:
            whole_number = f"; for {self.k:.0f} rows write {self.k:.0f}" if self.k % 1 == 0 else ""
            raise ValueError(f"k must be a number of rows (int) or a fraction in (0, 1], got {self.k!r}{whole_number}")
        k = whole("k", self.k, at_least=1) if is_count else rate("k", self.k, above_zero=True)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "is_count", is_count)

    def n_rows(self, curve: RocCurve) -> float:
        """Return the number of rows measured."""
        if not self.is_count:
            return share(self.k, curve.n)
        if curve.weighted and self.k > curve.n:
            raise ValueError(
                f"the weights sum to {curve.n:g}, less than k={self.k}, which counts rows by weight; rescale the "
                "weights so that they count rows, or use a fraction"
            )
        return min(self.k, curve.n)

    def depth(self, n_pos: int, n_neg: int) -> Depth:
        return Depth(n_rows=self.k if self.is_count else ceil(share(self.k, n_pos + n_neg)))

    def hits(self, curve: RocCurve) -> float:
        """Expected number of positives among the first rows, with ties in random order."""
        return curve.tp_in_first(self.n_rows(curve))

    @property
    def spec(self) -> str:
        return str(self.k) if self.is_count else repr(self.k)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(int(spec) if spec.isdecimal() else number(spec))

    @property
    def rows(self) -> str:
        """Description of the rows."""
        if self.is_count:
            return f"first {self.k} row{'s' * (self.k != 1)}"
        return "whole list" if self.k == 1 else f"first {shown(self.k)} of all rows"


@registered
@dataclass(frozen=True, repr=False)
class PrecisionAt(_FirstRows):
    """Share of positives among the first ``k`` rows.

    If the list has fewer than ``k`` rows, as queries often do, the number of positives is still divided by ``k``, as is
    usual for search results.

    >>> PrecisionAt(2)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "p"

    def _value(self, curve: RocCurve) -> float:
        return self.hits(curve) / (self.k if self.is_count else self.n_rows(curve))

    @property
    def description(self) -> str:
        return f"share of positives among the {self.rows}"


@registered
@dataclass(frozen=True, repr=False)
class RecallAt(_FirstRows):
    """Share of all positives found among the first ``k`` rows.

    >>> RecallAt(0.75)([1, 0, 1, 0], [4, 3, 2, 1])
    1.0
    """

    prefix: ClassVar[str] = "r"

    def _value(self, curve: RocCurve) -> float:
        return self.hits(curve) / curve.n_pos

    @property
    def chance(self) -> float | None:
        return None if self.is_count else self.k

    @property
    def description(self) -> str:
        return f"share of all positives found among the {self.rows}"


@registered
@dataclass(frozen=True, repr=False)
class EnrichmentFactor(_FirstRows):
    """Share of positives among the first ``k`` rows, divided by their share among all rows. Chance is 1.

    >>> factor = EnrichmentFactor(0.25)
    >>> factor([1, 0, 1, 0], [4, 3, 2, 1])
    2.0
    """

    prefix: ClassVar[str] = "ef"

    def _value(self, curve: RocCurve) -> float:
        return self.hits(curve) / self.n_rows(curve) / curve.positive_rate

    def attainable(self, curve: RocCurve) -> float:
        """Return the largest possible value on a sample with these numbers of positives and negatives."""
        rows = self.n_rows(curve)
        return min(rows, curve.n_pos) / rows / curve.positive_rate

    @property
    def possible_values(self) -> tuple[float, float]:
        return 0.0, inf if self.is_count else 1 / self.k

    @property
    def chance(self) -> float:
        return 1.0

    @property
    def description(self) -> str:
        return f"share of positives among the {self.rows} over their share among all"


@registered
@dataclass(frozen=True, repr=False)
class Lift(EnrichmentFactor):
    """The enrichment factor, as it is called in marketing and credit scoring.

    >>> Lift(0.25)([1, 0, 1, 0], [4, 3, 2, 1])
    2.0
    """

    prefix: ClassVar[str] = "lift"


@registered
@dataclass(frozen=True, repr=False)
class TPRAtFPR(Measure):
    """Highest true positive rate with a false positive rate of at most ``fpr``.

    Also known as TAR at FAR, sensitivity at fixed specificity, detection rate at a false-alarm budget.

    >>> TPRAtFPR(0.25)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    fpr: float
    prefix: ClassVar[str] = "tpr"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fpr", rate("fpr", self.fpr))

    def _value(self, curve: RocCurve) -> float:
        return curve.tpr_at(self.fpr)

    def depth(self, n_pos: int, n_neg: int) -> Depth:
        return Depth(n_neg=floor(share(self.fpr, n_neg)) + 1)

    @property
    def chance(self) -> float:
        return self.fpr

    @property
    def spec(self) -> str:
        return f"fpr={shown(self.fpr)}"

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(*named(spec, "fpr"))

    @property
    def description(self) -> str:
        return f"highest TPR with FPR <= {shown(self.fpr)}, ties broken at random, perfect 1"


@registered
@dataclass(frozen=True, repr=False)
class FPRAtTPR(Measure):
    """Lowest false positive rate with a true positive rate of at least ``tpr``. Lower is better.

    >>> FPRAtTPR(0.75)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    tpr: float
    prefix: ClassVar[str] = "fpr"
    greater_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "tpr", rate("tpr", self.tpr))

    def _value(self, curve: RocCurve) -> float:
        return curve.fpr_at(self.tpr)

    def depth(self, n_pos: int, n_neg: int) -> Depth:
        return Depth(n_pos=max(ceil(share(self.tpr, n_pos)), 1))

    @property
    def chance(self) -> float:
        return self.tpr

    @property
    def spec(self) -> str:
        return f"tpr={shown(self.tpr)}"

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(*named(spec, "tpr"))

    @property
    def description(self) -> str:
        return f"lowest FPR with TPR >= {shown(self.tpr)}, ties broken at random, perfect 0"


@registered
@dataclass(frozen=True, repr=False)
class KS(Measure):
    """Largest distance of the curve above the diagonal, max(TPR - FPR): the one-sided Kolmogorov-Smirnov statistic.

    >>> KS()([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "ks"

    def _value(self, curve: RocCurve) -> float:
        curve.require_complete(str(self))
        return float(np.max(curve.tpr - curve.fpr))

    @property
    def chance(self) -> float:
        return 0.0

    @property
    def description(self) -> str:
        return "max(TPR - FPR), perfect 1"


@registered
@dataclass(frozen=True, repr=False)
class BEDROC(Measure):
    """Exponentially weighted early recognition, in [0, 1]: BEDROC of Truchon & Bayly (2007).

    The mean over the positives of exp(-alpha r / N), r their rank from the top, rescaled so that the worst order is 0
    and the best is 1. About 80 % of the value comes from the first 1.6 / ``alpha`` of the list. Samples with different
    shares of positives are comparable only if alpha times that share is small; above 0.5 a `MeasureWarning` is issued.

    >>> round(BEDROC(0.9)([1, 0, 1, 0], [4, 3, 2, 1]), 6)
    0.753138
    """

    alpha: float = 20.0
    prefix: ClassVar[str] = "bedroc"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", above_zero("alpha", self.alpha))
        if self.alpha < 1e-6:
            raise ValueError(
                f"alpha must be at least 1e-6, got {self.alpha:g}: below this BEDROC is a rank sum; use AUC"
            )

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
        curve.require_complete(str(self))
        return self._rescaled(curve, self._exponential_sum(curve))

    def _exponential_sum(self, curve: RocCurve) -> float:
        """Sum over the positives of exp(-alpha r / N), up to a factor; tied rows get the mean over their ranks."""
        rows, above = curve.pos + curve.neg, (curve.fp + curve.tp)[:-1]
        scale = self.alpha / curve.n
        mean_of_level = np.exp(-scale * above) * -np.expm1(-scale * rows) / rows
        return float(mean_of_level @ curve.pos)

    def _rescaled(self, curve: RocCurve, total: float) -> float:
        best = -expm1(-self.alpha * curve.positive_rate)
        worst = best * exp(-self.alpha * (1 - curve.positive_rate))
        width = best * -expm1(-self.alpha * (1 - curve.positive_rate))
        return min(max((total - worst) / width, 0.0), 1.0)

    @property
    def spec(self) -> str:
        return shown(self.alpha)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(number(spec))

    @property
    def description(self) -> str:
        return f"exponentially weighted early recognition, alpha {shown(self.alpha)}, worst order 0, best order 1"
