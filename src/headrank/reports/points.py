"""Operating points of the winner: how many cases are looked at and what is found, and the table at the threshold."""

from __future__ import annotations

from math import floor, isfinite

import numpy as np

from headrank._format import percent, separating
from headrank._types import BoolVector, Vector
from headrank.bounds.band.gains import gains_limits
from headrank.bounds.cutoffs.points import OperatingPoints
from headrank.curve import RocCurve, share
from headrank.measures import PrecisionAt, RecallAt
from headrank.reports.answer import confidence_per_model
from headrank.reports.contents import Confusion, Point, PointsPart
from headrank.training.result import TrainingResult

_FEWEST = 10
_SPAN = 10
"""Points from a tenth of the cases of the goal to ten times as many."""
_RESULTS = (1, 3, 5, 10, 20, 50)
"""Number of first results of a query."""


def knows_positive_rate(result: TrainingResult) -> bool:
    """Whether the rows measured have the share of positives of new ones: not if one per group was drawn by class."""
    return result.groups is None or result.goal.top is not None


def goal_cases(result: TrainingResult) -> int:
    """Return the number of cases in the part of the list that matters; without queries."""
    curve, goal = result.winner.holdout.whole, result.goal
    if goal.top is not None:
        return floor(share(goal.top, curve.n))
    assert goal.max_fpr is not None
    return floor(share(goal.max_fpr, curve.n_neg) + curve.tpr_at(goal.max_fpr) * curve.n_pos)


def points_of(result: TrainingResult) -> PointsPart | None:
    """Compute the operating points; None if the share of positives is not that of new rows."""
    if result.qid is not None:
        return _by_query(result)
    if not knows_positive_rate(result):
        return None
    curve, goal = result.winner.holdout.whole, goal_cases(result)
    youden = int(np.argmax(curve.tpr - curve.fpr))
    n_youden = int(curve.tp[youden] + curve.fp[youden])
    cases = sorted({*_cases(goal, int(curve.n)), *([n_youden] if n_youden else [])})
    gains = limits_of_found(result, np.array(cases))[0]
    nouns = result.table.positive_nouns
    words = (
        f"Each row is a choice: the more cases are looked at, the more {nouns.many} are found, and the more of the "
        f"work is in vain. With {percent(result.confidence)} confidence, all numbers under “at least” hold "
        f"simultaneously, for the mean of {lists_in_words(result)}; the others are those of {result.table.measured}. A "
        "click on a heading sorts the table."
    )
    return PointsPart(
        words,
        tuple(
            _point(curve, n, float(low), n == goal, is_youden=n == n_youden)
            for n, low in zip(cases, gains, strict=True)
        ),
    )


def limits_of_found(result: TrainingResult, cases: Vector) -> tuple[Vector, Vector]:
    """Return limits of how many positives are in the first cases, simultaneous for all numbers of cases.

    They count what the headline counts: for a best fraction the positives among the selected cases, for a false
    positive rate those that are found of as many positives as there are.
    """
    curve = result.winner.holdout.whole
    limits = gains_limits(curve, confidence=confidence_per_model(result))
    shares = np.minimum(cases / curve.n, 1.0)
    if result.goal.top is not None:
        return limits.lower(shares) * curve.n, limits.upper(shares) * curve.n
    return limits.recall_lower(shares) * curve.n_pos, np.minimum(limits.recall_upper(shares) * curve.n_pos, cases)


def lists_in_words(result: TrainingResult) -> str:
    """Return the lists that the limits of what is found are about."""
    n = f"many lists of {result.y.size:,} cases"
    if result.goal.top is not None:
        return n
    return f"{n} with {result.table.positive_nouns.counted(int(result.y.sum()))}"


