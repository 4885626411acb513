"""The measure per period of a holdout of the latest rows, and whether it falls."""

from __future__ import annotations

from math import sqrt

import numpy as np

from headrank._format import decimal, shown_p
from headrank._types import Vector
from headrank.bounds.asymptotic.delong import standard_error
from headrank.bounds.asymptotic.resampling import RowDraws, replicates
from headrank.bounds.intervals import interval_of_curves
from headrank.bounds.sample_curves import SampleCurves
from headrank.measures.area import AreaMeasure
from headrank.reports.answer import confidence_per_model
from headrank.reports.contents import Period, PeriodsPart
from headrank.training.choice_folds import time_blocks
from headrank.training.holdout_time import printed_time
from headrank.training.result import TrainingResult

_MOST_PERIODS = 5
_LEAST = 20
"""Fewest rows of each class, or queries with both, per period on average."""
_REPLICATES = 200


def periods_of(result: TrainingResult) -> PeriodsPart | None:
    """Measure the winner in each period of the holdout; None without times, or if there are too few rows for two.

    The intervals hold simultaneously for all periods and models (union bound), for any distribution. The test of a fall
    is asymptotic: a line through the estimates, weighted by their standard errors.
    """
    if result.times is None:
        return None
    sample, measure = result.winner.holdout.sample, result.goal.measure
    y, queries = sample.positive, sample.queries
    counted = np.ones(y.size, dtype=bool)
    n_least = int(min(y.sum(), (~y).sum()))
    if queries is not None:
        mixed = np.intersect1d(queries[y], queries[~y])
        counted, n_least = np.isin(queries, mixed), mixed.size
    n_periods = min(_MOST_PERIODS, n_least // _LEAST)
    if n_periods < 2:
        return None
    block = time_blocks(result.times, y, counted, n_periods)
    n_periods = int(block.max()) + 1
    if n_periods < 2:
        return None
    confidence = 1 - (1 - confidence_per_model(result)) / n_periods
    periods, errors = [], []
    for k in range(n_periods):
        rows = np.flatnonzero(block == k)
        curves = SampleCurves(sample.take(rows))
        interval = interval_of_curves(curves, measure, confidence=confidence)
        errors.append(_standard_error(result, curves))
        times = result.times[rows]
        periods.append(
            Period(
                first=printed_time(times.min()),
                last=printed_time(times.max()),
                n_rows=rows.size,
                n_pos=int(y[rows].sum()),
                low=float(interval.low),
                estimate=float(interval.estimate),
                high=float(interval.high),
            )
        )
    p_value = fall_p_value(np.array([each.estimate for each in periods]), np.array(errors))
    falls = p_value <= 1 - result.confidence
    return PeriodsPart(_in_words(periods, str(measure), p_value, falls=falls), tuple(periods), p_value, falls)


def fall_p_value(estimates: Vector, errors: Vector) -> float:
    """Return the one-sided p-value of a falling line through independent, nearly normal estimates.

    >>> round(fall_p_value(np.array([0.6, 0.5, 0.4]), np.array([0.05, 0.05, 0.05])), 4)
    0.0023
    """
    from scipy.special import ndtr

    weights = errors**-2.0
    place = np.arange(estimates.size) - np.average(np.arange(estimates.size), weights=weights)
    spread = float(weights @ place**2)
    return float(ndtr(float(weights @ (place * estimates)) / sqrt(spread)))


def _standard_error(result: TrainingResult, curves: SampleCurves) -> float:
    """Return the standard error of the measure in a period, at least that of half a positive."""
    measure = result.goal.measure
    if curves.sample.queries is not None:
        values = curves.values(measure)
        error = float(values.std(ddof=1)) / sqrt(values.size) if values.size > 1 else 0.0
    elif isinstance(measure, AreaMeasure):
        error = standard_error(curves.whole, measure)
    else:
        draws = RowDraws.of_curve(curves.whole, measure, stratified=False)
        error = float(replicates(draws, _REPLICATES, random_state=result.provenance.random_state).std())
    return max(error, 0.5 / max(float(curves.sample.n_pos), 1.0))


def _in_words(periods: list[Period], measure: str, p_value: float, *, falls: bool) -> str:
    first, last = periods[0], periods[-1]
    course = f"from {decimal(first.estimate)} ({first.words}) to {decimal(last.estimate)} ({last.words})"
    if falls:
        return (
            f"The measure {measure} falls over the holdout, {course}, significant by an asymptotic test of the trend "
            f"({shown_p(p_value)}): expect less of the next period."
        )
    return f"The measure {measure} goes {course}; a fall over the holdout is not significant ({shown_p(p_value)})."
