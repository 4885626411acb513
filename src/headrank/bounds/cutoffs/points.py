"""OperatingPoints: what flagging the rows above each threshold does, with exact intervals on demand.

Legend: pi is the share of positives, LR+ = TPR / FPR and LR- = (1 - TPR) / (1 - FPR) the likelihood ratios.

**Intervals.** At one threshold that was fixed before the rows were seen, the flagged positives are a binomial number of
all positives, and the flagged negatives of all negatives; if the rows are a random sample, the positives among the
flagged rows are, given how many are flagged, a binomial number too. So the limits of TPR, FPR, precision and NPV are
those of Clopper & Pearson (1934). The others are functions of several rates, monotone in each:

- LR+ and LR- of TPR and FPR: each end takes the end of either rate at half of its risk;
- ``lift = 1 / (pi + (1 - pi) / LR+)``, of TPR, FPR and pi: each at a third of its risk;
- with a given pi, ``precision = 1 / (1 + (1 - pi) / (pi LR+))``, ``NPV = 1 / (1 + pi / (1 - pi) LR-)`` and lift follow
  from the likelihood ratios alone.

An end fails with at most its risk (union bound). Each interval holds individually; a threshold that is picked because
of its numbers needs limits for all thresholds at once: `headrank.best_cutoff`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._format import percent
from headrank._numbers import inner_rate
from headrank._types import ArrayLike, Counts, Vector
from headrank.bounds.confidence import check_confidence
from headrank.bounds.inequalities.binomial import exact_limits
from headrank.bounds.interval import require_counts
from headrank.curve import RocCurve
from headrank.labels import check_scores, with_labels

RATES = ("tpr", "fpr", "precision", "npv", "lr_positive", "lr_negative", "lift")
"""What is computed at each threshold."""
Ends = tuple[Vector, Vector]


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoints:
    """What each threshold does: rates, predictive values, likelihood ratios; returned by `operating_points`.

    All are arrays of shape (n_thresholds,). What is not defined is NaN, and null in the frame: the precision if no row
    is flagged, the NPV if all are. A likelihood ratio is infinite if its denominator alone is 0.

    Attributes
    ----------
    thresholds : array
        A row is flagged if its score is at least this.
    tp, fp : arrays
        Flagged positives and negatives.
    n_pos, n_neg : int or float
        All positives and negatives, by weight.
    prevalence : float or None
        The share of positives of the population, if given; otherwise it is that of the sample.
    confidence : float or None
        Of each interval; None without intervals.
    """

    thresholds: Vector
    tp: Counts
    fp: Counts
    n_pos: float
    n_neg: float
    prevalence: float | None = None
    confidence: float | None = None

    def __len__(self) -> int:
        return self.thresholds.size

    @property
    def n_flagged(self) -> Counts:
        """Flagged rows."""
        return self.tp + self.fp

    @cached_property
    def tpr(self) -> Vector:
        """True positive rate: share of the positives that is flagged. Also called sensitivity or recall."""
        return np.asarray(self.tp / self.n_pos)

    @cached_property
    def fpr(self) -> Vector:
        """False positive rate: share of the negatives that is flagged; 1 - specificity."""
        return np.asarray(self.fp / self.n_neg)

    @cached_property
    def precision(self) -> Vector:
        """Share of positives among the flagged rows: the positive predictive value."""
        if self.prevalence is None:
            return _ratio(self.tp, self.n_flagged)
        return _precision(self.prevalence, self.lr_positive)

    @cached_property
    def npv(self) -> Vector:
        """Share of negatives among the rows that are not flagged: the negative predictive value."""
        if self.prevalence is None:
            return _ratio(self.n_neg - self.fp, self.n_pos + self.n_neg - self.n_flagged)
        return _npv(self.prevalence, self.lr_negative)

    @cached_property
    def lr_positive(self) -> Vector:
        """Positive likelihood ratio, TPR / FPR: by how much being flagged raises the odds of being positive."""
        return _ratio(self.tpr, self.fpr)

    @cached_property
    def lr_negative(self) -> Vector:
        """Negative likelihood ratio, (1 - TPR) / (1 - FPR): the same factor for not being flagged."""
        return _ratio(1 - self.tpr, 1 - self.fpr)

    @cached_property
    def lift(self) -> Vector:
        """Precision over the share of positives: how many times more positives than in as many random rows."""
        return self.precision / self._prevalence

    def interval(self, name: str) -> Ends:
        """Return both ends of the exact intervals of ``"tpr"``, ``"fpr"``, ``"precision"``, ``"npv"`` or the like.

        Each holds with the confidence, at one threshold that was fixed in advance, for any distribution.
        """
        if self.confidence is None:
            raise ValueError("these operating points have no intervals; pass confidence=0.95 to operating_points")
        if name not in RATES:
            raise ValueError(f"expected one of {', '.join(RATES)}, got {name!r}")
        low, high = getattr(self, f"_{name}_ends")((1 - self.confidence) / 2)
        undefined = np.isnan(getattr(self, name))
        return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)

    def to_frame(self) -> Any:
        """Return a polars data frame, one row per threshold; with intervals, two more columns for each rate."""
        with needs_extra("cli"):
            import polars as pl

        columns: dict[str, Any] = {"threshold": self.thresholds}
        for name in RATES:
            columns[name] = getattr(self, name)
            if self.confidence is not None:
                columns[f"{name}_low"], columns[f"{name}_high"] = self.interval(name)
        columns |= {"n_flagged": self.n_flagged, "tp": self.tp, "fp": self.fp}
        return pl.DataFrame(columns).fill_nan(None)

    def rows(self) -> Iterator[dict[str, float]]:
        """Return the rows of the frame as plain values, without polars; NaN where a rate is not defined."""
        columns = {"threshold": self.thresholds, **{name: getattr(self, name) for name in RATES}}
        columns |= {"n_flagged": self.n_flagged, "tp": self.tp, "fp": self.fp}
        for values in zip(*(column.tolist() for column in columns.values()), strict=True):
            yield dict(zip(columns, values, strict=True))

    def __repr__(self) -> str:
        ends = "no intervals" if self.confidence is None else f"exact {percent(self.confidence)} intervals"
        return (
            f"<OperatingPoints: {len(self):,} thresholds on {self.n_pos:,.8g} positives and {self.n_neg:,.8g} "
            f"negatives; {ends}>"
        )

    @property
    def _prevalence(self) -> float:
        return self.n_pos / (self.n_pos + self.n_neg) if self.prevalence is None else self.prevalence

    def _tpr_ends(self, risk: float) -> Ends:
        return exact_limits(self.tp, int(self.n_pos), risk)

    def _fpr_ends(self, risk: float) -> Ends:
        return exact_limits(self.fp, int(self.n_neg), risk)

    def _precision_ends(self, risk: float) -> Ends:
        if self.prevalence is None:
            return exact_limits(self.tp, self.n_flagged, risk)
        low, high = self._lr_positive_ends(risk)
        return _precision(self.prevalence, low), _precision(self.prevalence, high)

    def _npv_ends(self, risk: float) -> Ends:
        if self.prevalence is None:
            not_flagged = int(self.n_pos + self.n_neg) - self.n_flagged
            return exact_limits(int(self.n_neg) - self.fp, not_flagged, risk)
        low, high = self._lr_negative_ends(risk)
        return _npv(self.prevalence, high), _npv(self.prevalence, low)

    def _lr_positive_ends(self, risk: float) -> Ends:
        (low_tpr, high_tpr), (low_fpr, high_fpr) = self._tpr_ends(risk / 2), self._fpr_ends(risk / 2)
        return low_tpr / high_fpr, _ratio(high_tpr, low_fpr)  # an upper limit is never 0

    def _lr_negative_ends(self, risk: float) -> Ends:
        (low_tpr, high_tpr), (low_fpr, high_fpr) = self._tpr_ends(risk / 2), self._fpr_ends(risk / 2)
        return (1 - high_tpr) / (1 - low_fpr), _ratio(1 - low_tpr, 1 - high_fpr)

    def _lift_ends(self, risk: float) -> Ends:
        if self.prevalence is not None:
            low, high = self._lr_positive_ends(risk)
            shares: tuple[float, ...] = (self.prevalence,)
        else:
            low, high = self._lr_positive_ends(risk * 2 / 3)
            n = int(self.n_pos + self.n_neg)
            shares = tuple(float(end[0]) for end in exact_limits(np.array([int(self.n_pos)]), n, risk / 3))
        # Monotone in the share of positives: falling if LR+ is above 1, rising if it is below.
        lows, highs = ([_precision(share, ratio) / share for share in shares] for ratio in (low, high))
        return np.minimum.reduce(lows), np.maximum.reduce(highs)


def operating_points(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    prevalence: float | None = None,
    confidence: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    missing: str = "refuse",
) -> OperatingPoints:
    """Compute what flagging all rows above each threshold does. O(n log n).

    Intervals take about 0.1 ms per threshold, so with very many distinct scores pass the thresholds that matter.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1, -1/+1, bool, or any two values with ``pos_label``.
    scores : array-like of shape (n,)
        Finite numbers, higher = more positive.
    thresholds : array-like, optional
        A row is flagged if its score is at least the threshold; by default each distinct score, from the highest down.
    prevalence : float in (0, 1), optional
        The share of positives in the population, for precision, NPV and lift; by default that of the sample. Give it if
        the classes were sampled separately.
    confidence : float in (0, 1), optional
        Compute an interval of each rate with this confidence, valid for any distribution. It holds for one threshold
        that was fixed in advance; for one that is chosen on these rows see `best_cutoff`.
    sample_weight : array-like of shape (n,), optional
        Weight 2 is equivalent to repeating the row. No intervals with weights.
    pos_label : optional
        The label of the positive class in ``y``.
    missing : {"refuse", "drop"}
        What to do about missing labels: raise, or drop their rows, with a warning that says how many.

    Examples
    --------
    >>> points = operating_points([1, 0, 1, 1, 0, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], thresholds=[6, 5], confidence=0.9)
    >>> points.tpr.round(3), points.precision.round(3), points.lift.round(3)
    (array([0.667, 1.   ]), array([0.667, 0.75 ]), array([1.778, 2.   ]))
    >>> low, high = points.interval("tpr")
    >>> low.round(3), high.round(3)
    (array([0.135, 0.368]), array([0.983, 1.   ]))
    >>> points.to_frame().columns[:7]
    ['threshold', 'tpr', 'tpr_low', 'tpr_high', 'fpr', 'fpr_low', 'fpr_high']
    """
    share = None if prevalence is None else inner_rate("prevalence", prevalence)
    sure = None if confidence is None else check_confidence(confidence)
    y, scores, sample_weight = with_labels(missing, y, scores, sample_weight)
    curve = RocCurve.from_scores(y, scores, sample_weight, pos_label=pos_label)
    cuts = None if thresholds is None else check_scores(thresholds, "thresholds")
    return points_of_curve(curve, cuts, prevalence=share, confidence=sure)


def points_of_curve(
    curve: RocCurve,
    thresholds: Vector | None = None,
    *,
    prevalence: float | None = None,
    confidence: float | None = None,
) -> OperatingPoints:
    """Return the operating points of a whole curve; see `operating_points`. The arguments are not checked again."""
    if confidence is not None:
        require_counts(curve, "an exact interval")
    if thresholds is None:
        thresholds, levels = curve.scores, np.arange(1, curve.scores.size + 1)
    else:
        levels = np.searchsorted(-curve.scores.astype(np.float64), -thresholds.astype(np.float64), side="right")
    return OperatingPoints(
        thresholds, curve.tp[levels], curve.fp[levels], curve.n_pos, curve.n_neg, prevalence, confidence
    )


def _ratio(above: Any, below: Any) -> Vector:
    """Divide; infinite if only the denominator is 0, NaN if both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(above, below, dtype=np.float64))


def _precision(prevalence: float, lr_positive: Vector) -> Vector:
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 + (1 - prevalence) / (prevalence * lr_positive)))


def _npv(prevalence: float, lr_negative: Vector) -> Vector:
    return np.asarray(1 / (1 + prevalence / (1 - prevalence) * lr_negative))
