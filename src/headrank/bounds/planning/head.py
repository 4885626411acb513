"""How many rows it takes to know a measure of the head this precisely, if scores are spread as is usual.

For the AUC, `headrank.bounds.planning.auc` has formulas that hold for any scores. How narrow the interval of another
measure is depends on the scores themselves, so here the interval that will be used is computed on the sample to expect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent, shown
from headrank._numbers import rate, real, whole
from headrank.bounds.confidence import check_confidence
from headrank.bounds.interval import Interval
from headrank.bounds.intervals import interval_of
from headrank.bounds.planning.auc import check_positive_rate
from headrank.curve import RocCurve
from headrank.measures import Measure
from headrank.measures import measure as measure_of

MOST_ROWS = 10_000_000
"""Beyond, an answer would take minutes."""
_CLOSE = 1.02
"""The answer is at most so many times the smallest number of rows that would do."""


@dataclass(frozen=True, repr=False)
class HeadPlan:
    """A sample large enough to know a measure within ``epsilon``, as `plan_head` returns it; prints as a sentence.

    Attributes
    ----------
    expected : Interval
        What such a sample will say, if scores are as expected: the measure, its value and limits, and the rows.
    epsilon, confidence, positive_rate, auc, n_scorers
        What was asked for, as in `plan_head`.
    """

    expected: Interval
    epsilon: float
    confidence: float
    positive_rate: float
    auc: float
    n_scorers: int

    @property
    def n_pos(self) -> int:
        """Positives."""
        return self.expected.n_pos

    @property
    def n_neg(self) -> int:
        """Negatives."""
        return self.expected.n_neg

    @property
    def n(self) -> int:
        """All rows."""
        return self.n_pos + self.n_neg

    def as_dict(self) -> dict[str, Any]:
        """Return what was asked for and the answer as plain values; of the interval, the ends and the method."""
        wish = {name: value for name, value in vars(self).items() if name != "expected"}
        found = self.expected.as_dict()
        kept = {name: found[name] for name in ("measure", "low", "estimate", "high", "method", "n_pos", "n_neg")}
        return wish | kept | {"n": self.n}

    def to_frame(self) -> Any:
        """Return the same as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def __str__(self) -> str:
        found = self.expected
        whose = "" if self.n_scorers == 1 else f" of each of {self.n_scorers:,} scorers"
        return (
            f"To know {found.measure}{whose} within {shown(self.epsilon)} with {percent(self.confidence)} confidence "
            f"at {percent(self.positive_rate)} positives you need about N = {self.n:,} rows, of which {self.n_pos:,} "
            f"positive, if scores are normal and the AUC is {shown(self.auc)}: the value is then {found.estimate:.3g} "
            f"with limits of about {found.low:.3g} and {found.high:.3g} ({found.method})"
        )

    def __repr__(self) -> str:
        return f"<HeadPlan: {self}>"


def plan_head(
    measure: str | Measure,
    *,
    epsilon: float,
    positive_rate: float,
    auc: float,
    confidence: float = 0.95,
    n_scorers: int = 1,
) -> HeadPlan:
    """Plan a sample large enough to know a measure within ``epsilon``, for a scorer of about this AUC.

    The sample to expect has normal scores of equal spread in both classes, at even steps of their distribution, so
    that chance has no part in it. The interval of `headrank.interval` is computed on larger and larger ones of these,
    until no end is farther than ``epsilon`` from the value. The promise of the interval rests on none of this; its
    width does, and a sample drawn at random will be somewhat above or below it.

    Some 15 intervals of up to twice as many rows as are needed. On one core seconds for partial AUCs and rates, for
    other measures 10 seconds to two minutes.

    Parameters
    ----------
    measure : str or Measure
        What is to be known, such as ``"pauc@0.02"`` or ``"tpr@fpr=0.01"``.
    epsilon : float above 0
        How far the value may be from either end of its two-sided interval.
    positive_rate : float in (0, 1)
        Share of positives among the rows.
    auc : float in (0, 1)
        The AUC to expect of the scorer; with it goes the value of the measure.
    confidence : float in (0, 1)
        The probability with which the interval holds.
    n_scorers : int
        Scorers for which the intervals shall hold at once, as they must for the best of them.

    Raises
    ------
    ValueError
        It would take more than ten million rows, or the measure is one of the first k rows of a list, with k a count.

    Examples
    --------
    >>> print(plan_head("pauc@0.05", epsilon=0.1, positive_rate=0.1, auc=0.9))
    To know pauc@0.05 within 0.1 with 95 % confidence at 10 % positives you need about N = 6,498 rows, of which 650
    positive, if scores are normal and the AUC is 0.9: the value is then 0.411 with limits of about 0.311 and 0.502
    (fixed_range)
    """
    what, share = measure_of(measure), check_positive_rate(positive_rate)
    if getattr(what, "is_count", False):
        raise ValueError(
            f"{what} is about so many rows of one list, and of more rows it is another question; give a share"
        )
    if not (within := real("epsilon", epsilon)) > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon!r}")
    if not 0 < (overlap := rate("auc", auc)) < 1:
        raise ValueError(f"auc must lie strictly between 0 and 1, got {auc!r}: normal scores overlap")
    sure, n_scorers = check_confidence(confidence), whole("n_scorers", n_scorers, at_least=1)

    def seen(n_rows: int) -> Interval:
        curve = _typical_curve(n_rows, share, overlap)
        return interval_of(curve, what, confidence=1 - (1 - sure) / n_scorers)

    return HeadPlan(_narrow_enough(seen, within, share), within, sure, share, overlap, n_scorers)


def _narrow_enough(seen: Callable[[int], Interval], within: float, positive_rate: float) -> Interval:
    """Return the interval of the smallest sample, but for 2 %, whose value is nowhere farther from an end."""
    enough = ceil(1 / min(positive_rate, 1 - positive_rate))  # one row of the rarer class
    too_few = enough - 1
    found = seen(enough)
    while _reach(found) > within:
        if enough == MOST_ROWS:
            raise ValueError(
                f"even {MOST_ROWS:,} rows leave {found.measure} uncertain by {_reach(found):.2g}; ask for a larger "
                f"epsilon than {within:g}"
            )
        too_few, enough = enough, min(2 * enough, MOST_ROWS)
        found = seen(enough)
    while enough > _CLOSE * too_few + 1:
        between = round(sqrt(too_few * enough))
        if _reach(closer := seen(between)) > within:
            too_few = between
        else:
            enough, found = between, closer
    return found


def _reach(found: Interval) -> float:
    return max(found.estimate - found.low, found.high - found.estimate)


def _typical_curve(n_rows: int, positive_rate: float, auc: float) -> RocCurve:
    """Return the curve of normal scores at even steps of their distributions, without chance."""
    from scipy.special import ndtri

    n_pos = min(max(round(positive_rate * n_rows), 1), n_rows - 1)
    positives, negatives = (ndtri((np.arange(n) + 0.5) / n) for n in (n_pos, n_rows - n_pos))
    scores = np.concatenate([positives + sqrt(2) * ndtri(auc), negatives])
    return RocCurve.from_scores(np.arange(n_rows) < n_pos, scores)
