"""Measures of the best fraction of all instances (Clémençon & Vayatis 2007).

Legend: u = ``top``; Q = inf{z : F(z) >= 1 - u} the quantile of all scores; alpha and beta the false and true positive
rates of the top {s >= Q}, where the ROC curve meets the control line u = p beta + (1 - p) alpha. A row at Q belongs
to the top. So a tie at Q makes the top larger than u, and a constant scorer puts everybody in it; chance is
therefore what a *random order* is expected to get.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import ClassVar, NamedTuple, Self

from headrank._format import shown
from headrank._numbers import rate
from headrank.curve import RocCurve, share
from headrank.levels import Depth
from headrank.measures.measure import Measure
from headrank.measures.spelling import number


class _Top(NamedTuple):
    """What the local measures need to know of the top: counts and pairs, by weight."""

    tp: float
    fp: float
    area: float
    """Pairs of the top with the positive ahead, ties counting half."""

    @property
    def discordant(self) -> float:
        """Pairs of the top with the negative ahead, ties counting half."""
        return max(self.tp * self.fp - self.area, 0.0)


def _read_top(curve: RocCurve, top: float) -> _Top:
    last = curve.levels_in_top(top)
    return _Top(float(curve.tp[last]), float(curve.fp[last]), curve.pairs_in_first(last))


@dataclass(frozen=True, repr=False)
class TopMeasure(Measure):
    """Measures of the best fraction ``top`` of all instances."""

    top: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "top", rate("top", self.top, above_zero=True))

    def depth(self, n_pos: int, n_neg: int) -> Depth:
        return Depth(n_rows=floor(share(self.top, n_pos + n_neg)) + 1)

    @property
    def spec(self) -> str:
        return shown(self.top)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(number(spec))

    def random_top(self, curve: RocCurve) -> tuple[float, float]:
        """Chance of a row, and of a pair of rows, to be in the top of a random order without ties.

        The top then holds floor(u N) + 1 rows, but never more than all. Weighted rows cannot be counted so.
        """
        if curve.weighted:
            return self.top, self.top**2
        n, k = curve.n, min(floor(share(self.top, curve.n)) + 1, curve.n)
        return k / n, k * (k - 1) / (n * (n - 1))


@dataclass(frozen=True, repr=False)
class TopTPR(TopMeasure):
    """True positive rate of the top: beta(u), the height at which the curve meets the control line.

    >>> TopTPR(0.3)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "beta"

    def _value(self, curve: RocCurve) -> float:
        return _read_top(curve, self.top).tp / curve.n_pos

    def chance_on(self, curve: RocCurve) -> float:
        return self.random_top(curve)[0]

    @property
    def description(self) -> str:
        return f"beta: TPR of the best {shown(self.top)} of all instances"


@dataclass(frozen=True, repr=False)
class TopFPR(TopMeasure):
    """False positive rate of the top: alpha(u), where the curve meets the control line. Lower is better.

    >>> TopFPR(0.3)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "alpha"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        return _read_top(curve, self.top).fp / curve.n_neg

    def chance_on(self, curve: RocCurve) -> float:
        return self.random_top(curve)[0]

    @property
    def description(self) -> str:
        return f"alpha: FPR of the best {shown(self.top)} of all instances"


@dataclass(frozen=True, repr=False)
class LocalAUC(TopMeasure):
    """Probability that a positive is in the top and outscores a negative, ties counting half.

    P(s > t, s >= Q | positive s, negative t). It rewards both finding the best instances and ranking them, and the
    scorers that do so best are its maximisers (Theorem 20). ``top=1`` is the AUC.

    >>> LocalAUC(0.3)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "locauc"

    def _value(self, curve: RocCurve) -> float:
        top = _read_top(curve, self.top)
        return (top.tp * curve.n_neg - top.discordant) / (curve.n_pos * curve.n_neg)

    def chance_on(self, curve: RocCurve) -> float:
        row, pair = self.random_top(curve)
        return row - pair / 2

    @property
    def description(self) -> str:
        return f"P(positive is in the best {shown(self.top)} of all instances and outscores a negative)"


