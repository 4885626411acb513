"""Measures of the best fraction of all instances (Clémençon & Vayatis 2007).

Legend: u = ``top``; alpha and beta the false and true positive rates of the top, where the ROC curve meets the control
line u = p beta + (1 - p) alpha. The top is exactly the share u of all rows: rows tied at its border count in part, and
so does the last row if u N is not a whole number. See ``docs/ties.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar, Self

from headrank._format import shown
from headrank._numbers import rate
from headrank.curve import RocCurve, share
from headrank.levels import Depth, FirstRows
from headrank.measures.measure import Measure, registered
from headrank.measures.parsing import number

__all__ = [
    "LocalAUC",
    "LocalRankingError",
    "LocalRankingRisk",
    "MassConstrainedError",
    "TopFPR",
    "TopTPR",
    "TruncatedAUC",
]


@dataclass(frozen=True, repr=False)
class TopMeasure(Measure):
    """Measures of the best fraction ``top`` of all instances."""

    top: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "top", rate("top", self.top, above_zero=True))

    def depth(self, n_pos: int, n_neg: int) -> Depth:
        return Depth(n_rows=ceil(share(self.top, n_pos + n_neg)))

    def rows_in_top(self, curve: RocCurve) -> FirstRows:
        """Count positives, negatives and ordered pairs in the top."""
        return curve.first(share(self.top, curve.n))

    @property
    def spec(self) -> str:
        return shown(self.top)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(number(spec))


@registered
@dataclass(frozen=True, repr=False)
class TopTPR(TopMeasure):
    """True positive rate of the top: beta(u), the height at which the curve meets the control line.

    >>> TopTPR(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "beta"

    def _value(self, curve: RocCurve) -> float:
        return min(self.rows_in_top(curve).tp / curve.n_pos, 1.0)

    @property
    def chance(self) -> float:
        return self.top

    @property
    def description(self) -> str:
        return f"beta: TPR of the best {shown(self.top)} of all instances"


@registered
@dataclass(frozen=True, repr=False)
class TopFPR(TopMeasure):
    """False positive rate of the top: alpha(u), where the curve meets the control line. Lower is better.

    >>> TopFPR(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "alpha"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        return min(self.rows_in_top(curve).fp / curve.n_neg, 1.0)

    @property
    def chance(self) -> float:
        return self.top

    @property
    def description(self) -> str:
        return f"alpha: FPR of the best {shown(self.top)} of all instances"


@registered
@dataclass(frozen=True, repr=False)
class LocalAUC(TopMeasure):
    """Probability that a positive is in the top and outscores a negative, ties counting half.

    P(s > t, s in the top | positive s, negative t). It rewards both finding the best instances and ranking them;
    the scorers that are optimal for both maximise it (Theorem 20). ``top=1`` is the AUC.

    >>> LocalAUC(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "locauc"

    def _value(self, curve: RocCurve) -> float:
        top = self.rows_in_top(curve)
        return (top.tp * (curve.n_neg - top.fp) + top.pairs) / (curve.n_pos * curve.n_neg)

    @property
    def chance(self) -> float:
        return self.top - self.top**2 / 2

    @property
    def description(self) -> str:
        return f"P(positive is in the best {shown(self.top)} of all instances and outscores a negative)"


@registered
@dataclass(frozen=True, repr=False)
class TruncatedAUC(TopMeasure):
    """Area under the curve from 0 to the false positive rate alpha(u) of the top, not normalised.

    The paper's PARTAUC(s, u), included to show why it should not be maximised: a better scorer has a smaller alpha
    and so may have less area (Remark 21). Use `LocalAUC`.

    >>> TruncatedAUC(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.25
    """

    prefix: ClassVar[str] = "truncauc"

    def _value(self, curve: RocCurve) -> float:
        return self.rows_in_top(curve).pairs / (curve.n_pos * curve.n_neg)

    @property
    def chance(self) -> float:
        return self.top**2 / 2

    @property
    def description(self) -> str:
        return f"area under the curve up to the FPR of the best {shown(self.top)}; not a target to maximise"


@registered
@dataclass(frozen=True, repr=False)
class MassConstrainedError(TopMeasure):
    """Error rate if the top is classified as positive: positives outside it plus negatives in it.

    >>> MassConstrainedError(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "mass"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        top = self.rows_in_top(curve)
        return min((max(curve.n_pos - top.tp, 0.0) + top.fp) / curve.n, 1.0)

    @property
    def description(self) -> str:
        return f"error rate when the best {shown(self.top)} of all instances is classified as positive"


@registered
@dataclass(frozen=True, repr=False)
class LocalRankingError(TopMeasure):
    """Wrongly ordered pairs within the top, over all N (N - 1) ordered pairs; ties count half.

    Not to be optimised on its own: it is smallest when the top is easy to rank, not when it is the best. Weights count
    as repeated rows and N is their sum; with fractional weights N (N - 1) is not a number of pairs.

    >>> LocalRankingError(0.5)([0, 1, 1, 0], [4, 3, 2, 1])
    0.16666666666666666
    """

    prefix: ClassVar[str] = "rankerr"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        top = self.rows_in_top(curve)
        return 2 * max(top.tp * top.fp - top.pairs, 0.0) / _ordered_pairs(curve)

    @property
    def description(self) -> str:
        return f"wrongly ordered pairs within the best {shown(self.top)}, over all ordered pairs"


@registered
@dataclass(frozen=True, repr=False)
class LocalRankingRisk(TopMeasure):
    """M = R + (n_neg / N) L: `LocalRankingError` plus weighted `MassConstrainedError`, the paper's ERM criterion.

    >>> round(LocalRankingRisk(0.5)([0, 1, 1, 0], [4, 3, 2, 1]), 6)
    0.416667
    """

    prefix: ClassVar[str] = "rankrisk"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        error = LocalRankingError(self.top).value(curve)
        return error + curve.n_neg / curve.n * MassConstrainedError(self.top).value(curve)

    @property
    def possible_values(self) -> tuple[float, float]:
        return 0.0, 1.5  # on two rows all pairs may be wrong and half of the error counts; less on more rows

    @property
    def description(self) -> str:
        return f"R + (n_neg / N) L for the best {shown(self.top)} of all instances"


def _ordered_pairs(curve: RocCurve) -> float:
    pairs = curve.n * (curve.n - 1)
    if pairs <= 0:
        raise ValueError(
            f"expected a total weight above 1 to count pairs of rows, got {curve.n:g}; rescale the weights so that "
            "they count rows"
        )
    return pairs
