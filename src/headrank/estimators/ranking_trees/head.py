"""The part of the list that a measure depends on: only regions that reach into it are split further."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from headrank.curve import share
from headrank.measures import EnrichmentFactor, FPRAtTPR, Measure, PrecisionAt, RecallAt, TPRAtFPR, TwoWayPartialAUC
from headrank.measures.area import AreaMeasure
from headrank.measures.local import TopMeasure


@dataclass(frozen=True)
class Tally:
    """Weights of positives and negatives."""

    pos: float
    neg: float

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.pos + other.pos, self.neg + other.neg)


@dataclass(frozen=True)
class Head:
    """A range of false positive rates, or the list down to a true positive rate or to a share of all rows."""

    min_fpr: float = 0.0
    max_fpr: float = 1.0
    max_tpr: float = 1.0
    top: float = 1.0

    def reaches(self, before: Tally, region: Tally, total: Tally) -> bool:
        """Whether a region that comes after these rows lies in the head, at least in part.

        >>> everything = Tally(10, 90)
        >>> Head(max_fpr=0.1).reaches(Tally(6, 8), Tally(3, 20), everything)
        True
        >>> Head(max_fpr=0.1).reaches(Tally(6, 9), Tally(3, 20), everything)
        False
        """
        n, n_before = total.pos + total.neg, before.pos + before.neg
        if self.min_fpr > 0 and before.neg + region.neg <= share(self.min_fpr, total.neg):
            return False
        return (
            before.neg < share(self.max_fpr, total.neg)
            and before.pos < share(self.max_tpr, total.pos)
            and n_before < share(self.top, n)
        )


@singledispatch
def head_of(_measure: Measure) -> Head:
    """Return the head that a measure depends on; everything unless it is known to be less.

    >>> from headrank.measures import LocalAUC, PartialAUC
    >>> head_of(PartialAUC(min_fpr=0.02, max_fpr=0.05))
    Head(min_fpr=0.02, max_fpr=0.05, max_tpr=1.0, top=1.0)
    >>> head_of(LocalAUC(0.1)).top
    0.1
    """
    return Head()


@head_of.register
def _(measure: AreaMeasure) -> Head:
    low, high = measure.fpr_range
    return Head(min_fpr=low, max_fpr=high)


@head_of.register
def _(measure: TwoWayPartialAUC) -> Head:
    return Head(max_fpr=measure.max_fpr, max_tpr=measure.max_tpr)


@head_of.register
def _(measure: TPRAtFPR) -> Head:
    return Head(max_fpr=measure.fpr)


@head_of.register
def _(measure: FPRAtTPR) -> Head:
    return Head(max_tpr=measure.tpr)


@head_of.register
def _(measure: TopMeasure) -> Head:
    return Head(top=measure.top)


@head_of.register(PrecisionAt)
@head_of.register(RecallAt)
@head_of.register(EnrichmentFactor)
def _(measure: PrecisionAt | RecallAt | EnrichmentFactor) -> Head:
    return Head() if measure.is_count else Head(top=measure.k)  # a count says nothing about a share
