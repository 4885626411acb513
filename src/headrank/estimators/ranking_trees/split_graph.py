"""Tests that lead rows to leaves: how fitted ranking trees score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headrank._types import BoolVector, IntVector, Vector

_BLOCK = 2**21
"""Values of a sparse matrix that are made dense at a time."""


@dataclass(frozen=True, eq=False)
class SplitGraph:
    """The tests of one or more trees as plain arrays.

    Several tests may lead to the same one, as the parts of a region are unions of cells. Every test comes before those
    that it leads to.

    Attributes
    ----------
    feature, threshold, missing_low : arrays of shape (n_tests,)
        A test is low if the feature is at most the threshold, or missing and ``missing_low``.
    low, high : int arrays of shape (n_tests,)
        What follows: a test, or -1 - i for leaf i.
    roots : int array of shape (n_trees,)
        Where each tree starts: a test, or -1 - i if it has only leaf i.
    n_leaves : int
        Of all trees together.
    """

    feature: IntVector
    threshold: Vector
    missing_low: BoolVector
    low: IntVector
    high: IntVector
    roots: IntVector
    n_leaves: int

    def __post_init__(self) -> None:
        n, own = self.feature.size, np.arange(self.feature.size)
        tests = (self.feature, self.threshold, self.missing_low, self.low, self.high)
        targets = np.concatenate([self.low, self.high, self.roots])
        # A test that leads back would never end.
        if (
            any(each.shape != (n,) for each in tests)
            or self.roots.ndim != 1
            or np.any(((self.low >= 0) & (self.low <= own)) | ((self.high >= 0) & (self.high <= own)))
            or np.any((targets >= n) | (targets < -self.n_leaves))
            or np.any(self.feature < 0)
        ):
            raise ValueError("not the tests of ranking trees: a test leads back, or nowhere")

    @classmethod
    def joined(cls, graphs: Sequence[SplitGraph]) -> SplitGraph:
        """The tests of several trees, with their leaves numbered in order."""
        n_tests = np.cumsum([0, *(graph.feature.size for graph in graphs)])
        n_leaves = np.cumsum([0, *(graph.n_leaves for graph in graphs)])

        def moved(name: str) -> IntVector:
            parts = [getattr(graph, name) for graph in graphs]
            return np.concatenate(
                [np.where(part >= 0, part + t, part - k) for part, t, k in zip(parts, n_tests, n_leaves, strict=False)]
            )

        feature, threshold, missing_low = (
            np.concatenate([getattr(graph, name) for graph in graphs])
            for name in ("feature", "threshold", "missing_low")
        )
        return cls(feature, threshold, missing_low, moved("low"), moved("high"), moved("roots"), int(n_leaves[-1]))

    def leaves(self, X: Any) -> IntVector:
        """Return the leaf of each row in each tree, of shape (n_rows, n_trees). O(n_rows tests on the way to a leaf).

        Rows go through their tests together, one test of each row at a time.
        """
        result = np.empty((X.shape[0], self.roots.size), dtype=np.intp)
        if not hasattr(X, "toarray"):
            for i, root in enumerate(self.roots):
                result[:, i] = self._leaves_below(int(root), X)
            return result
        step = max(1, _BLOCK // X.shape[1])
        for start in range(0, X.shape[0], step):
            result[start : start + step] = self.leaves(X[start : start + step].toarray())
        return result

    def _leaves_below(self, root: int, X: Vector) -> IntVector:
        at = np.full(X.shape[0], root)
        rows = np.arange(X.shape[0]) if root >= 0 else np.empty(0, dtype=np.intp)
        while rows.size:
            test = at[rows]
            values = X[rows, self.feature[test]]
            is_low = (values <= self.threshold[test]) | (np.isnan(values) & self.missing_low[test])
            at[rows] = after = np.where(is_low, self.low[test], self.high[test])
            rows = rows[after >= 0]
        return -1 - at
