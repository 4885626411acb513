"""RankedLists: the levels of many ranked lists at once, and ListMeasure, the base of measures with a value per list."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headrank._numbers import option
from headrank._types import ArrayLike, Counts, IntVector, Vector
from headrank.curve import RocCurve
from headrank.exceptions import OneClassError
from headrank.labels import Sample, with_labels
from headrank.measures.measure import Measure, QueryMean
from headrank.score_blocks import given_blocks

if TYPE_CHECKING:
    from headrank.rows import Blocks

EMPTY = ("omit", "zero")
"""What a query without positives is worth: it is left out, or counts as 0."""
BLOCK_ROWS = 50_000
"""Rows of queries that are evaluated at once, about."""


@dataclass(frozen=True, eq=False)
class RankedLists:
    """Rows of one or more lists, each from its highest score down, with tied rows in one level.

    Attributes
    ----------
    pos, neg : arrays of shape (n_levels,)
        Positives and negatives of each level, list after list.
    rows : array of shape (n_levels,)
        Rows above each level, in the same list.
    starts : int array of shape (n_lists,)
        Number of the first level of each list.
    n_pos, n_neg : arrays of shape (n_lists,)
        All positives and negatives of each list.
    gains : array of shape (n_levels,) or None
        Sum over the rows of each level of what they are worth, if that was given.
    counted : array of shape (n_levels,) or None
        Positives above each level, in the same list, if they are known; see `tp`.
    """

    pos: Counts
    neg: Counts
    rows: Counts
    starts: IntVector
    n_pos: Counts
    n_neg: Counts
    gains: Vector | None = None
    counted: Counts | None = None

    @classmethod
    def of_curve(cls, curve: RocCurve) -> RankedLists:
        """Return the one list of a curve, down to its depth. O(n_levels)."""
        n_pos, n_neg = np.atleast_1d(curve.n_pos), np.atleast_1d(curve.n_neg)
        tp = curve.tp[:-1]
        one = np.zeros(1, dtype=np.intp)
        return cls(curve.pos, curve.neg, tp + curve.fp[:-1], one, n_pos, n_neg, counted=tp)

    @classmethod
    def of_queries(cls, sample: Sample, worth: Vector | None = None) -> RankedLists:
        """Return the lists of all queries, in order of the query ids. O(n log n), one sort for all of them.

        ``worth`` of each row is added up as ``gains``.
        """
        assert sample.queries is not None
        order = by_query_and_score(sample.queries, sample.scores)
        queries, scores, positive = sample.queries[order], sample.scores[order], sample.positive[order]
        opens = np.concatenate([[True], queries[1:] != queries[:-1]])
        apart = np.concatenate([[True], scores[1:] != scores[:-1]])
        apart |= opens
        gains = None if worth is None else worth[order]
        starts = np.flatnonzero(opens)
        if sample.weights is None and apart.all():  # every row is a level
            pos, neg = positive.view(np.int8), (~positive).view(np.int8)
            rows = np.ones(order.size, dtype=np.intp)
            rows[0] = 0
            rows[starts[1:]] = 1 - np.diff(starts)
            np.cumsum(rows, out=rows)
        else:
            levels = np.flatnonzero(apart)
            weights = np.ones(order.size, dtype=np.intp) if sample.weights is None else sample.weights[order]
            zero = weights.dtype.type(0)
            pos, neg = (
                np.add.reduceat(np.where(of_class, weights, zero), levels) for of_class in (positive, ~positive)
            )
            gains = None if gains is None else np.add.reduceat(gains * weights, levels)
            starts = np.searchsorted(levels, starts)
            rows = _above(pos, starts) + _above(neg, starts)
        sums = np.result_type(pos, np.intp)
        n_pos, n_neg = (np.add.reduceat(each, starts, dtype=sums) for each in (pos, neg))
        return cls(pos, neg, rows, starts, n_pos, n_neg, gains)

    @property
    def tp(self) -> Counts:
        """Positives above each level, in the same list. O(n_levels), unless a curve has counted them."""
        return _above(self.pos, self.starts) if self.counted is None else self.counted

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return self.starts.size

    def of_list(self, per_list: Any, levels: IntVector) -> Any:
        """Return the value of the list of each of these levels, which ascend."""
        return np.asarray(per_list)[np.searchsorted(self.starts, levels, side="right") - 1]

    def summed(self, values: Vector, levels: IntVector) -> Vector:
        """Sum values of these levels, which ascend, over each list."""
        if self.n_lists == 1:
            return np.array([values.sum()])
        lists = np.searchsorted(self.starts, levels, side="right") - 1
        return np.bincount(lists, weights=values, minlength=self.n_lists).astype(np.float64, copy=False)


def _blocks(sample: Sample) -> Iterator[Sample]:
    """Cut a sample whose queries are in order between them: the arrays of a block stay in the cache, and are reused."""
    queries = sample.queries
    assert queries is not None
    if queries.size <= BLOCK_ROWS or np.any(queries[1:] < queries[:-1]):
        yield sample
        return
    start = 0
    while start < queries.size:
        last = queries[min(start + BLOCK_ROWS, queries.size) - 1]
        end = int(np.searchsorted(queries, last, side="right"))
        yield replace(sample.take(slice(start, end)), queries=queries[start:end] - queries[start])
        start = end


def by_query_and_score(queries: IntVector, scores: Vector) -> IntVector:
    """Return the order of rows by query, and from the highest score down within each.

    Queries of similar length are sorted together, as the rows of a matrix: several times faster than one sort of all
    rows by two keys.

    >>> by_query_and_score(np.array([1, 0, 1, 1]), np.array([5.0, 4.0, 7.0, 6.0]))
    array([1, 2, 3, 0])
    """
    ascending = bool(np.all(queries[1:] >= queries[:-1]))
    order = np.arange(queries.size) if ascending else np.argsort(queries, kind="stable")
    starts = np.flatnonzero(np.diff(queries[order], prepend=queries[order[0]] - 1))
    sizes = np.diff(starts, append=order.size)
    length = 2  # queries of one row are in order
    while length < 2 * sizes.max():
        some = np.flatnonzero((sizes > length // 2) & (sizes <= length))
        if some.size:
            places = np.arange(sizes[some].max())
            at = starts[some, None] + places
            if np.any(sizes[some] < places.size):
                there = places < sizes[some, None]
                rows = order[np.minimum(at, order.size - 1)]
                keys = np.where(there, -scores[rows], np.inf)  # scores are finite, so the missing rows come last
                rows = np.take_along_axis(rows, np.argsort(keys, axis=1), axis=1)
                order[at[there]] = rows[there]
            else:
                rows = order[at]
                order[at] = np.take_along_axis(rows, np.argsort(-scores[rows], axis=1), axis=1)
        length *= 2
    return order


def _above(counts: Counts, starts: IntVector) -> Counts:
    """Return the sum of the counts above each level within its list."""
    before = np.concatenate([np.zeros(1, dtype=counts.dtype), np.cumsum(counts)[:-1]])
    lengths = np.diff(starts, append=counts.size)
    # Sums of fractional weights must not leave a rest of other lists at the top of a list.
    above = before - np.repeat(before[starts], lengths)
    above[starts] = 0
    return np.asarray(np.maximum(above, 0))


@dataclass(frozen=True, repr=False)
class ListMeasure(Measure):
    """A measure with the conventions of trec_eval for queries: a query counts if it has a relevant row.

    All queries are evaluated at once, after one sort. Unlike for other measures, a query without negatives counts.
    """

    def __call__(
        self,
        y: ArrayLike | Blocks,
        scores: ArrayLike | None = None,
        *misplaced: Any,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
        missing: str = "refuse",
        empty: str = "omit",
    ) -> float:
        """Compute the measure on a sample; see `Measure`.

        With ``qid`` the result is the mean over the queries with at least one positive. ``empty="zero"`` counts the
        others as 0 instead of leaving them out, as trec_eval does with ``-c``.
        """
        if misplaced:
            return super().__call__(y, scores, *misplaced)  # raises
        option("empty", empty, EMPTY)
        blocks = given_blocks(y, scores, what=str(self), missing=missing, sample_weight=sample_weight, qid=qid)
        if blocks is not None:
            return self._of_blocks(blocks, pos_label, empty=empty)
        y, scores, sample_weight, qid = with_labels(missing, y, scores, sample_weight, qid)
        sample = self.check(y, scores, sample_weight, qid=qid, pos_label=pos_label)
        return self.of_sample(sample, empty=empty)

    def of_sample(self, sample: Sample, *, empty: str = "omit") -> float:
        """Compute the measure on a checked sample; one with queries gives a `QueryMean`."""
        if sample.queries is None:
            return self._of_list(sample.require_both_classes())
        values = self.of_queries(sample)
        n_empty = int(np.isnan(values).sum())
        if n_empty == values.size:
            raise OneClassError(
                f"expected at least one query with a positive row, but none of the {n_empty} queries has one; check qid"
            )
        if empty == "zero":
            return QueryMean(float(np.nan_to_num(values).mean()), values.size, 0)
        return QueryMean(float(np.nanmean(values)), values.size - n_empty, n_empty)

    def of_queries(self, sample: Sample) -> Vector:
        """Return the value on each query of a checked sample, ordered by query id; NaN for those without positives."""
        return np.concatenate([self._of_block(block) for block in _blocks(sample)])

    def _of_block(self, sample: Sample) -> Vector:
        lists = RankedLists.of_queries(sample)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(lists.n_pos > 0, self._of_lists(lists), np.nan)

    def _value(self, curve: RocCurve) -> float:
        n_rows = self.rows_read(curve)
        if n_rows is None:
            curve.require_complete(str(self))
        else:
            curve.first(min(n_rows, curve.n))  # raises if a head is not as deep
        return min(max(float(self._of_lists(RankedLists.of_curve(curve))[0]), 0.0), 1.0)

    @abstractmethod
    def rows_read(self, curve: RocCurve) -> float | None:
        """Return how many first rows the value depends on; None for all."""

    @abstractmethod
    def _of_lists(self, lists: RankedLists) -> Vector:
        """Return the value of each list; anything for a list without positives."""
