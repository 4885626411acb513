"""Cases looked at against cases found, and precision against recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from headrank._format import counted, percent, rounded_percent
from headrank._types import Vector
from headrank.bounds.band.precision import precision_limits
from headrank.curve import RocCurve
from headrank.plots.polyline import Window, clip, thin
from headrank.plots.precision_recall import precisions
from headrank.reports.answer import confidence_per_model, selection_in_words
from headrank.reports.charts import tick_step
from headrank.reports.figures import Chart, ChartBand, ChartLine, Mark
from headrank.reports.points import goal_cases, knows_positive_rate, limits_of_found, lists_in_words
from headrank.reports.wording import subject
from headrank.training.result import TrainingResult

_CELL = 2.5e-3
_POINTS = 250
"""Points of the band and of curves that are read on a grid."""
_BEYOND = 2.5
"""How far the chart reaches, in units of the goal."""


def gains_chart(result: TrainingResult, curves: Mapping[str, Sequence[RocCurve]]) -> Chart | None:
    """Compute how many positives are found among the first cases; with queries, shares of both. O(n_levels).

    None if the share of positives is not that of new rows.

    Parameters
    ----------
    result : TrainingResult
        The trained models and the winner.
    curves : mapping of str to sequence of RocCurve
        Whole curves by model: one, or one per query that has both classes.
    """
    if result.qid is not None:
        return _over_queries(result, curves)
    if not knows_positive_rate(result):
        return None
    picked, nouns = result.selection.picked, result.table.positive_nouns
    curve, goal = curves[picked][0], goal_cases(result)
    right = _on_tick(max(_BEYOND * goal, 20.0), curve.n)
    found = curve.tp_in_first(goal)
    band = _band(result, curve, right)
    highest = max(band.upper[-1], *(some[0].tp_in_first(right) for some in curves.values()))
    top = _on_tick(max(min(right, float(curve.n_pos), highest), 1.0))
    return Chart(
        x_title="cases looked at",
        y_title=f"{nouns.many} found",
        right=right,
        top=top,
        shares=False,
        lines=_ordered(
            [
                ChartLine(name, name == picked, *_cut(some[0].fp + some[0].tp, some[0].tp, right, top))
                for name, some in curves.items()
            ]
        ),
        chance=ChartLine("random pick", False, (0.0, right), (0.0, float(right * curve.positive_rate))),
        band=band,
        mark=Mark(float(goal), float(found), f"{counted(goal, 'case')}: {found:,.0f} found") if goal else None,
        note=(
            "From left to right: the more of the list is looked at, best first, the more of the "
            f"{nouns.counted(int(curve.n_pos))} are found. With {percent(result.confidence)} confidence, the line for "
            f"{lists_in_words(result)} lies within the band, everywhere{selection_in_words(result)}."
        ),
    )


def _cut(x: Vector, y: Vector, right: float, top: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    line = clip((np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)), 0.0, right)
    drawn = thin(line, Window(0.0, right, top), _CELL)
    return _plain(drawn[0].round(4)), _plain(drawn[1].round(4))


def _band(result: TrainingResult, curve: RocCurve, right: float) -> ChartBand:
    """Return the limits on a grid, shifted by one point: see `headrank.reports.charts`. Both limits increase."""
    grid = np.linspace(0.0, right, _POINTS + 1)
    own = np.interp(grid, curve.fp + curve.tp, curve.tp)
    lower, upper = limits_of_found(result, grid)
    lower, upper = np.minimum(lower, own), np.maximum(upper, own)
    upper = np.ceil(np.append(upper[1:], upper[-1]) * 1e4) / 1e4
    lower = np.floor(np.append(lower[:1], lower[:-1]) * 1e4) / 1e4
    return ChartBand(result.confidence, _plain(grid), _plain(lower), _plain(upper))


def _over_queries(result: TrainingResult, curves: Mapping[str, Sequence[RocCurve]]) -> Chart:
    """Means over the queries of the share of positives among their first results."""
    picked, nouns, top = result.selection.picked, result.table.positive_nouns, result.goal.top
    right = 1.0 if top is None else min(_on_tick(_BEYOND * top), 1.0)
    grid = np.linspace(0.0, right, _POINTS + 1)

    def mean(some: Sequence[RocCurve]) -> Vector:
        every = [np.interp(grid * curve.n, curve.fp + curve.tp, curve.tp / curve.n_pos) for curve in some]
        return np.asarray(np.mean(every, axis=0).round(6))

    means = {name: mean(some) for name, some in curves.items()}
    mark = None
    if top is not None:
        found = float(np.interp(top, grid, means[picked]))
        mark = Mark(top, found, f"{percent(top)}: {rounded_percent(found)} found")
    return Chart(
        x_title="share of a query's results looked at",
        y_title=f"share of its {nouns.many} found",
        right=right,
        top=1.0,
        shares=True,
        lines=_ordered(
            [ChartLine(name, name == picked, _plain(grid), _plain(values)) for name, values in means.items()]
        ),
        chance=ChartLine("random order", False, (0.0, right), (0.0, right)),
        band=None,
        mark=mark,
        note=f"Each line is the mean over the queries of {result.table.measured}. There is no certified band for it.",
    )


def precision_recall_chart(result: TrainingResult, curves: Mapping[str, Sequence[RocCurve]]) -> Chart | None:
    """Compute precision against recall. None with queries, and if the share of positives is not that of new rows."""
    if result.qid is not None or not knows_positive_rate(result):
        return None
    picked, nouns = result.selection.picked, result.table.positive_nouns
    curve, goal = curves[picked][0], goal_cases(result)
    found = curve.tp_in_first(goal) if goal else 0.0
    mark = None
    if found:
        mark = Mark(float(found / curve.n_pos), float(found / goal), f"{counted(goal, 'case')}")
    return Chart(
        x_title=f"recall: share of all {nouns.many} found",
        y_title="precision: share of hits in the cases looked at",
        right=1.0,
        top=1.0,
        shares=True,
        lines=_ordered([ChartLine(name, name == picked, *_precisions(some[0])) for name, some in curves.items()]),
        chance=ChartLine("random pick", False, (0.0, 1.0), (float(curve.positive_rate),) * 2),
        band=_precision_band(result, curve),
        mark=mark,
        note=(
            "The further right, the more of them are found; the higher, the fewer cases are looked at in vain. "
            f"With {percent(result.confidence)} confidence, the whole true curve of "
            f"{'the winner' if len(curves) > 1 else subject(picked)} lies within the band{selection_in_words(result)}."
        ),
    )


def _precision_band(result: TrainingResult, curve: RocCurve) -> ChartBand:
    """Return limits on a grid of recalls, moved outwards so that straight lines between them never cut into the band.

    The odds of a limit are the recall over a rate that increases with it. So between two points the odds of the lower
    limit are at least those at the right point times the ratio of the recalls, and likewise for the upper limit.
    """
    within = precision_limits(curve, confidence=confidence_per_model(result))
    grid = np.linspace(0.0, 1.0, _POINTS + 1)
    lower, upper = within.lower(grid[1:]), within.upper(grid[1:])
    ratio = grid[1:-1] / grid[2:]
    least = np.concatenate([[0.0], lower[1:] * ratio / (lower[1:] * ratio + 1 - lower[1:])])  # between two points
    most = np.concatenate([[1.0], upper[:-1] / (upper[:-1] + ratio * (1 - upper[:-1]))])
    lower = np.floor(np.minimum(np.append(least[:1], least), np.append(least, least[-1:])) * 1e6) / 1e6
    upper = np.ceil(np.maximum(np.append(most[:1], most), np.append(most, most[-1:])) * 1e6) / 1e6
    return ChartBand(result.confidence, _plain(grid), _plain(lower), _plain(upper))


def _precisions(curve: RocCurve) -> tuple[tuple[float, ...], tuple[float, ...]]:
    recall, precision = precisions(curve, n_points=_POINTS)
    return _plain(recall.round(6)), _plain(precision.round(6))


def _ordered(lines: list[ChartLine]) -> tuple[ChartLine, ...]:
    return tuple(sorted(lines, key=lambda line: line.picked))  # the winner is drawn last, above the others


def _on_tick(value: float, most: float | None = None) -> float:
    """Round up to a tick; at most ``most``.

    >>> _on_tick(462.5), _on_tick(462.5, 450), _on_tick(136.0)
    (500.0, 450.0, 140.0)
    """
    step = tick_step(value, 10)
    rounded = float(f"{ceil(value / step * (1 - 1e-9)) * step:.6g}")
    return rounded if most is None else float(min(rounded, most))


def _plain(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).tolist())
