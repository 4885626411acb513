"""Threshold: from which score on to act, so that a budget of false positives or of alerts is kept."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf
from typing import Any, Literal

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent, rounded, rounded_down, rounded_up, shown
from headrank._numbers import inner_rate, whole
from headrank._types import ArrayLike, BoolVector, Vector
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.binomial import (
    allowed_above,
    allowed_above_for_batch,
    clopper_pearson,
    draws_needed,
    draws_needed_for_batch,
)
from headrank.bounds.inequalities.tail_limits import tail_limits
from headrank.curve import share
from headrank.exceptions import TooFewRowsError
from headrank.labels import Sample, check_binary

_ROUNDINGS = 16
"""How many roundings of the largest score may separate two computations of the same score."""


@dataclass(frozen=True)
class Budget:
    """The limit: the FPR (``max_fpr``), the share of rows flagged (``top``) or the number (``alerts``).

    Attributes
    ----------
    kind : {"max_fpr", "top", "alerts"}
        What is limited.
    limit : float
        The limit: a rate, or for ``alerts`` a number of rows.
    out_of : int or None
        For ``alerts``, the size of the batch to come.
    """

    kind: Literal["max_fpr", "top", "alerts"]
    limit: float
    out_of: int | None = None

    def allowed(self, n: int, risk: float) -> int:
        """How many of the n rows that choose the threshold may lie above it, or -1 for none and no threshold."""
        if self.out_of is not None:
            return allowed_above_for_batch(n, self.out_of, int(self.limit), risk)
        # With hardly any confidence, more rows might lie above than the budget allows on the sample itself.
        return min(allowed_above(n, self.limit, risk), floor(share(self.limit, n)))

    def rows_needed(self, risk: float) -> int:
        """How many rows are needed for a threshold at all: negatives for ``max_fpr``, else rows of both classes."""
        if self.out_of is not None:
            return draws_needed_for_batch(self.out_of, int(self.limit), risk)
        return draws_needed(self.limit, risk)

    @property
    def promise(self) -> str:
        """What is kept, in words."""
        if self.kind == "max_fpr":
            return f"the false positive rate stays at or below {shown(self.limit)}"
        if self.kind == "top":
            return f"the share of rows flagged stays at or below {shown(self.limit)}"
        return f"of {self.out_of:,} new rows at most {int(self.limit):,} are flagged"

    def __str__(self) -> str:
        return f"{self.kind}={shown(self.limit)}" + (f", out_of={self.out_of}" if self.out_of is not None else "")


@dataclass(frozen=True, repr=False)
class Threshold:
    """A score from which on to act, and what is known of acting so. Made by `threshold_at`.

    Attributes
    ----------
    value : float
        A row is flagged when it scores at least this.
    budget : Budget
        What is kept, with ``confidence``.
    confidence : float
        The probability with which the budget is kept, and with which each of ``fpr_high`` and ``tpr_low`` is right.
    fpr, fpr_high : float
        The false positive rate on the sample, and an upper bound of the true one; never above a ``max_fpr``.
    tpr, tpr_low : float
        The true positive rate on the sample, and a lower bound of the true one.
    precision : float or None
        Share of positives among the flagged rows of the sample, so at its share of positives; None if none is flagged.
    n_flagged, n_pos, n_neg : int
        Rows of the sample that are flagged, its positives and its negatives.
    """

    value: float
    budget: Budget
    confidence: float
    fpr: float
    fpr_high: float
    tpr: float
    tpr_low: float
    precision: float | None
    n_flagged: int
    n_pos: int
    n_neg: int

    @property
    def joint_confidence(self) -> float:
        """The confidence that the budget is kept and ``tpr_low`` is right, both at once.

        For ``max_fpr`` the square of the confidence: whatever threshold the negatives have chosen, the bound from the
        positives, which are independent of them, is right with that confidence. Else the risks add up.
        """
        return self.confidence**2 if self.budget.kind == "max_fpr" else max(2 * self.confidence - 1, 0.0)

    def flags(self, scores: ArrayLike) -> BoolVector:
        """Say which rows to act on: those scoring at least ``value``."""
        # As a NumPy float64, since a Python float would be rounded to float32 before it is compared with float32
        # scores.
        result: BoolVector = np.asarray(scores) >= np.float64(self.value)
        return result

    def to_frame(self) -> Any:
        """Return the threshold as a polars data frame of one row."""
        with needs_extra("cli"):
            import polars as pl

        return pl.DataFrame([self.as_dict()])

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values, the budget as kind, limit and batch size."""
        budget = {"budget": self.budget.kind, "limit": self.budget.limit, "out_of": self.budget.out_of}
        rest = {name: value for name, value in vars(self).items() if name not in ("value", "budget")}
        return {"value": self.value, **budget, **rest, "joint_confidence": self.joint_confidence}

    def __str__(self) -> str:
        sure = f"with {percent(self.confidence)} confidence"
        n_fp = round(self.fpr * self.n_neg)
        fpr_high, tpr_low = rounded_up(self.fpr_high), rounded_down(self.tpr_low)
        return (
            f"flag scores of at least {self.value!r}: {self.budget.promise} {sure}. On the sample it flags {n_fp:,} of "
            f"{self.n_neg:,} negatives (FPR {rounded(self.fpr)}; the true one is at most {fpr_high}) and "
            f"{self.n_flagged - n_fp:,} of {self.n_pos:,} positives (TPR {rounded(self.tpr)}; the true one is at least "
            f"{tpr_low}), each bound {sure}; budget and TPR together {percent(self.joint_confidence)}"
        )

    def __repr__(self) -> str:
        return f"<Threshold: {self}>"