@dataclass(frozen=True, repr=False)
class TruncatedAUC(TopMeasure):
    """Area under the curve from 0 to the false positive rate alpha(u) of the top, not divided by anything.

    The paper's PARTAUC(s, u), kept to show why it is the wrong target: a better scorer has a smaller alpha, so
    it may well lose area (Remark 21). Use `LocalAUC`.

    >>> TruncatedAUC(0.3)([1, 0, 1, 0], [4, 3, 2, 1])
    0.25
    """

    prefix: ClassVar[str] = "truncauc"

    def _value(self, curve: RocCurve) -> float:
        return _read_top(curve, self.top).area / (curve.n_pos * curve.n_neg)

    def chance_on(self, curve: RocCurve) -> float:
        return self.random_top(curve)[1] / 2

    @property
    def description(self) -> str:
        return f"area under the curve up to the FPR of the best {shown(self.top)}; not a target to maximise"


@dataclass(frozen=True, repr=False)
class MassConstrainedError(TopMeasure):
    """Error rate of the classifier that calls the top positive: positives below Q plus negatives at or above it.

    >>> MassConstrainedError(0.3)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "mass"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        top = _read_top(curve, self.top)
        return (curve.n_pos - top.tp + top.fp) / curve.n

    def chance_on(self, curve: RocCurve) -> float:
        u, p = self.random_top(curve)[0], curve.positive_rate
        return p * (1 - u) + (1 - p) * u

    @property
    def description(self) -> str:
        return f"error rate when the best {shown(self.top)} of all instances are called positive"


@dataclass(frozen=True, repr=False)
class LocalRankingError(TopMeasure):
    """Wrongly ordered pairs within the top, over all N (N - 1) ordered pairs; ties count half.

    By itself not a target either: it is smallest when the top is easy to rank, not when it is the best. Weights are
    multiplicities, N their sum; unless they are whole numbers, N (N - 1) counts no pairs.

    >>> LocalRankingError(0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.16666666666666666
    """

    prefix: ClassVar[str] = "rankerr"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        return 2 * _read_top(curve, self.top).discordant / _ordered_pairs(curve)

    def chance_on(self, curve: RocCurve) -> float:
        return curve.n_pos * curve.n_neg * self.random_top(curve)[1] / _ordered_pairs(curve)

    @property
    def description(self) -> str:
        return f"wrongly ordered pairs within the best {shown(self.top)}, over all ordered pairs"


@dataclass(frozen=True, repr=False)
class LocalRankingRisk(TopMeasure):
    """M = R + (n_neg / N) L: `LocalRankingError` plus weighted `MassConstrainedError`, the paper's ERM criterion.

    >>> round(LocalRankingRisk(0.5)([1, 0, 1, 0], [4, 3, 2, 1]), 6)
    0.291667
    """

    prefix: ClassVar[str] = "rankrisk"
    greater_is_better: ClassVar[bool] = False

    def _value(self, curve: RocCurve) -> float:
        error = LocalRankingError(self.top).value(curve)
        return error + curve.n_neg / curve.n * MassConstrainedError(self.top).value(curve)

    def chance_on(self, curve: RocCurve) -> float:
        error = LocalRankingError(self.top).chance_on(curve)
        return error + curve.n_neg / curve.n * MassConstrainedError(self.top).chance_on(curve)

    @property
    def description(self) -> str:
        return f"R + (n_neg / N) L for the best {shown(self.top)} of all instances"


def _ordered_pairs(curve: RocCurve) -> float:
    pairs = curve.n * (curve.n - 1)
    if pairs <= 0:
        raise ValueError(
            f"needed a total weight above 1 to count pairs of rows, got {curve.n:g}; weights are multiplicities here: "
            "rescale them so that they count rows"
        )
    return pairs
