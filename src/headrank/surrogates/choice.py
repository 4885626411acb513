"""Which surrogate stands for which measure. Register a function to make a new measure learnable."""

from __future__ import annotations

from functools import singledispatch

from headrank.measures import AUC, FROCArea, Measure, PartialAUC, StandardizedPartialAUC
from headrank.surrogates.cut import RowFacts, Surrogate
from headrank.surrogates.structural import StructuralHinge
from headrank.surrogates.tight import TightHinge

KINDS = {"structural": StructuralHinge, "tight": TightHinge}


@singledispatch
def fpr_range(measure: Measure) -> tuple[float, float]:
    """Return the range of false positive rates whose hinge is the convex surrogate of the measure, or refuse.

    >>> fpr_range(AUC())
    (0.0, 1.0)
    """
    raise ValueError(
        f"{measure!r} has no convex surrogate; learn PartialAUC(max_fpr=...) over the range you care about, which "
        "has, and measure the result by whatever you like"
    )


@fpr_range.register
def _(_measure: AUC) -> tuple[float, float]:
    return 0.0, 1.0


@fpr_range.register(PartialAUC)
@fpr_range.register(StandardizedPartialAUC)
def _(measure: PartialAUC | StandardizedPartialAUC) -> tuple[float, float]:
    return measure.min_fpr, measure.max_fpr


@fpr_range.register
def _(measure: FROCArea) -> tuple[float, float]:
    return fpr_range(measure.as_partial_auc)


def surrogate_for(measure: Measure, kind: str, rows: RowFacts | None = None) -> Surrogate:
    """Make the surrogate of a measure: ``"structural"`` or ``"tight"``.

    >>> surrogate_for(PartialAUC(max_fpr=0.1), "tight").max_fpr
    0.1
    """
    if kind not in KINDS:
        raise ValueError(f"surrogate must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    return KINDS[kind](*fpr_range(measure), RowFacts() if rows is None else rows)
