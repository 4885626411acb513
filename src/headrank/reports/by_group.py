"""All rows of the held-out groups: the measures with cluster bootstrap intervals, which are asymptotic."""

from __future__ import annotations

from math import ceil

from headrank._format import decimal, lower_limit, percent, upper_limit
from headrank.bounds.asymptotic.bootstrap import bootstrap
from headrank.bounds.interval import Interval
from headrank.exceptions import NoVarianceError, OneClassError
from headrank.measures import Measure
from headrank.reports.answer import confidence_per_model
from headrank.reports.contents import AllRowsPart, RowsMeasure
from headrank.training.assumption import group_nouns
from headrank.training.result import TrainingResult

_REPLICATES = 1000
_MOST_REPLICATES = 20_000
_MANY = 50
"""With fewer groups the cluster bootstrap is too narrow."""


def all_rows_of(result: TrainingResult) -> AllRowsPart | None:
    """Measure the winner on all rows of the held-out groups; None without groups.

    The numbers of the report use one row of each group, which makes them valid for any number of groups. All rows
    together say more if rows of a group are not alike, but no theorem covers a ratio of sums over groups of any size
    for a given number of groups: the cluster bootstrap holds as the number of groups grows.
    """
    rows = result.winner.all_rows
    if result.groups is None or rows is None or result.table.group_column is None:
        return None
    measures = dict.fromkeys([result.goal.measure, result.goal.headline])
    found = tuple(_measured(result, measure) for measure in measures)
    one, many = group_nouns(result.table.group_column)
    n_pos, n_rows = int(rows.sample.n_pos), rows.sample.positive.size
    listed = " and ".join(_in_words(each) for each in found)
    n_groups = result.table.n_holdout
    how = f"{percent(result.confidence)} limits by the cluster bootstrap: asymptotic, for many {many}"
    few = f"; {n_groups:,} are too few to rely on them" if n_groups < _MANY else ""
    bounded = any(each.low is not None for each in found)
    words = (
        f"On all {n_rows:,} rows of the {n_groups:,} held-out {many}, {n_pos:,} of them positive, {listed}"
        f"{f' ({how}{few})' if bounded else ''}."
    )
    return AllRowsPart(words, n_rows, n_pos, n_groups, one, found)


def _measured(result: TrainingResult, measure: Measure) -> RowsMeasure:
    rows = result.winner.all_rows
    assert rows is not None
    interval = _interval(result, measure)
    if interval is None:
        return RowsMeasure(str(measure), None, float(measure.of_sample(rows.sample)), None)
    return RowsMeasure(str(measure), float(interval.low), float(interval.estimate), float(interval.high))


def _interval(result: TrainingResult, measure: Measure) -> Interval | None:
    confidence = confidence_per_model(result)
    replicates = max(_REPLICATES, ceil(4 / (1 - confidence)))
    rows = result.winner.all_rows
    assert rows is not None
    if replicates > _MOST_REPLICATES:
        return None
    try:
        return bootstrap(
            rows.sample,
            measure,
            confidence=confidence,
            clusters=result.groups,
            n_replicates=replicates,
            random_state=result.provenance.random_state,
        )
    except (NoVarianceError, OneClassError):  # nothing varies, or hardly any group has a class
        return None


def _in_words(each: RowsMeasure) -> str:
    if each.low is None or each.high is None:
        return f"{each.measure} is {decimal(each.estimate)}"
    return f"{each.measure} is {decimal(each.estimate)}, from {lower_limit(each.low)} to {upper_limit(each.high)}"
