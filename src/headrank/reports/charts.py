"""Data of the figures: curves with their band, histograms, and the curve for the interactive figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np

from headrank._format import percent
from headrank._types import Vector
from headrank.bounds.band.band import band_of
from headrank.bounds.band.envelope import Envelope
from headrank.curve import RocCurve, share
from headrank.plots.polyline import Window, visible
from headrank.reports.answer import confidence_per_model, selection_in_words
from headrank.reports.figures import BandPart, Control, Histogram, Levels, Line, RocChart
from headrank.reports.wording import subject
from headrank.training.result import TrainingResult

MOST_LEVELS = 20_000
"""Most distinct scores embedded in the page, unless the goal needs more."""
MOST_LEVELS_FOR_GOAL = 60_000
"""Most distinct scores embedded in the page in any case: about 900 kB."""
_CELL = 2.5e-3
"""Coarseness of a drawn curve, right plus up in units of the axes: see `headrank.plots.polyline.thin`."""
_BAND_POINTS = 250
"""Divides the side of the drawing, so that no position is rounded."""
_QUERY_POINTS = 200
_BINS = 40


def tick_step(length: float, about: int = 5) -> float:
    """Return the tick distance, 1, 2 or 5 times a power of ten, that gives about ``about`` ticks.

    >>> tick_step(1.0), tick_step(0.05), tick_step(0.7)
    (0.2, 0.01, 0.2)
    """
    raw = length / about
    power = 10.0 ** floor(log10(raw))
    step = next(nice for nice in (1, 2, 5, 10) if raw <= nice * power * (1 + 1e-9)) * power
    return float(f"{step:.1e}")


def right_end(result: TrainingResult) -> float:
    """Return the largest false positive rate to draw: somewhat beyond the goal, and on a tick."""
    n_pos = int(result.y.sum())
    n_neg = result.y.size - n_pos
    if result.goal.top is not None:  # where the control line meets the axis
        end = share(result.goal.top, result.y.size) / n_neg
    else:
        assert result.goal.max_fpr is not None
        end = result.goal.max_fpr
    right = min(max(2.5 * end, 5 / n_neg), 1.0)
    step = tick_step(right)
    return float(min(float(f"{ceil(right / step * (1 - 1e-9)) * step:.6g}"), 1.0))


def roc_chart(result: TrainingResult, curves: Mapping[str, Sequence[RocCurve]]) -> RocChart:
    """Compute the head of each model's curve; with queries, the mean over them. O(n_levels).

    Parameters
    ----------
    result : TrainingResult
        The trained models and the winner.
    curves : mapping of str to sequence of RocCurve
        Whole curves by model: one, or one per query that has both classes.
    """
    goal, right, by_query = result.goal, right_end(result), result.qid is not None
    picked = result.selection.picked
    lines = []
    for name, some in curves.items():
        x, y = _mean_curve(some, right) if by_query else visible(some[0], Window(0.0, right, 1.0), cell=_CELL)
        lines.append(Line(name, name == picked, _plain(x.round(7)), _plain(y.round(6))))
    shaded = None if goal.max_fpr is None else (goal.min_fpr, goal.max_fpr)
    control_line = None
    if by_query:
        note = (
            "Each line is the mean of the curves of the queries. There is no certified band: rows of one query are not "
            "independent draws, so a band for the pooled curve would not be valid."
        )
    else:
        if goal.top is not None:
            control_line = _control_line(curves[picked][0], goal.top)
        note = (
            f"With {percent(result.confidence)} confidence, the whole true curve of "
            f"{'the winner' if len(curves) > 1 else subject(picked)} lies within the band{selection_in_words(result)}."
        )
    return RocChart(
        right=right,
        lines=tuple(sorted(lines, key=lambda line: line.picked)),  # the winner is drawn last, above the others
        band=None if by_query else _band(result, curves[picked][0], right),
        shaded=shaded,
        control_line=control_line,
        note=note,
    )


def _band(result: TrainingResult, curve: RocCurve, right: float) -> BandPart:
    """Return limits on a grid, shifted by one point so that straight lines between them never cut into the band.

    Both envelopes increase. Between points i and i + 1 the upper one is at most its value at i + 1, which is drawn at
    i, and the value drawn at i + 1 is at least as high; likewise for the lower one. Digits are rounded outwards.
    """
    around = band_of(curve, confidence=confidence_per_model(result))
    grid = np.linspace(0.0, right, _BAND_POINTS + 1)
    upper, lower = around.upper_at(grid), around.lower_at(grid)
    upper = np.minimum(np.ceil(np.append(upper[1:], upper[-1]) * 1e6) / 1e6, 1.0)
    lower = np.floor(np.append(lower[:1], lower[:-1]) * 1e6) / 1e6
    return BandPart(result.confidence, _plain(grid), _plain(lower), _plain(upper))


def _mean_curve(curves: Sequence[RocCurve], right: float) -> tuple[Vector, Vector]:
    grid = np.linspace(0.0, right, _QUERY_POINTS + 1)
    mean = np.mean([Envelope(curve.fpr, curve.tpr).tpr_at(grid) for curve in curves], axis=0)
    return np.insert(grid, 0, 0.0), np.insert(mean, 0, 0.0)


def _control_line(curve: RocCurve, top: float) -> tuple[tuple[float, float], tuple[float, float]]:
    rows = share(top, curve.n)
    return (float(rows / curve.n_neg), 0.0), (float((rows - curve.n_pos) / curve.n_neg), 1.0)


def histogram(result: TrainingResult) -> Histogram:
    """Compute the share of each class per bin of scores. O(n).

    The bins cover the middle 99 % of both classes, so that an outlier does not squeeze all other rows into one bin.
    Rows beyond that are counted in the outermost bins.
    """
    scores, y = np.asarray(result.winner.scores, dtype=np.float64), result.y
    quantiles = [np.quantile(scores[rows], (0.005, 0.995)) for rows in (y, ~y)]
    low, high = float(min(q[0] for q in quantiles)), float(max(q[1] for q in quantiles))
    if not low < high:  # all scores are the same
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, _BINS + 1)
    of_row = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, _BINS - 1)
    shares = [np.bincount(of_row[rows], minlength=_BINS) / np.count_nonzero(rows) for rows in (y, ~y)]
    threshold = None if result.threshold is None else float(result.threshold.value)
    return Histogram(_plain(edges), _plain(shares[0]), _plain(shares[1]), threshold)


def control_of(result: TrainingResult, curves: Sequence[RocCurve]) -> Control | str:
    """Collect the data of the interactive figure, or return the reason why there is none.

    Parameters
    ----------
    result : TrainingResult
        The trained models and the winner.
    curves : sequence of RocCurve
        The winner's whole curves: one, or one per query that has both classes.
    """
    goal, by_query = result.goal, result.qid is not None
    n_levels = sum(curve.scores.size for curve in curves)
    if by_query and n_levels > MOST_LEVELS_FOR_GOAL:
        return (
            f"There is no interactive figure: the queries have {n_levels:,} distinct scores, more than "
            f"the {MOST_LEVELS_FOR_GOAL:,} that fit into the page."
        )
    kept = list(curves) if by_query else [_kept_head(result, curves[0])]
    max_fpr = min(1.0 if curve.complete else (curve.fp[-1] - 1) / curve.n_neg for curve in kept)
    max_top = min(1.0 if curve.complete else (curve.fp[-1] + curve.tp[-1] - 1) / curve.n for curve in kept)
    if max_fpr <= 0:
        return (
            f"There is no interactive figure: the first {kept[0].scores.size:,} distinct scores, the most that fit "
            "into the page, contain hardly any negatives."
        )
    note = ""
    if max_fpr < 1:
        note = (
            f"The page contains the first {kept[0].scores.size:,} of {n_levels:,} distinct scores, so the range ends "
            f"at a false positive rate of {max_fpr:.4g}, or {floor(share(max_top, kept[0].n)):,} cases."
        )
    end = 1.0 if goal.max_fpr is None else goal.max_fpr
    return Control(
        curves=tuple(_levels(curve) for curve in kept),
        by_query=by_query,
        max_fpr=float(max_fpr),
        max_top=float(max_top),
        right=min(right_end(result), float(max_fpr)),
        start_min_fpr=goal.min_fpr if goal.min_fpr < max_fpr else 0.0,
        start_max_fpr=min(end, float(max_fpr)),
        start_top=min(1.0 if goal.top is None else goal.top, float(max_top)),
        lead="fpr" if goal.top is None else "top",
        note=note,
    )


def _kept_head(result: TrainingResult, curve: RocCurve) -> RocCurve:
    """Cut the curve after the goal's range or `MOST_LEVELS`, whichever is longer; at most `MOST_LEVELS_FOR_GOAL`."""
    if result.goal.top is not None:
        reached, end = curve.fp + curve.tp, share(result.goal.top, curve.n)
    else:
        assert result.goal.max_fpr is not None
        reached, end = curve.fp, share(result.goal.max_fpr, curve.n_neg)
    # One row beyond the goal: a head can only be read at points above its end.
    for_goal = int(np.searchsorted(reached, end + 1))
    n_levels = min(max(MOST_LEVELS, for_goal), MOST_LEVELS_FOR_GOAL)
    if n_levels >= curve.scores.size:
        return curve
    cut = slice(0, n_levels)
    lowest = float(curve.scores[n_levels - 1])
    return RocCurve(curve.scores[cut], curve.pos[cut], curve.neg[cut], curve.n_pos, curve.n_neg, lowest)


def _levels(curve: RocCurve) -> Levels:
    return Levels(
        scores=_plain(curve.scores),
        pos=tuple(int(count) for count in curve.pos),
        neg=tuple(int(count) for count in curve.neg),
        n_pos=int(curve.n_pos),
        n_neg=int(curve.n_neg),
        complete=curve.complete,
    )


def _plain(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).tolist())
