"""Sample sizes for measures of the head, assuming normal scores.

For the AUC, `headrank.bounds.planning.auc` has formulas that hold for any scores. The width of other intervals depends
on the scores themselves, so here the interval is computed on a typical sample.
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
"""Largest sample tried; more would take minutes."""
_CLOSE = 1.02
"""Ratio of the answer to the smallest sufficient number of rows, at most."""


@dataclass(frozen=True, repr=False)
class HeadPlan:
    """A sample size at which a measure is known to within ``epsilon``, returned by `plan_head`; prints as a sentence.

    Attributes
    ----------
    expected : Interval
        The interval on a typical sample of this size: the measure, its value and limits, and the counts.
    epsilon, confidence, positive_rate, auc, n_scorers
        The parameters of `plan_head`.
    """

    expected: Interval
    epsilon: float
    confidence: float
    positive_rate: float
    auc: float
    n_scorers: int

    @property
    def n_pos(self) -> int:
        """Number of positives."""
        return self.expected.n_pos

    @property
    def n_neg(self) -> int:
        """Number of negatives."""
        return self.expected.n_neg

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.n_pos + self.n_neg

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters and the sample sizes as plain values, with the ends and method of the interval."""
        asked = {name: value for name, value in vars(self).items() if name != "expected"}
        found = self.expected.as_dict()
        kept = {name: found[name] for name in ("measure", "low", "estimate", "high", "method", "n_pos", "n_neg")}
        return asked | kept | {"n": self.n}

    def to_frame(self) -> Any:
        """Return the values of `as_dict` as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def __str__(self) -> str:
        found = self.expected
        whose = "" if self.n_scorers == 1 else f" of each of {self.n_scorers:,} scorers"
        return (
            f"To know {found.measure}{whose} to within {shown(self.epsilon)} with {percent(self.confidence)} "
            f"confidence at {percent(self.positive_rate)} positives, you need about {self.n:,} rows, {self.n_pos:,} of "
            f"them positive, if scores are normal and the AUC is {shown(self.auc)}: the value is then "
            f"{found.estimate:.3g} with limits of about {found.low:.3g} and {found.high:.3g} ({found.method})"
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
    """Compute the sample size at which a measure is known to within ``epsilon``, for a scorer with this AUC.

    The typical sample has normal scores of equal variance in both classes, at evenly spaced quantiles, so it is not
    random. The interval of `headrank.interval` is computed on samples of increasing size, until both ends are within
    ``epsilon`` of the value. The guarantee of the interval does not depend on these assumptions; its width does, and
    varies between random samples.

    Computes about 15 intervals of up to twice the rows needed. On one core this takes seconds for partial AUCs and
    rates, and 10 seconds to two minutes for other measures.

    Parameters
    ----------
    measure : str or Measure
        The measure, such as ``"pauc@0.02"`` or ``"tpr@fpr=0.01"``.
    epsilon : float above 0
        The largest distance of the value from either end of its two-sided interval.
    positive_rate : float in (0, 1)
        Share of positives among the rows.
    auc : float in (0, 1)
        The expected AUC of the scorer, which determines the value of the measure.
    confidence : float in (0, 1)
        The probability that the interval holds.
    n_scorers : int
        Scorers for which the intervals hold simultaneously, as needed to select the best.

    Raises
    ------
    ValueError
        If more than ten million rows are needed, or the measure is about the first k rows with k a count.

    Examples
    --------
    >>> print(plan_head("pauc@0.05", epsilon=0.1, positive_rate=0.1, auc=0.9))
    To know pauc@0.05 to within 0.1 with 95 % confidence at 10 % positives, you need about 5,584 rows, 558 of them
    positive, if scores are normal and the AUC is 0.9: the value is then 0.411 with limits of about 0.329 and 0.485
    (betting)
    """
    what, share = measure_of(measure), check_positive_rate(positive_rate)
    if getattr(what, "is_count", False):
        raise ValueError(
            f"{what} depends on a count of rows, which has no meaning for samples of other sizes; use a share instead"
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
    """Return the interval of the smallest sample, up to 2 %, whose ends are within the given distance of its value."""
    enough = ceil(1 / min(positive_rate, 1 - positive_rate))  # one row of the rarer class
    too_few = enough - 1
    found = seen(enough)
    while _reach(found) > within:
        if enough == MOST_ROWS:
            raise ValueError(
                f"with {MOST_ROWS:,} rows {found.measure} is known to within {_reach(found):.2g} only; use an epsilon "
                f"larger than {within:g}"
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
    """Return the curve of normal scores at evenly spaced quantiles."""
    from scipy.special import ndtri

    n_pos = min(max(round(positive_rate * n_rows), 1), n_rows - 1)
    positives, negatives = (ndtri((np.arange(n) + 0.5) / n) for n in (n_pos, n_rows - n_pos))
    scores = np.concatenate([positives + sqrt(2) * ndtri(auc), negatives])
    return RocCurve.from_scores(np.arange(n_rows) < n_pos, scores)
