"""Measures of early recognition: the first rows of a list, or one point of the curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor, inf
from numbers import Integral
from typing import ClassVar, Self

import numpy as np

from headrank._format import shown
from headrank._numbers import option, rate, real, whole
from headrank.curve import RocCurve, share
from headrank.levels import Depth
from headrank.measures.measure import Measure, registered
from headrank.measures.parsing import named, number

__all__ = ["KS", "EnrichmentFactor", "FPRAtTPR", "Lift", "PrecisionAt", "RecallAt", "TPRAtFPR"]


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

    If a fraction ``k`` is not a whole number of rows, the last row counts in part. With ``rounding="up"`` it counts
    whole, as in RDKit's ``CalcEnrichment``: the first ceil(k N) rows. RDKit rounds after multiplying in floating point,
    so that 0.07 of 100 rows are 8 there; here they are 7. It takes tied rows in the order of the list.

    >>> EnrichmentFactor(0.25)([1, 0, 1, 0], [4, 3, 2, 1])
    2.0
    >>> EnrichmentFactor(0.3)([1, 0, 1, 0], [4, 3, 2, 1])  # 1.2 rows, 1 of them positive
    1.6666666666666667
    >>> EnrichmentFactor(0.3, rounding="up")([1, 0, 1, 0], [4, 3, 2, 1])  # 2 rows
    1.0
    >>> str(EnrichmentFactor(0.3, rounding="up"))
    'ef@0.3,up'
    """

    rounding: str = field(default="exact", kw_only=True)
    prefix: ClassVar[str] = "ef"

    def __post_init__(self) -> None:
        super().__post_init__()
        if option("rounding", self.rounding, ("exact", "up")) == "up" and self.is_count:
            raise ValueError(f"rounding='up' needs a fraction: k must lie in (0, 1], got the number of rows {self.k}")

    def n_rows(self, curve: RocCurve) -> float:
        rows = super().n_rows(curve)
        return min(ceil(rows), curve.n) if self.rounding == "up" else rows

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
    def spec(self) -> str:
        return f"{super().spec},up" if self.rounding == "up" else super().spec

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        k, comma, rounding = spec.partition(",")
        return cls(super().from_spec(k).k, rounding=rounding) if comma else super().from_spec(k)

    @property
    def description(self) -> str:
        rounded = ", rounded up" if self.rounding == "up" else ""
        return f"share of positives among the {self.rows}{rounded} over their share among all"


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
