"""The least and the greatest value of a measure over all ROC curves within the limits: areas and rates."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

from headrank.bounds.band.population_limits import PopulationLimits
from headrank.measures import KS, FPRAtTPR, Measure, TPRAtFPR, TwoWayPartialAUC
from headrank.measures.area import AreaMeasure


class Ends(NamedTuple):
    """The least and the greatest value that the limits allow, and the range of the measure."""

    low: float
    high: float
    least: float = 0.0
    greatest: float = 1.0
    needs_rate: bool = False
    """Whether the share of positives in the population was used."""


@singledispatch
def ends_in_band(measure: Measure, known: PopulationLimits) -> Ends:  # noqa: ARG001 - for those that register
    """Return the least and greatest value of a measure; new measures register their own."""
    raise TypeError(
        f"{type(measure).__name__} has no interval from a band; register one with ends_in_band.register, or use "
        "method='bootstrap', which is asymptotic"
    )


@ends_in_band.register(AreaMeasure)
@ends_in_band.register(TwoWayPartialAUC)
@ends_in_band.register(TPRAtFPR)
@ends_in_band.register(FPRAtTPR)
@ends_in_band.register(KS)
def _(measure: Measure, known: PopulationLimits) -> Ends:
    # Each is monotone in the curve, so the envelopes are the worst and the best case.
    limits = known.curve_alone(rising=measure.greater_is_better)
    low, high = sorted(measure.value(envelope.as_curve()) for envelope in (limits.lower, limits.upper))
    return Ends(low, high, *measure.possible_values)
