"""The structural hinge of the partial AUC (Narasimhan & Agarwal, ICML 2013).

Legend: s_i the scores of the positives, t_(1) >= t_(2) >= ... those of the negatives, n their number, [a, b] the range
of false positive rates. An ordering puts positive i below the first r_i negatives. Its loss counts the j-th negative
with c_j, the length of [j - 1, j] inside [n a, n b], and

    R = 1 / (n_pos n (b - a)) * sum_i max_r sum_{j <= r} (c_j + t_(j) - s_i)

is the largest loss plus violation over all orderings (OP2 of the paper; by Theorem 1 the negatives may be taken in the
order of their scores). The summands decrease before the range, jump up at its start, and decrease again. So each
positive has two candidates: to stop before the range, or after its start. Prefix sums give the value of both.

**Row weights.** A negative of weight v is v copies of a row; if an end of the range falls inside it, it is split in two
there. The copies may be on different sides of a positive. A formula that keeps them together is not convex
(tests/surrogates has a counterexample), because with unequal cells the order of the scores is no longer the worst.

**Queries.** R is the mean over the queries, each with its own ranks. All queries are processed together: sorting and
searching by pairs (query, score) costs one sort, not one call per query.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor
from typing import Any, ClassVar

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.curve import share, shares
from headrank.surrogates.cut import Cut, RowFacts


@dataclass(frozen=True, eq=False)
class StructuralHinge:
    """Convex upper bound on 1 - `PartialAUC`; 1 at constant scores. O(N log N), no loops over pairs, rows or queries.

    Parameters
    ----------
    min_fpr, max_fpr : float
        The range; 0 and 1 give the pairwise hinge of Joachims' SVM for the AUC (2005).
    rows : RowFacts
        Weights and queries of the rows, if any.

    Examples
    --------
    >>> cut = StructuralHinge(0.0, 1.0)(np.array([2.0, 0.5]), np.array([0.0, -1.0]))
    >>> cut.risk, cut.pos_coef, cut.neg_coef
    (0.125, array([ 0.  , -0.25]), array([0.25, 0.  ]))
    """

    min_fpr: float
    max_fpr: float
    rows: RowFacts = field(default_factory=RowFacts)
    only_reached: ClassVar[bool] = False
    """Whether negatives below the range are ignored."""

    def __call__(self, pos_scores: Vector, neg_scores: Vector) -> Cut:
        """Find the most violated ordering: its risk and the coefficients of its plane."""
        if self.rows.plain:
            return self._of_one_list(pos_scores, neg_scores, neg_scores.size, only_reached=self.only_reached)
        return self._of_cells(pos_scores, neg_scores)

    def n_reached(self, n_neg: int) -> int:
        """Return how many negatives are above the end of the range, if there are neither weights nor queries."""
        return ceil(share(self.max_fpr, n_neg))

    def of_head(self, pos_scores: Vector, neg_scores: Vector, n_neg: int) -> Cut:
        """Evaluate the part of the hinge above the end of the range, given only the highest of ``n_neg`` negatives.

        At least `n_reached` of them are needed, without weights and queries. This is the tight hinge. The structural
        one adds the violations of all pairs below the range: a positive that a negative there outscores is below all
        of the range, so it stops after it, and the sums before and after the end of the range do not interact.

        >>> StructuralHinge(0.0, 0.5).of_head(np.array([2.0, 0.5]), np.array([0.0]), 2).risk
        0.25
        """
        return self._of_one_list(pos_scores, neg_scores, n_neg, only_reached=True)

    def _of_one_list(self, s: Vector, t: Vector, n_neg: int, *, only_reached: bool) -> Cut:
        n = t.size
        low, high = share(self.min_fpr, n_neg), share(self.max_fpr, n_neg)
        first, last, start = floor(low), ceil(high), ceil(low)
        m = last
        if not only_reached:  # below the range, only negatives that outscore a positive contribute
            m = max(last, int(np.count_nonzero(t > s.min())))
            m = n if 2 * m > n else m  # selecting most of them takes longer than sorting all
        # Ascending order throughout, as it is faster: the r highest of m negatives are those from m - r on.
        rows = np.argpartition(t, n - m)[n - m :] if m < n else None
        values = t if rows is None else t[rows]
        order = np.argsort(values)
        u = values[order].astype(np.float64, copy=False)  # c_j + t_(j)
        u[m - last : m - first] += 1
        u[m - first - 1] -= low - first
        u[m - last] -= last - high
        sums = np.zeros(m + 1)
        np.cumsum(u, out=sums[1:])
        stop = np.searchsorted(u[: m - start], s, side="right")  # where positive i goes on through the range: m - r_i
        gain = sums[m] - sums[stop] - (m - stop) * s
        if start:
            stop_before = m - first + np.searchsorted(u[m - first :], s, side="right")
            gain_before = sums[m] - sums[stop_before] - (m - stop_before) * s
            stops = gain_before >= gain
            np.copyto(stop, stop_before, where=stops)
            np.copyto(gain, gain_before, where=stops)
        scale = 1 / (s.size * (high - low))
        overtaking = np.cumsum(np.bincount(stop, minlength=m + 1)[:-1]) * scale
        offset = overtaking[m - last : m - first].sum()
        offset -= (low - first) * overtaking[m - first - 1] + (last - high) * overtaking[m - last]
        neg_coef: Vector = np.zeros(n)
        neg_coef[order if rows is None else rows[order]] = overtaking
        return Cut(float(gain.sum()) * scale, np.asarray((stop - m) * scale), neg_coef, float(offset))

    def _of_cells(self, s: Vector, t: Vector) -> Cut:
        queries = _or_default(self.rows.pos_queries, np.zeros(s.size, dtype=np.intp))
        weights = _or_default(self.rows.pos_weights, np.ones(s.size))
        n_queries = 1 + int(max(queries.max(), _or_default(self.rows.neg_queries, queries).max()))
        n_pos: Vector = np.bincount(queries, weights=weights, minlength=n_queries).astype(np.float64, copy=False)
        cells = self._cells(t, n_pos)
        counted = (n_pos > 0) & (cells.range_width > 0)
        scale = np.zeros(cells.n_queries)
        scale[counted] = 1 / (n_pos[counted] * cells.range_width[counted] * np.count_nonzero(counted))
        pos_scale = weights * scale[queries]

        number = np.arange(cells.u.size)
        r, gain = cells.stop(cells.through, number >= cells.through[cells.queries], s, queries)
        r_before, gain_before = cells.stop(cells.starts, number < cells.before[cells.queries], s, queries)
        stops = gain_before >= gain
        np.copyto(r, r_before, where=stops)
        np.copyto(gain, gain_before, where=stops)

        # Positive i overtakes the cells start_i .. r_i - 1: add it at the first, subtract it after the last.
        start = cells.starts[queries]
        change = np.bincount(start, weights=pos_scale, minlength=number.size + 1)
        change -= np.bincount(r, weights=pos_scale, minlength=number.size + 1)
        overtaking = np.cumsum(change)[:-1]
        overtaken = overtaking * cells.width
        neg_coef: Vector = np.bincount(cells.rows, weights=overtaken, minlength=t.size).astype(np.float64, copy=False)
        pos_coef = -pos_scale * (cells.width_sums[r] - cells.width_sums[start])
        return Cut(float(gain @ pos_scale), pos_coef, neg_coef, float(overtaking @ cells.loss))

    def _cells(self, t: Vector, n_pos: Vector) -> _Cells:
        """Arrange the negatives as cells on a line, by query and then by descending score."""
        queries = _or_default(self.rows.neg_queries, np.zeros(t.size, dtype=np.intp))
        n_queries = n_pos.size
        # The sums run through all queries: huge scores of an excluded query must not cause rounding in the others.
        t = np.where(n_pos[queries] > 0, t, 0.0)
        rows = np.lexsort((-t, queries))
        queries = queries[rows]
        widths = np.ones(t.size) if self.rows.neg_weights is None else self.rows.neg_weights[rows]
        edges = np.concatenate([[0.0], np.cumsum(widths)])
        borders = edges[np.searchsorted(queries, np.arange(n_queries + 1))]
        n_neg = np.diff(borders)
        ends = (borders[:-1] + shares(fpr, n_neg) for fpr in (self.min_fpr, self.max_fpr))
        low, high = (np.minimum(end, borders[1:]) for end in ends)  # rounding must not create a cell after the last
        if self.rows.neg_weights is not None:
            # Split the rows where a range begins or ends.
            cut_edges = np.unique(np.concatenate([edges, low, high]))
            cell = np.searchsorted(edges, cut_edges[:-1], side="right") - 1
            rows, queries, edges = rows[cell], queries[cell], cut_edges
        left, right = edges[:-1], edges[1:]
        if self.only_reached:
            kept = left < high[queries]
            left, right, rows, queries = left[kept], right[kept], rows[kept], queries[kept]
        loss = np.clip(np.minimum(right, high[queries]) - np.maximum(left, low[queries]), 0, None)
        starts = np.searchsorted(queries, np.arange(n_queries))
        n_before = np.bincount(queries, weights=right <= low[queries], minlength=n_queries)
        n_through = np.bincount(queries, weights=left < low[queries], minlength=n_queries)
        return _Cells(
            u=t[rows] + loss / (right - left),
            loss=loss,
            width=right - left,
            rows=rows,
            queries=queries,
            starts=starts,
            before=starts + n_before.astype(np.intp),
            through=starts + n_through.astype(np.intp),
            range_width=high - low,
        )


@dataclass(frozen=True, eq=False)
class _Cells:
    """Negatives as cells on a line, by query and then by descending score.

    ``u`` is c_j / v_j + t_(j) for a cell of width v_j and loss c_j. For each query, ``starts``, ``before`` and
    ``through`` give its first cell, the first that is not entirely before its range, and the first after the start of
    its range.
    """

    u: Vector
    loss: Vector
    width: Vector
    rows: IntVector
    queries: IntVector
    starts: IntVector
    before: IntVector
    through: IntVector
    range_width: Vector

    @property
    def n_queries(self) -> int:
        return self.starts.size

    @cached_property
    def width_sums(self) -> Vector:
        return np.concatenate([[0.0], np.cumsum(self.width)])

    @cached_property
    def sums(self) -> Vector:
        return np.concatenate([[0.0], np.cumsum(self.u * self.width)])

    def stop(self, origins: IntVector, part: BoolVector, s: Vector, queries: IntVector) -> tuple[IntVector, Vector]:
        """Return where each positive stops in a part of the cells that begins at ``origins``, and its gain there."""
        # Complex numbers sort by real, then by imaginary part: by query, then by descending score.
        keys = self.queries[part] - 1j * self.u[part]
        n_above = np.searchsorted(keys, queries - 1j * s) - np.searchsorted(self.queries[part], queries)
        r = origins[queries] + n_above
        start = self.starts[queries]
        gain = self.sums[r] - self.sums[start] - s * (self.width_sums[r] - self.width_sums[start])
        return r, gain


def _or_default(values: Any, default: Any) -> Any:
    return default if values is None else values
