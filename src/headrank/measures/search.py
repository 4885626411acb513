"""Measures of search results, as trec_eval has them: each is the expectation over the order of tied rows.

Legend, per list: R rows above a level of m tied rows, of which P are positive and M negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from headrank._numbers import option, whole
from headrank._types import ArrayLike, Counts, IntVector, Vector
from headrank.curve import RocCurve
from headrank.grades import check_graded
from headrank.labels import Sample
from headrank.levels import Depth
from headrank.measures.measure import registered
from headrank.measures.parsing import count_of
from headrank.measures.ranked_lists import ListMeasure, RankedLists

__all__ = ["NDCG", "BinaryPreference", "RPrecision", "ReciprocalRank", "SuccessAt"]

GAINS = ("linear", "exponential")


@registered
@dataclass(frozen=True, repr=False)
class NDCG(ListMeasure):
    """Normalised discounted cumulative gain of the first ``k`` rows, or of all: the measure for graded relevance.

    DCG is the sum over the rows of gain / log2(1 + rank); NDCG divides it by that of the best order. ``y`` may have
    grades, whole numbers from 0 (not relevant) to 30. The gain of a grade is the grade itself (``"linear"``, as in
    trec_eval and scikit-learn), or 2 ** grade - 1 (``"exponential"``, as in LightGBM and LETOR). With two classes both
    are the same. Tied rows share the mean of their discounts, which is the expectation over their order.

    >>> round(NDCG()([2, 0, 1, 0], [4, 3, 2, 1]), 6)
    0.950234
    >>> round(NDCG(3, gain="exponential")([2, 0, 1, 4], [4, 3, 2, 1]), 6)
    0.201233
    """

    k: int | None = None
    gain: str = "linear"
    prefix: ClassVar[str] = "ndcg"
    graded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", whole("k", self.k, at_least=1))
        option("gain", self.gain, GAINS)

    def check(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> Sample:
        return check_graded(y, scores, sample_weight, qid=qid, pos_label=pos_label)

    def gains_of(self, grades: Any) -> Vector:
        """Return the gain of each grade."""
        gains: Vector = np.asarray(grades, dtype=np.float64)
        return gains if self.gain == "linear" else np.exp2(gains) - 1

    def of_sample(self, sample: Sample, *, empty: str = "omit") -> float:
        if sample.grades is None or sample.queries is not None:
            return super().of_sample(sample, empty=empty)
        one_list = replace(sample, queries=np.zeros(sample.scores.size, dtype=np.intp))
        return float(super().of_sample(one_list))

    def _of_block(self, sample: Sample) -> Vector:
        if sample.grades is None:
            return super()._of_block(sample)
        assert sample.queries is not None
        lists = RankedLists.of_queries(sample, self.gains_of(sample.grades))
        best = self.best(sample.grades, sample.weights, sample.queries)
        with np.errstate(invalid="ignore"):  # NaN where no row is relevant
            return self._dcg(lists) / best[np.bincount(sample.queries) > 0]

    def best(self, grades: IntVector, weights: Vector | None, queries: IntVector) -> Vector:
        """Return the discounted gain of the best order of query 0, 1, ...; 0 if a query has no row. No sort."""
        n_queries = int(queries.max()) + 1
        above, total = np.zeros(n_queries), np.zeros(n_queries)
        for grade in range(int(grades.max()), 0, -1):
            rows = np.flatnonzero(grades == grade)
            of_rows = None if weights is None else weights[rows]
            below = above + np.bincount(queries[rows], weights=of_rows, minlength=n_queries)
            total += self.gains_of(grade) * (self.discounted(below) - self.discounted(above))
            above = below
        return total

    def discounted(self, n_rows: Counts) -> Vector:
        """Return the sum of the discounts of the first so many rows; a last row in part counts in part."""
        read = n_rows if self.k is None else np.minimum(n_rows, self.k)
        sums = discounts(int(np.ceil(np.max(read, initial=0))))
        return sums[read] if read.dtype.kind != "f" else np.asarray(np.interp(read, np.arange(sums.size), sums))

    def _of_lists(self, lists: RankedLists) -> Vector:
        return self._dcg(lists) / self.discounted(lists.n_pos)

    def _dcg(self, lists: RankedLists) -> Vector:
        gains = lists.pos if lists.gains is None else lists.gains
        levels = np.flatnonzero(gains)
        if self.k is not None:
            levels = levels[lists.rows[levels] < self.k]
        rows = lists.pos[levels] + lists.neg[levels]
        above = lists.rows[levels]
        worth = self.discounted(above + rows) - self.discounted(above)
        return lists.summed(gains[levels] / rows * worth, levels)

    def rows_read(self, curve: RocCurve) -> float | None:
        return self.k

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        return None if self.k is None else Depth(n_rows=self.k)

    @property
    def spec(self) -> str:
        parts = [] if self.k is None else [str(self.k)]
        return ",".join(parts + [f"gain={self.gain}"] * (self.gain != GAINS[0]))

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        if not spec:
            return cls()
        first, *others = spec.split(",")
        named = [*([first] if "=" in first else []), *others]
        if len(named) > 1 or any(not part.startswith("gain=") for part in named):
            raise ValueError("expected K, gain=NAME or K,gain=NAME after the @")
        k = None if "=" in first else count_of(first)
        return cls(k, gain=named[0].removeprefix("gain=") if named else GAINS[0])

    @property
    def description(self) -> str:
        where = "all rows" if self.k is None else f"the first {self.k} row{'s' * (self.k != 1)}"
        return f"discounted gain of {where} over that of the best order, {self.gain} gain"


def discounts(n_rows: int) -> Vector:
    """Return the sums of 1 / log2(1 + rank) over the first 0, 1, ..., n rows.

    >>> discounts(2).round(4)
    array([0.    , 1.    , 1.6309])
    """
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, n_rows + 2)))])


@registered
@dataclass(frozen=True, repr=False)
class ReciprocalRank(ListMeasure):
    """1 / (rank of the first positive); with ``qid`` the mean reciprocal rank (MRR), trec_eval's ``recip_rank``.

    >>> ReciprocalRank()([0, 1, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "mrr"

    def _value(self, curve: RocCurve) -> float:
        if curve.tp[-1] == 0:
            curve.require_complete(str(self))
        return super()._value(curve)

    def _of_lists(self, lists: RankedLists) -> Vector:
        pos, neg, above = _first_positives(lists)
        # 1 / (R + j) with j the place of the first positive: 1 / (R + 1), less what is lost where it comes after j.
        lists_of, place, missed = _all_missed(pos, neg, np.ceil(neg))
        lost = missed / ((above[lists_of] + place) * (above[lists_of] + place + 1))
        total: Vector = 1 / (above + 1) - np.bincount(lists_of, weights=lost, minlength=above.size)
        return total

    def rows_read(self, curve: RocCurve) -> float | None:
        return 0.0  # see _value

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        return Depth(n_pos=1)

    @property
    def description(self) -> str:
        return "1 / rank of the first positive"


@registered
@dataclass(frozen=True, repr=False)
class SuccessAt(ListMeasure):
    """Whether there is a positive among the first ``k`` rows; with ``qid`` the share of such queries.

    >>> SuccessAt(2)([0, 1, 1, 0], [4, 3, 2, 1])
    1.0
    """

    k: int
    prefix: ClassVar[str] = "success"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, at_least=1))

    def _of_lists(self, lists: RankedLists) -> Vector:
        pos, neg, above = _first_positives(lists)
        drawn = np.clip(self.k - above, 0, pos + neg)
        lists_of, place, missed = _all_missed(pos, neg, np.ceil(np.minimum(drawn, neg)))
        # Without a positive among the first j rows of the level; linear between whole numbers of rows.
        before = np.where(place > 1, np.concatenate([[1.0], missed[:-1]]) if missed.size else missed, 1.0)
        part = np.clip(drawn[lists_of] - (place - 1), 0, 1)
        found = np.bincount(lists_of, weights=part * (before - missed), minlength=above.size)
        # After all negatives the next row is a positive.
        rest = np.ones(above.size)
        rest[lists_of] = missed  # the last place of each list is written last
        return np.asarray(found + rest * np.clip(drawn - np.ceil(neg), 0, 1))

    def rows_read(self, curve: RocCurve) -> float | None:
        return self.k

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        return Depth(n_rows=self.k)

    @property
    def spec(self) -> str:
        return str(self.k)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        return cls(count_of(spec))

    @property
    def description(self) -> str:
        return f"whether a positive is among the first {self.k} row{'s' * (self.k != 1)}"


