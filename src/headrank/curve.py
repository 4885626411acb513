"""RocCurve: the number of positives and negatives at each distinct score, and the rates and areas that follow.

The curve is the polyline through the points (FPR, TPR) at the distinct scores. A tie between classes is a slanted
segment; see ``docs/ties.md``. Measures, plots and bounds read the curve and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from headrank._extras import needs_extra
from headrank._numbers import count, ordered, rate, real, short_repr
from headrank._types import ArrayLike, Counts, Vector
from headrank.exceptions import OneClassError, ShallowHeadError
from headrank.labels import Sample, check_binary, with_labels
from headrank.levels import Depth, FirstRows, bends, head_of, levels_of, starts_of_runs, sums_of_runs
from headrank.levels import share as share
from headrank.levels import shares as shares


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve:
    """An empirical ROC curve or its head, made by `from_scores` or `head_from_scores`.

    Attributes
    ----------
    scores : array of shape (n_levels,)
        The distinct scores, descending. Scores are compared exactly, without a tolerance.
    pos, neg : arrays of shape (n_levels,)
        Positives and negatives at each score: counts, or sums of weights.
    n_pos, n_neg : int or float
        All positives and negatives of the sample, above and below the floor.
    floor : float
        All rows that score at least this are included; of the others only the number is known. -inf for a whole curve.
    weighted : bool
        Whether the counts are sums of weights.

    Examples
    --------
    >>> curve = RocCurve.from_scores([1, 0, 1, 0], [4, 3, 2, 1])
    >>> curve.tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    >>> curve.area(max_fpr=0.5)
    0.25
    """

    scores: Vector
    pos: Counts
    neg: Counts
    n_pos: float
    n_neg: float
    floor: float = -inf
    weighted: bool = False

    def __post_init__(self) -> None:
        # Sums of weights depend on the order of summation; the rates of a whole curve must end at exactly 1.
        if self.weighted and self.complete and self.scores.size:
            object.__setattr__(self, "n_pos", float(np.cumsum(self.pos)[-1]))
            object.__setattr__(self, "n_neg", float(np.cumsum(self.neg)[-1]))

    # -- making ------------------------------------------------------------------------------------------------

    @classmethod
    def from_scores(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
        missing: str = "refuse",
    ) -> RocCurve:
        """Compute the whole curve of a sample with both classes. O(n log n), one sort.

        Parameters
        ----------
        y : array-like of shape (n,)
            0/1, -1/+1, bool, or any two values with ``pos_label``.
        scores : array-like of shape (n,)
            Finite numbers, higher = more positive.
        sample_weight : array-like of shape (n,), optional
            Weight 2 is equivalent to repeating the row.
        pos_label : optional
            The label of the positive class in ``y``.
        missing : {"refuse", "drop"}
            What to do about missing labels: raise, or drop their rows, with a warning that says how many.
        """
        y, scores, sample_weight = with_labels(missing, y, scores, sample_weight)
        return cls.of_sample(check_binary(y, scores, sample_weight, pos_label=pos_label).require_both_classes())

    @classmethod
    def head_from_scores(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
        n_neg: float = 0,
        n_pos: float = 0,
        n_rows: float = 0,
    ) -> RocCurve:
        """Compute the head of a sample, or of a block of a larger one. O(n), plus a sort of the head only.

        The head reaches down to the ``n_neg``-th negative, the ``n_pos``-th positive and the ``n_rows``-th row,
        whichever is lowest, and includes all rows tied with it. Unlike a whole sample, a block may contain a single
        class; reading the curve raises `OneClassError` until the other class is merged in.

        >>> blocks = [([0, 1], [0.9, 0.8]), ([0, 0], [0.7, 0.1]), ([1, 0], [0.4, 0.2])]
        >>> heads = (RocCurve.head_from_scores(y, s, n_neg=2) for y, s in blocks)
        >>> from functools import reduce
        >>> head = reduce(RocCurve.merge, heads).head(n_neg=2)
        >>> head
        <RocCurve: 2 positives, 4 negatives; head of 3 distinct scores down to 0.7, FPR 0.5>
        >>> head.area(max_fpr=0.5)
        0.125
        """
        sample = check_binary(y, scores, sample_weight, pos_label=pos_label)
        depth = _checked_depth(n_neg, n_pos, n_rows)
        if sample.weights is None and any(n % 1 for n in (depth.n_neg, depth.n_pos, depth.n_rows) if n < inf):
            raise ValueError(f"the depth of a head counts rows, so it must be given as whole numbers, got {depth}")
        return cls.of_sample(sample, depth)

    @classmethod
    def of_sample(cls, sample: Sample, depth: Depth | None = None) -> RocCurve:
        """Compute the curve, or its head, of a checked sample."""
        kept, lowest = (sample, -inf) if depth is None else head_of(sample, depth)
        scores, pos, neg = levels_of(kept)
        return cls(scores, pos, neg, sample.n_pos, sample.n_neg, lowest, weighted=sample.weights is not None)

    def merge(self, other: RocCurve) -> RocCurve:
        """Merge the curves of two disjoint sets of rows. Exact and associative; linear in the two lengths.

        The result equals `from_scores` on all rows together, down to the higher of the two floors. Counts are exact;
        sums of fractional weights are exact up to rounding.
        """
        if not isinstance(other, RocCurve):
            raise TypeError(f"can only merge with another RocCurve, got {short_repr(other)}")
        lowest = max(self.floor, other.floor)
        ends = [int(np.count_nonzero(curve.scores >= lowest)) for curve in (self, other)]
        scores = np.concatenate([self.scores[: ends[0]], other.scores[: ends[1]]])
        order = np.argsort(-scores, kind="stable")  # two sorted runs: one linear merge
        scores = scores[order]
        starts = starts_of_runs(scores)
        pos, neg = (
            sums_of_runs(np.concatenate([one[: ends[0]], another[: ends[1]]])[order], starts)
            for one, another in ((self.pos, other.pos), (self.neg, other.neg))
        )
        n_pos, n_neg = self.n_pos + other.n_pos, self.n_neg + other.n_neg
        return RocCurve(scores[starts], pos, neg, n_pos, n_neg, lowest, self.weighted or other.weighted)

    def head(self, n_neg: float = 0, *, n_pos: float = 0, n_rows: float = 0) -> RocCurve:
        """Return the head with at least this many negatives, positives and rows, including all rows tied with the last.

        Reading below its depth raises `ShallowHeadError`. `head_from_scores` makes one without a full sort.
        """
        depth = _checked_depth(n_neg, n_pos, n_rows)
        last = 0
        for wanted, reached, total in (
            (depth.n_neg, self.fp, self.n_neg),
            (depth.n_pos, self.tp, self.n_pos),
            (depth.n_rows, self.fp + self.tp, self.n),
        ):
            needed = self._snapped(min(wanted, total), reached)
            if needed > reached[-1]:
                raise ShallowHeadError(f"cannot take a head of depth {wanted:g} from a head of depth {reached[-1]:g}")
            last = max(last, self.scores.size if wanted >= total else int(np.searchsorted(reached, needed)))
        if last >= self.scores.size:
            return self
        cut = slice(0, last)
        lowest = float(self.scores[last - 1])
        return RocCurve(self.scores[cut], self.pos[cut], self.neg[cut], self.n_pos, self.n_neg, lowest, self.weighted)

    def constant(self) -> RocCurve:
        """Return the curve of a constant score on the same numbers of positives and negatives."""
        pos, neg = (
            np.array([total], dtype=kind.dtype) for total, kind in ((self.n_pos, self.pos), (self.n_neg, self.neg))
        )
        return RocCurve(np.zeros(1), pos, neg, self.n_pos, self.n_neg, weighted=self.weighted)

    # -- the polyline ------------------------------------------------------------------------------------------

    @property
    def n(self) -> float:
        """Number of rows, by weight."""
        return self.n_pos + self.n_neg

    @property
    def positive_rate(self) -> float:
        """The share of positives among all rows."""
        return self.n_pos / self.n

    @property
    def complete(self) -> bool:
        """Whether this is the whole curve, not only its head."""
        return self.floor == -inf

    @cached_property
    def fp(self) -> Counts:
        """Negatives scoring at least each threshold; starts with 0."""
        return self._cumulated(self.neg, self.n_neg)

    @cached_property
    def tp(self) -> Counts:
        """Positives scoring at least each threshold; starts with 0."""
        return self._cumulated(self.pos, self.n_pos)

    @property
    def fpr(self) -> Vector:
        """False positive rate at each threshold, from 0 up."""
        self.require_both_classes()
        return np.asarray(self.fp / self.n_neg)

    @property
    def tpr(self) -> Vector:
        """True positive rate at each threshold, from 0 up."""
        self.require_both_classes()
        return np.asarray(self.tp / self.n_pos)

    @property
    def thresholds(self) -> Vector:
        """A row is classified as positive if it scores at least this: infinity, then the distinct scores."""
        return np.concatenate([np.array([np.inf], dtype=self.scores.dtype), self.scores])

    # -- reading -----------------------------------------------------------------------------------------------

    def mean_tpr(self, *, min_fpr: float = 0.0, max_fpr: float = 1.0) -> float:
        """Mean true positive rate over a range of false positive rates, in [0, 1]. O(levels in the range).

        The polyline is interpolated exactly: a range that ends between two negatives counts one of them in part.
        """
        self.require_both_classes()
        min_fpr, max_fpr = ordered("fpr", min_fpr, max_fpr)
        left, right = share(min_fpr, self.n_neg), self._snapped(share(max_fpr, self.n_neg), self.fp)
        self._require(right <= self.fp[-1], f"the area up to FPR {max_fpr:g}")
        first = int(np.searchsorted(self.fp, left, side="right"))
        last = int(np.searchsorted(self.fp, right, side="left"))
        start, end = self._tp_after(left), self._tp_before(right)
        if right <= left:  # narrower than the rounding of sums of weights
            return start / self.n_pos
        if first >= last:  # both ends on one segment
            area = (right - left) * (start + end) / 2
        else:
            area = (self.fp[first] - left) * (start + self.tp[first]) / 2
            area += self._pairs(first, last - 1)
            area += (right - self.fp[last - 1]) * (self.tp[last - 1] + end) / 2
        return min(float(area) / (self.n_pos * (right - left)), 1.0)

    def area(self, *, min_fpr: float = 0.0, max_fpr: float = 1.0) -> float:
        """Area under the curve between two false positive rates, at most ``max_fpr - min_fpr``."""
        return self.mean_tpr(min_fpr=min_fpr, max_fpr=max_fpr) * (max_fpr - min_fpr)

    def tpr_at(self, fpr: float) -> float:
        """Highest true positive rate whose false positive rate is at most ``fpr``. O(log n_levels) once counted.

        Inside a tie between the classes, this is the rate of the classifier that breaks the tie at random.
        """
        self.require_both_classes()
        fpr = rate("fpr", fpr)
        fp = self._snapped(share(fpr, self.n_neg), self.fp)
        self._require(fp < self.fp[-1], f"the TPR at FPR {fpr:g}")
        return self._tp_after(fp) / self.n_pos

    def fpr_at(self, tpr: float) -> float:
        """Lowest false positive rate whose true positive rate is at least ``tpr``. O(log n_levels) once counted."""
        self.require_both_classes()
        tpr = rate("tpr", tpr)
        tp = self._snapped(share(tpr, self.n_pos), self.tp)
        self._require(tp <= self.tp[-1], f"the FPR at TPR {tpr:g}")
        i = int(np.searchsorted(self.tp, tp, side="left"))
        if i == 0:
            return 0.0
        missing = self.tp[i] - tp
        return float(self.fp[i] - missing * self.neg[i - 1] / self.pos[i - 1]) / self.n_neg

    def first(self, n_rows: float) -> FirstRows:
        """Count positives, negatives and ordered pairs among the first ``n_rows`` rows.

        Rows tied at the end count in part, and so does the last row if ``n_rows`` is not a whole number.
        """
        self.require_both_classes()
        rows = self.fp + self.tp
        n_rows = self._snapped(real("n_rows", n_rows), rows)
        if not 0 <= n_rows <= self.n:
            raise ValueError(f"n_rows must lie between 0 and the {self.n:g} rows of the sample, got {n_rows:g}")
        self._require(n_rows <= rows[-1], f"the first {n_rows:g} rows")
        i = int(np.searchsorted(rows, n_rows, side="right")) - 1
        whole = FirstRows(float(self.tp[i]), float(self.fp[i]), self._pairs(0, i))
        if i == self.scores.size or n_rows == rows[i]:
            return whole
        part = (n_rows - rows[i]) / (self.pos[i] + self.neg[i])
        pos, neg = float(part * self.pos[i]), float(part * self.neg[i])
        return FirstRows(whole.tp + pos, whole.fp + neg, whole.pairs + neg * (whole.tp + pos / 2))

    def tp_in_first(self, n_rows: float) -> float:
        """Expected number of positives among the first ``n_rows`` rows when ties are ordered at random."""
        return min(self.first(n_rows).tp, n_rows)

    def quantile(self, top: float) -> float:
        """Lowest score of the best fraction of all rows: inf{z : F(z) >= 1 - top}, F the distribution of all scores.

        At most the share ``top`` of all rows scores above it; more may score at least this.
        """
        self.require_both_classes()
        rows = self.fp + self.tp
        limit = self._snapped(share(rate("top", top), self.n), rows)
        self._require(limit < rows[-1], f"the best {top:g} of all rows")
        return float(self.scores[np.searchsorted(rows[1:-1], limit, side="right")])

    def require_both_classes(self) -> None:
        """Raise `OneClassError` if a class is missing, as it may be in a block of a larger sample."""
        if not (self.n_pos > 0 and self.n_neg > 0):
            missing = "negatives" if self.n_pos > 0 else "positives"
            raise OneClassError(f"this curve has no {missing}; merge in the blocks that contain some before reading it")

    def require_complete(self, what: str) -> None:
        """Raise `ShallowHeadError` if this is only a head; ``what`` names what needs the whole curve."""
        self.require_both_classes()
        self._require(False, what)

    def to_frame(self, *, drop_intermediate: bool = False) -> Any:
        """Return the curve as a polars data frame: threshold, FPR, TPR and the underlying counts.

        With ``drop_intermediate``, the points of scikit-learn's ``roc_curve(drop_intermediate=True)``: those in the
        middle of two equal steps are left out, so that the line is the same.
        """
        with needs_extra("cli"):
            import polars as pl

        columns = ("threshold", "fpr", "tpr", "fp", "tp")
        values = (self.thresholds, self.fpr, self.tpr, self.fp, self.tp)
        kept = bends(self.fp, self.tp) if drop_intermediate else slice(None)
        return pl.DataFrame({name: each[kept] for name, each in zip(columns, values, strict=True)})

    def __repr__(self) -> str:
        kind = "of weighted rows, " if self.weighted else ""
        levels = f"{self.scores.size:,} distinct score{'s' * (self.scores.size != 1)}"
        if not self.complete:
            reach = f", FPR {self.fp[-1] / self.n_neg:.4g}" if self.n_neg else ""
            levels = f"head of {levels} down to {self.floor:g}{reach}"
        return f"<RocCurve: {kind}{self.n_pos:,.8g} positives, {self.n_neg:,.8g} negatives; {levels}>"

    def _cumulated(self, counts: Counts, total: float) -> Counts:
        result = np.zeros(counts.size + 1, dtype=counts.dtype)
        np.cumsum(counts, out=result[1:])
        if self.weighted:  # the order of summation must not make a rate exceed 1
            np.minimum(result, total, out=result)
        return result

    def _snapped(self, limit: float, cumulated: Counts) -> float:
        """Snap a limit to a cumulative weight that differs from it by rounding error only."""
        if not self.weighted:
            return limit
        slack = 1e-12 * float(cumulated[-1])
        i = int(np.searchsorted(cumulated, limit - slack))
        return float(cumulated[i]) if i < cumulated.size and cumulated[i] <= limit + slack else limit

    def _pairs(self, first: int, last: int) -> float:
        """Area under the polyline from one of its points to a later one, in pairs of a positive and a negative."""
        heights = self.pos[first:last] / 2
        heights += self.tp[first:last]
        return float(heights @ self.neg[first:last])

    def _tp_after(self, fp: float) -> float:
        """Positives at the polyline's last point with ``fp`` false positives."""
        i = int(np.searchsorted(self.fp, fp, side="right")) - 1
        if i == self.scores.size:
            return float(self.tp[i])
        return float(self.tp[i] + (fp - self.fp[i]) * self.pos[i] / self.neg[i])

    def _tp_before(self, fp: float) -> float:
        """Positives at the polyline's first point with ``fp`` false positives."""
        i = int(np.searchsorted(self.fp, fp, side="left"))
        if i == 0:
            return float(self.tp[0])
        return float(self.tp[i] - (self.fp[i] - fp) * self.pos[i - 1] / self.neg[i - 1])

    def _require(self, reached: bool, what: str) -> None:
        if not (reached or self.complete):
            raise ShallowHeadError(
                f"{what} lies below this head, which only reaches down to score {self.floor:g} (FPR "
                f"{self.fp[-1] / self.n_neg:.4g}, TPR {self.tp[-1] / self.n_pos:.4g}); use a deeper head"
            )


def _checked_depth(n_neg: Any, n_pos: Any, n_rows: Any) -> Depth:
    depth = Depth(count("n_neg", n_neg), count("n_pos", n_pos), count("n_rows", n_rows))
    if depth == Depth():
        raise ValueError("a head needs a depth: set n_neg, n_pos or n_rows above 0, got 0 for each")
    return depth