def _point(curve: RocCurve, n_cases: int, low: float, is_goal: bool, *, is_youden: bool) -> Point:
    found = curve.tp_in_first(n_cases)
    rows = curve.fp + curve.tp
    level = int(np.searchsorted(rows, n_cases))  # the n-th case has score number level, from 1
    below = float(curve.scores[level]) if level < curve.scores.size else -np.inf
    counts = (np.array([found]), np.array([n_cases - found]))
    (more,) = OperatingPoints(curve.scores[level - 1 : level], *counts, curve.n_pos, curve.n_neg).rows()
    names = ("lift", "npv", "lr_positive", "lr_negative")
    return Point(
        n_cases=n_cases,
        found=float(found),
        at_least=floor(min(low, found)),
        precision=found / n_cases,
        recall=float(found / curve.n_pos),
        n_false=float(n_cases - found),
        fpr=float((n_cases - found) / curve.n_neg),
        score=separating(below, float(curve.scores[level - 1])),
        tied=bool(rows[level] > n_cases),
        is_goal=is_goal,
        is_youden=is_youden,
        **{name: more[name] if isfinite(more[name]) else None for name in names},
    )


def _cases(goal: int, n_rows: int) -> list[int]:
    """Return round numbers of cases around the goal, and the goal.

    >>> _cases(185, 3700)
    [20, 50, 100, 185, 200, 500, 1000]
    >>> _cases(0, 30)
    [10, 20]
    """
    low, high = max(goal / _SPAN, _FEWEST), min(max(goal, 1) * _SPAN, n_rows)
    steps = [nice * 10**power for power in range(12) for nice in (1, 2, 5)]
    chosen = {n for n in steps if low <= n <= max(high, min(2 * _FEWEST, n_rows))}
    return sorted({*chosen, *([goal] if goal else [])}) or [n_rows]


def _by_query(result: TrainingResult) -> PointsPart:
    """Means over the queries of what their first results hold."""
    curves = result.winner.holdout.each
    longest = max(curve.n for curve in curves)
    nouns = result.table.positive_nouns
    points = [_query_point(curves, k) for k in _RESULTS if k <= longest]
    words = (
        f"Means over the {len(curves):,} queries of {result.table.measured} that have both kinds of results, without "
        f"a guarantee; a query with fewer results counts with all of them. “Share” is that of all {nouns.many} of a "
        "query."
    )
    return PointsPart(words, tuple(points))


def _query_point(curves: tuple[RocCurve, ...], k: int) -> Point:
    some = [(curve, min(k, int(curve.n))) for curve in curves]
    found = [curve.tp_in_first(n) for curve, n in some]
    return Point(
        n_cases=k,
        found=float(np.mean(found)),
        at_least=None,
        precision=float(np.mean([PrecisionAt(n).value(curve) for curve, n in some])),
        recall=float(np.mean([RecallAt(n).value(curve) for curve, n in some])),
        n_false=None,
        fpr=None,
        score="",
        tied=False,
        is_goal=False,
    )


def confusion_of(result: TrainingResult) -> Confusion | None:
    """Count the rows above and below the certified threshold, or without one above the end of the goal.

    None with queries, whose scores are not compared with each other.
    """
    if result.qid is not None:
        return None
    y, scores, nouns = result.y, result.winner.scores, result.table.positive_nouns
    if result.threshold is not None:
        flagged = result.threshold.flags(scores)
        words = f"What the certified threshold does on {result.table.measured}"
    else:
        flagged = scores >= np.sort(scores)[-max(goal_cases(result), 1)]
        words = "There is no certified threshold; at the end of the part that matters, without a guarantee"
    tp, n_flagged, n_pos = int(np.count_nonzero(flagged & y)), int(np.count_nonzero(flagged)), int(y.sum())
    if n_flagged:
        cut = f"cases that score at least {_cut(scores, flagged)} are flagged"
        words += f": {cut}, {n_flagged:,} in all, {nouns.counted(tp)} among them."
    else:
        words += ": no case scores so high."
    return Confusion(
        f"{words} {n_pos - tp:,} of {nouns.counted(n_pos)} {'is' if n_pos - tp == 1 else 'are'} missed.",
        tp,
        n_flagged - tp,
        n_pos - tp,
        y.size - n_pos - (n_flagged - tp),
        result.threshold is not None,
    )


def _cut(scores: Vector, flagged: BoolVector) -> str:
    """Print a score that cuts the holdout like this, with as few digits as that needs."""
    below = scores[~flagged]
    return separating(float(below.max()) if below.size else -np.inf, float(scores[flagged].min()))
