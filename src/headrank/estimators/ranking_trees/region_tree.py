"""A ranking tree: regions in the order of their ranks, and the tests that lead a row to its region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import BoolVector, Counts, IntVector, Vector
from headrank.curve import RocCurve
from headrank.estimators.ranking_trees.cells import LEFT, RIGHT
from headrank.estimators.ranking_trees.split_graph import SplitGraph


@dataclass(frozen=True, eq=False)
class RankingTree:
    """A tree of regions as plain arrays. Regions are in preorder, so leaves are listed from best to worst.

    Attributes
    ----------
    left, right : int arrays of shape (n_regions,)
        Numbers of the better and the worse part of each region; -1 for a leaf.
    pos, neg : arrays of shape (n_regions,)
        Weights of the training rows in it.
    first : int array of shape (n_regions,)
        Number of the first test that splits it; -1 for a leaf.
    feature, threshold, missing_low : arrays of shape (n_tests,)
        A test is low if the feature is at most the threshold, or missing and ``missing_low``.
    low, high : int arrays of shape (n_tests,)
        What follows: another test of the same region, -1 for its better part, or -2 for its worse part.
    """

    left: IntVector
    right: IntVector
    pos: Counts
    neg: Counts
    first: IntVector
    feature: IntVector
    threshold: Vector
    missing_low: BoolVector
    low: IntVector
    high: IntVector

    def __post_init__(self) -> None:
        if fault := self._fault():  # files of models come this way, too
            raise ValueError(f"not a ranking tree: {fault}")

    def _fault(self) -> str:
        n, n_tests = self.left.size, self.feature.size
        regions = (self.left, self.right, self.pos, self.neg, self.first)
        tests = (self.feature, self.threshold, self.missing_low, self.low, self.high)
        if any(each.shape != (n,) for each in regions) or any(each.shape != (n_tests,) for each in tests) or n < 1:
            return "its arrays differ in length"
        inner = self.is_inner
        own = np.flatnonzero(inner)
        children = np.concatenate([self.left[inner], self.right[inner]])
        if not np.array_equal(np.sort(children), np.arange(1, n)) or np.any(self.left[inner] != own + 1):
            return "its regions are not in preorder"
        if np.any(self.right[inner] <= own) or np.any((self.right < 0) == inner) or np.any((self.first < 0) == inner):
            return "its regions are not in preorder"
        starts = self.first[inner]
        if (starts.size and starts[0] != 0) or np.any(np.diff(starts) < 1) or np.any(starts >= n_tests):
            return "its tests are not in the order of its regions"
        if bool(starts.size) != bool(n_tests):
            return "its tests belong to no region"
        ends = np.append(starts[1:], n_tests)[self._owner_of_tests()] if n_tests else np.empty(0, dtype=np.intp)
        numbers = np.arange(n_tests)
        for after in (self.low, self.high):
            if np.any(((after <= numbers) & (after != LEFT) & (after != RIGHT)) | (after >= ends)):
                return "its tests do not lead to a region"
        return "" if np.all(self.feature >= 0) else "a test is of no feature"

    @property
    def is_inner(self) -> BoolVector:
        """Which regions are split."""
        return np.asarray(self.left >= 0)

    @property
    def n_leaves(self) -> int:
        """Number of regions that are not split."""
        return int(np.count_nonzero(~self.is_inner))

    @property
    def gains(self) -> Vector:
        """What each split adds to the training AUC, 0 for a leaf. AUC = 1/2 + their sum, exactly.

        With alpha and beta the shares of all negatives and positives, C a region and L its better part, the gain is
        (alpha(C) beta(L) - beta(C) alpha(L)) / 2.
        """
        inner = self.is_inner
        left = self.left[inner]
        gains = np.zeros(self.left.size)
        crossed = self.neg[inner] * self.pos[left] - self.pos[inner] * self.neg[left]
        gains[inner] = crossed / (2.0 * self.pos[0] * self.neg[0])
        return gains

    @property
    def depths(self) -> IntVector:
        """Number of splits above each region."""
        depths = np.zeros(self.left.size, dtype=np.intp)
        for i in np.flatnonzero(self.is_inner):
            depths[[self.left[i], self.right[i]]] = depths[i] + 1
        return depths

    @property
    def before(self) -> tuple[Counts, Counts]:
        """Weights of the positives and of the negatives in all regions that come before each region."""
        pos, neg = np.zeros_like(self.pos), np.zeros_like(self.neg)
        for i in np.flatnonzero(self.is_inner):
            left, right = self.left[i], self.right[i]
            pos[left], neg[left] = pos[i], neg[i]
            pos[right], neg[right] = pos[i] + self.pos[left], neg[i] + self.neg[left]
        return pos, neg

    def curve(self, *, max_depth: int | None = None) -> RocCurve:
        """Return the ROC curve of the training rows: a polyline with a vertex after each leaf.

        ``max_depth`` stops after so many splits; with 0 the curve is the diagonal.
        """
        tree = self if max_depth is None else self.pruned(self.depths >= max_depth)
        pos, neg = tree.pos[~tree.is_inner], tree.neg[~tree.is_inner]
        weighted = self.pos.dtype.kind == "f"
        return RocCurve(tree.leaf_scores, pos, neg, pos.sum(), neg.sum(), weighted=weighted)

    @property
    def leaf_scores(self) -> Vector:
        """Scores of the leaves from best to worst: 1, ..., 2/K, 1/K."""
        return np.arange(self.n_leaves, 0, -1) / self.n_leaves

    @property
    def cutoff(self) -> float:
        """The score between two leaves above which about as many training rows lie as there are positives.

        Never above the best leaf or below the worst one, unless there is only one.
        """
        scores, curve = self.leaf_scores, self.curve()
        if scores.size == 1:
            return 1.0
        last = int(np.argmin(np.abs((curve.fp + curve.tp)[1:-1] - curve.n_pos)))
        return float(scores[last] + scores[last + 1]) / 2

    @property
    def leaf_ranks(self) -> Vector:
        """Mean rank of the training rows in each leaf, from 0 for the worst to 1 for the best rows."""
        mass = (self.pos + self.neg)[~self.is_inner]
        ranks: Vector = 1.0 - (np.cumsum(mass) - mass / 2) / mass.sum()
        return ranks

    def pruned(self, cut: BoolVector) -> RankingTree:
        """Return the tree with the regions that are cut as leaves, without those below them."""
        kept = np.zeros(self.left.size, dtype=bool)
        kept[0] = True
        inner = self.is_inner & ~cut
        for i in np.flatnonzero(inner):
            if kept[i]:
                kept[[self.left[i], self.right[i]]] = True
        inner &= kept
        place = np.where(inner | kept, np.cumsum(kept) - 1, -1)
        left, right = (np.where(inner, place[each], -1)[kept] for each in (self.left, self.right))
        of_kept = inner[self._owner_of_tests(number=True)] if self.feature.size else np.zeros(0, dtype=bool)
        moved = np.cumsum(of_kept) - 1
        first = np.full(inner.size, -1, dtype=np.intp)
        first[inner] = moved[self.first[inner]]
        low, high = (np.where(each >= 0, moved[each.clip(0)], each)[of_kept] for each in (self.low, self.high))
        return RankingTree(
            left,
            right,
            self.pos[kept],
            self.neg[kept],
            first[kept],
            self.feature[of_kept],
            self.threshold[of_kept],
            self.missing_low[of_kept],
            low,
            high,
        )

    def leaves_after(self, cut: BoolVector) -> IntVector:
        """Return for each leaf the number of its leaf in the tree that is `pruned` so. O(n_regions)."""
        n_below = np.where(self.is_inner, 0, 1)
        for i in np.flatnonzero(self.is_inner)[::-1]:
            n_below[i] = n_below[self.left[i]] + n_below[self.right[i]]
        start: IntVector = np.cumsum(~self.is_inner) - ~self.is_inner  # the number of the first leaf below each region
        joins = np.zeros(self.n_leaves + 1, dtype=np.intp)  # above 0 where a leaf is in one region with the leaf before
        np.add.at(joins, start[cut] + 1, 1)
        np.add.at(joins, start[cut] + n_below[cut], -1)
        return np.asarray(np.cumsum(np.cumsum(joins[:-1]) == 0) - 1)

    def _owner_of_tests(self, *, number: bool = False) -> IntVector:
        """Return the region of each test: its place among those that are split, or its number."""
        starts = np.zeros(self.feature.size, dtype=np.intp)
        starts[self.first[self.is_inner]] = 1
        place = np.cumsum(starts) - 1
        return np.flatnonzero(self.is_inner)[place] if number else place

    @property
    def graph(self) -> SplitGraph:
        """The tests alone, each leading to another one or to a leaf, for scoring."""
        leaf_number = np.cumsum(~self.is_inner) - 1
        entry = np.where(self.is_inner, self.first, -1 - leaf_number)
        owner = self._owner_of_tests(number=True) if self.feature.size else np.empty(0, dtype=np.intp)
        left, right = entry[self.left[owner]], entry[self.right[owner]]
        low, high = (np.where(each >= 0, each, np.where(each == LEFT, left, right)) for each in (self.low, self.high))
        return SplitGraph(self.feature, self.threshold, self.missing_low, low, high, entry[:1], self.n_leaves)

    def leaves(self, X: Any) -> IntVector:
        """Return the number of each row's leaf: 0 for the best."""
        return self.graph.leaves(X)[:, 0]