def threshold_at(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    max_fpr: float | None = None,
    top: float | None = None,
    alerts: int | None = None,
    out_of: int | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
) -> Threshold:
    """Find the lowest threshold that keeps a budget on rows to come, with a given confidence, for any distribution.

    Exactly one budget is given. A number r of rows that may lie above the threshold is computed from the counts, the
    budget and the confidence alone; the threshold is a hair above the score of row r + 1. O(n).

    - ``max_fpr=x``: the true false positive rate P(a negative scores >= value) is at most x. Among negatives only; r is
      the largest number with P(Bin(n_neg, x) <= r) <= 1 - confidence.
    - ``top=u``: the share P(a row scores >= value) of all rows is at most u. The same among all rows.
    - ``alerts=k, out_of=n``: of the next n rows at most k are flagged. The confidence is over the sample *and* those
      rows; for another batch it is needed anew.

    *Theorem.* With T the score of row r + 1, P(P(S > T) >= x) <= P(Bin(n, x) <= r), and for batches the hypergeometric
    counterpart; proofs that need no continuity, so hold with ties of any kind, are in
    `headrank.bounds.inequalities.binomial`. It is exact for continuous scores: no lower threshold chosen by rank has
    this confidence (but for the least confidences, where the budget itself caps the rows that are flagged on the
    sample).

    *Bounds of the rates.* For ``max_fpr``, ``fpr_high`` is the limit that r proves, at most x, and ``tpr_low`` is the
    Clopper-Pearson bound of the positives, for which a threshold that the negatives have chosen is fixed in advance.
    For the other budgets all rows choose the threshold, and both bounds come from limits of the tail that hold at
    every threshold at once (`tail_limits`). Each is right with ``confidence`` by itself; `Threshold.joint_confidence`
    is that of budget and TPR together.

    *Assumptions.* The rows, of each class for ``max_fpr`` and all of them else, are independent draws from the
    distribution of the rows to come, and the scorer was not trained on them.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive. The hair is 16 roundings of the largest score among those that choose
        the threshold, so that a row that ties with row r + 1 is not flagged because it was scored in another batch.
    max_fpr, top : float in (0, 1), optional
        Budget as a rate.
    alerts : int, optional
        Budget as a number of flagged rows, below ``out_of``.
    out_of : int, optional
        Size of the batch that ``alerts`` is about; by default as many rows as these.
    confidence : float, default=0.95
        The probability with which the budget is kept.
    pos_label : optional
        The value of ``y`` that means positive.

    Returns
    -------
    Threshold
        Its ``value`` is a number of the scores' own precision: of float32 scores, float32 holds it without
        rounding, so that ``scores >= value`` means the same there.

    Raises
    ------
    TooFewRowsError
        If no threshold has this confidence; it says how many rows are needed. For ``max_fpr`` these are
        ln(1 - confidence) / ln(1 - max_fpr) negatives, rounded up.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0).sample_classes(200, 1000, random_state=0)
    >>> threshold = threshold_at(y, scores, max_fpr=0.05)
    >>> round(threshold.value, 4), round(threshold.fpr, 3), round(threshold.fpr_high, 4), round(threshold.tpr_low, 4)
    (1.7207, 0.038, 0.0495, 0.56)
    >>> threshold_at(y, scores, max_fpr=0.001)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    headrank.exceptions.TooFewRowsError: max_fpr=0.001 with 95 % confidence needs at least 2,995 negatives, but
    there are 1,000: ...
    """
    confidence = check_confidence(confidence)
    sample = check_binary(y, scores, pos_label=pos_label).require_both_classes()
    budget = _checked_budget(max_fpr, top, alerts, out_of, sample.scores.size)
    return threshold_for(sample, budget, confidence, half=np.asarray(scores).dtype == np.float16)


