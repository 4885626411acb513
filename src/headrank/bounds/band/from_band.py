"""Intervals for every measure from the limits of the ROC curve: the least and greatest value of all curves inside.

If a measure is monotone in the curve, both values are read from the band's two envelopes. Measures that also depend on
the share p of positives take the worst p within its limits. Their population value is the limit of the sample's value;
on a sample the two differ by a term of order 1 / N, so an interval is always widened to contain its estimate.
"""

from __future__ import annotations

from headrank._numbers import real
from headrank.bounds.band import precision, ranks, top
from headrank.bounds.band.areas import ends_in_band
from headrank.bounds.band.population_limits import PopulationLimits
from headrank.bounds.confidence import Side
from headrank.bounds.inequalities.tail_limits import THEOREMS, Method
from headrank.bounds.interval import INDEPENDENT_ROWS, RANDOM_LABELS, Interval, require_counts
from headrank.curve import RocCurve
from headrank.exceptions import NoIntervalError
from headrank.measures import Measure
from headrank.measures.ranked_lists import ListMeasure

# Imported for the measures they register.
_REGISTERED = (precision, ranks, top)


def from_band(
    curve: RocCurve,
    measure: Measure,
    *,
    confidence: float = 0.95,
    side: Side = "two-sided",
    method: Method = "tail",
    positive_rate: float | None = None,
) -> Interval:
    """Return an interval for any measure from simultaneous limits of the ROC curve, for any distribution.

    Two-sided intervals of areas and rates hold simultaneously for all ranges and measures. So do, among themselves,
    those of measures that depend on the share of positives (of the best fraction, of the first rows, of ranks). They
    spend a quarter of the risk on that share and on ties in the population, or a twentieth if the share is given. Their
    guarantee is over random labels; conditional on the number of positives, the coverage may be lower.

    Parameters
    ----------
    curve : RocCurve
        A complete curve of unweighted rows, not used in training.
    measure : Measure
        Areas, rates, measures of the best fraction, of the first rows or of ranks, precision; a `RankStatistic` whose
        ``phi`` does not decrease. A number k of first rows stands for the fraction k / N of the population, so the
        interval is about samples of this size. `TailStrength` and measures of single lists, such as `NDCG`, have none.
    confidence : float, default=0.95
        In (0, 1).
    side : {"two-sided", "lower", "upper"}, default="two-sided"
        Which ends are guaranteed. A one-sided end is closer, except for measures of the best fraction, which need both
        envelopes.
    method : {"tail", "dkw"}, default="tail"
        How the limits are computed, see `band`.
    positive_rate : float, optional
        The share of positives in the population, in (0, 1), if known. Otherwise the rows must be a random sample of the
        population.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> from headrank.measures import PartialAUC
    >>> population = Binormal(separation=2.0, positive_rate=0.1)
    >>> curve = RocCurve.from_scores(*population.sample_scores(20_000, random_state=0))
    >>> print(from_band(curve, PartialAUC(max_fpr=0.01)))  # the truth is 0.2635
    pauc@0.01 is 0.2355 on 2,034 positives and 17,966 negatives; the truth is between 0.1582 and 0.3171 with 95 %
    confidence (tail band: any distribution, any sample size, simultaneously for all ranges)
    """
    if isinstance(measure, ListMeasure) and ends_in_band.dispatch(type(measure)) is ends_in_band.dispatch(Measure):
        raise NoIntervalError(
            f"{measure} of a single list has no counterpart for a population, so it has no interval from a band; pass "
            "qid for an interval of the mean over queries, or use method='bootstrap', which is asymptotic"
        )
    require_counts(curve, "an interval from a band")
    curve.require_complete("an interval from a band")
    if positive_rate is not None and not 0 < real("positive_rate", positive_rate) < 1:
        raise ValueError(f"positive_rate must lie strictly between 0 and 1, got {positive_rate!r}")
    estimate = measure.value(curve)
    ends = ends_in_band(measure, PopulationLimits(curve, 1 - confidence, method, side, positive_rate))
    return Interval(
        low=min(ends.least if side == "upper" else max(ends.low, ends.least), estimate),
        estimate=estimate,
        high=max(ends.greatest if side == "lower" else min(ends.high, ends.greatest), estimate),
        confidence=confidence,
        measure=measure,
        method=f"{method} band",
        theorem=THEOREMS[method],
        assumptions=_assumptions(positive_rate) if ends.needs_rate else INDEPENDENT_ROWS,
        n_pos=int(curve.n_pos),
        n_neg=int(curve.n_neg),
        side=side,
        simultaneous=side == "two-sided",
    )


def _assumptions(positive_rate: float | None) -> str:
    if positive_rate is not None:
        return f"{INDEPENDENT_ROWS}; the share of positives in the population is {positive_rate:g}"
    return RANDOM_LABELS
