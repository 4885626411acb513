"""LeafRank: split a region in two by a small classification tree whose cells are merged by their likelihood ratio."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np

from headrank._types import BoolVector, Counts, IntVector, Vector
from headrank.estimators.ranking_trees.bins import BinnedRows

LEFT, RIGHT = -1, -2
"""Where a test leads that is the last one: to the better or to the worse part of the region."""
_LEAST_GAIN = 1e-12
"""In impurity, which lies between 0 and 1/2: below is rounding."""
_MANY_ROWS = 2000
"""From so many on, counting feature by feature is faster than counting all at once."""
_ROWS = 2
"""The place of the number of rows, after the weights of positives and negatives."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the rows: the numbers of the positives and of the negatives."""

    pos: IntVector
    neg: IntVector

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.pos.size + self.neg.size


@dataclass(frozen=True)
class Test:
    """A split of a cell: low if the bin is at most ``code``, or missing and ``missing_low``."""

    gain: float
    feature: int
    code: int
    missing_low: bool


@dataclass(frozen=True, eq=False)
class Cells:
    """The tests that split a region in two, and both parts.

    Attributes
    ----------
    tests : list of Test
        Each before those it leads to.
    low, high : lists of int
        The number of the next test; `LEFT` or `RIGHT` after the last.
    left, right : Part
        The better and the worse part.
    """

    tests: list[Test]
    low: list[int]
    high: list[int]
    left: Part
    right: Part


def split_region(
    rows: BinnedRows, region: Part, *, max_cells: int, min_samples_leaf: int, max_features: int, rng: Any
) -> Cells | None:
    """Split a region into a better and a worse part; None if nothing splits it.

    A tree with at most ``max_cells`` cells is grown, best split first, by the Gini index with weights that make both
    classes of *the region* weigh the same, at all depths. Cells then go to the left that have at least as large a share
    of the positives as of the negatives: no other union of cells has a larger difference of the two shares.

    O(n_rows max_features) for each level of cells.
    """
    totals = rows.weight(region.pos), rows.weight(region.neg)
    search = _Search(rows, totals, min_samples_leaf, max_features, rng)
    cells = [region]
    waiting = [(-test.gain, 0, test) for test in [search.best(region)] if test is not None]
    tests: list[Test] = []
    links: list[list[int]] = []  # numbers of the cells below each test
    split_by: dict[int, int] = {}
    while waiting and len(tests) + 1 < max_cells:
        _, number, test = heappop(waiting)
        split_by[number] = len(tests)
        tests.append(test)
        links.append([len(cells), len(cells) + 1])
        for part in search.parts(cells[number], test):
            found = search.best(part) if len(tests) + 1 < max_cells else None
            if found is not None:
                heappush(waiting, (-found.gain, len(cells), found))
            cells.append(part)
    ends = [number for number in range(len(cells)) if number not in split_by]
    better = {number: search.is_better(cells[number]) for number in ends}
    if len(set(better.values())) < 2:
        return None

    def follow(number: int) -> int:
        return split_by[number] if number in split_by else LEFT if better[number] else RIGHT

    left, right = (_union([cells[number] for number in ends if better[number] == side]) for side in (True, False))
    return Cells(tests, [follow(a) for a, _ in links], [follow(b) for _, b in links], left, right)


def _union(parts: list[Part]) -> Part:
    pos, neg = (np.sort(np.concatenate([getattr(part, name) for part in parts])) for name in ("pos", "neg"))
    return Part(pos, neg)


