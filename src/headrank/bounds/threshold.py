"""Threshold: a score threshold that keeps a budget of false positives or alerts."""

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
from headrank.bounds.interval import about_heads, require_only_curve
from headrank.curve import RocCurve, share
from headrank.exceptions import ShallowHeadError, TooFewRowsError
from headrank.labels import Sample, check_binary, with_labels
from headrank.levels import Depth
from headrank.rows import Blocks
from headrank.score_blocks import ScoreBlocks, given_blocks, require_plain_rows

_ROUNDINGS = 16
"""Rounding errors of the largest score by which two computations of the same score may differ."""


@dataclass(frozen=True)
class Budget:
    """A limit on the FPR (``max_fpr``), on the share of rows flagged (``top``) or on their number (``alerts``).

    Attributes
    ----------
    kind : {"max_fpr", "top", "alerts"}
        What is limited.
    limit : float
        The limit: a rate, or for ``alerts`` a number of rows.
    out_of : int or None
        For ``alerts``, the size of the future batch.
    """

    kind: Literal["max_fpr", "top", "alerts"]
    limit: float
    out_of: int | None = None

    def allowed(self, n: int, risk: float) -> int:
        """Return how many of the n rows that set the threshold may lie above it; -1 if none can be certified."""
        if self.out_of is not None:
            return allowed_above_for_batch(n, self.out_of, int(self.limit), risk)
        # At a very low confidence, more rows might lie above than the budget allows on the sample itself.
        return min(allowed_above(n, self.limit, risk), floor(share(self.limit, n)))

    def rows_needed(self, risk: float) -> int:
        """Return the least number of rows that can certify a threshold: negatives for ``max_fpr``, else all rows."""
        if self.out_of is not None:
            return draws_needed_for_batch(self.out_of, int(self.limit), risk)
        return draws_needed(self.limit, risk)

    def depth(self, allowed: int) -> Depth:
        """Return the depth of a head that has the score just below the threshold."""
        return Depth(n_neg=allowed + 1) if self.kind == "max_fpr" else Depth(n_rows=allowed + 1)

    @property
    def promise(self) -> str:
        """The guarantee in words."""
        if self.kind == "max_fpr":
            return f"the false positive rate stays at or below {shown(self.limit)}"
        if self.kind == "top":
            return f"the share of rows flagged stays at or below {shown(self.limit)}"
        return f"at most {int(self.limit):,} of {self.out_of:,} new rows are flagged"

    def __str__(self) -> str:
        return f"{self.kind}={shown(self.limit)}" + (f", out_of={self.out_of}" if self.out_of is not None else "")


