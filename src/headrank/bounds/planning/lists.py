"""How many labelled negatives it takes to promise the precision of a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent, shown
from headrank._numbers import rate, whole
from headrank._types import Vector
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.interleavings import precedence
from headrank.bounds.lists.certificate import certificate_of
from headrank.bounds.lists.rows import ListRows
from headrank.bounds.planning.auc import check_positive_rate
from headrank.curve import share

MOST_NEGATIVES = 10_000_000
"""Largest sample tried; more would take minutes."""
_CLOSE = 1.02
"""Ratio of the answer to the smallest sufficient number of negatives, at most, for a scorer with an AUC."""


@dataclass(frozen=True, repr=False)
class ListPlan:
    """A number of labelled negatives for a promised list, returned by `plan_list`; prints as a sentence.

    Attributes
    ----------
    n_neg : int
        Labelled negatives needed: for a scorer with this AUC, or for a perfect scorer if none was given.
    n_neg_perfect : int
        Labelled negatives that even a scorer needs that ranks all positives first.
    k, precision, n_new, confidence, auc, positive_rate
        The parameters of `plan_list`.
    """

    n_neg: int
    n_neg_perfect: int
    k: int
    precision: float
    n_new: int
    confidence: float
    auc: float | None = None
    positive_rate: float | None = None

    @property
    def n_promised(self) -> int:
        """Number of positives to be promised among the first k new rows."""
        return promised_of(self.k, self.precision)

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters and the numbers of negatives as plain values."""
        return {**vars(self), "n_promised": self.n_promised}

    def to_frame(self) -> Any:
        """Return the values of `as_dict` as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def __str__(self) -> str:
        goal = (
            f"To promise that at least {self.n_promised:,} of the first {self.k:,} of {self.n_new:,} new rows are "
            f"positive, with {percent(self.confidence)} confidence, you need"
        )
        perfect = f"{self.n_neg_perfect:,} labelled negatives"
        if self.auc is None or self.positive_rate is None:
            return f"{goal} at least {perfect}, even for a scorer that ranks all positives first"
        return (
            f"{goal} about {self.n_neg:,} labelled negatives if scores are normal, the AUC is {shown(self.auc)} and "
            f"{percent(self.positive_rate)} of the new rows are positive; even a scorer that ranks all positives first "
            f"needs {perfect}"
        )

    def __repr__(self) -> str:
        return f"<ListPlan: {self}>"


def plan_list(
    k: int,
    precision: float,
    *,
    n_new: int,
    confidence: float = 0.95,
    auc: float | None = None,
    positive_rate: float | None = None,
) -> ListPlan:
    """Compute how many labelled negatives it takes to promise the precision of the first k of ``n_new`` new rows.

    The promise is that of `headrank.certify_list` with ``assume="same negatives"``. For a scorer that ranks all
    positives first, with at least k of them among the new rows, it is k - u_1, where u_1 new negatives may precede the
    highest of n labelled ones: the smallest n with k - u_1 >= precision * k is necessary for every scorer.

    With ``auc`` and ``positive_rate``, the promise is computed for typical samples of increasing size, with normal
    scores of equal variance in both classes at evenly spaced quantiles, as in `plan_head`. Whether a promise holds does
    not depend on these assumptions; how much can be promised does, and it varies between random samples.

    Computes about 20 to 30 sets of limits: seconds, up to a minute if millions of negatives are needed.

    Parameters
    ----------
    k : int
        Length of the list.
    precision : float in (0, 1]
        Share of the list that is to be promised to be positive.
    n_new : int
        Number of new rows from which the list is taken, at least k.
    confidence : float in (0, 1), default=0.95
        The probability that the promise holds.
    auc : float in (0, 1), optional
        The expected AUC of the scorer.
    positive_rate : float in (0, 1), optional
        The expected share of positives among the new rows; needed with ``auc``.

    Raises
    ------
    ValueError
        If the list cannot be promised with any number of labelled negatives, or more than ten million are needed.

    Examples
    --------
    >>> print(plan_list(50, 0.8, n_new=1000))
    To promise that at least 40 of the first 50 of 1,000 new rows are positive, with 95 % confidence, you need at least
    574 labelled negatives, even for a scorer that ranks all positives first
    >>> plan_list(50, 0.8, n_new=1000, auc=0.98, positive_rate=0.1).n_neg
    1165
    """
    n_new = whole("n_new", n_new, at_least=1)
    k = whole("k", k, at_least=1)
    if k > n_new:
        raise ValueError(f"k must be at most n_new, the number of new rows, got k={k}, n_new={n_new}")
    asked = rate("precision", precision, above_zero=True)
    sure = check_confidence(confidence)
    if (auc is None) != (positive_rate is None):
        raise TypeError(f"auc and positive_rate must be given together, got auc={auc}, positive_rate={positive_rate}")
    most = k - promised_of(k, asked)

    def perfect(n_neg: int) -> bool:
        limits = precedence(n_neg, n_new, 1 - sure)
        return bool(np.any(limits.most <= most))

    enough = _smallest(perfect, 1, close=1.0)
    if auc is None:
        return ListPlan(enough, enough, k, asked, n_new, sure)
    if not 0 < (overlap := rate("auc", auc)) < 1:
        raise ValueError(f"auc must lie strictly between 0 and 1, got {auc!r}: normal scores overlap")
    positives = check_positive_rate(positive_rate)
    new, n_found = typical_list(n_new, k, overlap, positives)
    if n_found < k - most:
        raise ValueError(
            f"with normal scores, an AUC of {shown(overlap)} and {percent(positives)} positives, about {n_found:,} of "
            f"the first {k:,} of {n_new:,} new rows are positive, so {k - most:,} cannot be promised; use a smaller k "
            "or precision, or a better scorer"
        )

    def typical(n_neg: int) -> bool:
        rows = ListRows(normal_scores(n_neg), np.zeros(0), new, "same negatives", None, 0)
        return certificate_of(rows, sure).at_least(k) >= k - most

    return ListPlan(_smallest(typical, enough, close=_CLOSE), enough, k, asked, n_new, sure, overlap, positives)


def promised_of(k: int, precision: float) -> int:
    """Return the number of positives among the first k rows that gives at least this precision."""
    return ceil(share(precision, k))


def _smallest(suffices: Callable[[int], bool], start: int, *, close: float) -> int:
    """Return the smallest number from ``start`` that suffices, up to the factor ``close``."""
    too_few, enough = start - 1, start
    while not suffices(enough):
        if enough == MOST_NEGATIVES:
            raise ValueError(
                f"{MOST_NEGATIVES:,} labelled negatives are not enough to promise this list: how many of the new "
                "negatives rank high is random, even if their distribution is known; use a lower precision or "
                "confidence, or a better scorer"
            )
        too_few, enough = enough, min(2 * enough, MOST_NEGATIVES)
    while enough - too_few > 1 and enough > close * too_few:
        between = (too_few + enough) // 2
        too_few, enough = (too_few, between) if suffices(between) else (between, enough)
    return enough


def normal_scores(n: int) -> Vector:
    """Return normal scores at evenly spaced quantiles, in ascending order."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(n) + 0.5) / n))


def typical_list(n_new: int, k: int, auc: float, positive_rate: float) -> tuple[Vector, int]:
    """Return the scores of a typical batch of new rows, and the number of positives among the first k."""
    from scipy.special import ndtri

    n_pos = min(max(round(positive_rate * n_new), 1), n_new)
    new = np.concatenate([normal_scores(n_pos) + sqrt(2) * ndtri(auc), normal_scores(n_new - n_pos)])
    first = np.argsort(-new, kind="stable")[:k]
    return new, int(np.count_nonzero(first < n_pos))