@dataclass(eq=False)
class _Search:
    """The best split of a cell of one region."""

    rows: BinnedRows
    totals: tuple[float, float]
    min_samples_leaf: int
    max_features: int
    rng: Any
    all_bins: _Bins | None = None

    def is_better(self, cell: Part) -> bool:
        """Whether the cell has at least as large a share of the region's positives as of its negatives."""
        pos, neg = self.rows.weight(cell.pos), self.rows.weight(cell.neg)
        return pos * self.totals[1] >= neg * self.totals[0]

    def parts(self, cell: Part, test: Test) -> tuple[Part, Part]:
        """Split a cell."""
        low_pos, low_neg = (self._is_low(numbers, test) for numbers in (cell.pos, cell.neg))
        return Part(cell.pos[low_pos], cell.neg[low_neg]), Part(cell.pos[~low_pos], cell.neg[~low_neg])

    def _is_low(self, numbers: IntVector, test: Test) -> BoolVector:
        codes = self.rows.codes[test.feature].take(numbers)
        low: BoolVector = codes <= test.code
        if self.rows.has_missing[test.feature]:
            missing = codes == self.rows.sizes[test.feature] - 1
            low = np.where(missing, test.missing_low, low)
        return low

    def best(self, cell: Part) -> Test | None:
        """Find the split with the largest decrease of impurity; None if the cell is pure, too small or constant."""
        if not cell.pos.size or not cell.neg.size or cell.size < 2 * self.min_samples_leaf:
            return None
        bins = self._drawn_bins()
        counts = self._counts(cell, bins)
        filled = np.flatnonzero(counts[_ROWS])  # in small cells most bins are empty
        counts, owner, is_missing = counts[:, filled], bins.owner[filled], bins.is_missing[filled]
        ends = np.cumsum(np.bincount(owner))
        starts = np.concatenate([[0], ends[:-1]])
        upto = np.cumsum(counts, axis=1)
        upto = upto - np.repeat((upto - counts)[:, starts], ends - starts, axis=1)
        missing = np.where(is_missing[ends - 1], counts[:, ends - 1], 0)
        best: tuple[float, int, bool] | None = None
        for missing_low in (False, True) if missing[_ROWS].any() else (False,):
            low = upto + missing[:, owner] if missing_low else upto
            gains = self._gains(low, upto[:, [ends[0] - 1]], ~is_missing)
            place = int(np.argmax(gains))
            if gains[place] > (_LEAST_GAIN if best is None else best[0]):
                best = float(gains[place]), place, missing_low
        if best is None:
            return None
        gain, place, missing_low = best
        j = int(owner[place])
        if not missing[_ROWS, j]:  # a missing value, should there be one later, goes with the majority
            missing_low = bool(2 * upto[_ROWS, place] >= cell.size)
        code = int(filled[place] - bins.starts[j])
        if place + 1 < ends[j] and not is_missing[place + 1]:  # the threshold lies in the middle of empty bins
            code += int(filled[place + 1] - filled[place] - 1) // 2
        return Test(gain, int(bins.features[j]), code, missing_low)

    def _drawn_bins(self) -> _Bins:
        n_features = self.rows.sizes.size
        if self.max_features >= n_features:
            if self.all_bins is None:
                self.all_bins = _Bins.of(self.rows, np.arange(n_features))
            return self.all_bins
        return _Bins.of(self.rows, np.sort(self.rng.choice(n_features, self.max_features, replace=False)))

    def _counts(self, cell: Part, bins: _Bins) -> Counts:
        """Weight of the positives, weight of the negatives, and number of rows of the cell in each bin."""
        pos, neg = (self._histogram(numbers, bins, self.rows.weights) for numbers in (cell.pos, cell.neg))
        if self.rows.weights is None:
            return np.stack([pos, neg, pos + neg])
        n_rows = sum(self._histogram(numbers, bins, None) for numbers in (cell.pos, cell.neg))
        return np.stack([pos, neg, n_rows])

    def _histogram(self, numbers: IntVector, bins: _Bins, weights: Vector | None) -> Counts:
        """Count rows in each bin, or add up their weights."""
        codes, of_rows = self.rows.codes, None if weights is None else weights[numbers]
        if numbers.size >= _MANY_ROWS:  # feature by feature, as codes of one fit into the cache of the processor
            by_feature = zip(bins.features, bins.sizes, strict=True)
            return np.concatenate([np.bincount(codes[k].take(numbers), of_rows, minlength=n) for k, n in by_feature])
        places = codes[:, numbers] if bins.is_all else codes[bins.features[:, None], numbers]
        of_values = None if of_rows is None else np.tile(of_rows, bins.features.size)
        return np.bincount((places + bins.starts[:, None]).ravel(), of_values, minlength=int(bins.ends[-1]))

    def _gains(self, low: Counts, whole: Counts, allowed: BoolVector) -> Vector:
        """Decrease of impurity by a split after each bin; -inf where none is allowed."""
        n_low, n_all = low[_ROWS], whole[_ROWS]
        allowed = allowed & (n_low >= self.min_samples_leaf) & (n_all - n_low >= self.min_samples_leaf)
        low, high = low[:, allowed], (whole - low)[:, allowed]
        gains = np.full(allowed.size, -np.inf)
        gains[allowed] = self._impurity(whole) - self._impurity(low) - self._impurity(high)
        return gains

    def _impurity(self, counts: Counts) -> Vector:
        """Half the Gini index of a cell times its weight, with both classes of the region weighing 1."""
        pos, neg = (counts[i] / total for i, total in enumerate(self.totals))
        both = pos + neg  # 0 for rows whose weights are lost in the rounding of the others
        impurity: Vector = np.divide(pos * neg, both, out=np.zeros_like(both), where=both > 0)
        return impurity


@dataclass(frozen=True, eq=False)
class _Bins:
    """The bins of some features, one after the other; the last one of a feature may be for missing values."""

    features: IntVector
    sizes: IntVector
    starts: IntVector
    ends: IntVector
    owner: IntVector
    is_missing: BoolVector
    is_all: bool

    @classmethod
    def of(cls, rows: BinnedRows, features: IntVector) -> _Bins:
        sizes, has_missing = rows.sizes[features], rows.has_missing[features]
        ends = np.cumsum(sizes)
        is_missing = np.zeros(int(ends[-1]), dtype=bool)
        is_missing[ends[has_missing] - 1] = True
        owner = np.repeat(np.arange(sizes.size), sizes)
        is_all = features.size == rows.sizes.size
        return cls(features, sizes, ends - sizes, ends, owner, is_missing, is_all)