@dataclass(frozen=True, repr=False)
class Threshold:
    """A score threshold and its guarantees, returned by `threshold_at`.

    Attributes
    ----------
    value : float
        A row is flagged if its score is at least this.
    budget : Budget
        The limit that is kept with ``confidence``.
    confidence : float
        The probability that the budget is kept, and likewise for each of the bounds ``fpr_high`` and ``tpr_low``.
    fpr, fpr_high : float
        The false positive rate on the sample, and an upper bound on the true one, at most ``max_fpr`` if given.
    tpr, tpr_low : float
        The true positive rate on the sample, and a lower bound on the population's.
    precision : float or None
        Share of positives among the flagged rows of the sample; None if no row is flagged.
    n_flagged, n_pos, n_neg : int
        Flagged rows, positives and negatives in the sample.
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
        """The confidence that the budget is kept and ``tpr_low`` holds, simultaneously.

        For ``max_fpr`` it is the square of the confidence: the negatives set the threshold, and the bound from the
        positives, which are independent of them, holds at any threshold. Otherwise the risks add up.
        """
        return self.confidence**2 if self.budget.kind == "max_fpr" else max(2 * self.confidence - 1, 0.0)

    def flags(self, scores: ArrayLike) -> BoolVector:
        """Return which rows are flagged: those scoring at least ``value``."""
        # A NumPy float64: a Python float would be rounded to float32 before a comparison with float32 scores.
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
        return f"flag scores of at least {self.value!r}: {self.guarantee}"

    @property
    def guarantee(self) -> str:
        """What is guaranteed of the rows flagged, and how many there are on the sample, in words."""
        sure = f"with {percent(self.confidence)} confidence"
        n_fp = round(self.fpr * self.n_neg)
        fpr_high, tpr_low = rounded_up(self.fpr_high), rounded_down(self.tpr_low)
        return (
            f"{self.budget.promise} {sure}. On the sample it flags {n_fp:,} of "
            f"{self.n_neg:,} negatives (FPR {rounded(self.fpr)}; true FPR at most {fpr_high}) and "
            f"{self.n_flagged - n_fp:,} of {self.n_pos:,} positives (TPR {rounded(self.tpr)}; true TPR at least "
            f"{tpr_low}); each bound holds {sure}, budget and TPR bound together with {percent(self.joint_confidence)}"
        )

    def __repr__(self) -> str:
        return f"<Threshold: {self}>"


def threshold_at(
    y: ArrayLike | Blocks | RocCurve,
    scores: ArrayLike | None = None,
    *,
    max_fpr: float | None = None,
    top: float | None = None,
    alerts: int | None = None,
    out_of: int | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    missing: str = "refuse",
) -> Threshold:
    """Find the lowest threshold that keeps a budget on future rows, with a given confidence, for any distribution.

    Give exactly one budget. The number r of rows that may lie above the threshold is computed from the counts, the
    budget and the confidence alone; the threshold lies just above the (r + 1)-th highest score. O(n).

    - ``max_fpr=x``: the true false positive rate P(a negative scores >= value) is at most x. Set by the negatives only;
      r is the largest number with P(Bin(n_neg, x) <= r) <= 1 - confidence.
    - ``top=u``: the share P(a row scores >= value) of all rows is at most u. Set by all rows likewise.
    - ``alerts=k, out_of=n``: at most k of the next n rows are flagged. The confidence is over the sample *and* those
      rows; each batch needs its own threshold.

    *Theorem.* With T the (r + 1)-th highest score, P(P(S > T) >= x) <= P(Bin(n, x) <= r), and for batches the
    hypergeometric counterpart. The proofs, in `headrank.bounds.inequalities.binomial`, allow ties of any kind. The
    threshold is exact for continuous scores: no lower threshold chosen by rank has this confidence (except at very low
    confidences, where the budget itself limits the rows flagged on the sample).

    *Bounds on the rates.* For ``max_fpr``, ``fpr_high`` is the limit that r proves, at most x, and ``tpr_low`` is the
    Clopper-Pearson bound from the positives, for which a threshold set by the negatives is fixed in advance. For the
    other budgets all rows set the threshold, and both bounds come from tail limits that hold simultaneously at every
    threshold (`tail_limits`). Each holds with ``confidence``; `Threshold.joint_confidence` is for budget and TPR bound
    together.

    *Assumptions.* The rows (of each class for ``max_fpr``, otherwise all rows) are independent draws from the
    distribution of the future rows, and the scorer was not trained on them.

    Parameters
    ----------
    y : array-like of shape (n,), Blocks or RocCurve
        0/1, -1/+1, bool, or any two values with ``pos_label``. `Blocks` have labels and scores, as their only feature;
        the head of r + 1 rows is merged from those of the blocks. A curve may be a head that has so many rows; what is
        said below of the largest score then is about the head.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive. Not with Blocks or a curve. The threshold lies above the score by 16
        rounding errors of the largest score that sets it, so that a row tied with it is not flagged because it was
        scored in another batch.
    max_fpr, top : float in (0, 1), optional
        The budget as a rate.
    alerts : int, optional
        The budget as a number of flagged rows, less than ``out_of``.
    out_of : int, optional
        Size of the future batch for ``alerts``; by default the number of rows given.
    confidence : float, default=0.95
        The probability that the budget is kept.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.

    Returns
    -------
    Threshold
        Its ``value`` has the precision of the scores: for float32 scores it is a float32 number, so ``scores >= value``
        needs no rounding.

    Raises
    ------
    TooFewRowsError
        If no threshold has this confidence; the message says how many rows are needed. For ``max_fpr`` these are
        ln(1 - confidence) / ln(1 - max_fpr) negatives, rounded up.

    Examples
    --------
    >>> from headrank.datasets import Binormal
    >>> y, scores = Binormal(separation=2.0).sample_classes(200, 1000, random_state=0)
    >>> threshold = threshold_at(y, scores, max_fpr=0.05)
    >>> round(threshold.value, 4), round(threshold.fpr, 3), round(threshold.fpr_high, 4), round(threshold.tpr_low, 4)
    (1.7207, 0.038, 0.0495, 0.56)
    >>> threshold_at(RocCurve.from_scores(y, scores), max_fpr=0.05) == threshold
    True
    >>> threshold_at(y, scores, max_fpr=0.001)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    headrank.exceptions.TooFewRowsError: max_fpr=0.001 with 95 % confidence needs at least 2,995 negatives, but
    there are 1,000; ...
    """
    confidence = check_confidence(confidence)
    if isinstance(y, RocCurve):
        require_only_curve("threshold_at", scores=scores, pos_label=pos_label)
        y.require_both_classes()
        if y.weighted:
            raise ValueError(
                "threshold_at expects a curve of unweighted rows, got one with weights; omit sample_weight"
            )
        budget = _checked_budget(max_fpr, top, alerts, out_of, int(y.n))
        with about_heads():
            return _threshold_on(y, budget, _allowed(budget, confidence, y.n_pos, y.n_neg), confidence)
    blocks = given_blocks(y, scores, what="threshold_at", missing=missing)
    if blocks is not None:
        rows = ScoreBlocks.of(require_plain_rows("threshold_at", blocks), pos_label)
        budget = _checked_budget(max_fpr, top, alerts, out_of, rows.n_pos + rows.n_neg)
        return _threshold_over(rows, budget, confidence)
    y, scores = with_labels(missing, y, scores)
    sample = check_binary(y, scores, pos_label=pos_label).require_both_classes()
    budget = _checked_budget(max_fpr, top, alerts, out_of, sample.scores.size)
    return threshold_for(sample, budget, confidence, half=np.asarray(scores).dtype == np.float16)


def threshold_for(
    sample: Sample, budget: Budget, confidence: float, *, curve: RocCurve | None = None, half: bool = False
) -> Threshold:
    """Find the threshold on a checked sample, which may have a curve; see `threshold_at`. ``half``: float16 scores."""
    allowed = _allowed(budget, confidence, sample.n_pos, sample.n_neg)
    pool = sample.scores[~sample.positive] if budget.kind == "max_fpr" else sample.scores
    largest = float(max(pool.max(), -pool.min()))
    head = RocCurve.of_sample(sample, budget.depth(allowed)) if curve is None else curve
    return _threshold_on(head, budget, allowed, confidence, largest, half=half)


def _threshold_over(rows: ScoreBlocks, budget: Budget, confidence: float) -> Threshold:
    """Find the threshold on Blocks of scores."""
    allowed = _allowed(budget, confidence, rows.n_pos, rows.n_neg)
    head = rows.head(budget.depth(allowed))
    largest = head.largest_neg if budget.kind == "max_fpr" else max(head.largest_neg, head.largest_pos)
    return _threshold_on(head.curve, budget, allowed, confidence, largest)


def _allowed(budget: Budget, confidence: float, n_pos: float, n_neg: float) -> int:
    """Return how many of the rows that set the threshold may lie above it, or raise if none can be certified."""
    n = int(n_neg if budget.kind == "max_fpr" else n_pos + n_neg)
    allowed = budget.allowed(n, 1 - confidence)
    if allowed < 0:
        raise _too_few_rows(budget, confidence, n)
    return allowed


def _threshold_on(
    curve: RocCurve,
    budget: Budget,
    allowed: int,
    confidence: float,
    largest: float | None = None,
    *,
    half: bool = False,
) -> Threshold:
    """Find the threshold on a curve or its head; ``largest`` is the largest absolute score below the head, too."""
    counts = curve.neg if budget.kind == "max_fpr" else curve.neg + curve.pos
    pool, ranks = curve.scores[counts > 0], np.cumsum(counts[counts > 0])
    level = int(np.searchsorted(ranks, allowed + 1))
    if level == ranks.size:
        rows = "negatives" if budget.kind == "max_fpr" else "rows"
        found = int(ranks[-1]) if ranks.size else 0
        raise ShallowHeadError(
            f"{budget} needs the {allowed + 1:,} highest {rows}, but this head has {found:,}; use a deeper head"
        )
    if half:  # converted to float32 on input; a float16 comparison would round its numbers
        pool = pool.astype(np.float16)
    value = _just_above(pool[level], pool[:level], np.abs(pool).max() if largest is None else largest)
    return _described(curve, value, allowed, budget, confidence)


def _described(curve: RocCurve, value: float, allowed: int, budget: Budget, confidence: float) -> Threshold:
    n_levels = int(np.count_nonzero(curve.scores >= np.float64(value)))
    n_pos, n_neg = int(curve.n_pos), int(curve.n_neg)
    tp, fp = int(curve.tp[n_levels]), int(curve.fp[n_levels])
    tpr, fpr = tp / n_pos, fp / n_neg
    if budget.kind == "max_fpr":
        fpr_high = clopper_pearson(allowed, n_neg, 1 - confidence)[1]
        tpr_low = clopper_pearson(tp, n_pos, 1 - confidence)[0]
    else:
        fpr_high = float(tail_limits(n_neg, risk=1 - confidence, side="upper", method="tail").upper(fp))
        tpr_low = float(tail_limits(n_pos, risk=1 - confidence, side="lower", method="tail").lower(tp))
    return Threshold(
        value=value,
        budget=budget,
        confidence=confidence,
        fpr=fpr,
        # At a very low confidence a bound may lie on the wrong side of the estimate, which is then a bound too.
        fpr_high=max(fpr_high, fpr),
        tpr=tpr,
        tpr_low=min(tpr_low, tpr),
        precision=tp / (tp + fp) if tp + fp else None,
        n_flagged=tp + fp,
        n_pos=n_pos,
        n_neg=n_neg,
    )


def _just_above(score: Any, higher: Vector, largest: Any) -> float:
    """Return a number just above a score, in its own precision.

    The margin allows for rounding when rows are scored again, in another batch or order of additions. It is at most
    half way to the next of the higher scores, which descend, and never subnormal, which some hardware treats as 0.
    """
    kind, own = np.finfo(score.dtype), score.dtype.type
    with np.errstate(over="ignore"):
        margin = _ROUNDINGS * kind.eps * own(largest)
        half_way = score + (higher[-1] - score) / 2 if higher.size else own(inf)
        return float(max(np.nextafter(score, own(inf)), min(score + margin, half_way), score + kind.tiny))


def _checked_budget(max_fpr: Any, top: Any, alerts: Any, out_of: Any, n_rows: int) -> Budget:
    given = {"max_fpr": max_fpr, "top": top, "alerts": alerts}
    kinds = [kind for kind, limit in given.items() if limit is not None]
    if len(kinds) != 1:
        received = " and ".join(kinds) if kinds else "none of them"
        raise TypeError(f"threshold_at takes exactly one of max_fpr, top and alerts, got {received}")
    if alerts is not None:
        batch = n_rows if out_of is None else whole("out_of", out_of, at_least=1)
        count = whole("alerts", alerts)
        if count >= batch:
            raise ValueError(f"alerts must be less than out_of, got alerts={count}, out_of={batch}; use fewer alerts")
        return Budget("alerts", count, batch)
    if out_of is not None:
        raise TypeError(f"out_of applies to alerts only, got it with {kinds[0]}, which is a rate; omit out_of")
    if max_fpr is not None:
        return Budget("max_fpr", open_rate("max_fpr", max_fpr))
    return Budget("top", open_rate("top", top))


def open_rate(name: str, value: Any) -> float:
    """Return the rate as a float strictly between 0 and 1, or raise: every threshold keeps 1, none keeps 0."""
    return inner_rate(name, value)


def _too_few_rows(budget: Budget, confidence: float, n: int) -> TooFewRowsError:
    needed = budget.rows_needed(1 - confidence)
    rows = "negatives" if budget.kind == "max_fpr" else "rows"
    return TooFewRowsError(
        f"{budget} with {percent(confidence)} confidence needs at least {needed:,} {rows}, but there are {n:,}; "
        "use more rows, a larger budget or a lower confidence",
        needed,
        n,
    )