@registered
@dataclass(frozen=True, repr=False)
class RPrecision(ListMeasure):
    """Share of positives among the first n rows of a list with n positives; there precision and recall are equal.

    >>> RPrecision()([0, 1, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "rprec"

    def _of_lists(self, lists: RankedLists) -> Vector:
        levels = np.flatnonzero(lists.pos)
        pos, n_pos = lists.pos[levels], lists.of_list(lists.n_pos, levels)
        part = np.clip((n_pos - lists.rows[levels]) / (pos + lists.neg[levels]), 0, 1)
        return lists.summed(pos * part, levels) / lists.n_pos

    def rows_read(self, curve: RocCurve) -> float | None:
        return curve.n_pos

    def depth(self, n_pos: int, n_neg: int) -> Depth | None:
        return Depth(n_rows=n_pos)

    @property
    def description(self) -> str:
        return "share of positives among as many first rows as there are positives"


@registered
@dataclass(frozen=True, repr=False)
class BinaryPreference(ListMeasure):
    """Mean over the positives of 1 - (negatives above it, at most n_pos) / min(n_pos, n_neg): trec_eval's ``bpref``.

    Rows without a judgement do not count, so leave them out of ``y`` (Buckley & Voorhees 2004).

    >>> BinaryPreference()([0, 1, 1, 0], [4, 3, 2, 1])
    0.5
    """

    prefix: ClassVar[str] = "bpref"

    def _of_lists(self, lists: RankedLists) -> Vector:
        levels = np.flatnonzero(lists.pos)
        pos, tied = lists.pos[levels], lists.neg[levels]
        above = lists.rows[levels] - lists.tp[levels]
        most = lists.of_list(lists.n_pos, levels)
        # Of the M tied negatives 0, 1, ..., M are above a positive, each as likely; beyond n_pos no more count.
        open_to = np.clip(most - above, 0, tied)
        counted = (open_to + 1) * np.minimum(above, most) + open_to * (open_to + 1) / 2 + (tied - open_to) * most
        fewer = lists.of_list(np.minimum(lists.n_pos, lists.n_neg), levels)
        lost = counted / (tied + 1) / np.where(fewer > 0, fewer, 1)
        return lists.summed(pos * (1 - lost), levels) / lists.n_pos

    def rows_read(self, curve: RocCurve) -> float | None:
        return None

    @property
    def description(self) -> str:
        return "mean over the positives of 1 - negatives above it, at most n_pos, over min(n_pos, n_neg)"


def _first_positives(lists: RankedLists) -> tuple[Vector, Vector, Vector]:
    """Return positives and negatives of the first level of each list that has positives, and the rows above it."""
    levels = np.flatnonzero(lists.pos)
    if not levels.size:
        return np.ones(lists.n_lists), np.zeros(lists.n_lists), np.full(lists.n_lists, np.inf)
    first = levels[np.minimum(np.searchsorted(levels, lists.starts), levels.size - 1)]
    pos, neg, above = (np.asarray(each[first], dtype=np.float64) for each in (lists.pos, lists.neg, lists.rows))
    return pos, neg, above


def _all_missed(pos: Vector, neg: Vector, places: Vector) -> tuple[Any, Vector, Vector]:
    """Return the probability that none of the first j rows of a level is positive, for j = 1, ..., ``places``.

    It is the product over i < j of (M - i) / (m - i). One row for each list and place: the list, j, the probability.
    """
    n = places.astype(np.intp)
    lists = np.repeat(np.arange(n.size), n)
    place = np.arange(1, lists.size + 1) - np.repeat(np.cumsum(n) - n, n)
    ratios = (neg[lists] - place + 1) / (pos[lists] + neg[lists] - place + 1)
    logs = np.log(ratios)
    sums = np.cumsum(logs)
    before = np.concatenate([[0.0], sums])[np.cumsum(n) - n]
    return lists, place.astype(np.float64), np.exp(sums - np.repeat(before, n))
