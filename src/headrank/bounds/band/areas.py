"""The least and the greatest value of a measure among all ROC curves inside the limits; here of areas and rates."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

from headrank.bounds.band.population_limits import PopulationLimits
from headrank.measures import KS, FPRAtTPR, Measure, TPRAtFPR, TwoWayPartialAUC
from headrank.measures.area import AreaMeasure


class Ends(NamedTuple):
    """The least and the greatest value that the limits allow, and those that the measure can take at all."""

    low: float
    high: float
    least: float = 0.0
    greatest: float = 1.0
    needs_rate: bool = False
    """Whether the share of positives in the population was used."""


@singledispatch
def ends_in_band(measure: Measure, known: PopulationLimits) -> Ends:  # noqa: ARG001 - for those that register
    """Least and greatest value of a measure; a new measure registers its own."""
    raise TypeError(
        f"no interval from a band is known for {type(measure).__name__}; register one with ends_in_band.register, or "
        "use method='bootstrap', which is asymptotic"
    )


@ends_in_band.register(AreaMeasure)
@ends_in_band.register(TwoWayPartialAUC)
@ends_in_band.register(TPRAtFPR)
@ends_in_band.register(FPRAtTPR)
@ends_in_band.register(KS)
def _(measure: Measure, known: PopulationLimits) -> Ends:
    # A higher curve can only raise each of them, or only lower it: the envelopes are the worst and the best.
    limits = known.curve_alone(rising=measure.greater_is_better)
    low, high = sorted(measure.value(envelope.as_curve()) for envelope in (limits.lower, limits.upper))
    return Ends(low, high, *measure.possible_values)
