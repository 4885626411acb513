"""Areas under the ROC curve, or a part of it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import ceil, inf
from typing import ClassVar, Self

from headrank._format import shown
from headrank._numbers import above_zero, ordered, rate
from headrank.curve import RocCurve, share
from headrank.levels import Depth
from headrank.measures.measure import Measure, registered
from headrank.measures.parsing import named, number, span

__all__ = ["AUC", "FROCArea", "PartialAUC", "StandardizedPartialAUC", "TwoWayPartialAUC"]


@dataclass(frozen=True, repr=False)
class AreaMeasure(Measure):
    """Measures that depend only on the mean true positive rate over one range of false positive rates."""

    @property
    @abstractmethod
    def fpr_range(self) -> tuple[float, float]:
        """The range of false positive rates."""

    def from_mean_tpr(self, mean_tpr: float) -> float:
        """Return the measure for this mean true positive rate over the range: a linear function of it."""
        return mean_tpr

    @property
    def as_partial_auc(self) -> PartialAUC:
        """The mean true positive rate over the same range."""
        low, high = self.fpr_range
        return PartialAUC(min_fpr=low, max_fpr=high)

    def _value(self, curve: RocCurve) -> float:
        low, high = self.fpr_range
        return self.from_mean_tpr(curve.mean_tpr(min_fpr=low, max_fpr=high))

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        high = self.fpr_range[1]
        return None if high == 1 else Depth(n_neg=ceil(share(high, n_neg)))

    @property
    def chance(self) -> float:
        return self.from_mean_tpr(sum(self.fpr_range) / 2)

    @property
    def possible_values(self) -> tuple[float, float]:
        return self.from_mean_tpr(0.0), self.from_mean_tpr(1.0)


@registered
@dataclass(frozen=True, repr=False)
class AUC(AreaMeasure):
    """Area under the whole ROC curve: the probability that a positive outscores a negative, ties counting half.

    >>> AUC()([1, 0, 1, 0], [4, 3, 2, 1])
    0.75
    """

    prefix: ClassVar[str] = "auc"

    @property
    def fpr_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def description(self) -> str:
        return "area under the ROC curve, perfect 1"


@dataclass(frozen=True, repr=False, kw_only=True)
class _FprRange(AreaMeasure):
    """Areas between two false positive rates."""

    min_fpr: float = 0.0
    max_fpr: float = 1.0

    def __post_init__(self) -> None:
        low, high = ordered("fpr", self.min_fpr, self.max_fpr)
        object.__setattr__(self, "min_fpr", low)
        object.__setattr__(self, "max_fpr", high)

    @property
    def fpr_range(self) -> tuple[float, float]:
        return self.min_fpr, self.max_fpr

    @property
    def spec(self) -> str:
        return shown(self.max_fpr) if self.min_fpr == 0 else f"{shown(self.min_fpr)}:{shown(self.max_fpr)}"

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        low, high = span(spec)
        return cls(min_fpr=low, max_fpr=high)


@registered
@dataclass(frozen=True, repr=False)
class PartialAUC(_FprRange):
    """Mean true positive rate between two false positive rates: the area there, divided by the width of the range.

    Equals the rank formula of Narasimhan & Agarwal (2013) if no scores are tied. The range may end between two
    negatives, or be narrower than one. A constant score has the value (min_fpr + max_fpr) / 2.

    >>> PartialAUC(max_fpr=0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    >>> PartialAUC(min_fpr=0.02, max_fpr=0.05)
    <PartialAUC(min_fpr=0.02, max_fpr=0.05): mean TPR over FPR 0.02 to 0.05 (area / width), perfect 1, chance 0.035>
    >>> str(PartialAUC(min_fpr=0.02, max_fpr=0.05))
    'pauc@0.02:0.05'
    """

    prefix: ClassVar[str] = "pauc"

    @property
    def description(self) -> str:
        fprs = f"{shown(self.min_fpr)} to {shown(self.max_fpr)}"
        return f"mean TPR over FPR {fprs} (area / width), perfect 1"


@registered
@dataclass(frozen=True, repr=False)
class StandardizedPartialAUC(_FprRange):
    """Partial AUC rescaled so that chance is 1/2 and perfect is 1 (McClish 1989), for any range.

    1/2 (1 + (A - chance) / (width - chance)) with A the area, chance = (max_fpr**2 - min_fpr**2) / 2. For
    ``min_fpr=0`` this is scikit-learn's ``roc_auc_score(max_fpr=...)``. A scorer worse than chance is below 1/2.

    >>> StandardizedPartialAUC(max_fpr=0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.6666666666666666
    """

    prefix: ClassVar[str] = "spauc"

    def from_mean_tpr(self, mean_tpr: float) -> float:
        """Apply McClish's formula, divided by the width of the range."""
        chance = sum(self.fpr_range) / 2
        return 0.5 * (1 + (mean_tpr - chance) / (1 - chance))

    @property
    def description(self) -> str:
        fprs = f"{shown(self.min_fpr)} to {shown(self.max_fpr)}"
        return f"partial area over FPR {fprs}, standardised after McClish, perfect 1"


@registered
@dataclass(frozen=True, repr=False, kw_only=True)
class TwoWayPartialAUC(Measure):
    """Area under the curve where FPR <= ``max_fpr`` and ``min_tpr`` <= TPR <= ``max_tpr``, divided by that box.

    The probability that a positive outscores a negative, among the positives whose rank from the top is between the
    shares ``min_tpr`` and ``max_tpr`` of all positives, and the highest-scored ``max_fpr`` of the negatives.

    With ``max_fpr=1`` this is the partial area over a range of true positive rates: the mean specificity there,
    1 / (max_tpr - min_tpr) times the integral of 1 - FPR over the TPR. Times the width ``max_tpr - min_tpr`` it is the
    area that pROC reports with ``partial.auc.focus="sensitivity"``, and with ``min_tpr=0.8`` and ``max_tpr=1`` that of
    the ISIC challenges, "pAUC above 80 % TPR", which is 0.2 at most.

    >>> TwoWayPartialAUC(max_fpr=0.5, min_tpr=0.5)([1, 0, 1, 0], [4, 3, 2, 1])
    0.0
    >>> sensitive = TwoWayPartialAUC(min_tpr=0.5, max_tpr=0.75)
    >>> sensitive
    <TwoWayPartialAUC(max_fpr=1.0, min_tpr=0.5, max_tpr=0.75): mean specificity over TPR 0.5 to 0.75 (area / width),
    perfect 1, chance 0.375>
    >>> str(sensitive), sensitive([1, 0, 1, 0], [4, 3, 2, 1])
    ('tpauc@tpr=0.5:0.75', 0.5)
    """

    max_fpr: float = 1.0
    min_tpr: float = 0.0
    max_tpr: float = 1.0
    prefix: ClassVar[str] = "tpauc"

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_fpr", rate("max_fpr", self.max_fpr, above_zero=True))
        low, high = rate("min_tpr", self.min_tpr), rate("max_tpr", self.max_tpr)
        if low == 1:
            raise ValueError("min_tpr must be below 1: at 1 no area is left")
        low, high = ordered("tpr", low, high)
        object.__setattr__(self, "min_tpr", low)
        object.__setattr__(self, "max_tpr", high)

    def _value(self, curve: RocCurve) -> float:
        # If the head ends below min_tpr, so does the curve up to max_fpr.
        if curve.tp[-1] <= share(self.min_tpr, curve.n_pos):
            curve.mean_tpr(max_fpr=self.max_fpr)  # raises if the head is too shallow
            return 0.0
        start = curve.fpr_at(self.min_tpr)
        if start >= self.max_fpr:
            return 0.0
        reached = curve.tp[-1] >= share(self.max_tpr, curve.n_pos)
        end = min(curve.fpr_at(self.max_tpr), self.max_fpr) if reached else self.max_fpr
        height = self.max_tpr - self.min_tpr
        area = height * (self.max_fpr - end)  # right of where the curve leaves the box through its upper side
        if end > start:
            area += max(curve.mean_tpr(min_fpr=start, max_fpr=end) - self.min_tpr, 0.0) * (end - start)
        return min(area / (self.max_fpr * height), 1.0)

    def depth(self, n_pos: int, n_neg: int) -> Depth:
        if self.max_fpr == 1:
            return Depth(n_pos=ceil(share(self.max_tpr, n_pos)))
        return Depth(n_neg=ceil(share(self.max_fpr, n_neg)))

    @property
    def chance(self) -> float:
        top = min(self.max_tpr, max(self.max_fpr, self.min_tpr))  # where the diagonal leaves the box
        over = (top - self.min_tpr) * (2 * self.max_fpr - self.min_tpr - top)
        return over / (2 * self.max_fpr * (self.max_tpr - self.min_tpr))

    @property
    def description(self) -> str:
        low, high = shown(self.min_tpr), shown(self.max_tpr)
        if self.max_tpr == 1:
            return f"area where FPR <= {shown(self.max_fpr)} and TPR >= {low}, divided by the box, perfect 1"
        if self.max_fpr == 1:
            return f"mean specificity over TPR {low} to {high} (area / width), perfect 1"
        return f"area where FPR <= {shown(self.max_fpr)} and {low} <= TPR <= {high}, divided by the box, perfect 1"

    @property
    def spec(self) -> str:
        if self.max_tpr == 1:
            return f"fpr={shown(self.max_fpr)},tpr={shown(self.min_tpr)}"
        fpr = "" if self.max_fpr == 1 else f"fpr={shown(self.max_fpr)},"
        return f"{fpr}tpr={shown(self.min_tpr)}:{shown(self.max_tpr)}"

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        fpr, comma, tpr = spec.rpartition(",")
        (max_fpr,) = named(fpr, "fpr") if comma else (1.0,)
        name, _, ends = tpr.partition("=")
        if name.strip() != "tpr":
            raise ValueError("expected fpr=NUMBER,tpr=NUMBER or tpr=LOW:HIGH after the @")
        low, colon, high = ends.partition(":")
        return cls(max_fpr=max_fpr, min_tpr=number(low), max_tpr=number(high) if colon else 1.0)


@registered
@dataclass(frozen=True, repr=False)
class FROCArea(AreaMeasure):
    """Mean true positive rate between two numbers of false positives *per image*.

    The horizontal axis of the free-response curve is false positives per image: the false positive rate divided by
    ``images_per_negative`` (Narasimhan & Agarwal 2013, section 5.3: s = 6848 / 101671, images over negative
    regions). The factor is a parameter, not estimated from the sample, so that every fold uses the same range as the
    whole.

    >>> kdd_cup = FROCArea(0.2, 0.3, images_per_negative=6848 / 101671)
    >>> round(kdd_cup.as_partial_auc.min_fpr, 6), round(kdd_cup.as_partial_auc.max_fpr, 6)
    (0.013471, 0.020206)
    """

    min_fp: float
    max_fp: float
    images_per_negative: float
    prefix: ClassVar[str] = "froc"

    def __post_init__(self) -> None:
        low, high = ordered("fp", self.min_fp, self.max_fp, at_most=inf)
        images = above_zero("images_per_negative", self.images_per_negative)
        if high * images > 1 + 1e-12:
            raise ValueError(
                f"max_fp={high:g} false positives per image are more than the {1 / images:g} negatives per image"
            )
        for name, value in (("min_fp", low), ("max_fp", high), ("images_per_negative", images)):
            object.__setattr__(self, name, value)

    @property
    def fpr_range(self) -> tuple[float, float]:
        scale = self.images_per_negative
        return self.min_fp * scale, min(self.max_fp * scale, 1.0)

    @property
    def description(self) -> str:
        return (
            f"mean TPR over {shown(self.min_fp)} to {shown(self.max_fp)} false positives per image, that is FPR "
            f"{self.fpr_range[0]:.4g} to {self.fpr_range[1]:.4g}, perfect 1"
        )

    @property
    def spec(self) -> str:
        return f"{shown(self.min_fp)}:{shown(self.max_fp)},images={shown(self.images_per_negative)}"

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        fp, _, images = spec.partition(",")
        low, high = span(fp)
        return cls(low, high, *named(images, "images"))
