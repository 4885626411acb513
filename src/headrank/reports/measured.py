"""Intervals of several measures, of each scorer and each group of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from headrank._format import percent
from headrank.bounds.interval import Interval
from headrank.bounds.intervals import interval_of_curves
from headrank.bounds.sample_curves import SampleCurves
from headrank.exceptions import InvalidSampleError, NoIntervalError, OneClassError
from headrank.measures import AUC, Measure, RecallAt
from headrank.measures import measure as measure_of
from headrank.reports.contents import MeasureRow, MeasuresPart
from headrank.training.goal import Goal
from headrank.training.result import TrainingResult

SINGLE_LIST = "a single list has no counterpart for a population"
"""Why a measure has a value but no interval."""


def usual_measures(goal: Goal) -> list[Measure]:
    """Return the AUC and the measures of the part of the list that matters."""
    if goal.top is not None:
        return [AUC(), goal.measure, goal.headline, RecallAt(goal.top)]
    return [AUC(), goal.measure, goal.headline]


def measured(
    result: TrainingResult, measures: Sequence[str | Measure] | None = None, groups: npt.NDArray[Any] | None = None
) -> MeasuresPart:
    """Compute the interval of each measure, of each scorer, on all rows and on each group of them."""
    wanted = usual_measures(result.goal) if measures is None else [measure_of(each) for each in measures]
    if groups is not None and groups.shape != result.y.shape:
        raise InvalidSampleError(
            f"groups must have one value per row: there are {result.y.size:,} rows, groups has shape {groups.shape}"
        )
    return measures_part(tuple(_rows(result, list(dict.fromkeys(wanted)), groups)), result.confidence)


def measures_part(rows: tuple[MeasureRow, ...], confidence: float) -> MeasuresPart:
    """Put intervals into words."""
    words = (
        f"Each interval holds individually with {percent(confidence)} confidence; their simultaneous confidence is "
        "lower."
    )
    without = list(dict.fromkeys(row.measure for row in rows if row.low is None))
    if without:
        words += f" There is no interval for {', '.join(without)}: {SINGLE_LIST}."
    return MeasuresPart(words, rows)


def measure_row(scorer: str, group: str | None, interval: Interval) -> MeasureRow:
    """Return an interval as plain data."""
    return MeasureRow(
        scorer=scorer,
        group="" if group is None else group,
        measure=str(interval.measure),
        description=interval.measure.description,
        low=float(interval.low),
        estimate=float(interval.estimate),
        high=float(interval.high),
        n_pos=int(interval.n_pos),
        n_neg=int(interval.n_neg),
    )


def value_row(scorer: str, group: str | None, measure: Measure, value: float, n_pos: int, n_neg: int) -> MeasureRow:
    """Return the value of a measure that has no interval as plain data."""
    return MeasureRow(
        scorer, "" if group is None else group, str(measure), measure.description, None, value, None, n_pos, n_neg
    )


def _rows(result: TrainingResult, measures: list[Measure], groups: npt.NDArray[Any] | None) -> Iterator[MeasureRow]:
    every: list[tuple[str | None, Any]] = [(None, None)]
    if groups is not None:
        every += [(str(name), np.flatnonzero(groups == name)) for name in np.unique(groups)]
    for group, rows in every:
        for model in result.models:
            curves = model.holdout if rows is None else SampleCurves(model.holdout.sample.take(rows))
            for measure in measures:
                try:
                    found = interval_of_curves(curves, measure, confidence=result.confidence)
                except OneClassError:
                    if group is None:
                        raise
                    continue  # a group of one class is not measured
                except NoIntervalError:
                    sample = curves.sample
                    value = float(measure.of_sample(sample))
                    yield value_row(model.name, group, measure, value, int(sample.n_pos), int(sample.n_neg))
                else:
                    yield measure_row(model.name, group, found)
