"""The rows of one class by list: which of them count, their weights, and which are the highest."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from headrank._types import BoolVector, IntVector, Vector
from headrank.surrogates.cut import RowFacts


@dataclass(frozen=True, eq=False)
class ListRows:
    """The rows of one class that count. Rows of weight 0, and lists that lack a class, are left out.

    Attributes
    ----------
    size : int
        Number of rows of the class, including those left out.
    kept : array of shape (n_kept,)
        The rows that count.
    weights, lists : arrays of shape (n_kept,)
        Weight of each of these rows, and its list, numbered from 0.
    n_lists : int
        Number of lists.
    """

    size: int
    kept: IntVector
    weights: Vector
    lists: IntVector
    n_lists: int

    @cached_property
    def totals(self) -> Vector:
        """Total weight of each list."""
        return self.added_up(self.weights)

    @cached_property
    def shares(self) -> Vector:
        """Weight of each row in a mean over lists of weighted means."""
        return self.weights / (self.totals[self.lists] * self.n_lists)

    @cached_property
    def _equal_in_one_list(self) -> bool:
        return self.n_lists == 1 and bool((self.weights == 1).all())

    def taken(self, scores: Vector) -> Vector:
        """Return the scores of the rows that count."""
        return np.asarray(scores, dtype=np.float64)[self.kept]

    def spread(self, values: Vector) -> Vector:
        """Return the values by row of the class, with 0 for the rows left out."""
        result = np.zeros(self.size)
        result[self.kept] = values
        return result

    def added_up(self, values: Vector) -> Vector:
        """Return the sum of the values of each list."""
        return np.bincount(self.lists, weights=values, minlength=self.n_lists).astype(np.float64, copy=False)

    def maxima(self, values: Vector) -> Vector:
        """Return the largest value of each list."""
        if self.n_lists == 1:
            return np.array([values.max()])
        largest = np.full(self.n_lists, -np.inf)
        np.maximum.at(largest, self.lists, values)
        return largest

    def highest(self, values: Vector, mass: Vector) -> Vector:
        """Return how much of each row belongs to the rows of highest value, which have a given mass in each list.

        Tied rows at the border belong to them in the same proportion. O(n), or O(n log n) with weights or queries.
        """
        border = self._borders(values, mass)[self.lists]
        above = np.where(values > border, self.weights, 0.0)
        tied = np.where(values == border, self.weights, 0.0)
        left = np.clip(mass - self.added_up(above), 0, None) / self.added_up(tied)
        return np.asarray(above + tied * np.minimum(left, 1)[self.lists])

    def _borders(self, values: Vector, mass: Vector) -> Vector:
        """Return the value of each list at which the mass of the rows from the highest on is reached."""
        if self._equal_in_one_list:
            at = values.size - min(int(np.ceil(mass[0])), values.size)
            return np.partition(values, at)[at : at + 1]
        order = np.lexsort((-values, self.lists))
        ends = np.cumsum(self.weights[order])
        after_last = np.cumsum(np.bincount(self.lists, minlength=self.n_lists))
        before = np.concatenate([[0.0], ends[after_last[:-1] - 1]])
        first = np.concatenate([[0], after_last[:-1]])
        # Rounding must not lead to a row of another list.
        return np.asarray(values[order[np.clip(np.searchsorted(ends, before + mass), first, after_last - 1)]])


@dataclass(frozen=True, eq=False)
class OfLists:
    """A surrogate that is a mean over lists; without queries there is one list."""

    rows: RowFacts = field(default_factory=RowFacts, kw_only=True)

    def classes(self, n_pos: int, n_neg: int) -> tuple[ListRows, ListRows]:
        """Return the positives and the negatives that count."""
        if self.rows.plain:
            return _one_list(n_pos), _one_list(n_neg)
        return self._known_classes

    @cached_property
    def _known_classes(self) -> tuple[ListRows, ListRows]:
        facts = self.rows
        pos, neg = (
            _rows_of(weights, queries)
            for weights, queries in ((facts.pos_weights, facts.pos_queries), (facts.neg_weights, facts.neg_queries))
        )
        both = np.intersect1d(pos.lists, neg.lists)
        return _renumbered(pos, both), _renumbered(neg, both)


def _one_list(size: int) -> ListRows:
    return ListRows(size, np.arange(size), np.ones(size), np.zeros(size, dtype=np.intp), 1)


def _rows_of(weights: Vector | None, queries: IntVector | None) -> ListRows:
    """Return the rows of weight above 0, with their queries as lists."""
    known = queries if weights is None else weights
    assert known is not None  # rows without either are plain
    size = known.size
    present: BoolVector = np.ones(size, dtype=bool) if weights is None else weights > 0
    kept = np.flatnonzero(present)
    lists = np.zeros(kept.size, dtype=np.intp) if queries is None else queries[kept]
    return ListRows(size, kept, np.ones(kept.size) if weights is None else weights[kept], lists, 0)


def _renumbered(rows: ListRows, both: IntVector) -> ListRows:
    """Return the rows of these lists, numbered from 0."""
    at = np.minimum(np.searchsorted(both, rows.lists), both.size - 1)
    inside = both[at] == rows.lists
    return ListRows(rows.size, rows.kept[inside], rows.weights[inside], at[inside], both.size)