def threshold_for(sample: Sample, budget: Budget, confidence: float, *, half: bool = False) -> Threshold:
    """Find the threshold on a checked sample; see `threshold_at`. ``half`` says that the scores came as float16."""
    pool = sample.scores[~sample.positive] if budget.kind == "max_fpr" else sample.scores
    allowed = budget.allowed(pool.size, 1 - confidence)
    if allowed < 0:
        raise _too_few_rows(budget, confidence, pool.size)
    if half:  # came in as float32, whose numbers float16 would round when it compares
        pool = pool.astype(np.float16)
    value = _just_above(np.partition(pool, pool.size - allowed - 1)[pool.size - allowed - 1], pool)
    return _described(sample, value, allowed, budget, confidence)


def _described(sample: Sample, value: float, allowed: int, budget: Budget, confidence: float) -> Threshold:
    flagged = sample.scores >= np.float64(value)
    n_pos, n_neg = int(sample.n_pos), int(sample.n_neg)
    n_flagged, tp = int(np.count_nonzero(flagged)), int(np.count_nonzero(flagged & sample.positive))
    tpr, fpr = tp / n_pos, (n_flagged - tp) / n_neg
    if budget.kind == "max_fpr":
        fpr_high = clopper_pearson(allowed, n_neg, 1 - confidence)[1]
        tpr_low = clopper_pearson(tp, n_pos, 1 - confidence)[0]
    else:
        fpr_high = float(tail_limits(n_neg, risk=1 - confidence, side="upper", method="tail").upper(n_flagged - tp))
        tpr_low = float(tail_limits(n_pos, risk=1 - confidence, side="lower", method="tail").lower(tp))
    return Threshold(
        value=value,
        budget=budget,
        confidence=confidence,
        fpr=fpr,
        # With hardly any confidence a bound may lie on the wrong side of the estimate; the estimate is then a bound
        # too.
        fpr_high=max(fpr_high, fpr),
        tpr=tpr,
        tpr_low=min(tpr_low, tpr),
        precision=tp / n_flagged if n_flagged else None,
        n_flagged=n_flagged,
        n_pos=n_pos,
        n_neg=n_neg,
    )


def _just_above(score: Any, pool: Vector) -> float:
    """Return a number a hair above a score, in its own precision.

    By the rounding that rows scored anew, in another batch or order of additions, may suffer; but no farther than
    half way to the next score, and not by a subnormal number, which some hardware takes for 0.
    """
    kind = np.finfo(score.dtype)
    higher = pool[pool > score]
    with np.errstate(over="ignore"):
        hair = _ROUNDINGS * kind.eps * np.abs(pool).max()
        half_way = score + (higher.min() - score) / 2 if higher.size else score.dtype.type(inf)
        return float(max(np.nextafter(score, score.dtype.type(inf)), min(score + hair, half_way), score + kind.tiny))


def _checked_budget(max_fpr: Any, top: Any, alerts: Any, out_of: Any, n_rows: int) -> Budget:
    given = {"max_fpr": max_fpr, "top": top, "alerts": alerts}
    kinds = [kind for kind, limit in given.items() if limit is not None]
    if len(kinds) != 1:
        came = " and ".join(kinds) if kinds else "none of them"
        raise TypeError(f"threshold_at keeps one budget: give max_fpr, top or alerts, got {came}")
    if alerts is not None:
        batch = n_rows if out_of is None else whole("out_of", out_of, at_least=1)
        count = whole("alerts", alerts)
        if count >= batch:
            raise ValueError(f"alerts must be fewer than out_of, got {count} of {batch}: every threshold keeps that")
        return Budget("alerts", count, batch)
    if out_of is not None:
        raise TypeError(f"out_of is the size of the batch that alerts is about; {kinds[0]} is a rate and needs none")
    if max_fpr is not None:
        return Budget("max_fpr", open_rate("max_fpr", max_fpr))
    return Budget("top", open_rate("top", top))


def open_rate(name: str, value: Any) -> float:
    """Return the rate as a float strictly between 0 and 1, or refuse: at 1 any threshold keeps it, at 0 none."""
    return inner_rate(name, value)


def _too_few_rows(budget: Budget, confidence: float, n: int) -> TooFewRowsError:
    needed = budget.rows_needed(1 - confidence)
    rows = "negatives" if budget.kind == "max_fpr" else "rows"
    return TooFewRowsError(
        f"{budget} with {percent(confidence)} confidence needs at least {needed:,} {rows}, but there are {n:,}: even "
        "the highest of them proves nothing about so small a share; use more rows, a larger budget or less confidence",
        needed,
        n,
    )
