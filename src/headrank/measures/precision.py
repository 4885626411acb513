"""Average precision, and the area under the precision-recall curve.

Both average the precision over the recall. `AveragePrecision` takes the precision at each positive, as a list is read
row by row. `PrecisionRecallArea` integrates a curve, in which a row can be passed in part; it does not depend on the
number of rows, only on the ROC curve and the share of positives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headrank._numbers import whole
from headrank._types import Counts, Vector
from headrank.curve import RocCurve
from headrank.levels import Depth
from headrank.measures.measure import Measure, registered
from headrank.measures.parsing import count_of
from headrank.measures.ranked_lists import ListMeasure, RankedLists

__all__ = ["AveragePrecision", "PrecisionRecallArea"]

_SHIFT = 24
"""From here on the asymptotic series of the digamma function is exact to 14 digits."""


@registered
@dataclass(frozen=True, repr=False)
class AveragePrecision(ListMeasure):
    """Mean over the positives of the precision at their rank; of the first ``k`` rows only, if given.

    The sum over the positives among the first ``k`` rows of (positives down to it) / (rows down to it), divided by the
    number of all positives. Tied rows count with the expectation over their random order, in closed form. Without ties
    this is scikit-learn's ``average_precision_score``, and trec_eval's ``map`` and ``map_cut_k``. With ``qid`` it is
    the mean average precision (MAP) over the queries that have a positive.

    Weights count rows: weight 2 is the row twice, two tied rows. Fractional weights are interpolated; they should be of
    the order of 1, since ranks are counted in rows.

    >>> round(AveragePrecision()([1, 0, 1, 0], [4, 3, 2, 1]), 6)
    0.833333
    >>> AveragePrecision(2)([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    k: int | None = None
    prefix: ClassVar[str] = "ap"

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", whole("k", self.k, at_least=1))

    def rows_read(self, curve: RocCurve) -> float | None:
        return self.k

    def _of_lists(self, lists: RankedLists) -> Vector:
        levels = np.flatnonzero(lists.pos)
        if self.k is not None:
            levels = levels[lists.rows[levels] < self.k]
        pos, neg, tp, above = (each[levels] for each in (lists.pos, lists.neg, lists.tp, lists.rows))
        precisions = pos * (tp + 1) / (above + 1)  # of levels of one row
        tied = np.flatnonzero((neg != 0) | (pos != 1))
        if tied.size:
            rows = pos[tied] + neg[tied]
            looked = rows if self.k is None else np.minimum(rows, self.k - above[tied])
            precisions[tied] = _of_tied_rows(pos[tied], rows, tp[tied], above[tied], looked)
        return lists.summed(precisions, levels) / lists.n_pos

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        return None if self.k is None else Depth(n_rows=self.k)

    @property
    def spec(self) -> str:
        return "" if self.k is None else str(self.k)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(count_of(spec) if spec else None)

    @property
    def description(self) -> str:
        where = "" if self.k is None else f" among the first {self.k} row{'s' * (self.k != 1)}"
        return f"mean over all positives of the precision at their rank{where and f', 0 if not{where}'}"


@registered
@dataclass(frozen=True, repr=False)
class PrecisionRecallArea(Measure):
    """Area under the precision-recall curve, with the right interpolation between its points.

    Between two points of the ROC curve both classes are passed at a constant ratio, so the precision at a fraction x
    of the way is (A + x P) / (R + x m), with A of the R rows above positive, and P of the m rows in between: a
    hyperbola, not a straight line (Davis & Goadrich 2006; Keilwagen, Grosse & Grau 2014). The area is exact, and does
    not depend on the scale of the weights. Chance is the share of positives.

    It differs from `AveragePrecision` without ties too, by a term of order 1 / n_pos, and is its limit if every row is
    repeated many times.

    >>> round(PrecisionRecallArea()([1, 0, 1, 0], [4, 3, 2, 1]), 6)
    0.797267
    """

    prefix: ClassVar[str] = "prauc"

    def _value(self, curve: RocCurve) -> float:
        curve.require_complete(str(self))
        return min(precision_recall_area(curve.pos, curve.neg) / float(curve.n_pos), 1.0)

    @property
    def description(self) -> str:
        return "area under the precision-recall curve, perfect 1"


def precision_recall_area(pos: Counts, neg: Counts) -> float:
    """Return the integral of the precision over the number of positives found, segment by segment. O(n).

    ``pos`` and ``neg`` are the numbers of positives and negatives that each segment of a ROC curve passes.
    """
    levels = np.flatnonzero(pos)
    rows = (pos + neg).astype(np.float64)
    above = (np.cumsum(rows) - rows)[levels]
    tp = (np.cumsum(pos) - pos)[levels]
    pos, rows = pos[levels], rows[levels]
    share, started = pos / rows, above > 0
    # P times the integral over x of (A + x P) / (R + x m); at the top of the list the precision is constant.
    falls = np.where(started, (tp - above * share) / rows, 0.0)
    return float(pos @ (share + falls * np.log1p(rows / np.where(started, above, 1.0))))


def _of_tied_rows(pos: Counts, rows: Counts, tp: Counts, above: Counts, looked: Counts) -> Vector:
    """Return the expected sum of the precisions at the positives of a level, among the first ``looked`` of its rows.

    Row j of m tied rows is positive with probability P / m; there are then 1 + (j - 1) (P - 1) / (m - 1) positives
    expected among the first j. Summed over j, 1 / (R + j) gives a difference D of harmonic numbers, and
    (j - 1) / (R + j) gives looked - (R + 1) D.
    """
    read_whole = rows == looked
    part = np.where(read_whole, 1.0, np.minimum(looked, 1.0))
    looked = np.where(read_whole, rows, np.maximum(looked, 1.0))  # less than one row of a level: that part of it
    mean = _mean_harmonic(above, looked - 1.0, start=2)
    # looked - (R + 1) D, over m - 1, without the difference of nearly equal numbers that a weight near 1 would give.
    share = np.where(read_whole, 1.0, (looked - 1.0) / np.where(rows == 1, 1.0, rows - 1.0))
    further = share * (1 - (above + 1) * mean)
    harmonic = 1 / (above + 1) + (looked - 1) * mean
    return np.asarray(part * pos / rows * ((tp + 1) * harmonic + (pos - 1) * further))


def _mean_harmonic(above: Counts, rows: Vector, start: int) -> Vector:
    """Return the mean of 1 / (above + j) over ``rows`` numbers j from ``start`` on, extended to fractions of rows.

    (psi(a + rows) - psi(a)) / rows with a = above + start and psi the digamma function; its derivative if rows is 0.
    """
    a = above + float(start)
    total = np.zeros_like(a)
    low = np.flatnonzero(a < _SHIFT)
    for step in range(_SHIFT):
        total[low] += 1 / ((a[low] + step) * (a[low] + rows[low] + step))
    a[low] += _SHIFT
    x, y = a - 0.5, a + rows - 0.5
    u, v = 1 / x**2, 1 / y**2
    # psi(x + 1/2) = log x + 1/24 x^-2 - 7/960 x^-4 + 31/8064 x^-6 - ...
    slope = -(x + y) * u * v
    series = slope * (1 / 24 - 7 / 960 * (u + v) + 31 / 8064 * (u**2 + u * v + v**2))
    t = rows / x
    logs = np.where(t == 0, 1.0, np.log1p(t) / np.where(t == 0, 1.0, t)) / x
    return np.asarray(total + logs + series)
