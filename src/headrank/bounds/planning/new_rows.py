"""From how many new rows a list can be promised, given the labelled negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent, shown
from headrank._numbers import rate, whole
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.interleavings import precedence
from headrank.bounds.lists.certificate import certificate_of
from headrank.bounds.lists.rows import ListRows
from headrank.bounds.planning.auc import check_positive_rate
from headrank.bounds.planning.lists import normal_scores, promised_of, typical_list

MOST_NEW = 10_000_000
"""Largest number of new rows tried."""
_STEP = 1.25
"""Ratio of the numbers of new rows that are tried, for a scorer with an AUC."""


@dataclass(frozen=True, repr=False)
class NewRowsPlan:
    """Numbers of new rows from which a list can be promised, returned by `plan_new_rows`; prints as a sentence.

    Attributes
    ----------
    fewest, most : int
        The list can be promised from this many new rows and from this many: for a scorer with this AUC, or for a
        perfect scorer if none was given. With fewer new rows there are too few positives, with more too many negatives
        may be ahead of the labelled ones. At most ten million are tried.
    most_perfect : int
        The most new rows for a scorer that ranks all positives first.
    k, precision, n_neg, confidence, auc, positive_rate
        The parameters of `plan_new_rows`.
    """

    fewest: int
    most: int
    most_perfect: int
    k: int
    precision: float
    n_neg: int
    confidence: float
    auc: float | None = None
    positive_rate: float | None = None

    @property
    def n_promised(self) -> int:
        """Number of positives to be promised among the first k new rows."""
        return promised_of(self.k, self.precision)

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters and the numbers of new rows as plain values."""
        return {**vars(self), "n_promised": self.n_promised}

    def to_frame(self) -> Any:
        """Return the values of `as_dict` as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def __str__(self) -> str:
        goal = (
            f"With {self.n_neg:,} labelled negatives, a list of {self.k:,} with at least {self.n_promised:,} positives "
            f"can be promised with {percent(self.confidence)} confidence"
        )
        perfect = f"from at most {self.most_perfect:,} new rows"
        if self.auc is None or self.positive_rate is None:
            return f"{goal} {perfect}, even for a scorer that ranks all positives first"
        return (
            f"{goal} from about {self.fewest:,} to {self.most:,} new rows if scores are normal, the AUC is "
            f"{shown(self.auc)} and {percent(self.positive_rate)} of the new rows are positive; even for a scorer that "
            f"ranks all positives first, {perfect}"
        )

    def __repr__(self) -> str:
        return f"<NewRowsPlan: {self}>"


def plan_new_rows(
    k: int,
    precision: float,
    *,
    n_neg: int,
    confidence: float = 0.95,
    auc: float | None = None,
    positive_rate: float | None = None,
) -> NewRowsPlan:
    """Compute from how many new rows a list of k can be promised, given the number of labelled negatives.

    The counterpart of `headrank.plan_list`, with the same assumptions. The more new rows there are, the more of their
    negatives may precede the highest labelled one, so even for a perfect scorer there is a largest number. A scorer
    that is not perfect also needs enough new rows to have enough positives at its top; whether a number of rows
    suffices is tried at numbers that differ by a quarter, and both ends are then refined.

    Parameters
    ----------
    k : int
        Length of the list.
    precision : float in (0, 1]
        Share of the list that is to be promised to be positive.
    n_neg : int
        Number of labelled negatives.
    confidence : float in (0, 1), default=0.95
        The probability that the promise holds.
    auc : float in (0, 1), optional
        The expected AUC of the scorer.
    positive_rate : float in (0, 1), optional
        The expected share of positives among the new rows; needed with ``auc``.

    Raises
    ------
    ValueError
        If the list cannot be promised from any number of new rows.

    Examples
    --------
    >>> print(plan_new_rows(50, 0.8, n_neg=2000))
    With 2,000 labelled negatives, a list of 50 with at least 40 positives can be promised with 95 % confidence from at
    most 3,211 new rows, even for a scorer that ranks all positives first
    >>> plan = plan_new_rows(20, 0.5, n_neg=200, auc=0.9, positive_rate=0.3)
    >>> plan.fewest, plan.most, plan.most_perfect
    (139, 255, 382)
    """
    k, n_neg = whole("k", k, at_least=1), whole("n_neg", n_neg, at_least=1)
    asked = rate("precision", precision, above_zero=True)
    sure = check_confidence(confidence)
    if (auc is None) != (positive_rate is None):
        raise TypeError(f"auc and positive_rate must be given together, got auc={auc}, positive_rate={positive_rate}")
    most_false = k - promised_of(k, asked)

    def perfect(n_new: int) -> bool:
        return bool(np.any(precedence(n_neg, n_new, 1 - sure).most <= most_false))

    if not perfect(k):
        raise ValueError(
            f"{n_neg:,} labelled negatives cannot promise {k - most_false:,} of {k:,} rows, even of a perfect scorer "
            "and without further new rows; use more labelled negatives (headrank.plan_list says how many), a longer "
            "list or a lower precision"
        )
    largest = _last(perfect, k, MOST_NEW)
    if auc is None:
        return NewRowsPlan(k, largest, largest, k, asked, n_neg, sure)
    if not 0 < (overlap := rate("auc", auc)) < 1:
        raise ValueError(f"auc must lie strictly between 0 and 1, got {auc!r}: normal scores overlap")
    positives = check_positive_rate(positive_rate)
    labelled = normal_scores(n_neg)

    def typical(n_new: int) -> bool:
        new, n_found = typical_list(n_new, k, overlap, positives)
        if n_found < k - most_false:
            return False
        rows = ListRows(labelled, np.zeros(0), new, "same negatives", None, 0)
        return certificate_of(rows, sure).at_least(k) >= k - most_false

    tried = [k]
    while tried[-1] < largest:
        tried.append(min(ceil(_STEP * tried[-1]), largest))
    first = next((n_new for n_new in tried if typical(n_new)), None)
    if first is None:
        raise ValueError(
            f"with {n_neg:,} labelled negatives, normal scores, an AUC of {shown(overlap)} and {percent(positives)} "
            f"positives, {k - most_false:,} of {k:,} rows cannot be promised from any number of new rows; use more "
            "labelled negatives, a lower precision or a better scorer"
        )
    last = next(n_new for n_new in reversed(tried) if typical(n_new))
    fewest = _first(typical, tried[max(tried.index(first) - 1, 0)], first)
    most = _last(typical, last, tried[min(tried.index(last) + 1, len(tried) - 1)])
    return NewRowsPlan(fewest, most, largest, k, asked, n_neg, sure, overlap, positives)


def _last(suffices: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last number up to ``high`` that suffices; ``low`` does, and none after one that does not."""
    step = low
    while low < high and suffices(reached := min(low + step, high)):
        low, step = reached, 2 * step
    too_many = min(low + step, high + 1)
    while too_many - low > 1:
        middle = (low + too_many) // 2
        low, too_many = (middle, too_many) if suffices(middle) else (low, middle)
    return low


def _first(suffices: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number from ``low`` that suffices; ``high`` does."""
    if suffices(low):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
