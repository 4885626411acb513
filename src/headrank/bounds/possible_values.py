"""Between which values a measure can lie at all, whatever the sample."""

from __future__ import annotations

from functools import singledispatch
from math import inf

from headrank.measures import EnrichmentFactor, LocalRankingRisk, Measure, RankStatistic, StandardizedPartialAUC


@singledispatch
def possible_values(_measure: Measure) -> tuple[float, float]:
    """Return the least and the greatest value a measure can take on any sample; infinite where nothing is known.

    >>> from headrank.measures import AUC
    >>> possible_values(AUC()), possible_values(EnrichmentFactor(0.05))
    ((0.0, 1.0), (0.0, 20.0))
    """
    return 0.0, 1.0


@possible_values.register
def _(measure: StandardizedPartialAUC) -> tuple[float, float]:
    chance = (measure.min_fpr + measure.max_fpr) / 2
    return 0.5 * (1 - chance / (1 - chance)), 1.0


@possible_values.register
def _(measure: EnrichmentFactor) -> tuple[float, float]:
    return 0.0, inf if measure.is_count else 1 / measure.k


@possible_values.register
def _(_measure: LocalRankingRisk) -> tuple[float, float]:
    return 0.0, 1.5  # on two rows all pairs may be wrong and half of the error counts; less on more rows


@possible_values.register
def _(_measure: RankStatistic) -> tuple[float, float]:
    return -inf, inf  # phi may be anything
